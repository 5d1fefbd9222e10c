//! Questions that say nothing about the model.
//!
//! A question that is true (or false) whatever the model does is hardly what was meant. Its condition is judged by the ranges of the variables
//! alone ([`trellis_expr::ranges`]), then by the solver, with a small limit; a formula of linear time by its tableau. What is
//! found is a warning, on the standard error and in reports, and never changes a verdict.

use std::time::Duration;

use trellis_check::language::satisfiable;
use trellis_expr::ranges::decided;
use trellis_expr::{Term, TermId, Terms, Type, VarId};
use trellis_meter::Meter;
use trellis_model::hierarchy::ctl::Formula as Branching;
use trellis_model::hierarchy::tree::Condition;
use trellis_model::hierarchy::{Domain, Hierarchy};
use trellis_model::ltl::Formula;
use trellis_model::network::{Network, Query, QueryKind};
use trellis_smt::{Answer, Embedded, Solver};

use crate::settings::Settings;

/// How long the solver may think about a question before it is asked.
const PATIENCE: Duration = Duration::from_millis(300);

/// So many terms are not looked at twice.
const MAX_TERMS: usize = 50_000;

/// Tells warnings where a person looks, and leaves them to the report otherwise.
pub fn tell(args: &Settings, warnings: Vec<String>) -> Vec<String> {
    if !args.json {
        warnings.iter().for_each(|w| args.context.note(format_args!("warning: {w}\n")));
    }
    warnings
}

/// What is known of a variable beside its type.
enum Known {
    Between(i64, i64),
    Among(Vec<i64>),
}

impl Known {
    fn ends(&self) -> Option<(i64, i64)> {
        match self {
            Known::Between(lo, hi) => Some((*lo, *hi)),
            Known::Among(all) => Some((*all.iter().min()?, *all.iter().max()?)),
        }
    }
}

type Knows<'k> = &'k dyn Fn(VarId) -> Option<Known>;

/// What a condition always is, and what is wrong with its parts.
struct Says {
    whole: Option<bool>,
    parts: Vec<String>,
}

/// Judges a condition over variables of which more may be known than their types.
fn judged(terms: &Terms, t: TermId, knows: Knows<'_>) -> Says {
    let (whole, constants) = decided(terms, t, |v| knows(v)?.ends());
    let literal = |t: TermId| terms.free_vars(t).is_empty();
    let part = |c: &trellis_expr::ranges::Constant| {
        let word = if c.value { "always" } else { "never" };
        format!("`{}` is {word} true{}", terms.show(c.term), domains(terms, c.term, knows))
    };
    let parts = constants.iter().filter(|c| !literal(c.term)).map(part).collect();
    Says { whole: whole.or_else(|| solved(terms, t, knows)), parts }
}

/// The ranges of the variables of a comparison, if there are few.
fn domains(terms: &Terms, t: TermId, knows: Knows<'_>) -> String {
    let range = |v: VarId| {
        let ends = knows(v).and_then(|k| k.ends()).or_else(|| terms.type_bounds(terms.variable(v).ty));
        let number = terms.variable(v).ty.is_int();
        ends.filter(|_| number).map(|(lo, hi)| format!("`{}` is between {lo} and {hi}", terms.variable(v).name))
    };
    let all: Vec<String> = terms.free_vars(t).into_iter().filter_map(range).collect();
    if all.is_empty() || all.len() > 2 { String::new() } else { format!(": {}", all.join(", ")) }
}

/// What the solver says of all values.
fn solved(terms: &Terms, t: TermId, knows: Knows<'_>) -> Option<bool> {
    if terms.may_fault(t) || terms.len() > MAX_TERMS {
        return None;
    }
    let mut terms = terms.clone();
    let mut known = vec![];
    for v in terms.free_vars(t) {
        let var = terms.var(v);
        let ty = terms.variable(v).ty;
        match knows(v) {
            Some(Known::Between(lo, hi)) if ty.is_int() => {
                let (lo, hi) = (terms.int(lo), terms.int(hi));
                known.extend([terms.le(lo, var), terms.le(var, hi)]);
            }
            Some(Known::Among(all)) => {
                let mut each = vec![];
                for n in all {
                    let n = match ty {
                        Type::Enum(e) => u32::try_from(n).ok().map(|n| terms.intern(Term::EnumLit(e, n))),
                        ty if ty.is_int() => Some(terms.int(n)),
                        _ => None,
                    };
                    each.push(terms.eq(var, n?));
                }
                known.push(terms.or(each));
            }
            _ => {}
        }
    }
    let not = terms.not(t);
    let never = |t: TermId| {
        let mut all = known.clone();
        all.push(t);
        let limits = Meter::unlimited().time(PATIENCE);
        matches!(Embedded::new().check(&terms, &all, &limits), Answer::Unsat(_))
    };
    match () {
        () if never(t) => Some(false),
        () if never(not) => Some(true),
        () => None,
    }
}

/// A condition that nothing is left to say of.
fn told(text: &str, says: Says) -> Vec<String> {
    match says.whole {
        Some(value) => {
            let word = if value { "always" } else { "never" };
            let why = says.parts.first().map_or_else(String::new, |p| format!(" ({p})"));
            vec![format!("`{text}`: the condition is {word} true, whatever the model does{why}")]
        }
        None => says.parts.into_iter().map(|part| format!("`{text}`: {part}")).collect(),
    }
}

/// Does a condition hold for no values at all?
pub fn never(terms: &Terms, t: TermId) -> bool {
    matches!(terms.get(t), Term::Bool(false)) || judged(terms, t, &|_| None).whole == Some(false)
}

/// A condition over the variables of a program or a transition system.
pub fn of_term(terms: &Terms, t: TermId, text: &str) -> Vec<String> {
    told(text, judged(terms, t, &|_| None))
}

/// A question about a network.
pub fn of_query(net: &Network, query: &Query) -> Vec<String> {
    let conditions = match query.kind {
        QueryKind::Always(c)
        | QueryKind::Possibly(c)
        | QueryKind::Eventually(c)
        | QueryKind::PotentiallyAlways(c)
        | QueryKind::Bound { when: c, .. }
        | QueryKind::ClockBound { when: c, .. } => vec![c.holds],
        QueryKind::LeadsTo(a, b) => vec![a.holds, b.holds],
    };
    let bound = matches!(query.kind, QueryKind::Bound { .. } | QueryKind::ClockBound { .. });
    let left_out = |t: &TermId| bound && matches!(net.terms.get(*t), Term::Bool(true));
    let conditions = conditions.into_iter().filter(|t| !left_out(t));
    conditions.flat_map(|t| told(&query.text, judged(&net.terms, t, &|_| None))).collect()
}

/// The values of a variable of a node.
fn of_domain(hierarchy: &Hierarchy) -> impl Fn(VarId) -> Option<Known> {
    |v| match &hierarchy.variables.get(v.index())?.domain {
        Domain::Integer | Domain::Bool => None,
        Domain::Range(lo, hi) => Some(Known::Between(*lo, *hi)),
        Domain::Literals(all) => Some(Known::Among(all.iter().map(|&n| n.into()).collect())),
    }
}

/// A condition over the variables of a hierarchy of nodes, or the negation of the one that was asked.
pub fn of_nodes(hierarchy: &Hierarchy, t: TermId, negated: bool, text: &str) -> Vec<String> {
    let says = judged(&hierarchy.terms, t, &of_domain(hierarchy));
    told(text, Says { whole: says.whole.map(|b| b != negated), ..says })
}

/// A formula of branching time: its conditions, and what follows from them alone.
pub fn of_branching(hierarchy: &Hierarchy, f: &Branching, text: &str) -> Vec<String> {
    let mut parts = vec![];
    let whole = branching(hierarchy, f, &mut parts);
    told(text, Says { whole, parts })
}

fn branching(hierarchy: &Hierarchy, f: &Branching, parts: &mut Vec<String>) -> Option<bool> {
    match f {
        Branching::Atom(t) => {
            if let Term::Bool(b) = hierarchy.terms.get(*t) {
                return Some(*b);
            }
            let says = judged(&hierarchy.terms, *t, &of_domain(hierarchy));
            match says.whole {
                Some(value) if says.parts.is_empty() => {
                    let word = if value { "always" } else { "never" };
                    parts.push(format!("`{}` is {word} true", hierarchy.terms.show(*t)));
                }
                _ => parts.extend(says.parts),
            }
            says.whole
        }
        Branching::Not(a) => branching(hierarchy, a, parts).map(|b| !b),
        Branching::And(a, b) => match (branching(hierarchy, a, parts), branching(hierarchy, b, parts)) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            _ => None,
        },
        Branching::Or(a, b) => match (branching(hierarchy, a, parts), branching(hierarchy, b, parts)) {
            (Some(true), _) | (_, Some(true)) => Some(true),
            (Some(false), Some(false)) => Some(false),
            _ => None,
        },
        // Where nothing can happen there is no next.
        Branching::Next(a) => branching(hierarchy, a, parts).filter(|b| !b),
        Branching::Until(a, b) => {
            branching(hierarchy, a, parts);
            branching(hierarchy, b, parts)
        }
        Branching::Always(a) => branching(hierarchy, a, parts),
    }
}

/// What is bad in a hierarchical transition system.
pub fn of_tree(bad: &Condition, text: &str) -> Vec<String> {
    let atom = |_: usize, states: &[bool]| match () {
        () if states.iter().all(|b| *b) => Some(true),
        () if states.iter().all(|b| !*b) => Some(false),
        () => None,
    };
    told(text, Says { whole: bad.known(&atom), parts: vec![] })
}

/// A formula of linear time: its atoms, and whether it can hold and fail at all.
pub fn of_linear(terms: &Terms, atoms: &[TermId], names: &[String], formula: &Formula, text: &str) -> Vec<String> {
    let mut parts = vec![];
    let mut constant = vec![None; atoms.len()];
    for (n, &t) in atoms.iter().enumerate() {
        let says = judged(terms, t, &|_| None);
        constant[n] = says.whole;
        match says.whole {
            Some(value) if says.parts.is_empty() => {
                let word = if value { "always" } else { "never" };
                let shown = terms.show(t).to_string();
                let name = names.get(n).cloned().unwrap_or(shown);
                parts.push(format!("`{name}` is {word} true"));
            }
            _ => parts.extend(says.parts),
        }
    }
    let known = with_constants(formula, &constant);
    let whole = match (satisfiable(&known), satisfiable(&known.clone().negate())) {
        (Some(false), _) => Some(false),
        (_, Some(false)) => Some(true),
        _ => None,
    };
    match whole {
        Some(value) => {
            let word = if value { "holds on every run" } else { "holds on no run" };
            let why = parts.first().map_or_else(String::new, |p| format!(" ({p})"));
            vec![format!("`{text}`: the formula {word}, whatever the model does{why}")]
        }
        None => parts.into_iter().map(|part| format!("`{text}`: {part}")).collect(),
    }
}

/// A formula in which atoms that are always the same are no atoms any more.
fn with_constants(f: &Formula, constant: &[Option<bool>]) -> Formula {
    use Formula as F;
    let sub = |a: &Formula| Box::new(with_constants(a, constant));
    match f {
        F::True => F::True,
        F::False => F::False,
        F::Atom(n) => match constant.get(*n as usize).copied().flatten() {
            Some(true) => F::True,
            Some(false) => F::False,
            None => F::Atom(*n),
        },
        F::Not(a) => F::Not(sub(a)),
        F::Next(a) => F::Next(sub(a)),
        F::Finally(a) => F::Finally(sub(a)),
        F::Globally(a) => F::Globally(sub(a)),
        F::And(a, b) => F::And(sub(a), sub(b)),
        F::Or(a, b) => F::Or(sub(a), sub(b)),
        F::Implies(a, b) => F::Implies(sub(a), sub(b)),
        F::Iff(a, b) => F::Iff(sub(a), sub(b)),
        F::Until(a, b) => F::Until(sub(a), sub(b)),
        F::WeakUntil(a, b) => F::WeakUntil(sub(a), sub(b)),
        F::Release(a, b) => F::Release(sub(a), sub(b)),
        F::StrongRelease(a, b) => F::StrongRelease(sub(a), sub(b)),
    }
}
