//! Queries about generated models (`.prop`), whose names are those of the generator: `main_region_slp == SLP_ON`, `Port_event_Out_instance`,
//! `variable_instance`, and `__…Source_N_Target__instance`, which says that a transition has just fired. They are put into the words of the
//! packages.
//!
//! What it deliberately does not do: guess. N tells transitions with the same ends apart, and how the generator counts is not known.

use trellis_model::gamma::{Chart, Kind, System};

/// A query, in the words of the packages.
#[derive(Debug, Clone)]
pub struct Query {
    /// As it is written.
    pub text: String,
    /// The condition; or why it cannot be understood.
    pub condition: Result<String, String>,
    /// Is it asked whether the condition can hold? Else, whether it always does.
    pub exists: bool,
    /// Transitions (chart and number) of which the condition says that they have fired.
    pub watched: Vec<(usize, usize)>,
}

/// What the condition says where a transition has fired.
pub fn fired((chart, transition): (usize, usize)) -> String {
    format!("fired_{chart}_{transition}")
}

/// Reads a file of queries.
pub fn read(sys: &System, text: &str) -> Result<Vec<Query>, String> {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, comment)) = rest.split_once("/*") {
        plain.push_str(before);
        rest = comment.split_once("*/").map_or("", |c| c.1);
    }
    plain.push_str(rest);
    let plain = plain.trim();
    if let Some(body) = plain.strip_prefix("prop") {
        let body = body.trim().strip_prefix('{').and_then(|b| b.strip_suffix('}'));
        let body = body.ok_or("expected `prop { condition }`")?;
        return Ok(vec![query(sys, body.trim(), false, body.trim())]);
    }
    let mut all = vec![];
    let mut at = plain;
    while !at.is_empty() {
        let exists = at.starts_with("E<>");
        if !exists && !at.starts_with("A[]") {
            return Err("expected `E<>`, `A[]` or `prop { condition }`".into());
        }
        let next = ["E<>", "A[]"].into_iter().filter_map(|m| at[3..].find(m)).min().map_or(at.len(), |n| n + 3);
        let (one, more) = at.split_at(next);
        all.push(query(sys, one.trim(), exists, one[3..].trim()));
        at = more.trim_start();
    }
    Ok(all)
}

fn query(sys: &System, text: &str, exists: bool, condition: &str) -> Query {
    let mut watched = vec![];
    let condition = translated(sys, condition, &mut watched);
    let words: Vec<&str> = text.split_whitespace().collect();
    Query { text: words.join(" "), condition, exists, watched }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn translated(sys: &System, text: &str, watched: &mut Vec<(usize, usize)>) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if !is_word(c) || c.is_ascii_digit() {
            let end = if c.is_ascii_digit() { rest.find(|c| !is_word(c)).unwrap_or(rest.len()) } else { c.len_utf8() };
            out.push_str(&rest[..end]);
            rest = &rest[end..];
            continue;
        }
        let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        rest = after;
        if let Some(region) = region(sys, word)? {
            let after = rest.trim_start();
            let equal = after.starts_with("==");
            let Some(state) = after.strip_prefix("==").or_else(|| after.strip_prefix("!=")) else {
                return Err(format!("expected `{word} == STATE`"));
            };
            let state = state.trim_start();
            let end = state.find(|c| !is_word(c)).unwrap_or(state.len());
            out.push_str(&format!("{}In({region}.{})", if equal { "" } else { "!" }, &state[..end]));
            rest = &state[end..];
            continue;
        }
        out.push_str(&said(sys, word, watched)?);
    }
    Ok(out)
}

/// What an instance is called at the end of a name.
fn suffixes(sys: &System, chart: &Chart) -> Vec<String> {
    let parts: Vec<&str> = chart.name.split('.').filter(|p| !p.is_empty()).collect();
    let Some(last) = parts.last() else { return vec![sys.name.clone()] };
    let backwards: Vec<&str> = parts.iter().rev().copied().collect();
    let mut all = vec![last.to_string(), parts.join("_"), backwards.join("_")];
    all.dedup();
    all
}

fn lower(name: &str) -> String {
    let mut chars = name.chars();
    chars.next().map_or(String::new(), |c| c.to_lowercase().chain(chars).collect())
}

/// `instance.`
fn prefix(chart: &Chart) -> String {
    if chart.name.is_empty() { String::new() } else { format!("{}.", chart.name) }
}

fn one(word: &str, mut found: Vec<String>) -> Result<Option<String>, String> {
    found.sort();
    found.dedup();
    if found.len() > 1 {
        return Err(format!("`{word}` may mean {}", found.join(" or ")));
    }
    Ok(found.pop())
}

/// `instance.Region`, by the name of the region's variable.
fn region(sys: &System, word: &str) -> Result<Option<String>, String> {
    let mut found = vec![];
    for chart in &sys.charts {
        for suffix in suffixes(sys, chart) {
            let is_it = |name: &str| word == format!("{}_{suffix}", lower(name));
            let regions = chart.regions.iter().filter(|r| is_it(&r.name));
            found.extend(regions.map(|r| format!("{}{}", prefix(chart), r.name)));
        }
    }
    one(word, found)
}

fn said(sys: &System, word: &str, watched: &mut Vec<(usize, usize)>) -> Result<String, String> {
    if word.starts_with("__") {
        let taken = transition(sys, word)?;
        watched.push(taken);
        return Ok(fired(taken));
    }
    let mut found = vec![];
    for chart in &sys.charts {
        let own = prefix(chart);
        for suffix in suffixes(sys, chart) {
            for (name, _, _) in &chart.variables {
                let plain = name.strip_prefix(&own).unwrap_or(name);
                if word == format!("{}_{suffix}", plain.replace('.', "_")) {
                    found.push(name.clone());
                }
            }
            for s in &chart.outputs {
                let signal = &sys.signals[*s];
                let name = signal.name.trim_start_matches('@');
                let plain = name.strip_prefix(&own).unwrap_or(name).replace('.', "_");
                if word == format!("{plain}_Out_{suffix}") {
                    found.push(name.to_string());
                }
                for (param, _, _) in &signal.params {
                    if word == format!("{plain}_Out_{}_{suffix}", param.replace('.', "_")) {
                        found.push(format!("{name}::{param}"));
                    }
                }
            }
        }
    }
    let literal = || {
        let all = sys.terms.enumerations().any(|e| sys.terms.enumeration(e).literals.iter().any(|l| l == word));
        (all || matches!(word, "true" | "false" | "and" | "or" | "not")).then(|| word.to_string())
    };
    one(word, found)?.or_else(literal).ok_or_else(|| format!("`{word}` is no name that is generated of this component"))
}

/// The transition of `__…Source_N_Target__instance`.
fn transition(sys: &System, word: &str) -> Result<(usize, usize), String> {
    // The longest source is the one that is meant.
    let mut best: Vec<(usize, (usize, usize))> = vec![];
    for (c, chart) in sys.charts.iter().enumerate() {
        for suffix in suffixes(sys, chart) {
            let Some(rest) = word.strip_suffix(&suffix).filter(|r| r.ends_with('_')) else { continue };
            let rest = rest.trim_end_matches('_');
            for (t, transition) in chart.transitions.iter().enumerate() {
                let (from, to) = (&chart.nodes[transition.from], &chart.nodes[transition.to]);
                if from.kind == Kind::Initial {
                    continue;
                }
                let number = rest.strip_suffix(&to.name).and_then(|r| r.strip_suffix('_'));
                let source = number.map(|r| (r, r.trim_end_matches(|c: char| c.is_ascii_digit())));
                let source = source.filter(|(all, rest)| all.len() > rest.len()).and_then(|(_, r)| r.strip_suffix('_'));
                if source.is_some_and(|r| r.ends_with(&from.name)) {
                    best.push((from.name.len(), (c, t)));
                }
            }
        }
    }
    let longest = best.iter().map(|b| b.0).max().unwrap_or(0);
    let mut found: Vec<(usize, usize)> = best.into_iter().filter(|b| b.0 == longest).map(|b| b.1).collect();
    found.sort_unstable();
    found.dedup();
    match found[..] {
        [one] => Ok(one),
        [] => Err(format!("`{word}` is no transition of this component")),
        _ => Err(format!(
            "`{word}`: {} transitions have these ends, and which of them is meant cannot be told",
            found.len()
        )),
    }
}
