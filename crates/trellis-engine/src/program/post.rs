//! Abstract successors: the strongest labels under a precision that hold after an edge.
//!
//! First the values of the tracked variables are enumerated, then, for each tuple, what holds of the predicates. All modes
//! over-approximate; when the solver does not know, nothing is known.
//!
//! | mode | what is kept of the predicates |
//! |---|---|
//! | Cartesian | each that holds everywhere, or nowhere: one cube |
//! | boolean | all combinations that are possible: one label, a cube for each |
//! | split | the same, one label for each |

use std::collections::BTreeSet;
use std::fmt;

use rustc_hash::FxHashSet;
use trellis_expr::code::NoHost;
use trellis_expr::eval::{Valuation, eval};
use trellis_expr::{TermId, Terms, Type, VarId};
use trellis_meter::Meter;
use trellis_model::cfa::{Cfa, EdgeId, LocationId, interpret};
use trellis_smt::{Answer, Reason};

use super::edges::{Edges, Step};
use super::label::{Cube, Label, Literal, Predicates, equal};

/// How predicates are abstracted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Each on its own.
    Cartesian,
    /// All combinations, in one label.
    Boolean,
    /// All combinations, a label for each.
    Split,
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Mode::Cartesian => "cartesian",
            Mode::Boolean => "boolean",
            Mode::Split => "split",
        })
    }
}

/// What is followed at a location.
#[derive(Debug, Clone, Default)]
pub struct Precision {
    /// Variables whose values are tracked.
    pub variables: BTreeSet<VarId>,
    /// Predicates.
    pub predicates: BTreeSet<u32>,
}

impl Post {
    /// For an automaton, with no predicates yet.
    pub fn new(cfa: &Cfa, mode: Mode, max_values: usize) -> Post {
        Post {
            steps: Edges::default(),
            predicates: Predicates::default(),
            mode,
            max_values,
            too_many: FxHashSet::default(),
            control: cfa.control.iter().copied().collect(),
        }
    }
}

/// Computes successors.
pub struct Post {
    /// The edges.
    pub steps: Edges,
    /// All predicates.
    pub predicates: Predicates,
    /// How predicates are abstracted.
    pub mode: Mode,
    /// A variable that may have more values than this after an edge is not tracked there, unless it has few anyway.
    pub max_values: usize,
    /// Where this has happened.
    pub too_many: FxHashSet<(LocationId, VarId)>,
    /// These are tracked in any case.
    control: BTreeSet<VarId>,
}

/// A type with at most so many values has few.
const FEW: i64 = 16;
/// Variables with few values are tracked as long as there are at most so many times more tuples of them.
const TUPLES: usize = 16;

impl Post {
    /// The values that variables may have after the edge, from where these hold: tuple by tuple, without those variables that have too
    /// many. None if the edge cannot be taken.
    pub(super) fn tuples(
        &mut self,
        cfa: &mut Cfa,
        before: &[TermId],
        e: EdgeId,
        variables: &BTreeSet<VarId>,
        limits: &Meter,
    ) -> Result<Vec<Tuple>, Reason> {
        let to = cfa.edge(e).to;
        let step = self.steps.get(cfa, e)?;
        if cfa.terms.as_bool(step.formula) == Some(false) {
            return Ok(vec![]);
        }
        let mut tracked: Vec<VarId> = variables.iter().copied().collect();
        loop {
            match tuples(step, &mut cfa.terms, before, &tracked, (self.max_values, &self.control), limits)? {
                Ok(tuples) => return Ok(tuples),
                Err(many) => {
                    self.too_many.extend(many.iter().map(|&v| (to, v)));
                    tracked.retain(|v| !many.contains(v));
                }
            }
        }
    }

    /// All that can be after the edge, from where these hold.
    pub fn successors(
        &mut self,
        cfa: &mut Cfa,
        before: &[TermId],
        e: EdgeId,
        precision: &Precision,
        limits: &Meter,
    ) -> Result<Vec<Label>, Reason> {
        let tuples = self.tuples(cfa, before, e, &precision.variables, limits)?;
        let step = self.steps.get(cfa, e)?;
        let mut labels = vec![];
        for Tuple { values, model } in tuples {
            let mut assumed = before.to_vec();
            for &(v, t) in &values {
                let now = equal(&mut cfa.terms, step.version(v), t);
                assumed.push(now);
            }
            let predicates: Vec<(u32, TermId)> =
                precision.predicates.iter().map(|&n| (n, step.after(&mut cfa.terms, self.predicates.get(n)))).collect();
            let asked = Asked { terms: &mut cfa.terms, step, predicates, assumed, model, limits };
            let cubes = match self.mode {
                Mode::Cartesian => vec![asked.cartesian()],
                Mode::Boolean | Mode::Split => asked.combinations(),
            };
            if self.mode == Mode::Split {
                labels.extend(cubes.into_iter().map(|c| Label { values: values.clone(), cubes: vec![c] }));
            } else {
                labels.push(Label { values, cubes });
            }
        }
        Ok(labels)
    }
}

/// Values after an edge, with a model in which they are; none if the solver does not know.
pub(super) struct Tuple {
    pub values: Vec<(VarId, TermId)>,
    pub model: Option<Valuation>,
}

/// The possible values of the tracked variables; or those that have too many.
fn tuples(
    step: &mut Step,
    terms: &mut Terms,
    before: &[TermId],
    tracked: &[VarId],
    (max_values, control): (usize, &BTreeSet<VarId>),
    limits: &Meter,
) -> Result<Result<Vec<Tuple>, Vec<VarId>>, Reason> {
    let mut found: Vec<Tuple> = vec![];
    let has_few = |terms: &Terms, v: VarId| match terms.variable(v).ty {
        Type::Bool | Type::Enum(_) => true,
        Type::Range(lo, hi) => hi.saturating_sub(lo) < FEW,
        _ => false,
    };
    if !tracked.is_empty() {
        step.push();
    }
    let end = loop {
        // The solver looks at the clock only when it has to search.
        if let Some(reason) = limits.exceeded(0) {
            break Err(reason.into());
        }
        match step.check(terms, before, limits) {
            Answer::Unsat(_) => break Ok(Ok(())),
            Answer::Unknown(reason @ (Reason::Time | Reason::Memory | Reason::Cancelled)) => break Err(reason),
            Answer::Unknown(_) => {
                found = vec![Tuple { values: vec![], model: None }];
                break Ok(Ok(()));
            }
            Answer::Sat(mut model) => {
                let mut values = vec![];
                for &v in tracked {
                    let version = step.version(v);
                    let ty = terms.variable(v).ty;
                    let value = model.entry(version).or_insert_with(|| interpret::zero_of(terms, ty));
                    if let Some(t) = terms.literal(value) {
                        values.push((v, t));
                    }
                }
                let now: Vec<TermId> = values.iter().map(|&(v, t)| equal(terms, step.version(v), t)).collect();
                let now = terms.and(now);
                found.push(Tuple { values, model: Some(model) });
                if tracked.is_empty() || terms.as_bool(now) == Some(true) {
                    break Ok(Ok(()));
                }
                if found.len() > max_values {
                    let many: Vec<VarId> = tracked
                        .iter()
                        .copied()
                        .filter(|&v| !control.contains(&v))
                        .filter(|&v| match varies(&found, v) {
                            values if has_few(terms, v) => values > 1 && found.len() > TUPLES * max_values,
                            values => values > max_values / 2,
                        })
                        .collect();
                    if !many.is_empty() {
                        break Ok(Err(many));
                    }
                }
                let other = terms.not(now);
                step.assert(terms, other);
            }
        }
    };
    if !tracked.is_empty() {
        step.pop();
    }
    Ok(end?.map(|()| found))
}

/// How many values the variable has.
fn varies(found: &[Tuple], v: VarId) -> usize {
    let values = found.iter().flat_map(|t| &t.values).filter(|x| x.0 == v).map(|x| x.1);
    values.collect::<FxHashSet<_>>().len()
}

/// What is asked about one tuple.
struct Asked<'a> {
    terms: &'a mut Terms,
    step: &'a mut Step,
    /// Each with what it says after the edge.
    predicates: Vec<(u32, TermId)>,
    assumed: Vec<TermId>,
    model: Option<Valuation>,
    limits: &'a Meter,
}

impl Asked<'_> {
    fn judge(&self, t: TermId, model: &mut Valuation) -> bool {
        for v in self.terms.free_vars(t) {
            let ty = self.terms.variable(v).ty;
            model.entry(v).or_insert_with(|| interpret::zero_of(self.terms, ty));
        }
        eval(self.terms, t, model, &mut NoHost).ok().and_then(|v| v.as_bool()).unwrap_or(false)
    }

    fn cartesian(mut self) -> Cube {
        // For each predicate: can it be false, can it be true?
        let mut can = vec![[false; 2]; self.predicates.len()];
        if let Some(mut model) = self.model.take() {
            self.learn(&mut model, &mut can);
        }
        let mut cube = vec![];
        for i in 0..self.predicates.len() {
            let (n, t) = self.predicates[i];
            for holds in [true, false] {
                if can[i][usize::from(!holds)] {
                    continue;
                }
                let other = if holds { self.terms.not(t) } else { t };
                self.assumed.push(other);
                let answer = self.step.check(self.terms, &self.assumed, self.limits);
                self.assumed.pop();
                match answer {
                    Answer::Unsat(_) => {
                        cube.push(Literal::new(n, holds));
                        break;
                    }
                    Answer::Sat(mut model) => self.learn(&mut model, &mut can),
                    Answer::Unknown(_) => {}
                }
            }
        }
        cube.sort_unstable();
        cube
    }

    fn learn(&self, model: &mut Valuation, can: &mut [[bool; 2]]) {
        for (&(_, t), can) in self.predicates.iter().zip(can) {
            can[usize::from(self.judge(t, model))] = true;
        }
    }

    fn combinations(mut self) -> Vec<Cube> {
        let mut cubes: Vec<Cube> = vec![];
        if self.predicates.is_empty() {
            return vec![vec![]];
        }
        let mut known = self.model.take();
        self.step.push();
        loop {
            let model = match known.take() {
                Some(model) => Some(model),
                None if self.limits.exceeded(0).is_some() => None,
                None => match self.step.check(self.terms, &self.assumed, self.limits) {
                    Answer::Unsat(_) => break,
                    Answer::Sat(model) => Some(model),
                    Answer::Unknown(_) => None,
                },
            };
            let Some(mut model) = model else {
                cubes = vec![vec![]];
                break;
            };
            let mut cube = vec![];
            let mut now = vec![];
            for i in 0..self.predicates.len() {
                let (n, t) = self.predicates[i];
                let holds = self.judge(t, &mut model);
                cube.push(Literal::new(n, holds));
                now.push(if holds { t } else { self.terms.not(t) });
            }
            cube.sort_unstable();
            cubes.push(cube);
            let now = self.terms.and(now);
            let other = self.terms.not(now);
            self.step.assert(self.terms, other);
        }
        self.step.pop();
        cubes
    }
}
