//! Terms and statements where only some variables are known.
//!
//! [`judge`] says more than [`crate::ternary::eval_partial`]: the value that a term has wherever it has one, and, apart from
//! that, whether it always has one. So faults can be left to whoever looks for them (`value` alone), or ruled out (`safe`).
//!
//! [`exec_partial`] runs a statement and over-approximates: what is known afterwards is so after every run that ends, from every
//! completion. If a condition is not known both branches run, and what they disagree about is forgotten; so is all that a
//! loop may assign if its condition is not known, and what is chosen at random.

use rustc_hash::FxHashMap;

use crate::code::NoHost;
use crate::eval::{apply, check_range};
use crate::stmt::{Stmt, StmtId};
use crate::term::{BitOp, Term, TermId, Terms, Type, VarId};
use crate::value::Value;

/// A loop whose condition is known runs at most so often; then it is given up.
const ITERATIONS: u32 = 10_000;

/// The variables that are known.
pub type Partial = FxHashMap<VarId, Value>;

/// What is known about a term.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    /// The value in every completion that does not fault.
    pub value: Option<Value>,
    /// No completion faults.
    pub safe: bool,
}

impl Judged {
    /// Is it false wherever it has a value?
    pub fn is_false(&self) -> bool {
        self.value == Some(Value::Bool(false))
    }
}

/// Evaluates a term as far as the known variables allow.
pub fn judge(terms: &Terms, t: TermId, env: impl Fn(VarId) -> Option<Value>) -> Judged {
    match *terms.get(t) {
        Term::Bool(b) => return Judged { value: Some(Value::Bool(b)), safe: true },
        Term::Var(v) => return Judged { value: env(v), safe: true },
        _ => {}
    }
    let order = terms.subterms([t]);
    let mut known: FxHashMap<TermId, Judged> = FxHashMap::default();
    for t in order {
        let judged = match *terms.get(t) {
            Term::Var(v) => Judged { value: env(v), safe: true },
            Term::And(ref args) => connective(args.iter().map(|a| &known[a]), false),
            Term::Or(ref args) => connective(args.iter().map(|a| &known[a]), true),
            Term::Ite(c, a, b) => ite(&known[&c], &known[&a], &known[&b]),
            _ => {
                let children = terms.children(t);
                strict(terms, t, &children, &children.iter().map(|c| &known[c]).collect::<Vec<_>>())
            }
        };
        known.insert(t, judged);
    }
    known.remove(&t).expect("a term is one of its sub-terms")
}

/// `decisive` is the truth value that settles it.
fn connective<'a>(args: impl Iterator<Item = &'a Judged>, decisive: bool) -> Judged {
    let (mut certain, mut safe) = (true, true);
    for arg in args {
        safe &= arg.safe;
        match arg.value {
            Some(Value::Bool(b)) if b == decisive => return Judged { value: arg.value.clone(), safe },
            Some(_) => {}
            None => certain = false,
        }
    }
    Judged { value: certain.then_some(Value::Bool(!decisive)), safe }
}

fn ite(c: &Judged, a: &Judged, b: &Judged) -> Judged {
    let (value, safe) = match c.value {
        Some(Value::Bool(true)) => (a.value.clone(), a.safe),
        Some(_) => (b.value.clone(), b.safe),
        None => (a.value.clone().filter(|v| b.value.as_ref() == Some(v)), a.safe && b.safe),
    };
    Judged { value, safe: c.safe && safe }
}

/// All sub-terms are evaluated.
fn strict(terms: &Terms, t: TermId, children: &[TermId], args: &[&Judged]) -> Judged {
    let node = terms.get(t);
    if matches!(node, Term::Foreign(..)) {
        return Judged { value: None, safe: false };
    }
    let safe = args.iter().all(|a| a.safe);
    if args.iter().all(|a| a.value.is_some()) {
        let values = args.iter().filter_map(|a| a.value.clone()).collect();
        return match apply(terms, node, values, &mut NoHost) {
            Ok(value) => Judged { value: Some(value), safe },
            Err(_) => Judged { value: None, safe: false },
        };
    }
    let values: Vec<Option<&Value>> = args.iter().map(|a| a.value.as_ref()).collect();
    Judged { value: absorbed(terms, t, children, &values), safe: safe && never_faults(terms, t, &values) }
}

/// The value that does not depend on what is unknown.
fn absorbed(terms: &Terms, t: TermId, children: &[TermId], values: &[Option<&Value>]) -> Option<Value> {
    let zero = || {
        let value = |v: &&Value| v.to_word() == Some(0);
        values.iter().flatten().find(|v| value(v)).map(|&v| v.clone())
    };
    match terms.get(t) {
        Term::Eq(..) | Term::Le(..) if children[0] == children[1] => Some(Value::Bool(true)),
        Term::Lt(..) if children[0] == children[1] => Some(Value::Bool(false)),
        Term::Mul(..) | Term::Bit(BitOp::And, ..) => zero(),
        _ => None,
    }
}

/// Does the node itself never fault, given that its sub-terms do not?
fn never_faults(terms: &Terms, t: TermId, values: &[Option<&Value>]) -> bool {
    let known = |k: usize| values[k].map(Value::number);
    match *terms.get(t) {
        Term::Div(_, _, b) | Term::Rem(_, _, b) => match known(1) {
            Some(n) => n != dashu_int::IBig::ZERO,
            None => terms.bounds(b).is_some_and(|(lo, hi)| lo > 0 || hi < 0),
        },
        Term::Bit(BitOp::Shl | BitOp::Shr, a, by) => {
            let width = match terms.ty(a) {
                Type::Bits { width, .. } => i64::from(width),
                _ => 64,
            };
            match known(1) {
                Some(n) => i64::try_from(&n).is_ok_and(|n| (0..width).contains(&n)),
                None => terms.lies_within(by, 0, width - 1),
            }
        }
        Term::Select(a, i) => fits(terms, array(terms, a).0, i, values[1]),
        Term::Store(a, i, v) => {
            let (index, entry) = array(terms, a);
            fits(terms, index, i, values[1]) && fits(terms, entry, v, values[2])
        }
        Term::ConstArray(..) => fits(terms, array(terms, t).1, terms.children(t)[0], values[0]),
        Term::Checked(a, lo, hi) => fits(terms, Type::Range(lo, hi), a, values[0]),
        Term::Convert(ty, a) => fits(terms, terms.type_of_id(ty), a, values[0]),
        Term::Foreign(..) => false,
        _ => true,
    }
}

/// Index and entry type.
fn array(terms: &Terms, t: TermId) -> (Type, Type) {
    match terms.ty(t) {
        Type::Array(index, entry) => (terms.type_of_id(index), terms.type_of_id(entry)),
        ty => panic!("{ty:?} is no array type"),
    }
}

/// Does the term keep the range, if the type is one?
fn fits(terms: &Terms, ty: Type, t: TermId, value: Option<&Value>) -> bool {
    match (ty, value) {
        (Type::Range(..), Some(value)) => check_range(ty, value).is_ok(),
        (Type::Range(lo, hi), None) => terms.lies_within(t, lo, hi),
        _ => true,
    }
}

/// How a statement ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ended {
    /// No run from any completion gets to the end.
    pub blocked: bool,
    /// No run from any completion faults.
    pub safe: bool,
}

/// Runs a statement where only some variables are known; they are the known ones afterwards, unless it is blocked.
pub fn exec_partial(terms: &Terms, s: StmtId, env: &mut Partial) -> Ended {
    let mut ended = Ended { blocked: false, safe: true };
    run(terms, s, env, &mut ended);
    ended
}

fn run(terms: &Terms, s: StmtId, env: &mut Partial, ended: &mut Ended) {
    let look = |t: TermId, env: &Partial, ended: &mut Ended| {
        let judged = judge(terms, t, |v| env.get(&v).cloned());
        ended.safe &= judged.safe;
        judged
    };
    match *terms.stmt(s) {
        Stmt::Skip => {}
        Stmt::Assume(t) => ended.blocked |= look(t, env, ended).is_false(),
        Stmt::Assign(v, t) => {
            let ty = terms.variable(v).ty;
            let value = look(t, env, ended).value;
            let fits = match &value {
                Some(value) => check_range(ty, value).is_ok(),
                None => match ty {
                    Type::Range(lo, hi) => terms.lies_within(t, lo, hi),
                    _ => true,
                },
            };
            ended.safe &= fits;
            match value.filter(|_| fits) {
                Some(value) => _ = env.insert(v, value),
                None => _ = env.remove(&v),
            }
        }
        Stmt::Havoc(v) => _ = env.remove(&v),
        Stmt::Seq(ref parts) => {
            for &p in parts.iter() {
                run(terms, p, env, ended);
                if ended.blocked {
                    return;
                }
            }
        }
        Stmt::Choice(ref parts) => join(terms, parts, env, ended),
        Stmt::If(c, a, b) => match look(c, env, ended).value {
            Some(Value::Bool(true)) => run(terms, a, env, ended),
            Some(_) => run(terms, b, env, ended),
            None => join(terms, &[a, b], env, ended),
        },
        Stmt::While(c, body) => {
            for _ in 0..ITERATIONS {
                match look(c, env, ended).value {
                    Some(Value::Bool(true)) => run(terms, body, env, ended),
                    Some(_) => return,
                    None => break,
                }
                if ended.blocked {
                    return;
                }
            }
            // It may go on for ever, or fault in a round that was not looked at.
            ended.safe = false;
            terms.stmt_vars(body).1.iter().for_each(|v| _ = env.remove(v));
        }
        Stmt::Foreign(..) => ended.safe = false,
    }
}

/// One of several; what is known is what they agree about.
fn join(terms: &Terms, parts: &[StmtId], env: &mut Partial, ended: &mut Ended) {
    let mut after: Option<Partial> = None;
    for &p in parts {
        let (mut own, mut end) = (env.clone(), Ended { blocked: false, safe: true });
        run(terms, p, &mut own, &mut end);
        ended.safe &= end.safe;
        if end.blocked {
            continue;
        }
        match &mut after {
            None => after = Some(own),
            Some(after) => after.retain(|v, value| own.get(v) == Some(value)),
        }
    }
    match after {
        Some(after) => *env = after,
        None => ended.blocked = true,
    }
}
