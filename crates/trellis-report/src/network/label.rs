//! The labels of an edge as text: what it selects, when it may be taken, with whom, and what it does.
//!
//! Terms are written by `trellis-expr`; here the lattice calls in them get the names that the model uses. The instances of
//! one edge of the source, one per choice of its selects, become one label again: where their texts differ just as the
//! value of a select does, the select's name is put back; where they differ otherwise, there is an `…`.

use std::fmt::Display;

use trellis_expr::{Stmt, StmtId};
use trellis_model::network::{ClockAtom, Condition, Edge, Function, Network, Reset, ResetTo};
use trellis_order::{Lattice, Shape};

use crate::words::cut;

/// Terms longer than this are cut before anything else is done with them.
const MAX_TERM: usize = 2000;
/// At most so many statements of an update are shown.
const MAX_LINES: usize = 6;
/// At most so many instances of an edge are compared.
const MAX_INSTANCES: usize = 256;

/// The label of some instances of one edge, line by line.
pub(crate) fn edges(net: &Network, instances: &[&Edge]) -> Vec<String> {
    let stride = instances.len().div_ceil(MAX_INSTANCES).max(1);
    let sample: Vec<&Edge> = instances.iter().copied().step_by(stride).collect();
    let Some(first) = sample.first() else { return Vec::new() };
    let mut lines = Vec::new();
    for (i, (name, _)) in first.select.iter().enumerate() {
        lines.push(format!("{name} : {}", range(instances.iter().filter_map(|e| e.select.get(i)).map(|s| s.1))));
    }
    let labels: Vec<Vec<String>> = sample.iter().map(|e| label(net, e)).collect();
    if labels.iter().any(|l| l.len() != labels[0].len()) {
        lines.push("…".into());
        return lines;
    }
    for i in 0..labels[0].len() {
        let texts: Vec<&str> = labels.iter().map(|l| l[i].as_str()).collect();
        lines.push(cut(&generalise(&sample, &texts)));
    }
    lines
}

/// A condition; nothing if it is plainly true.
pub(crate) fn condition(net: &Network, c: Condition) -> Option<String> {
    let holds = call_names(net, &net.terms.show(c.holds));
    match net.terms.stmt(c.prepare) {
        Stmt::Skip if net.terms.as_bool(c.holds) == Some(true) => None,
        Stmt::Skip => Some(holds),
        _ => Some(format!("{{ {} }} {holds}", call_names(net, &net.terms.show_stmt(c.prepare)))),
    }
}

fn label(net: &Network, e: &Edge) -> Vec<String> {
    let mut lines: Vec<String> = condition(net, e.guard).into_iter().collect();
    lines.extend(clock_guard(net, &e.clock_guard));
    if let Some(s) = e.sync {
        let index = s.index.map_or(Some(0), |(_, t)| net.terms.as_int(t));
        let known = index.and_then(|i| net.channels.get(s.base as usize + usize::try_from(i).ok()?));
        let name = match (known, net.channels.get(s.base as usize), s.index) {
            (Some(channel), ..) => channel.name.clone(),
            (None, Some(first), Some((_, t))) => {
                let array = first.name.split('[').next().unwrap_or_default();
                format!("{array}[{}]", call_names(net, &net.terms.show(t)))
            }
            _ => format!("channel {}", s.base),
        };
        lines.push(format!("{name}{}", if s.send { '!' } else { '?' }));
    }
    lines.extend(update(net, e.update));
    lines.extend(e.resets.iter().map(|r| reset(net, r)));
    lines
}

/// What must hold of clocks, in one line: `x >= 2 && x - y < 3`; nothing if there is nothing.
pub(crate) fn clock_guard(net: &Network, atoms: &[ClockAtom]) -> Option<String> {
    let mut parts = Vec::new();
    let mut rest = atoms;
    while let [first, after @ ..] = rest {
        rest = after;
        // An equation is two atoms, which people want to see as one.
        match after {
            [second, after @ ..] if is_equation(net, first, second) => {
                let upper = if first.left == 0 { second } else { first };
                parts.push(atom(net, upper, "=="));
                rest = after;
            }
            _ => parts.push(atom(net, first, if first.strict { "<" } else { "<=" })),
        }
    }
    (!parts.is_empty()).then(|| parts.join(" && "))
}

fn is_equation(net: &Network, a: &ClockAtom, b: &ClockAtom) -> bool {
    let number = |atom: &ClockAtom| net.terms.as_int(atom.bound);
    let opposite = number(a).zip(number(b)).is_some_and(|(n, m)| n.checked_neg() == Some(m));
    opposite && (a.left, a.right, a.when) == (b.right, b.left, b.when) && !a.strict && !b.strict
}

/// `x <= 5`, `i == 2 imply x - y <= n`. A lower bound is turned round, so that it reads as people write it.
fn atom(net: &Network, a: &ClockAtom, sign: &str) -> String {
    let bound = call_names(net, &net.terms.show(a.bound));
    let text = match (a.left, a.right) {
        (0, 0) => format!("0 {sign} {bound}"),
        (0, y) => {
            let simple = |t: &&str| t.chars().all(|c| is_word(c) || c == '.');
            let negated = match (net.terms.as_int(a.bound), bound.strip_prefix('-').filter(simple)) {
                (Some(n), _) => (-i128::from(n)).to_string(),
                (None, Some(term)) => term.into(),
                (None, None) => format!("-({bound})"),
            };
            format!("{} {} {negated}", clock(net, y), sign.replace('<', ">"))
        }
        (x, 0) => format!("{} {sign} {bound}", clock(net, x)),
        (x, y) => format!("{} - {} {sign} {bound}", clock(net, x), clock(net, y)),
    };
    match a.when {
        Some(when) => format!("({} imply {text})", call_names(net, &net.terms.show(when))),
        None => text,
    }
}

/// `x := 0`, `x := y`; one that depends on data says so: `if (b) x := 0`.
fn reset(net: &Network, r: &Reset) -> String {
    let to = match r.to {
        ResetTo::Value(t) => call_names(net, &net.terms.show(t)),
        ResetTo::Clock(c) => clock(net, c),
    };
    let when = r.when.map(|w| format!("if ({}) ", call_names(net, &net.terms.show(w))));
    format!("{}{} := {to}", when.unwrap_or_default(), clock(net, r.clock))
}

fn clock(net: &Network, number: u32) -> String {
    let name = (number as usize).checked_sub(1).and_then(|i| net.clocks.get(i));
    name.cloned().unwrap_or_else(|| format!("clock {number}"))
}

fn update(net: &Network, s: StmtId) -> Vec<String> {
    let show = |&s: &StmtId| call_names(net, &net.terms.show_stmt(s));
    match net.terms.stmt(s) {
        Stmt::Skip => Vec::new(),
        Stmt::Seq(parts) => {
            let mut lines: Vec<String> = parts.iter().take(MAX_LINES).map(show).collect();
            if parts.len() > MAX_LINES {
                lines.push("…".into());
            }
            lines
        }
        _ => vec![show(&s)],
    }
}

/// `0..3`, or `{1, 4, 7}`.
fn range(values: impl Iterator<Item = i64>) -> String {
    let mut all: Vec<i64> = values.collect();
    all.sort_unstable();
    all.dedup();
    match all[..] {
        [] => "nothing".into(),
        [one] => format!("{{{one}}}"),
        [lo, .., hi] if hi.wrapping_sub(lo) as u64 == all.len() as u64 - 1 => format!("{lo}..{hi}"),
        _ => cut(&format!("{{{}}}", all.iter().map(i64::to_string).collect::<Vec<_>>().join(", "))),
    }
}

/// One text for all instances.
fn generalise(instances: &[&Edge], texts: &[&str]) -> String {
    if texts.iter().all(|t| *t == texts[0]) {
        return texts[0].into();
    }
    let split: Vec<Vec<&str>> = texts.iter().map(|t| tokens(t)).collect();
    if split.iter().any(|t| t.len() != split[0].len()) {
        return "…".into();
    }
    let token = |i: usize| {
        let first = split[0][i];
        if split.iter().all(|t| t[i] == first) {
            return first.to_string();
        }
        // The value of a select, give or take the same number everywhere?
        let offset = |t: &Vec<&str>, e: &&Edge, s: usize| Some(t[i].parse::<i64>().ok()?.wrapping_sub(e.select[s].1));
        let explains = |s: usize| {
            let by = offset(&split[0], &instances[0], s)?;
            let all = split.iter().zip(instances).all(|(t, e)| offset(t, e, s) == Some(by));
            let name = &instances[0].select[s].0;
            all.then(|| if by == 0 { name.clone() } else { format!("{name}{by:+}") })
        };
        (0..instances[0].select.len()).find_map(explains).unwrap_or_else(|| "…".into())
    };
    (0..split[0].len()).map(token).collect()
}

/// Words and numbers as a whole, everything else character by character.
fn tokens(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let word = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
        let (token, after) = rest.split_at(word.max(c.len_utf8()));
        out.push(token);
        rest = after;
    }
    out
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// A term or statement with `f0(3, i)` written as the model has it: `pool[i]`, `seen.count()`; range checks are left out.
fn call_names(net: &Network, shown: &dyn Display) -> String {
    let text: String = shown.to_string().chars().take(MAX_TERM).collect();
    cell_names(net, rewrite(net, &text))
}

/// Arrays lie flat in terms; a cell with a known number gets its name back: `grid[2]` is `grid[1][0]`.
fn cell_names(net: &Network, mut text: String) -> String {
    for v in net.vars.iter().filter(|v| v.dims.len() > 1 || v.dims.iter().any(|d| d.0 != 0)) {
        let start = format!("{}[", v.name);
        let mut from = 0;
        while let Some(at) = text[from..].find(&start).map(|i| from + i) {
            from = at + start.len();
            let part_of_a_name = text[..at].ends_with(|c: char| is_word(c) || c == '.');
            let number = text[from..].split_once(']').and_then(|(n, _)| Some((n.len(), n.parse::<usize>().ok()?)));
            if let (false, Some((length, cell))) = (part_of_a_name, number)
                && cell < v.init.len()
            {
                text.replace_range(at..from + length + 1, &v.cell_name(cell));
            }
        }
    }
    text
}

fn rewrite(net: &Network, text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    // Whether a word that starts here is part of a longer name: `P.f0`.
    let mut inside = false;
    while let Some(c) = rest.chars().next() {
        let word = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
        let (token, after) = rest.split_at(word.max(c.len_utf8()));
        rest = after;
        let call = if inside { None } else { arguments(token, after) };
        match call.and_then(|(args, after)| Some((call_name(net, token, &args)?, after))) {
            Some((name, after)) => {
                // What a check was around may need parentheses in its place.
                let alone = (out.is_empty() || out.ends_with(['(', '[', ' ']) && !operator_at_end(&out))
                    && (after.is_empty() || after.starts_with([')', ']', ',', ';']));
                let simple = token != "check" || name.chars().all(|c| is_word(c) || "[]().".contains(c));
                out.push_str(&if alone || simple { name } else { format!("({name})") });
                rest = after;
            }
            None => out.push_str(token),
        }
        inside = c == '.' || is_word(c);
    }
    out
}

/// Does a text end with an operator that might bind more tightly than what follows?
fn operator_at_end(text: &str) -> bool {
    let text = text.trim_end();
    !(text.ends_with(",") || text.ends_with(":=") || text.ends_with(";") || text.ends_with(['(', '[']))
}

/// The arguments that follow a name, and what comes after them; nothing if this is no call of ours.
fn arguments<'t>(name: &str, after: &'t str) -> Option<(Vec<&'t str>, &'t str)> {
    let number = name.strip_prefix('f').is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
    let body = after.strip_prefix('(').filter(|_| number || name == "check")?;
    let (mut args, mut depth, mut start) = (Vec::new(), 0, 0);
    for (i, c) in body.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' if depth == 0 => {
                args.push(body[start..i].trim());
                let after = &body[i + 1..];
                // A process may be called `f0(1)`, too.
                return (!after.starts_with('.')).then_some((args, after));
            }
            ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                args.push(body[start..i].trim());
                start = i + 1;
            }
            _ => {}
        }
    }
    None
}

fn call_name(net: &Network, name: &str, args: &[&str]) -> Option<String> {
    let arg = |i: usize| args.get(i).map(|a| rewrite(net, a));
    if name == "check" {
        return arg(0);
    }
    let function = net.functions.get(name[1..].parse::<usize>().ok()?)?;
    Some(match function {
        Function::GetBit(n) => {
            format!("{}[{}]", place(net, &arg(0)?, |l| matches!(l.shape(), Shape::Bits(m) if m == *n)), arg(1)?)
        }
        Function::SetBit(n) => {
            let of = place(net, &arg(0)?, |l| matches!(l.shape(), Shape::Bits(m) if m == *n));
            format!("{of}[{}] := {}", arg(1)?, arg(2)?)
        }
        Function::Copy(width) => {
            let is = |l: &dyn Lattice| l.width() == *width;
            format!("{} := {}", place(net, &arg(0)?, is), place(net, &arg(1)?, is))
        }
        Function::Method { lattice, method } => {
            let of = place(net, &arg(0)?, |l| l.width() == lattice.width() && l.name() == lattice.name());
            let rest: Vec<String> = (1..args.len()).filter_map(arg).collect();
            format!("{of}.{}({})", lattice.methods().get(*method)?.name, rest.join(", "))
        }
    })
}

/// The lattice value that starts at a word, as the model names it: `pool`, `caches[2]`, `pair.left`.
fn place(net: &Network, at: &str, is_it: impl Fn(&dyn Lattice) -> bool) -> String {
    let find = || {
        let word: usize = at.parse().ok()?;
        let var = net.lattices.iter().find(|l| (l.offset..l.offset + l.lattice.width()).contains(&word))?;
        let (mut name, mut rest, mut lattice) = (var.name.clone(), word - var.offset, var.lattice.clone());
        while rest > 0 || !is_it(&*lattice) {
            let inner = match lattice.shape() {
                Shape::Vector(_, entry) => {
                    name.push_str(&format!("[{}]", rest / entry.width()));
                    rest %= entry.width();
                    entry.clone()
                }
                Shape::Fields(fields) => {
                    let (field, start, part) = fields.iter().rfind(|(_, start, _)| *start <= rest)?;
                    name.push_str(&format!(".{field}"));
                    rest -= start;
                    part.clone()
                }
                Shape::Leaf | Shape::Bits(_) => return None,
            };
            lattice = inner;
        }
        Some(name)
    };
    find().unwrap_or_else(|| format!("lattice({at})"))
}
