//! Witnesses for the validators of SV-COMP, format 2.0 (Ayaziová, Beyer, Lingsch-Rosenfeld, Spiessl, Strejček: *Software Verification
//! Witnesses 2.0*, SPIN 2024), as YAML.
//!
//! A violation is a sequence of waypoints: what each call of `__VERIFIER_nondet_…` returned (`function_return`, in the order of the
//! run), what variables without an initial value held (`assumption`, before the next statement), and the call that must not be
//! made (`target`). A proof is a set of invariants of loops, as C expressions over the variables in scope there.
//!
//! A witness may say less than we know, but nothing wrong. So what cannot be said in C, or not at that place, is left out and counted:
//! two such calls in one line, temporaries, arrays, shadowed names, invariants elsewhere than at `while` and `for`.

mod expression;
mod source;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use trellis_expr::{Stmt, StmtId, Term, TermId, Terms, Value, VarId};
use trellis_model::cfa::evidence::{Certificate, Trace};
use trellis_model::cfa::{Cfa, LocationId, Place};

use super::{Program, full_names, is_hidden, picked};
use expression::{expression, literal};
use source::{Outline, Position, Scope};

/// What a witness is about, and who made it when.
#[derive(Debug, Clone)]
pub struct Task {
    /// The program's file, as it was named.
    pub file: String,
    /// Its SHA-256, in hexadecimal.
    pub hash: String,
    /// `ILP32` or `LP64`.
    pub data_model: String,
    /// The property, as SV-COMP's files have it.
    pub specification: String,
    /// The version of Trellis.
    pub version: String,
    /// An identifier (RFC 4122).
    pub uuid: String,
    /// When it was made (ISO 8601).
    pub time: String,
}

/// A witness.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Witness {
    /// The YAML.
    pub text: String,
    /// How many facts were left out.
    pub left_out: usize,
}

/// The witness that a program is unsafe.
pub fn violation(p: &Program<'_>, trace: &Trace, task: &Task) -> Witness {
    let known = Known::new(p);
    let mut w = Waypoints { known: &known, task, text: String::new(), left_out: 0, pending: Vec::new(), line: 0 };
    let mut before = &trace.start;
    for step in &trace.steps {
        let edge = p.cfa.edge(step.edge);
        if let Some(place) = edge.place.filter(|p| p.file == 0) {
            w.assumptions(place, before);
            for (v, value) in picked(p.cfa, before, step.edge, &step.choices) {
                w.pick(place, v, &value);
            }
        }
        before = &step.after;
    }
    w.left_out += w.pending.len();
    if let Some(place) = trace.steps.last().and_then(|s| p.cfa.edge(s.edge).place).filter(|p| p.file == 0) {
        let at = (place.line, place.column);
        w.waypoint("target", (place.line, known.target(at)), None);
    }
    let content = if w.text.is_empty() { " []\n".to_string() } else { format!("\n{}", w.text) };
    Witness { text: format!("{}  content:{content}", metadata("violation_sequence", task)), left_out: w.left_out }
}

/// The witness that a program is safe.
pub fn correctness(p: &Program<'_>, c: &Certificate, task: &Task) -> Witness {
    let known = Known::new(p);
    let mut left_out = 0;
    // Several locations are the same place where a function is inlined: what holds there is what holds at one of them.
    let mut loops: BTreeMap<Position, Vec<TermId>> = BTreeMap::new();
    for (l, elements) in &c.invariant {
        let trivial = elements.iter().any(|&e| c.terms.as_bool(e) == Some(true));
        match known.loop_at(*l) {
            Some(at) => loops.entry(at).or_default().extend(elements),
            None => left_out += usize::from(!trivial),
        }
    }
    let mut text = String::new();
    for (at, elements) in loops {
        let mut parts: Vec<BTreeSet<String>> = Vec::new();
        for e in elements {
            let (said, lost) = known.element(&c.terms, e, at);
            left_out += lost;
            // What says more than another adds nothing.
            if !parts.iter().any(|p| p.is_subset(&said)) {
                parts.retain(|p| !said.is_subset(p));
                parts.push(said);
            }
        }
        if parts.iter().any(BTreeSet::is_empty) {
            continue;
        }
        let all = |p: &BTreeSet<String>| p.iter().map(String::as_str).collect::<Vec<_>>().join(" && ");
        let value = match &parts[..] {
            [one] => all(one),
            many => many.iter().map(|p| format!("({})", all(p))).collect::<Vec<_>>().join(" || "),
        };
        let _ = writeln!(text, "  - invariant:\n      type: \"loop_invariant\"\n      location:");
        location(&mut text, 8, task, (at.0, Some(at.1)), known.outline.function(at).map(|f| f.name.as_str()));
        let _ = writeln!(text, "      value: {}\n      format: \"c_expression\"", quote(&value));
    }
    let content = if text.is_empty() { " []\n".to_string() } else { format!("\n{text}") };
    Witness { text: format!("{}  content:{content}", metadata("invariant_set", task)), left_out }
}

/// What is known of the program's text.
struct Known<'p> {
    cfa: &'p Cfa,
    lines: &'p [&'p str],
    outline: Outline,
    names: Vec<String>,
    /// Where each variable is first written, by position in [`Cfa::variables`]: its declaration, unless it is a parameter.
    first: Vec<Option<Position>>,
}

impl<'p> Known<'p> {
    fn new(p: &'p Program<'_>) -> Known<'p> {
        let cfa = p.cfa;
        let lines: &[&str] = p.lines.first().and_then(Option::as_deref).unwrap_or_default();
        let outline = Outline::new(&lines.join("\n"));
        let names = full_names(cfa);
        let mut first: BTreeMap<VarId, Position> = BTreeMap::new();
        for e in cfa.edges() {
            let edge = cfa.edge(e);
            let Some(place) = edge.place.filter(|p| p.file == 0) else { continue };
            let at = (place.line, place.column);
            let mut written = Vec::new();
            writes(&cfa.terms, edge.stmt, &mut written);
            for v in written {
                let owner = cfa.terms.variable(v).name.split_once("::").map(|(f, _)| f);
                // What a call hands over is written where the call is.
                let inside = owner.is_none() || outline.function(at).is_some_and(|f| Some(f.name.as_str()) == owner);
                if inside && first.get(&v).is_none_or(|old| at < *old) {
                    first.insert(v, at);
                }
            }
        }
        let first = cfa.variables.iter().map(|v| first.get(v).copied()).collect();
        Known { cfa, lines, outline, names, first }
    }

    fn line(&self, n: u32) -> &'p str {
        (n as usize).checked_sub(1).and_then(|n| self.lines.get(n)).copied().unwrap_or_default()
    }

    /// The text from a place to the end of its line.
    fn from(&self, (line, column): Position) -> &'p str {
        let text = self.line(line);
        text.char_indices().nth((column as usize).saturating_sub(1)).map_or("", |(at, _)| &text[at..])
    }

    /// What the program calls a variable at a place, if that is certain.
    fn name(&self, v: VarId, at: Position) -> Option<String> {
        let i = self.cfa.variables.iter().position(|x| *x == v)?;
        let full = &self.names[i];
        // Members would need to know what hides the structure, and addresses (`p@`) are numbers of ours.
        if is_hidden(full) || full.contains(['#', '.', '@']) {
            return None;
        }
        let here = &self.outline.function(at)?.name;
        let local = |name: &str| format!("{here}::{name}");
        let Some((function, name)) = full.split_once("::") else {
            // A local variable of that name may hide it.
            return (!self.names.contains(&local(full))).then(|| full.clone());
        };
        let twice = |n: &String| n.strip_prefix(full.as_str()).is_some_and(|rest| rest.starts_with('#'));
        if function != here || name == "return" || self.names.iter().any(twice) {
            return None;
        }
        let visible = match self.first[i] {
            None => true,
            Some(first) => self.outline.scope(first).is_some_and(|s: Scope| s.contains(at) && (s.is_for || first < at)),
        };
        visible.then(|| name.to_string())
    }

    /// The column where a line starts, if that is certainly the start of a statement, and one that is not come to again.
    fn statement(&self, line: u32) -> Option<u32> {
        let text = self.line(line);
        let (start, before) =
            (text.trim_start(), (1..line).rev().map(|n| self.line(n).trim()).find(|l| !l.is_empty())?);
        let word = &start[..start.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(start.len())];
        let starts = !word.is_empty() && !matches!(word, "else" | "case" | "default" | "while" | "for" | "do");
        let label = start[word.len()..].trim_start().starts_with(':');
        (starts && !label && before.ends_with([';', '{', '}']))
            .then(|| (text.chars().count() - start.chars().count()) as u32 + 1)
    }

    /// The column of the call that must not be made, if it is there; of an assertion, we know where its condition is.
    fn target(&self, at: Position) -> Option<u32> {
        let text = self.from(at);
        if ["reach_error", "__VERIFIER_error", "__assert_fail"].iter().any(|f| text.starts_with(f)) {
            return Some(at.1);
        }
        let line = self.line(at.0);
        let before = &line[..line.len() - text.len()];
        let call = before.trim_end().strip_suffix('(')?.trim_end();
        let start = call.rfind(|c: char| !c.is_alphanumeric() && c != '_').map_or(0, |at| at + 1);
        call[start..].contains("assert").then(|| call[..start].chars().count() as u32 + 1)
    }

    /// Where the loop is whose head this location is, if it is one of a `while` or a `for`.
    fn loop_at(&self, l: LocationId) -> Option<Position> {
        let Place { file, line, column } = self.cfa.location(l).place?;
        let at = (line, column);
        let word = |w: &str| {
            let rest = self.from(at).strip_prefix(w)?;
            (!rest.starts_with(|c: char| c.is_alphanumeric() || c == '_')).then_some(())
        };
        (file == 0 && (word("while").is_some() || word("for").is_some()) && self.is_head(l)).then_some(at)
    }

    /// Is it the head of a loop: does some edge lead back to it from where nobody comes but through it?
    fn is_head(&self, l: LocationId) -> bool {
        let mut seen = vec![false; self.cfa.locations().len()];
        let mut todo = vec![self.cfa.initial];
        while let Some(at) = todo.pop() {
            if at != l && !std::mem::replace(&mut seen[at.index()], true) {
                todo.extend(self.cfa.outgoing(at).iter().map(|&e| self.cfa.edge(e).to));
            }
        }
        let connected = self.cfa.connected();
        let from = |e| self.cfa.edge(e).from;
        self.cfa.incoming(l).iter().map(|&e| from(e)).any(|u| u == l || (connected[u.index()] && !seen[u.index()]))
    }

    /// What can be said of an element of an invariant; and how many parts of it cannot.
    fn element(&self, terms: &Terms, e: TermId, at: Position) -> (BTreeSet<String>, usize) {
        let parts = match terms.get(e) {
            Term::And(parts) => parts.to_vec(),
            Term::Bool(true) => vec![],
            _ => vec![e],
        };
        let name = |v| self.name(v, at);
        let said: Vec<String> = parts.iter().filter_map(|&t| expression(terms, t, &name)).collect();
        let lost = parts.len() - said.len();
        (said.into_iter().collect(), lost)
    }
}

/// The variables that a statement may write.
fn writes(terms: &Terms, s: StmtId, out: &mut Vec<VarId>) {
    match *terms.stmt(s) {
        Stmt::Assign(v, _) | Stmt::Havoc(v) => out.push(v),
        Stmt::Seq(ref parts) | Stmt::Choice(ref parts) => parts.iter().for_each(|&p| writes(terms, p, out)),
        Stmt::If(_, a, b) => [a, b].into_iter().for_each(|s| writes(terms, s, out)),
        Stmt::While(_, body) => writes(terms, body, out),
        _ => {}
    }
}

/// A violation, as far as it is written.
struct Waypoints<'a, 'p> {
    known: &'a Known<'p>,
    task: &'a Task,
    text: String,
    left_out: usize,
    /// What variables without an initial value hold, from a line on.
    pending: Vec<(VarId, Value, u32)>,
    /// The line where the run is.
    line: u32,
}

impl Waypoints<'_, '_> {
    /// A value that was picked: what a call returned, or what a variable happened to hold.
    fn pick(&mut self, place: Place, v: VarId, value: &Value) {
        let line = self.known.line(place.line);
        let calls: Vec<usize> = line.match_indices("__VERIFIER_nondet_").map(|(at, _)| at).collect();
        match (&calls[..], literal(value)) {
            (&[at], Some(_)) => match line[at..].find(')') {
                Some(end) => {
                    let column = line[..at + end].chars().count() as u32 + 1;
                    // ACSL has mathematical integers.
                    let value = format!("\\result == {}", value.number());
                    let at = (place.line, Some(column));
                    self.waypoint("function_return", at, Some((&value, "acsl_expression")));
                }
                None => self.left_out += 1,
            },
            ([], Some(_)) => {
                self.pending.retain(|p| p.0 != v);
                self.pending.push((v, value.clone(), place.line));
            }
            _ => self.left_out += 1,
        }
    }

    /// Says what is pending before a statement, if one starts with the line that the run has just come to.
    fn assumptions(&mut self, place: Place, env: &trellis_expr::eval::Valuation) {
        let came = std::mem::replace(&mut self.line, place.line) != place.line;
        let Some(column) = self.known.statement(place.line).filter(|_| came && !self.pending.is_empty()) else {
            return;
        };
        let at = (place.line, column);
        let mut parts = Vec::new();
        self.pending.retain(|(v, value, since)| {
            let name = self.known.name(*v, at).filter(|_| *since < place.line && env.get(v) == Some(value));
            let part = name.zip(literal(value)).map(|(name, value)| format!("{name} == {value}"));
            parts.extend(part.clone());
            part.is_none()
        });
        if !parts.is_empty() {
            self.waypoint("assumption", (at.0, Some(at.1)), Some((&parts.join(" && "), "c_expression")));
        }
    }

    fn waypoint(&mut self, kind: &str, at: (u32, Option<u32>), constraint: Option<(&str, &str)>) {
        let _ = writeln!(self.text, "  - segment:\n    - waypoint:\n        type: {}", quote(kind));
        let _ = writeln!(self.text, "        action: \"follow\"");
        if let Some((value, format)) = constraint {
            let (value, format) = (quote(value), quote(format));
            let _ = writeln!(self.text, "        constraint:\n          value: {value}\n          format: {format}");
        }
        self.text.push_str("        location:\n");
        let function = self.known.outline.function((at.0, at.1.unwrap_or(1))).map(|f| f.name.clone());
        location(&mut self.text, 10, self.task, at, function.as_deref());
    }
}

/// Without a column, the first fitting place in the line is meant.
fn location(out: &mut String, indent: usize, task: &Task, (line, column): (u32, Option<u32>), function: Option<&str>) {
    let _ = writeln!(out, "{:indent$}file_name: {}\n{:indent$}line: {line}", "", quote(&task.file), "");
    if let Some(column) = column {
        let _ = writeln!(out, "{:indent$}column: {column}", "");
    }
    if let Some(name) = function {
        let _ = writeln!(out, "{:indent$}function: {}", "", quote(name));
    }
}

fn metadata(kind: &str, task: &Task) -> String {
    let file = quote(&task.file);
    format!(
        "- entry_type: {}\n  metadata:\n    format_version: \"2.0\"\n    uuid: {}\n    creation_time: {}\n    producer:\n      \
         name: \"Trellis\"\n      version: {}\n    task:\n      input_files:\n      - {file}\n      input_file_hashes:\n        \
         {file}: {}\n      specification: {}\n      data_model: {}\n      \
         language: \"C\"\n",
        quote(kind),
        quote(&task.uuid),
        quote(&task.time),
        quote(&task.version),
        quote(&task.hash),
        quote(&task.specification),
        quote(&task.data_model),
    )
}

/// A text between double quotes, as YAML has it.
fn quote(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if c.is_control() => _ = write!(out, "\\u{:04x}", c as u32),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
