//! The reference meaning of control-flow automata: explicit, slow, plain.
//!
//! Where values are few, [`successors`] enumerates all that can happen. Where they are not, an [`Oracle`] decides: it is asked
//! for a value at every `havoc` and for a branch at every choice, in the order in which a run meets them. What it answered, kept
//! in a [`Step`], makes the run repeatable: [`replay`] checks a trace step by step.
//!
//! A fault blocks, as the module above says; so does a loop inside a statement that runs for too long.

use std::cmp::Ordering;
use std::fmt;

use trellis_expr::code::NoHost;
use trellis_expr::eval::{Valuation, eval};
use trellis_expr::value::ArrayValue;
use trellis_expr::{Fault, Stmt, StmtId, Terms, Type, Value, VarId};

use super::{Cfa, EdgeId, LocationId};

/// How many iterations of loops inside one statement are allowed.
const MAX_ITERATIONS: usize = 100_000;

/// Where a run is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    /// The location.
    pub location: LocationId,
    /// The variables.
    pub env: Valuation,
}

/// Decides what the automaton leaves open. To answer nothing is to give up the run.
pub trait Oracle {
    /// The new value of a variable.
    fn havoc(&mut self, terms: &Terms, v: VarId) -> Option<Value>;
    /// Which of so many branches.
    fn choose(&mut self, branches: usize) -> Option<usize>;
}

/// What was left open, and decided so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// The value that a `havoc` gave.
    Value(Value),
    /// The branch of a choice.
    Branch(usize),
}

/// One step of a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The edge taken.
    pub edge: EdgeId,
    /// What was decided on the way through its statement.
    pub choices: Vec<Choice>,
    /// The values after it.
    pub after: Valuation,
}

/// A run: where it starts, and how it goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// The values at the start, in the initial location.
    pub start: Valuation,
    /// The steps.
    pub steps: Vec<Step>,
}

/// An oracle that says again what was recorded.
#[derive(Debug)]
pub struct Script<'a> {
    choices: &'a [Choice],
}

impl<'a> Script<'a> {
    /// Says these, one by one.
    pub fn new(choices: &'a [Choice]) -> Script<'a> {
        Script { choices }
    }

    /// Has everything been said?
    pub fn is_over(&self) -> bool {
        self.choices.is_empty()
    }
}

impl Oracle for Script<'_> {
    fn havoc(&mut self, terms: &Terms, v: VarId) -> Option<Value> {
        let (first, rest) = self.choices.split_first()?;
        self.choices = rest;
        match first {
            Choice::Value(value) if has_type(terms, value, terms.variable(v).ty) => Some(value.clone()),
            _ => None,
        }
    }

    fn choose(&mut self, branches: usize) -> Option<usize> {
        let (first, rest) = self.choices.split_first()?;
        self.choices = rest;
        match *first {
            Choice::Branch(n) if n < branches => Some(n),
            _ => None,
        }
    }
}

/// An oracle that remembers what another one says.
#[derive(Debug)]
pub struct Recorder<'a, O: ?Sized> {
    oracle: &'a mut O,
    /// What was said.
    pub choices: Vec<Choice>,
}

impl<'a, O: Oracle + ?Sized> Recorder<'a, O> {
    /// Remembers nothing yet.
    pub fn new(oracle: &'a mut O) -> Recorder<'a, O> {
        Recorder { oracle, choices: vec![] }
    }
}

impl<O: Oracle + ?Sized> Oracle for Recorder<'_, O> {
    fn havoc(&mut self, terms: &Terms, v: VarId) -> Option<Value> {
        let value = self.oracle.havoc(terms, v)?;
        self.choices.push(Choice::Value(value.clone()));
        Some(value)
    }

    fn choose(&mut self, branches: usize) -> Option<usize> {
        let n = self.oracle.choose(branches)?;
        self.choices.push(Choice::Branch(n));
        Some(n)
    }
}

/// Runs a statement in place. `false`: the way the oracle chose is blocked (by an assumption, a fault, or the oracle), and the
/// values are those at that point.
pub fn run(terms: &Terms, s: StmtId, env: &mut Valuation, oracle: &mut dyn Oracle) -> bool {
    let holds = |t, env: &Valuation| eval(terms, t, env, &mut NoHost).ok().and_then(|v| v.as_bool());
    match *terms.stmt(s) {
        Stmt::Skip => true,
        Stmt::Assume(t) => holds(t, env) == Some(true),
        Stmt::Assign(v, t) => match eval(terms, t, env, &mut NoHost) {
            Ok(value) if has_type(terms, &value, terms.variable(v).ty) => {
                env.insert(v, value);
                true
            }
            _ => false,
        },
        Stmt::Havoc(v) => match oracle.havoc(terms, v) {
            Some(value) => {
                env.insert(v, value);
                true
            }
            None => false,
        },
        Stmt::Seq(ref parts) => parts.iter().all(|&p| run(terms, p, env, oracle)),
        Stmt::Choice(ref parts) => match oracle.choose(parts.len()) {
            Some(n) if n < parts.len() => run(terms, parts[n], env, oracle),
            _ => false,
        },
        Stmt::If(c, a, b) => match holds(c, env) {
            Some(c) => run(terms, if c { a } else { b }, env, oracle),
            None => false,
        },
        Stmt::While(c, body) => {
            for _ in 0..MAX_ITERATIONS {
                match holds(c, env) {
                    Some(true) if run(terms, body, env, oracle) => {}
                    Some(false) => return true,
                    _ => return false,
                }
            }
            false
        }
        // No front end of automata has foreign procedures.
        Stmt::Foreign(..) => false,
    }
}

/// Too many values to enumerate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("there are more than {0} outcomes")]
pub struct TooMany(pub usize);

/// Why the outcomes of a statement are not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unclear {
    /// There are too many, or loops run for too long.
    TooMany,
    /// A variable is read that has no value.
    NoValue,
}

/// All outcomes of a statement from any of some valuations, each once, if there are at most so many at any moment. Valuations may leave out
/// variables that the statement does not read. A variable that may have more values than that has none afterwards.
pub fn image(terms: &Terms, s: StmtId, mut from: Vec<Valuation>, limit: usize) -> Result<Vec<Valuation>, Unclear> {
    // A fault blocks.
    let value = |t, env: &Valuation| match eval(terms, t, env, &mut NoHost) {
        Ok(value) => Ok(Some(value)),
        Err(Fault::NoValue(_)) => Err(Unclear::NoValue),
        Err(_) => Ok(None),
    };
    let truth = |t, env: &Valuation| value(t, env).map(|v| v.and_then(|v| v.as_bool()));
    let once = |mut all: Vec<Valuation>| {
        all.sort_by(order);
        all.dedup();
        if all.len() > limit { Err(Unclear::TooMany) } else { Ok(all) }
    };
    match *terms.stmt(s) {
        Stmt::Skip => Ok(from),
        Stmt::Assume(t) => {
            let mut kept = vec![];
            for env in from {
                if truth(t, &env)? == Some(true) {
                    kept.push(env);
                }
            }
            Ok(kept)
        }
        Stmt::Assign(v, t) => {
            let mut kept = vec![];
            for mut env in from {
                if let Some(new) = value(t, &env)?
                    && has_type(terms, &new, terms.variable(v).ty)
                {
                    env.insert(v, new);
                    kept.push(env);
                }
            }
            once(kept)
        }
        Stmt::Havoc(v) => {
            let Some(values) = Value::all(terms, terms.variable(v).ty, limit) else {
                from.iter_mut().for_each(|env| _ = env.remove(&v));
                return once(from);
            };
            let mut all = vec![];
            for env in from {
                all.extend(values.iter().map(|new| {
                    let mut env = env.clone();
                    env.insert(v, new.clone());
                    env
                }));
                if all.len() > limit {
                    all = once(all)?;
                }
            }
            once(all)
        }
        Stmt::Seq(ref parts) => {
            for &p in parts.iter() {
                from = image(terms, p, from, limit)?;
            }
            Ok(from)
        }
        Stmt::Choice(ref parts) => {
            let mut all = vec![];
            for &p in parts.iter() {
                all.extend(image(terms, p, from.clone(), limit)?);
            }
            once(all)
        }
        Stmt::If(c, a, b) => {
            let (mut yes, mut no) = (vec![], vec![]);
            for env in from {
                match truth(c, &env)? {
                    Some(true) => yes.push(env),
                    Some(false) => no.push(env),
                    None => {}
                }
            }
            let mut all = image(terms, a, yes, limit)?;
            all.extend(image(terms, b, no, limit)?);
            once(all)
        }
        // A loop that does not end within bounds is not known not to end.
        Stmt::While(c, body) => {
            let mut done = vec![];
            for _ in 0..limit {
                let mut again = vec![];
                for env in from {
                    match truth(c, &env)? {
                        Some(true) => again.push(env),
                        Some(false) => done.push(env),
                        None => {}
                    }
                }
                if again.is_empty() {
                    return once(done);
                }
                from = image(terms, body, again, limit)?;
            }
            Err(Unclear::TooMany)
        }
        Stmt::Foreign(..) => Err(Unclear::TooMany),
    }
}

/// Some order of valuations of the same variables; arrays are compared by what they are written as.
fn order(a: &Valuation, b: &Valuation) -> Ordering {
    let word = |v: &Value| (v.to_word(), if let Value::Array(_) = v { format!("{v:?}") } else { String::new() });
    a.len().cmp(&b.len()).then_with(|| {
        let differ = a.iter().zip(b).find(|(x, y)| x != y);
        differ.map_or(Ordering::Equal, |((v, x), (w, y))| v.cmp(w).then_with(|| word(x).cmp(&word(y))))
    })
}

/// All outcomes of a statement, with repetitions, if there are at most so many at any moment.
pub fn outcomes(terms: &Terms, s: StmtId, env: &Valuation, limit: usize) -> Result<Vec<Valuation>, TooMany> {
    let mut out = vec![];
    // An odometer over what is picked: the choices so far, and out of how many.
    let mut odometer: Vec<(usize, usize)> = vec![];
    loop {
        let mut all = Enumerate { limit, at: 0, odometer: &mut odometer, too_many: false };
        let mut after = env.clone();
        let done = run(terms, s, &mut after, &mut all);
        if all.too_many || out.len() >= limit {
            return Err(TooMany(limit));
        }
        out.extend(done.then_some(after));
        while let Some((n, of)) = odometer.pop() {
            if n + 1 < of {
                odometer.push((n + 1, of));
                break;
            }
        }
        if odometer.is_empty() {
            return Ok(out);
        }
    }
}

struct Enumerate<'a> {
    limit: usize,
    at: usize,
    odometer: &'a mut Vec<(usize, usize)>,
    too_many: bool,
}

impl Enumerate<'_> {
    fn pick(&mut self, of: usize) -> Option<usize> {
        if of == 0 {
            return None;
        }
        if self.at == self.odometer.len() {
            self.odometer.push((0, of));
        }
        self.at += 1;
        Some(self.odometer[self.at - 1].0)
    }
}

impl Oracle for Enumerate<'_> {
    fn havoc(&mut self, terms: &Terms, v: VarId) -> Option<Value> {
        match Value::all(terms, terms.variable(v).ty, self.limit) {
            Some(mut values) => self.pick(values.len()).map(|n| values.swap_remove(n)),
            None => {
                self.too_many = true;
                None
            }
        }
    }

    fn choose(&mut self, branches: usize) -> Option<usize> {
        self.pick(branches)
    }
}

/// All states one edge away. An error location has none.
pub fn successors(cfa: &Cfa, state: &State, limit: usize) -> Result<Vec<(EdgeId, State)>, TooMany> {
    let mut all = vec![];
    if cfa.is_error(state.location) {
        return Ok(all);
    }
    for &e in cfa.outgoing(state.location) {
        let edge = cfa.edge(e);
        for env in outcomes(&cfa.terms, edge.stmt, &state.env, limit)? {
            all.push((e, State { location: edge.to, env }));
        }
        if all.len() > limit {
            return Err(TooMany(limit));
        }
    }
    Ok(all)
}

/// Goes on from a state for at most so many steps, or until no edge can be taken: in each location the first edge that the
/// oracle's answers let through. (Where the edges out of a location exclude each other, as in a program, that is *the* edge.)
pub fn walk(cfa: &Cfa, mut state: State, oracle: &mut dyn Oracle, steps: usize) -> (State, Vec<Step>) {
    let mut taken = vec![];
    'steps: while taken.len() < steps && !cfa.is_error(state.location) {
        for &e in cfa.outgoing(state.location) {
            let edge = cfa.edge(e);
            let mut env = state.env.clone();
            let mut recorder = Recorder::new(oracle);
            if run(&cfa.terms, edge.stmt, &mut env, &mut recorder) {
                taken.push(Step { edge: e, choices: recorder.choices, after: env.clone() });
                state = State { location: edge.to, env };
                continue 'steps;
            }
        }
        break;
    }
    (state, taken)
}

/// Why a trace is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// A variable has no value at the start, or one of another type.
    Start(VarId),
    /// The edge of this step does not leave the location where the run is.
    Elsewhere(usize),
    /// The statement of this step blocks.
    Blocked(usize),
    /// After this step the variable has another value than the trace says.
    Value(usize, VarId),
    /// The step says more than the statement asks.
    Unused(usize),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Error::Start(v) => write!(f, "at the start, variable {} has no value of its type", v.0),
            Error::Elsewhere(n) => write!(f, "step {}: the edge starts elsewhere", n + 1),
            Error::Blocked(n) => write!(f, "step {}: the statement blocks", n + 1),
            Error::Value(n, v) => write!(f, "after step {}, variable {} has another value", n + 1, v.0),
            Error::Unused(n) => write!(f, "step {}: the statement leaves less open than was decided", n + 1),
        }
    }
}

/// Checks a trace against the automaton; answers where it leads.
pub fn replay(cfa: &Cfa, trace: &Trace) -> Result<State, Error> {
    let terms = &cfa.terms;
    let mut state = State { location: cfa.initial, env: trace.start.clone() };
    let ill = |v: &&VarId| !state.env.get(*v).is_some_and(|value| has_type(terms, value, terms.variable(**v).ty));
    if let Some(&v) = cfa.variables.iter().find(ill) {
        return Err(Error::Start(v));
    }
    for (n, step) in trace.steps.iter().enumerate() {
        if step.edge.index() >= cfa.edges().len() || cfa.edge(step.edge).from != state.location {
            return Err(Error::Elsewhere(n));
        }
        let edge = cfa.edge(step.edge);
        let mut script = Script::new(&step.choices);
        if cfa.is_error(state.location) || !run(terms, edge.stmt, &mut state.env, &mut script) {
            return Err(Error::Blocked(n));
        }
        if !script.is_over() {
            return Err(Error::Unused(n));
        }
        if let Some(&v) = cfa.variables.iter().find(|v| state.env.get(v) != step.after.get(v)) {
            return Err(Error::Value(n, v));
        }
        state.location = edge.to;
    }
    Ok(state)
}

/// The valuation in which every variable is zero, false, or its first value.
pub fn zero(cfa: &Cfa) -> Valuation {
    cfa.variables.iter().map(|&v| (v, zero_of(&cfa.terms, cfa.terms.variable(v).ty))).collect()
}

/// Zero, false, the first literal, the nearest to zero in a range.
pub fn zero_of(terms: &Terms, ty: Type) -> Value {
    match ty {
        Type::Range(lo, hi) => Value::from_word(ty, 0.clamp(lo, hi)),
        Type::Array(index, entry) => {
            let entry = zero_of(terms, terms.type_of_id(entry));
            Value::Array(ArrayValue::new(terms, terms.type_of_id(index), entry))
        }
        ty => Value::from_word(ty, 0),
    }
}

/// Is it a value of the type?
pub fn has_type(terms: &Terms, value: &Value, ty: Type) -> bool {
    match (value, ty) {
        (Value::Bool(_), Type::Bool) | (Value::Int(_), Type::Int) => true,
        (Value::Int(n), Type::Range(lo, hi)) => *n >= lo.into() && *n <= hi.into(),
        (&Value::Enum(e, n), Type::Enum(of)) => e == of && (n as usize) < terms.enumeration(e).literals.len(),
        (&Value::Bits { width, signed, .. }, Type::Bits { width: w, signed: s }) => (width, signed) == (w, s),
        (Value::Array(array), Type::Array(_, entry)) => {
            let entry = terms.type_of_id(entry);
            array.entries().map(|(_, v)| v).chain([array.default()]).all(|v| has_type(terms, v, entry))
        }
        _ => false,
    }
}
