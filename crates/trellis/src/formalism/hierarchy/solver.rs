//! Models with variables that decision diagrams cannot have: the same question, asked of an automaton and a solver.

use trellis_check::{hierarchy, program as checker};
use trellis_engine::program::{self, Engine};
use trellis_expr::TermId;
use trellis_meter::Meter;
use trellis_model::cfa::evidence::Certificate as Invariant;
use trellis_model::evidence::{Reason, Verdict};
use trellis_model::hierarchy::Hierarchy;
use trellis_model::hierarchy::automaton::{Automaton, automaton};
use trellis_model::hierarchy::evidence::{Certificate, Trace};
use trellis_report::Outcome;

/// How many ways a flat event may have, and how many cases flows.
const LIMIT: usize = 2_000;

/// An invariant of the automaton.
pub struct Proof {
    automaton: Automaton,
    invariant: Invariant,
}

impl Proof {
    /// Is it inductive, and is the automaton that of the model?
    pub fn check(&self, model: &Hierarchy, meter: &Meter) -> Result<(), String> {
        let levels = model.levels().map_err(|e| e.to_string())?;
        hierarchy::same_events(model, &levels).map_err(|e| e.to_string())?;
        checker::certify(&self.automaton.cfa, &self.invariant, meter).map_err(|e| e.to_string())?;
        Ok(())
    }
}

/// What was found.
pub struct Answered {
    pub verdict: Verdict<Trace, Certificate>,
    /// What the outcome is, if it is not that of the verdict: a proof that is about the automaton.
    pub outcome: Option<Outcome>,
    pub engine: String,
    pub proof: Option<Proof>,
}

/// Answers; `why` is why there are no diagrams.
pub fn answer(model: &Hierarchy, bad: TermId, why: Reason, meter: &mut Meter) -> Answered {
    let open =
        |why: Reason, engine: String| Answered { verdict: Verdict::Unknown(why), outcome: None, engine, proof: None };
    let Some(automaton) = automaton(model, bad, LIMIT) else { return open(why, String::new()) };
    let found = program::check(&automaton.cfa, &Engine::Portfolio(1), meter);
    let by = found.by.map_or_else(String::new, |by| format!(": {by}"));
    let engine = format!("flattened, predicates asked of a solver{by}");
    match found.verdict {
        Verdict::Unknown(why) => open(why, engine),
        Verdict::Unsafe(run) => match automaton.trace(&run) {
            None => open(Reason::Unsupported("a run with numbers that do not fit a machine word".into()), engine),
            Some(trace) => Answered { verdict: Verdict::Unsafe(trace), outcome: None, engine, proof: None },
        },
        Verdict::Safe(invariant) => {
            let proof = Some(Proof { automaton, invariant });
            Answered { verdict: Verdict::Unknown(why), outcome: Some(Outcome::Safe), engine, proof }
        }
    }
}
