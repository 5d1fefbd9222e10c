//! The ways through the statement of an edge: all of them where they are few, and otherwise as far as something is left open that a person
//! can decide.
//!
//! A statement is run by the reference interpreter, from its beginning each time; what has been decided so far is said again. That is slow
//! and simple, as everything here may be: a person waits for it, and no search.

use trellis_expr::eval::Valuation;
use trellis_expr::{Stmt, StmtId, TermId, Terms, Type, Value, VarId};
use trellis_model::cfa::interpret::{Choice, Oracle, State, Step as Taken, has_type, run, zero_of};
use trellis_model::cfa::{Cfa, EdgeId};

/// Of a variable with at most so many values each is offered as a way of its own.
const FEW: usize = 16;
/// So many ways are worth listing; where there are more, what is left open is decided one by one.
const MAX_WAYS: usize = 64;
/// So often a statement is run to find its ways.
const MAX_RUNS: usize = 4096;
/// So many constants of the text are offered as values.
const MAX_CONSTANTS: usize = 8;
/// So many edges are looked at for them.
const MAX_EDGES: usize = 40;

/// A step that has begun: an edge, and what has been decided on it so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Begun {
    pub edge: EdgeId,
    pub choices: Vec<Choice>,
}

/// What is to be decided next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Open {
    /// The value of a variable.
    Value(VarId),
    /// One of so many branches.
    Branch(usize),
}

/// One way: to its end, or to where something is left open.
#[derive(Debug, Clone)]
pub(super) enum Way {
    Done(Taken),
    Begun(Begun, Open),
}

/// Says again what has been decided, and then stops.
struct Asker<'a> {
    said: &'a [Choice],
    open: Option<Open>,
}

impl Oracle for Asker<'_> {
    fn havoc(&mut self, terms: &Terms, v: VarId) -> Option<Value> {
        match self.said.split_first() {
            Some((Choice::Value(value), rest)) if has_type(terms, value, terms.variable(v).ty) => {
                self.said = rest;
                Some(value.clone())
            }
            Some(_) => None,
            None => {
                self.open = Some(Open::Value(v));
                None
            }
        }
    }

    fn choose(&mut self, branches: usize) -> Option<usize> {
        match self.said.split_first() {
            Some((Choice::Branch(n), rest)) if *n < branches => {
                self.said = rest;
                Some(*n)
            }
            Some(_) => None,
            None => {
                self.open = Some(Open::Branch(branches));
                None
            }
        }
    }
}

/// What is decided here, and what by a person.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    /// Everything that has few values.
    Values,
    /// Only branches.
    Branches,
    /// Nothing.
    Nothing,
}

struct Search<'c> {
    cfa: &'c Cfa,
    env: &'c Valuation,
    depth: Depth,
    runs: usize,
    found: Vec<Way>,
}

impl Search<'_> {
    /// Answers whether there was no need to give up.
    fn all(&mut self, begun: Begun) -> bool {
        self.runs += 1;
        if self.runs > MAX_RUNS || self.found.len() > MAX_WAYS {
            return false;
        }
        let terms = &self.cfa.terms;
        let mut after = self.env.clone();
        let mut asker = Asker { said: &begun.choices, open: None };
        if run(terms, self.cfa.edge(begun.edge).stmt, &mut after, &mut asker) {
            let same = |w: &Way| matches!(w, Way::Done(t) if t.edge == begun.edge && t.after == after);
            // Two ways to the same end are one for whoever looks at it.
            if !self.found.iter().any(same) {
                self.found.push(Way::Done(Taken { edge: begun.edge, choices: begun.choices, after }));
            }
            return true;
        }
        let Some(open) = asker.open else { return true };
        let next: Option<Vec<Choice>> = match open {
            Open::Value(v) if self.depth == Depth::Values => {
                let values = Value::all(terms, terms.variable(v).ty, FEW);
                values.map(|all| all.into_iter().map(Choice::Value).collect())
            }
            Open::Branch(n) if self.depth != Depth::Nothing => Some((0..n).map(Choice::Branch).collect()),
            _ => None,
        };
        let Some(next) = next else {
            self.found.push(Way::Begun(begun, open));
            return true;
        };
        next.into_iter().all(|choice| self.all(begun.with(choice)))
    }
}

impl Begun {
    pub fn new(edge: EdgeId) -> Begun {
        Begun { edge, choices: vec![] }
    }

    pub fn with(&self, choice: Choice) -> Begun {
        let mut choices = self.choices.clone();
        choices.push(choice);
        Begun { edge: self.edge, choices }
    }
}

/// The ways on from some steps that have begun.
pub(super) fn ways(cfa: &Cfa, env: &Valuation, begun: &[Begun]) -> Vec<Way> {
    let mut found = vec![];
    for depth in [Depth::Values, Depth::Branches, Depth::Nothing] {
        let mut search = Search { cfa, env, depth, runs: 0, found: vec![] };
        let done = begun.iter().all(|b| search.all(b.clone()));
        found = search.found;
        if done {
            break;
        }
    }
    found
}

/// The ways on from a state; none from an error.
pub(super) fn from(cfa: &Cfa, state: &State) -> Vec<Way> {
    if cfa.is_error(state.location) {
        return vec![];
    }
    let edges: Vec<Begun> = cfa.outgoing(state.location).iter().map(|&e| Begun::new(e)).collect();
    ways(cfa, &state.env, &edges)
}

/// Some values that a variable may get where a step has begun: all if they are few, otherwise 0, 1, -1 and constants of what comes next. Only
/// such as do not block the step.
pub(super) fn candidates(cfa: &Cfa, env: &Valuation, begun: &Begun, v: VarId) -> Vec<Value> {
    let terms = &cfa.terms;
    let ty = terms.variable(v).ty;
    let mut all = Value::all(terms, ty, FEW).unwrap_or_else(|| {
        let mut all = vec![zero_of(terms, ty)];
        all.extend([1, -1].iter().filter_map(|n| number(terms, ty, &i64::to_string(n))));
        let near = constants(cfa, begun.edge);
        all.extend(near.iter().filter_map(|c| number(terms, ty, &c.number().to_string())));
        all
    });
    let mut seen: Vec<Value> = vec![];
    all.retain(|value| {
        let new = !seen.contains(value);
        seen.push(value.clone());
        new && !ways(cfa, env, &[begun.with(Choice::Value(value.clone()))]).is_empty()
    });
    all
}

/// Numbers that occur on an edge and on those that follow.
fn constants(cfa: &Cfa, edge: EdgeId) -> Vec<Value> {
    let mut edges = vec![edge];
    let mut at = 0;
    while at < edges.len() && edges.len() < MAX_EDGES {
        let next = cfa.outgoing(cfa.edge(edges[at]).to);
        for e in next {
            if !edges.contains(e) {
                edges.push(*e);
            }
        }
        at += 1;
    }
    let mut found: Vec<Value> = vec![];
    for e in edges {
        let mut roots = vec![];
        terms_of(&cfa.terms, cfa.edge(e).stmt, &mut roots);
        let values = cfa.terms.subterms(roots).into_iter().filter_map(|t| cfa.terms.as_value(t));
        for value in values.filter(|v| matches!(v, Value::Int(_) | Value::Bits { .. })) {
            if found.len() < MAX_CONSTANTS && found.iter().all(|f| f.number() != value.number()) {
                found.push(value);
            }
        }
    }
    found
}

fn terms_of(terms: &Terms, s: StmtId, out: &mut Vec<TermId>) {
    match terms.stmt(s) {
        Stmt::Skip | Stmt::Havoc(_) => {}
        Stmt::Assume(t) | Stmt::Assign(_, t) => out.push(*t),
        Stmt::Seq(all) | Stmt::Choice(all) => all.iter().for_each(|&s| terms_of(terms, s, out)),
        Stmt::If(c, a, b) => {
            out.push(*c);
            terms_of(terms, *a, out);
            terms_of(terms, *b, out);
        }
        Stmt::While(c, body) => {
            out.push(*c);
            terms_of(terms, *body, out);
        }
        Stmt::Foreign(_, args) => out.extend(args.iter()),
    }
}

/// A value of a type as a person types it: `5`, `-1`, `true`, the name of a literal. Nothing if it is none.
pub(super) fn parse(terms: &Terms, ty: Type, text: &str) -> Option<Value> {
    match (ty, text) {
        (Type::Bool, "true") => Some(Value::Bool(true)),
        (Type::Bool, "false") => Some(Value::Bool(false)),
        (Type::Enum(e), name) => {
            let at = terms.enumeration(e).literals.iter().position(|l| l == name)?;
            Some(Value::Enum(e, at as u32))
        }
        (ty, digits) => number(terms, ty, digits),
    }
}

fn number(terms: &Terms, ty: Type, digits: &str) -> Option<Value> {
    let n = digits.parse().ok()?;
    let value = match ty {
        Type::Bits { width, signed } => Value::wrap(width, signed, &n),
        Type::Int | Type::Range(..) => Value::Int(n.clone()),
        Type::Bool => Value::Bool(i64::try_from(&n).ok()? != 0),
        Type::Enum(_) | Type::Array(..) => return None,
    };
    (value.number() == n && has_type(terms, &value, ty)).then_some(value)
}
