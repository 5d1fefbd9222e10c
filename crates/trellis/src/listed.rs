//! Models whose states can be listed one by one: what answers, replays, certifies and shows questions about them, for any [`System`] that has words
//! for its states ([`Walkable`]) and its evidence ([`Present`]). A formalism of one's own need not write a [`Task`].

use std::sync::Arc;

use trellis_meter::Meter;
use trellis_model::evidence::Verdict;
use trellis_report::json::Input;
use trellis_report::run::shown;
use trellis_report::step::Walkable;
use trellis_report::{Kind, Present};

use crate::pipeline::{statistics, steps};
use crate::settings::Settings;
use crate::system::{Flaw, System, reach};
use crate::task::{Presenter, Question, Rejection, Report, Task};
use crate::{Error, system};

/// A system for each question: can something bad be reached in it?
pub struct Listed<S> {
    pub args: Arc<Settings>,
    pub language: &'static str,
    pub inputs: Vec<Input>,
    /// What must never happen, in words, and the system that knows it.
    pub asked: Vec<(String, S)>,
}

/// What is wrong with evidence, in the model's words.
fn words<S: Walkable>(s: &S, flaw: &Flaw<S::State, S::Action>) -> Rejection {
    let state = |state: &S::State| {
        let values: Vec<String> = s.values(state).iter().map(|(name, v)| format!("{name} = {}", shown(v))).collect();
        values.join(", ")
    };
    Rejection::Wrong(match flaw {
        Flaw::Step(n) => format!("step {} is not possible", n + 1),
        Flaw::End(end) => format!("it ends in `{}`", state(end)),
        Flaw::Start(start) => format!("the start `{}` is not among the states", state(start)),
        Flaw::Bad(bad) => format!("`{}` is among the states", state(bad)),
        Flaw::Leaves(from, a, to) => {
            format!("`{}` leaves the states, to `{}`", s.step(from, a, to).label, state(to))
        }
    })
}

impl<S, State, Action> Task for Listed<S>
where
    S: System<State = State, Action = Action> + Walkable<State = State, Action = Action>,
    S: Present<Trace = Vec<Action>, Proof = Vec<State>>,
    Action: PartialEq,
{
    type Trace = Vec<Action>;
    type Proof = Vec<State>;

    fn args(&self) -> &Settings {
        &self.args
    }

    fn language(&self) -> &'static str {
        self.language
    }

    fn inputs(&self) -> Vec<Input> {
        self.inputs.clone()
    }

    fn questions(&self) -> Vec<Question> {
        self.asked.iter().map(|(text, _)| Question::plain(text, Kind::Always, vec![])).collect()
    }

    fn solve(&self, n: usize, meter: &mut Meter) -> Result<Report<Self>, Error> {
        let (text, system) = &self.asked[n];
        let (verdict, stats): (system::Searched<S>, _) = reach(system).search(meter);
        let verdict = match verdict {
            Verdict::Safe(states) => Verdict::Safe(states),
            Verdict::Unsafe(run) => Verdict::Unsafe(run.into_iter().map(|(action, _)| action).collect()),
            Verdict::Unknown(why) => Verdict::Unknown(why),
        };
        let report = Report::<Self>::about(&self.name(), self.language, text, Kind::Always, verdict);
        Ok(Report::<Self> { engine: "breadth-first search".into(), statistics: statistics(&stats), ..report })
    }

    fn replay(&self, n: usize, trace: &Vec<Action>, _: &Meter) -> Result<String, Rejection> {
        let system = &self.asked[n].1;
        system.replay(trace).map_err(|flaw| words(system, &flaw))?;
        Ok(format!("run of {} replayed", steps(trace.len())))
    }

    fn certify(&self, n: usize, proof: &Vec<State>, _: &Meter) -> Result<String, Rejection> {
        let system = &self.asked[n].1;
        system.certify(proof).map_err(|flaw| words(system, &flaw))?;
        Ok(format!("{} states checked: no step leaves them", proof.len()))
    }

    fn present(&self, n: usize, then: &mut dyn FnMut(&Presenter<'_, Self>)) {
        then(&self.asked[n].1);
    }
}
