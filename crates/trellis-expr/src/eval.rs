//! The reference meaning of terms and statements.
//!
//! Slow and exact: integers of any size, values copied at will, every shared sub-term evaluated once. All other
//! evaluation in the code base (`code`, `ternary`, `simplify`, the builders' folding) is tested against it or built on it.
//! Sub-terms are evaluated from left to right and the first fault is the answer; `And`, `Or` and `Ite` evaluate only
//! what they need; a node's own checks come after its sub-terms, an index before an entry.
//!
//! A valuation gives every variable a value of its type, and assignment keeps it so: assigning a value outside a
//! range, or storing one in an array, is a fault. Terms of any depth are fine; statements are walked recursively, so
//! their nesting (not their length) is limited by the stack.

use std::collections::BTreeMap;

use dashu_int::IBig;
use rustc_hash::FxHashMap;

use crate::code::{Host, MAX_ITERATIONS};
use crate::fault::Fault;
use crate::stmt::{Stmt, StmtId};
use crate::term::{BitOp, Division, Term, TermId, Terms, Type, VarId};
use crate::value::{ArrayValue, Value};

/// A value for each variable.
pub type Valuation = BTreeMap<VarId, Value>;

/// What is still to do.
enum Task {
    Eval(TermId),
    /// All sub-terms are evaluated.
    Apply(TermId),
    /// So many parts of a conjunction or disjunction are evaluated.
    Part(TermId, usize),
    /// The condition is evaluated.
    Branch(TermId),
    /// The chosen branch is evaluated.
    Done(TermId),
}

/// Evaluates a term.
pub fn eval(terms: &Terms, t: TermId, env: &Valuation, host: &mut dyn Host) -> Result<Value, Fault> {
    let mut known: FxHashMap<TermId, Value> = FxHashMap::default();
    let mut values: Vec<Value> = vec![];
    let mut tasks = vec![Task::Eval(t)];
    while let Some(task) = tasks.pop() {
        let done = match task {
            Task::Eval(t) => {
                if let Some(value) = known.get(&t) {
                    values.push(value.clone());
                    continue;
                }
                match *terms.get(t) {
                    Term::Var(v) => match env.get(&v) {
                        Some(value) => values.push(value.clone()),
                        None => return Err(Fault::NoValue(terms.variable(v).name.clone())),
                    },
                    Term::And(ref args) | Term::Or(ref args) => match args.first() {
                        Some(&a) => tasks.extend([Task::Part(t, 1), Task::Eval(a)]),
                        None => values.push(Value::Bool(matches!(terms.get(t), Term::And(_)))),
                    },
                    Term::Ite(c, ..) => tasks.extend([Task::Branch(t), Task::Eval(c)]),
                    _ => {
                        tasks.push(Task::Apply(t));
                        tasks.extend(terms.children(t).into_iter().rev().map(Task::Eval));
                    }
                }
                continue;
            }
            Task::Apply(t) => {
                let args = values.split_off(values.len() - terms.children(t).len());
                values.push(apply(terms, terms.get(t), args, host)?);
                t
            }
            Task::Part(t, n) => {
                let (args, decisive) = match terms.get(t) {
                    Term::And(args) => (args, false),
                    Term::Or(args) => (args, true),
                    _ => unreachable!("only connectives have parts"),
                };
                if n < args.len() && values.last() != Some(&Value::Bool(decisive)) {
                    values.pop();
                    tasks.extend([Task::Part(t, n + 1), Task::Eval(args[n])]);
                    continue;
                }
                t
            }
            Task::Branch(t) => {
                let Term::Ite(_, a, b) = *terms.get(t) else { unreachable!("only ite branches") };
                let chosen = if values.pop() == Some(Value::Bool(true)) { a } else { b };
                tasks.extend([Task::Done(t), Task::Eval(chosen)]);
                continue;
            }
            Task::Done(t) => t,
        };
        known.insert(done, values.last().expect("its value").clone());
    }
    Ok(values.pop().expect("the value of the term"))
}

/// The value of a node, given those of its sub-terms.
///
/// # Panics
///
/// On variables, connectives and `ite`, and on ill-typed nodes.
pub(crate) fn apply(terms: &Terms, node: &Term, args: Vec<Value>, host: &mut dyn Host) -> Result<Value, Fault> {
    let number = |k: usize| args[k].number();
    let like_first = |n: IBig| match args[0] {
        Value::Bits { width, signed, .. } => Value::wrap(width, signed, &n),
        _ => Value::Int(n),
    };
    let nonzero = |n: IBig| {
        if n == IBig::ZERO { Err(Fault::DivisionByZero) } else { Ok(n) }
    };
    Ok(match *node {
        Term::Bool(b) => Value::Bool(b),
        Term::Int(n) => Value::Int(n.into()),
        Term::Big(ref n) => Value::Int((**n).clone()),
        Term::EnumLit(e, n) => Value::Enum(e, n),
        Term::Bits(width, signed, bits) => Value::Bits { width, signed, bits },
        Term::Not(_) => Value::Bool(args[0] == Value::Bool(false)),
        Term::Eq(..) => Value::Bool(args[0] == args[1]),
        Term::Lt(..) => Value::Bool(number(0) < number(1)),
        Term::Le(..) => Value::Bool(number(0) <= number(1)),
        Term::Add(_) => like_first(args.iter().map(Value::number).sum()),
        Term::Neg(_) => like_first(-number(0)),
        Term::Mul(..) => like_first(number(0) * number(1)),
        Term::Div(d, ..) => like_first(divide(d, number(0), nonzero(number(1))?).0),
        Term::Rem(d, ..) => like_first(divide(d, number(0), nonzero(number(1))?).1),
        Term::Bit(BitOp::And, ..) => like_first(number(0) & number(1)),
        Term::Bit(BitOp::Or, ..) => like_first(number(0) | number(1)),
        Term::Bit(BitOp::Xor, ..) => like_first(number(0) ^ number(1)),
        Term::Bit(BitOp::Shl, ..) => like_first(number(0) << distance(&args[0], number(1))?),
        Term::Bit(BitOp::Shr, ..) => like_first(number(0) >> distance(&args[0], number(1))?),
        Term::Select(a, _) => {
            let (index, _) = array_parts(terms, terms.ty(a));
            check_index(index, &args[1])?;
            match &args[0] {
                Value::Array(array) => array.get(&args[1]).clone(),
                value => panic!("select from {value:?}"),
            }
        }
        Term::Store(a, ..) => {
            let (index, entry) = array_parts(terms, terms.ty(a));
            check_index(index, &args[1])?;
            check_range(entry, &args[2])?;
            match &args[0] {
                Value::Array(array) => {
                    let mut array = array.clone();
                    array.set(&args[1], args[2].clone());
                    Value::Array(array)
                }
                value => panic!("store into {value:?}"),
            }
        }
        Term::ConstArray(ty, _) => {
            let (index, entry) = array_parts(terms, terms.type_of_id(ty));
            check_range(entry, &args[0])?;
            Value::Array(ArrayValue::new(terms, index, args[0].clone()))
        }
        Term::Checked(_, lo, hi) => {
            check_range(Type::Range(lo, hi), &args[0])?;
            args[0].clone()
        }
        Term::Convert(ty, _) => match terms.type_of_id(ty) {
            Type::Bits { width, signed } => Value::wrap(width, signed, &number(0)),
            ty => {
                let value = Value::Int(number(0));
                check_range(ty, &value)?;
                value
            }
        },
        Term::Foreign(f, _) => {
            let words: Option<Vec<i64>> = args.iter().map(Value::to_word).collect();
            Value::Int(host.query(f, &words.ok_or(Fault::Overflow)?)?.into())
        }
        Term::Var(_) | Term::And(_) | Term::Or(_) | Term::Ite(..) => {
            panic!("{node:?} is not evaluated by applying it")
        }
    })
}

/// Quotient and remainder.
fn divide(d: Division, a: IBig, b: IBig) -> (IBig, IBig) {
    let (mut q, mut r) = (&a / &b, &a % &b);
    if d == Division::Euclidean && r < IBig::ZERO {
        let up = if b > IBig::ZERO { IBig::ONE } else { -IBig::ONE };
        r += &up * &b;
        q -= up;
    }
    (q, r)
}

/// A shift's distance, which must be less than the number of bits (64 for integers).
fn distance(shifted: &Value, by: IBig) -> Result<usize, Fault> {
    let width = match *shifted {
        Value::Bits { width, .. } => width,
        _ => 64,
    };
    match usize::try_from(&by) {
        Ok(n) if n < usize::from(width) => Ok(n),
        _ => Err(Fault::Shift { by: clamp(&by) }),
    }
}

/// Index and entry type.
fn array_parts(terms: &Terms, ty: Type) -> (Type, Type) {
    match ty {
        Type::Array(index, entry) => (terms.type_of_id(index), terms.type_of_id(entry)),
        _ => panic!("{ty:?} is no array type"),
    }
}

fn check_index(index_type: Type, index: &Value) -> Result<(), Fault> {
    match index_type {
        Type::Range(lo, hi) if !within(&index.number(), lo, hi) => {
            Err(Fault::Index { index: clamp(&index.number()), lo, hi })
        }
        _ => Ok(()),
    }
}

pub(crate) fn check_range(ty: Type, value: &Value) -> Result<(), Fault> {
    match ty {
        Type::Range(lo, hi) if !within(&value.number(), lo, hi) => {
            Err(Fault::OutOfRange { value: clamp(&value.number()), lo, hi })
        }
        _ => Ok(()),
    }
}

fn within(n: &IBig, lo: i64, hi: i64) -> bool {
    IBig::from(lo) <= *n && *n <= IBig::from(hi)
}

/// The nearest machine word.
fn clamp(n: &IBig) -> i64 {
    let end = if *n < IBig::ZERO { i64::MIN } else { i64::MAX };
    i64::try_from(n).unwrap_or(end)
}

/// The state a statement runs in: the variables, and what foreign procedures keep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State<H> {
    /// The variables.
    pub env: Valuation,
    /// The foreign part.
    pub host: H,
}

/// How much a run may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How many outcomes there may be at any moment.
    pub outcomes: usize,
    /// How many loop iterations, over all outcomes.
    pub iterations: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { outcomes: 100_000, iterations: MAX_ITERATIONS }
    }
}

/// Why a run did not give all outcomes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExecError {
    /// Some way through the statement faults.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// There are too many outcomes, or infinitely many.
    #[error("there are more than {limit} outcomes")]
    TooMany {
        /// The limit.
        limit: usize,
    },
}

/// Runs a statement and gives all outcomes, in no particular order and perhaps with repetitions. None at all: an
/// assumption fails on every way.
pub fn exec<H: Host + Clone>(
    terms: &Terms,
    s: StmtId,
    start: State<H>,
    limits: Limits,
) -> Result<Vec<State<H>>, ExecError> {
    Runner { terms, limits, iterations: limits.iterations }.run(s, vec![start])
}

struct Runner<'a> {
    terms: &'a Terms,
    limits: Limits,
    iterations: u64,
}

impl Runner<'_> {
    fn run<H: Host + Clone>(&mut self, s: StmtId, states: Vec<State<H>>) -> Result<Vec<State<H>>, ExecError> {
        let terms = self.terms;
        let mut after = vec![];
        match *terms.stmt(s) {
            Stmt::Seq(ref parts) => {
                return parts.iter().try_fold(states, |states, &p| self.run(p, states));
            }
            Stmt::Choice(ref parts) => {
                for &p in parts.iter() {
                    after.extend(self.run(p, states.clone())?);
                }
            }
            _ => {
                for state in states {
                    after.extend(self.run_one(s, state)?);
                    self.count(after.len())?;
                }
            }
        }
        self.count(after.len())?;
        Ok(after)
    }

    fn run_one<H: Host + Clone>(&mut self, s: StmtId, mut state: State<H>) -> Result<Vec<State<H>>, ExecError> {
        let terms = self.terms;
        let holds = |t, state: &mut State<H>| {
            Ok::<bool, Fault>(eval(terms, t, &state.env, &mut state.host)? == Value::Bool(true))
        };
        match *terms.stmt(s) {
            Stmt::Skip => {}
            Stmt::Assume(t) => {
                if !holds(t, &mut state)? {
                    return Ok(vec![]);
                }
            }
            Stmt::Assign(v, t) => {
                let value = eval(terms, t, &state.env, &mut state.host)?;
                check_range(terms.variable(v).ty, &value)?;
                state.env.insert(v, value);
            }
            Stmt::Havoc(v) => {
                let limit = self.limits.outcomes;
                let values = Value::all(terms, terms.variable(v).ty, limit);
                let with = |value| {
                    let mut state = state.clone();
                    state.env.insert(v, value);
                    state
                };
                return Ok(values.ok_or(ExecError::TooMany { limit })?.into_iter().map(with).collect());
            }
            Stmt::If(c, a, b) => {
                let chosen = if holds(c, &mut state)? { a } else { b };
                return self.run(chosen, vec![state]);
            }
            Stmt::While(c, body) => {
                let mut done = vec![];
                let mut going = vec![state];
                while let Some(mut state) = going.pop() {
                    if !holds(c, &mut state)? {
                        done.push(state);
                        continue;
                    }
                    let after = self.run(body, vec![state])?;
                    let spent = after.len() as u64;
                    self.iterations = self.iterations.checked_sub(spent).ok_or(Fault::Diverges)?;
                    going.extend(after);
                    self.count(done.len() + going.len())?;
                }
                return Ok(done);
            }
            Stmt::Foreign(f, ref args) => {
                let mut words = vec![];
                for &t in args.iter() {
                    words.push(eval(terms, t, &state.env, &mut state.host)?.to_word().ok_or(Fault::Overflow)?);
                }
                state.host.update(f, &words)?;
            }
            Stmt::Seq(_) | Stmt::Choice(_) => return self.run(s, vec![state]),
        }
        Ok(vec![state])
    }

    fn count(&self, outcomes: usize) -> Result<(), ExecError> {
        let limit = self.limits.outcomes;
        if outcomes > limit { Err(ExecError::TooMany { limit }) } else { Ok(()) }
    }
}
