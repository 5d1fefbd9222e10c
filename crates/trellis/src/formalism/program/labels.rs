//! Programs and automata, one abstract state after the other: a location, and what is known there of the conditions that the program itself tests
//! (004 §2.3, Cartesian predicate abstraction). What is not known may be either.
//!
//! Successors are those of the engine's abstract domain, so they over-approximate: a walk may go where no run goes, which is what refinement is
//! for. Edges that do nothing and leave no choice are gone along at once.
//!
//! It deliberately does not refine: predicates are the atoms of all conditions, of the error's among them, from the start.

use std::cell::RefCell;
use std::time::Duration;

use trellis_engine::program::cegar::{Domain, Split};
use trellis_engine::program::domain::assumptions;
use trellis_engine::program::facts::{self, Known};
use trellis_engine::program::label::{Label, Literal};
use trellis_engine::program::post::{Mode, Precision};
use trellis_expr::code::NoHost;
use trellis_expr::eval::{Valuation, eval};
use trellis_expr::{Stmt, TermId, Value};
use trellis_meter::Meter;
use trellis_model::cfa::interpret::Trace;
use trellis_model::cfa::{Cfa, EdgeId, Kind, LocationId, interpret};
use trellis_report::Program;
use trellis_report::run::{Part, Run, Step, Values};
use trellis_report::step::program::{label, place};
use trellis_report::step::{Choices, Error, Stepper, read_trace};

/// So many predicates are followed; each asks a solver, at every step.
const MOST: usize = 60;
/// So long a solver may think about a step.
const PATIENCE: Duration = Duration::from_secs(10);
/// So many edges that do nothing are gone along at once.
const MAX_GROUP: usize = 1000;

/// Where a walk has come to.
#[derive(Clone, PartialEq)]
struct Here {
    location: LocationId,
    label: Label,
}

/// What computes successors, and changes terms on the way.
struct Space {
    cfa: Cfa,
    domain: Box<Known>,
}

/// A walk through labels.
pub struct LabelStepper {
    space: RefCell<Space>,
    /// The same automaton, as it was read.
    cfa: Cfa,
    texts: Vec<Option<String>>,
    precision: Precision,
    /// The predicates: their numbers, and what they say.
    predicates: Vec<(u32, String)>,
    first: Here,
    taken: Vec<(EdgeId, Here)>,
}

impl LabelStepper {
    /// A walk that has not begun.
    pub fn new(cfa: Cfa, texts: Vec<Option<String>>) -> Result<LabelStepper, Error> {
        let wide = Domain::Predicates(Mode::Cartesian);
        let mut space = Space { domain: facts::finite(&cfa, wide, 64), cfa: cfa.clone() };
        let Space { cfa: own, domain } = &mut space;
        let mut conditions = vec![];
        cfa.edges().for_each(|e| assumptions(&cfa.terms, cfa.edge(e).stmt, &mut conditions));
        let mut precision = domain.first(own);
        for t in conditions {
            if precision.predicates.len() < MOST {
                let gained = domain.follow_all(&mut own.terms, cfa.initial, t, Split::Atoms);
                precision.predicates.extend(gained.predicates);
            }
        }
        let said = |n: u32| {
            let only = Label { values: vec![], cubes: vec![vec![Literal::new(n, true)]] };
            let terms = domain.assumptions(&mut own.terms, &only);
            let shown: Vec<String> = terms.into_iter().map(|t| own.terms.show(t).to_string()).collect();
            (n, shown.join(" and "))
        };
        let predicates = precision.predicates.iter().copied().map(said).collect();
        let first = Here { location: cfa.initial, label: domain.top() };
        Ok(LabelStepper { space: RefCell::new(space), cfa, texts, precision, predicates, first, taken: vec![] })
    }

    fn program(&self) -> Program<'_> {
        Program::new(&self.cfa, &self.texts)
    }

    fn here(&self) -> &Here {
        self.taken.last().map_or(&self.first, |(_, here)| here)
    }

    /// Labels after an edge.
    fn after(&self, here: &Here, e: EdgeId) -> Result<Vec<Here>, Error> {
        let Space { cfa, domain } = &mut *self.space.borrow_mut();
        let before = domain.assumptions(&mut cfa.terms, &here.label);
        let limits = Meter::unlimited().at_most_time(PATIENCE);
        let labels = domain.successors(cfa, &before, e, &self.precision, &limits);
        let labels = labels.map_err(|why| Error::Model(format!("what this step leads to is not known: {why:?}")))?;
        Ok(labels.into_iter().map(|label| Here { location: cfa.edge(e).to, label }).collect())
    }

    /// Steps from somewhere: edges, and what they lead to.
    fn moves(&self, here: &Here) -> Result<Vec<(EdgeId, Here)>, Error> {
        let mut out = vec![];
        for &e in self.cfa.outgoing(here.location) {
            for mut next in self.after(here, e)? {
                for _ in 0..MAX_GROUP {
                    let &[idle] = self.cfa.outgoing(next.location) else { break };
                    if *self.cfa.terms.stmt(self.cfa.edge(idle).stmt) != Stmt::Skip {
                        break;
                    }
                    next.location = self.cfa.edge(idle).to;
                }
                out.push((e, next));
            }
        }
        Ok(out)
    }

    fn values(&self, p: &Program<'_>, here: &Here) -> Values {
        let known = |n: u32| {
            let holds = |yes: bool| here.label.cubes.iter().all(|c| c.contains(&Literal::new(n, yes)));
            match () {
                () if holds(true) => "true",
                () if holds(false) => "false",
                () => "either",
            }
        };
        let at: (String, serde_json::Value) = ("at".to_string(), place(&self.cfa, p, here.location).into());
        let values = here.label.values.iter().map(|&(v, t)| {
            let terms = &self.space.borrow().cfa.terms;
            (terms.variable(v).name.clone(), terms.show(t).to_string().into())
        });
        let predicates = self.predicates.iter().map(|(n, text)| (text.clone(), known(*n).into()));
        std::iter::once(at).chain(values).chain(predicates).collect()
    }

    fn step(&self, p: &Program<'_>, before: &Here, e: EdgeId, after: &Here) -> Step {
        let (label, source) = label(&self.cfa, p, e);
        let (old, new) = (self.values(p, before), self.values(p, after));
        let part = Part {
            from: Some(place(&self.cfa, p, before.location)),
            to: Some(place(&self.cfa, p, after.location)),
            takes: e.0.into(),
            ..Part::default()
        };
        let set = new.into_iter().filter(|(name, value)| old.get(name) != Some(value)).collect();
        Step { label, set, parts: vec![part], place: source, ..Step::default() }
    }

    /// Is a state of the program in a label?
    fn holds(&self, here: &Here, state: &Valuation) -> bool {
        let Space { cfa, domain } = &mut *self.space.borrow_mut();
        let said: Vec<TermId> = domain.assumptions(&mut cfa.terms, &here.label);
        said.iter().all(|&t| eval(&cfa.terms, t, state, &mut NoHost) == Ok(Value::Bool(true)))
    }

    fn replayed(&mut self, trace: &Trace) -> Result<(), Error> {
        for (i, step) in trace.steps.iter().enumerate() {
            // Edges that do nothing have been gone along already.
            let idle = *self.cfa.terms.stmt(self.cfa.edge(step.edge).stmt) == Stmt::Skip;
            if idle && self.here().location != self.cfa.edge(step.edge).from {
                continue;
            }
            let moves = self.moves(self.here())?;
            match moves.into_iter().find(|(e, next)| *e == step.edge && self.holds(next, &step.after)) {
                Some(next) => self.taken.push(next),
                None => return Err(Error::Refused(format!("step {} is in no label that follows", i + 1))),
            }
        }
        Ok(())
    }
}

impl Stepper for LabelStepper {
    fn state(&self) -> Values {
        self.values(&self.program(), self.here())
    }

    fn choices(&self) -> Result<Choices, Error> {
        let (p, here) = (self.program(), self.here());
        let offers = self.moves(here)?.into_iter().map(|(e, next)| self.step(&p, here, e, &next)).collect();
        Ok(Choices { offers, ..Choices::default() })
    }

    fn take(&mut self, offer: usize) -> Result<(), Error> {
        let mut moves = self.moves(self.here())?;
        if offer >= moves.len() {
            return Err(Error::refused(format!("there is no choice {offer} here")));
        }
        self.taken.push(moves.swap_remove(offer));
        Ok(())
    }

    fn undo(&mut self) -> bool {
        self.taken.pop().is_some()
    }

    fn steps(&self) -> usize {
        self.taken.len()
    }

    fn run(&self) -> Run {
        let p = self.program();
        let befores = std::iter::once(&self.first).chain(self.taken.iter().map(|(_, here)| here));
        let steps = befores.zip(&self.taken).map(|(before, (e, after))| self.step(&p, before, *e, after));
        Run { start: self.values(&p, &self.first), steps: steps.collect(), ..Run::default() }
    }

    fn replay(&mut self, trace: &str) -> Result<(), Error> {
        let trace = read_trace(&Program::new(&self.cfa, &[]), trace)?;
        interpret::replay(&self.cfa, &trace).map_err(|e| Error::refused(e.to_string()))?;
        let before = std::mem::take(&mut self.taken);
        let replayed = self.replayed(&trace);
        if replayed.is_err() {
            self.taken = before;
        }
        replayed
    }

    fn remark(&self) -> Option<String> {
        match self.cfa.location(self.here().location).kind {
            Kind::Error => Some("an error seems to be reached: perhaps no run comes here".into()),
            Kind::Final => Some("the end is reached".into()),
            Kind::Plain => None,
        }
    }
}
