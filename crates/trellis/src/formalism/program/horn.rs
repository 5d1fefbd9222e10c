//! An automaton as constrained Horn clauses, for other tools: `trellis convert FILE --to horn`.
//!
//! Each location of the automaton of large blocks is a predicate over the variables; the initial one holds of everything, a block leads
//! from one to the next, an error location is `false`. The clauses can be satisfied if and only if no error can be reached. Words are
//! bit-vectors, arrays are arrays; a clause is closed, what its formula shares is in `let`s.

use std::fmt::Write;

use trellis_expr::ssa::Unrolling;
use trellis_expr::{Term, TermId, Terms, VarId};
use trellis_model::cfa::{Cfa, LocationId, lbe};
use trellis_smt::smtlib::Writer;

/// The clauses as an SMT-LIB script; or what of the automaton cannot be said.
pub fn clauses(cfa: &Cfa) -> Result<String, String> {
    let mut large = lbe::encode(cfa).cfa;
    let variables = large.variables.clone();
    let mut out = String::from("(set-logic HORN)\n");
    let yes = large.terms.bool(true);
    let first = Clause::new(&mut large.terms, yes, &variables)?;
    let sorts: Vec<&str> = first.declared.iter().map(|(_, sort)| sort.as_str()).collect();
    for l in large.locations() {
        if !large.is_error(l) {
            _ = writeln!(out, "(declare-fun {} ({}) Bool)", name(l), sorts.join(" "));
        }
    }
    out.push_str(&first.text(&[], &applied(large.initial, &first.names(&variables))));
    let mut unrolling = Unrolling::new();
    for e in large.edges() {
        let (from, to, stmt) = (large.edge(e).from, large.edge(e).to, large.edge(e).stmt);
        unrolling.restart();
        let step = unrolling.step(&mut large.terms, stmt).map_err(|what| what.to_string())?;
        let after: Vec<VarId> = variables.iter().map(|&v| unrolling.version(v, 1)).collect();
        let mentioned: Vec<VarId> = variables.iter().chain(&after).copied().collect();
        let clause = Clause::new(&mut large.terms, step, &mentioned)?;
        let head = if large.is_error(to) { "false".into() } else { applied(to, &clause.names(&after)) };
        out.push_str(&clause.text(&[applied(from, &clause.names(&variables))], &head));
    }
    out.push_str("(check-sat)\n");
    Ok(out)
}

fn name(l: LocationId) -> String {
    format!("location!{}", l.0)
}

fn applied(l: LocationId, arguments: &[String]) -> String {
    if arguments.is_empty() { name(l) } else { format!("({} {})", name(l), arguments.join(" ")) }
}

/// A formula, ready to be closed.
struct Clause {
    writer: Writer,
    /// Names with their sorts.
    declared: Vec<(String, String)>,
    /// What is shared: names with what they stand for.
    shared: Vec<(String, String)>,
    parts: Vec<String>,
}

impl Clause {
    /// A formula, with all these variables whether it mentions them or not.
    fn new(terms: &mut Terms, formula: TermId, variables: &[VarId]) -> Result<Clause, String> {
        let mut writer = Writer::new();
        let mut commands = String::new();
        // The order of the first clause is that of the predicates' arguments.
        for &v in variables {
            let var = terms.var(v);
            let same = terms.intern(Term::Eq(var, var));
            commands.push_str(&writer.assert(terms, same)?);
        }
        commands.push_str(&writer.assert(terms, formula)?);
        let (mut declared, mut shared, mut parts) = (vec![], vec![], vec![]);
        for command in commands.lines() {
            let inside = |start: &str| command.strip_prefix(start).and_then(|c| c.strip_suffix(')'));
            if let Some(rest) = inside("(declare-const ") {
                let (name, sort) = cut(rest);
                declared.push((name.to_string(), sort.to_string()));
            } else if let Some(rest) = inside("(define-fun ") {
                let (name, rest) = cut(rest);
                let (_, body) = cut(rest.strip_prefix("() ").unwrap_or(rest));
                shared.push((name.to_string(), body.to_string()));
            } else if let Some(part) = inside("(assert ") {
                parts.push(part.to_string());
            }
        }
        Ok(Clause { writer, declared, shared, parts })
    }

    fn names(&self, variables: &[VarId]) -> Vec<String> {
        variables.iter().map(|&v| self.writer.variable(v).expect("it was mentioned").to_string()).collect()
    }

    fn text(&self, more: &[String], head: &str) -> String {
        let mut out = String::from("(assert ");
        if !self.declared.is_empty() {
            let all: Vec<String> = self.declared.iter().map(|(name, sort)| format!("({name} {sort})")).collect();
            _ = write!(out, "(forall ({}) ", all.join(" "));
        }
        for (name, body) in &self.shared {
            _ = write!(out, "(let (({name} {body})) ");
        }
        let parts: Vec<&str> = more.iter().chain(&self.parts).map(String::as_str).collect();
        _ = write!(out, "(=> (and true {}) {head})", parts.join(" "));
        let open = self.shared.len() + usize::from(!self.declared.is_empty());
        out.extend(std::iter::repeat_n(')', open + 1));
        out.push('\n');
        out
    }
}

/// The first symbol or s-expression, and the rest.
fn cut(text: &str) -> (&str, &str) {
    let (mut depth, mut quoted) = (0, false);
    for (i, c) in text.char_indices() {
        match c {
            '|' => quoted = !quoted,
            '(' if !quoted => depth += 1,
            ')' if !quoted => depth -= 1,
            ' ' if depth == 0 && !quoted => return (&text[..i], text[i + 1..].trim_start()),
            _ => {}
        }
    }
    (text, "")
}
