//! *Evidence mutations*: evidence of every kind, changed somewhere. It is refused or rejected, or what it claims is still what was
//! claimed: the same verdict on the same question. And since people read evidence, what was changed must be a part that
//! is checked and may well be different (a larger invariant is one too): [`FREE`] says which parts these are, and why.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::cases::{Ready, ready};
use crate::{Random, on_all, runs, seed};

/// Parts of evidence that may be different and prove the same.
struct Free {
    /// What kind of evidence it is, see [`form`].
    schema: &'static str,
    /// A place: `entries.*.4`; `**` at the end is everything below.
    place: &'static str,
    #[allow(dead_code, reason = "for the reader of this list")]
    why: &'static str,
}

static FREE: &[Free] = &[
    free("certificate states", "body.entries**", SET),
    free("certificate states", "body.bounds**", SET),
    free("certificate invariant", "body.invariant**", SET),
    free("certificate invariant", "body.k", "what is an induction over one step is one over two"),
    free("certificate basis", "body.bounds**", SET),
    free("certificate basis", "body.never**", SET),
    free("certificate basis", "body.within**", SET),
    free("certificate relation", "body.tests**", SET),
    free("certificate partition", "body.covers**", SET),
    free("certificate partition", "body.tuples**", SET),
    free("certificate partition", "body.traps**", SET),
    free("certificate partition", "body.symmetric**", SET),
    free("certificate ranking", "body.nodes**", SET),
    free("certificate ranking", "body.edges**", SET),
    free("certificate ranking", "body.rankings**", SET),
    free("trace program", "start.**", START),
    free("trace program", "steps.*.set.votes.entries", "an entry that is as all others are need not be listed"),
    free("trace network", "rest", "the run may stay longer where it ends, as long as the invariants there let it"),
];

const SET: &str = "the checker asks whether all of it together is a proof, in any order, and a larger or doubled part may be one, too";

const START: &str = "nothing says what a variable starts with before the first statement sets it; the replay starts with what is written";

const fn free(schema: &'static str, place: &'static str, why: &'static str) -> Free {
    Free { schema, place, why }
}

fn is_free(schema: &str, place: &str) -> bool {
    let fits = |pattern: &str| match pattern.strip_suffix("**") {
        Some(start) => place.starts_with(start) || place == start.trim_end_matches('.'),
        None => place == pattern,
    };
    FREE.iter().any(|f| schema == f.schema && fits(f.place))
}

/// `certificate basis`, `trace network`: the kind of a certificate, or what a run is one of.
fn form(doc: &Value) -> String {
    let text = |name: &str| doc[name].as_str().unwrap_or_default();
    if text("schema").starts_with("trellis-certificate") {
        return format!("certificate {}", text("kind"));
    }
    let of = match text("language") {
        _ if doc["view"].is_string() => "tree",
        "uppaal" | "tchecker" => "network",
        _ if text("property").starts_with("LTL ") => "formula",
        "c" | "cfa" | "xsts" | "sts" | "scxml" => "program",
        other => other,
    };
    format!("trace {of}")
}

/// A place in a document; array indexes are `*` when it is shown.
type Place = Vec<Key>;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Key {
    Index(usize),
    Field(String),
}

fn show(place: &[Key]) -> String {
    let part = |k: &Key| match k {
        Key::Index(_) => "*".to_string(),
        Key::Field(f) => f.clone(),
    };
    place.iter().map(part).collect::<Vec<_>>().join(".")
}

fn places(value: &Value, here: &mut Place, all: &mut Vec<Place>) {
    all.push(here.clone());
    match value {
        Value::Array(list) => {
            for (i, v) in list.iter().enumerate() {
                here.push(Key::Index(i));
                places(v, here, all);
                here.pop();
            }
        }
        Value::Object(fields) => {
            for (k, v) in fields {
                here.push(Key::Field(k.clone()));
                places(v, here, all);
                here.pop();
            }
        }
        _ => {}
    }
}

fn at<'v>(value: &'v mut Value, place: &[Key]) -> &'v mut Value {
    place.iter().fold(value, |v, k| match k {
        Key::Index(i) => &mut v[*i],
        Key::Field(f) => &mut v[f.as_str()],
    })
}

/// Changes a document somewhere; with where.
fn change(original: &Value, all: &[Place], random: &mut Random) -> (Place, Value) {
    // Kinds of places first, so that a long list does not hide the rest.
    let mut kinds: BTreeMap<String, Vec<&Place>> = BTreeMap::new();
    all.iter().for_each(|p| kinds.entry(show(p)).or_default().push(p));
    let kinds: Vec<&Vec<&Place>> = kinds.values().collect();
    loop {
        let kind = kinds[random.below(kinds.len())];
        let place = kind[random.below(kind.len())].clone();
        let other = all[random.below(all.len())].clone();
        let mut doc = original.clone();
        let elsewhere = at(&mut doc, &other).clone();
        let target = at(&mut doc, &place);
        *target = changed(target, elsewhere, random);
        if doc != *original {
            return (place, doc);
        }
    }
}

fn changed(value: &Value, elsewhere: Value, random: &mut Random) -> Value {
    if random.below(12) == 0 {
        return elsewhere;
    }
    match value {
        Value::Null => Value::from(random.below(3)),
        Value::Bool(b) => Value::from(!b),
        Value::Number(n) => {
            let n = n.as_i64().unwrap_or(0);
            let others = [n.wrapping_add(1), n.wrapping_sub(1), 0, -1, n.wrapping_mul(2), 1 << 40, i64::MAX, i64::MIN];
            match random.below(10) {
                8 => Value::Null,
                9 => Value::from(n.to_string()),
                i => Value::from(others[i]),
            }
        }
        Value::String(s) => Value::from(text(s, random)),
        Value::Array(list) => {
            let mut list = list.clone();
            match (random.below(6), list.len()) {
                (_, 0) => list.push(elsewhere),
                (0, n) => drop(list.remove(random.below(n))),
                (1, n) => {
                    let again = list[random.below(n)].clone();
                    list.insert(random.below(n + 1), again);
                }
                (2, n) => list.swap(random.below(n), random.below(n)),
                (3, _) => list.clear(),
                (4, n) => list.truncate(random.below(n)),
                (_, n) => list.insert(random.below(n + 1), elsewhere),
            }
            Value::from(list)
        }
        Value::Object(fields) => {
            let mut fields = fields.clone();
            let names: Vec<String> = fields.keys().cloned().collect();
            let Some(name) = (!names.is_empty()).then(|| names[random.below(names.len())].clone()) else {
                return Value::Object(Map::from_iter([("zzq7".to_string(), elsewhere)]));
            };
            match random.below(4) {
                0 => drop(fields.remove(&name)),
                1 => {
                    let value = fields.remove(&name).unwrap_or_default();
                    fields.insert(format!("{name}zzq7"), value);
                }
                2 => drop(fields.insert("zzq7".into(), elsewhere)),
                _ => {
                    let other = names[random.below(names.len())].clone();
                    let (a, b) = (fields[&name].clone(), fields[&other].clone());
                    fields.insert(name, b);
                    fields.insert(other, a);
                }
            }
            Value::Object(fields)
        }
    }
}

fn text(s: &str, random: &mut Random) -> String {
    let chars: Vec<char> = s.chars().collect();
    match random.below(6) {
        0 => String::new(),
        1 => format!("{s}zzq7"),
        2 => format!("{s}\nA[] true"),
        3 | 4 => {
            // A digit, if there is one, is another; so stay hashes, numbers and masks what they look like.
            let digits: Vec<usize> = (0..chars.len()).filter(|i| chars[*i].is_ascii_hexdigit()).collect();
            let mut chars = chars;
            match digits.is_empty() {
                true => chars.reverse(),
                false => {
                    let i = digits[random.below(digits.len())];
                    chars[i] = if chars[i] == '0' { '1' } else { '0' };
                }
            }
            chars.into_iter().collect()
        }
        _ => chars.iter().skip(1).collect(),
    }
}

/// Numbers do not count, nor whether a word says that there are several: a certificate may have more elements.
fn gist(said: &str) -> String {
    let mut out = String::new();
    let said = ["part", "trap", "state", "row", "element"]
        .iter()
        .fold(said.to_string(), |s, w| s.replace(&format!("{w}s"), w));
    for c in said.chars() {
        match c.is_ascii_digit() {
            true if out.ends_with('#') => {}
            true => out.push('#'),
            false => out.push(c),
        }
    }
    out
}

enum End {
    Refused,
    Rejected,
    Accepted,
}

fn judge(case: &Ready, folder: &std::path::Path, n: usize, place: &Place, doc: &str) -> Result<End, String> {
    let file = folder.join(format!("{n}.json"));
    std::fs::write(&file, doc).expect("writable");
    let answer = case.certify(&case.folder, &file);
    let _ = std::fs::remove_file(&file);
    if let Some(why) = answer.broken() {
        return Err(why);
    }
    match answer.code {
        Some(10) => Ok(End::Rejected),
        Some(0) => {
            let question = case.json["property"].as_str().filter(|q| case.said.contains(q));
            let same = gist(&answer.stdout) == gist(&case.said) || show(place) == "body.k";
            if !same || question.is_some_and(|q| !answer.stdout.contains(q)) {
                return Err(format!("accepted, with another claim: {}", answer.stdout.trim()));
            }
            match is_free(&form(&case.json), &show(place)) {
                true => Ok(End::Accepted),
                false => Err(format!("accepted, though `{}` was changed", show(place))),
            }
        }
        _ => Ok(End::Refused),
    }
}

#[test]
fn changed_evidence_is_rejected_or_proves_the_same() {
    let cases = ready();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let all: Vec<Vec<Place>> = cases
        .iter()
        .map(|c| {
            let mut all = vec![];
            places(&c.json, &mut vec![], &mut all);
            all
        })
        .collect();
    let numbers: Vec<usize> = (0..runs(400)).collect();
    let done = on_all(&numbers, |&n| {
        let mut random = Random(seed().wrapping_mul(1 << 32).wrapping_add(n as u64));
        let i = n % cases.len();
        let (place, doc) = change(&cases[i].json, &all[i], &mut random);
        let end = judge(&cases[i], folder.path(), n, &place, &doc.to_string());
        (end, place, doc)
    });
    let (mut refused, mut rejected, mut accepted) = (0, 0, 0);
    let mut findings: BTreeMap<String, (usize, String)> = BTreeMap::new();
    for (n, (end, place, doc)) in done.into_iter().enumerate() {
        let case = &cases[n % cases.len()];
        match end {
            Ok(End::Refused) => refused += 1,
            Ok(End::Rejected) => rejected += 1,
            Ok(End::Accepted) => accepted += 1,
            Err(why) => {
                let schema = form(&case.json);
                let key = format!("{schema} {}: {}", show(&place), why.lines().next().unwrap_or_default());
                let (mut before, mut after) = (case.json.clone(), doc);
                let short = |v: &Value| v.to_string().chars().take(160).collect::<String>();
                let (was, now) = (short(at(&mut before, &place)), short(at(&mut after, &place)));
                let example = format!(
                    "{} {:?}, change {n}\n    was {was}\n    now {now}\n    {why}",
                    case.case.model, case.case.options
                );
                findings.entry(key).or_insert((0, example)).0 += 1;
            }
        }
    }
    println!(
        "evidence: {} changes of {} pieces of evidence, seed {}: {refused} refused, {rejected} rejected, {accepted} prove the same",
        numbers.len(),
        cases.len(),
        seed()
    );
    let shown: Vec<String> = findings.iter().map(|(key, (n, example))| format!("{n} × {key}\n  {example}")).collect();
    assert!(shown.is_empty(), "{} findings:\n{}", shown.len(), shown.join("\n"));
}
