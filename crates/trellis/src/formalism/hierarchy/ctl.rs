//! Formulas of computation tree logic about hierarchies of nodes: fixpoints on relations, evaluated again configuration by configuration. They
//! have no evidence of their own; what is too large to be evaluated again stays UNKNOWN.

use std::marker::PhantomData;
use std::sync::Arc;
use std::time::{Duration, Instant};

use trellis_check::branching::judge;
use trellis_domain::relation::{Decisions, Made, Natural};
use trellis_engine::cover::reason;
use trellis_engine::ctl::Branching;
use trellis_meter::Meter;
use trellis_model::evidence::{Reason, Verdict};
use trellis_model::hierarchy::Levels;
use trellis_model::hierarchy::ctl::Formula;
use trellis_model::hierarchy::evidence::Trace;
use trellis_model::hierarchy::symbolic::Symbolic;
use trellis_report::hierarchy::Named;
use trellis_report::json::Input;
use trellis_report::{Kind, Outcome, PropertyReport};
use trellis_syntax::ctl;
use trellis_syntax::diag::Sources;

use super::load::top;
use super::{Left, Nodes, left_open, set_apart};
use crate::binding::model_input;
use crate::formalism::Request;
use crate::settings::Settings;
use crate::task::{Presenter, Question, Rejection, Task, Unanswered, Unpresentable};
use crate::{Error, warnings};

/// A report about a formula.
type CtlReport = PropertyReport<Trace, Decisions>;

/// How long a formula is evaluated again, if no limit was given.
const PATIENCE: Duration = Duration::from_secs(60);

/// A hierarchy, and formulas that must hold in every initial configuration.
pub struct CtlTask {
    args: Arc<Settings>,
    asked: Nodes,
    formulas: Vec<(String, Formula)>,
    left: Left,
    symbolic: Made<Symbolic>,
    levels: Option<Levels>,
}

impl CtlTask {
    /// Reads the model and the formulas.
    pub fn new(request: &Request) -> Result<CtlTask, Error> {
        let (args, p) = (&request.args, &request.args.properties);
        if !p.properties.is_empty() || !p.errors.is_empty() || args.certificate.is_some() || args.trace.is_some() {
            return Err(Error::Usage("--ctl: not together with -p or --error, and it writes no evidence".into()));
        }
        let mut sources = Sources::default();
        let (mut built, node) = top(&mut sources, &args.model, args.nodes.node.as_deref(), &args.context)?;
        let (mut formulas, mut refused) = (vec![], vec![]);
        for text in &args.nodes.ctl {
            let id = sources.add("--ctl", text.clone());
            match ctl::parse(&mut sources, id, &mut built) {
                Ok(formula) => formulas.push((text.clone(), formula)),
                Err(errors) => refused.push((text.clone(), errors)),
            }
        }
        let left = set_apart(&sources, refused, formulas.len(), &args.context)?;
        let inputs = vec![model_input(&args.model.model, &sources)];
        let asked = Nodes { built, node, inputs, conditions: vec![] };
        let (symbolic, levels) = (asked.symbolic(args), asked.built.hierarchy.levels().ok());
        Ok(CtlTask { args: args.clone(), asked, formulas, left, symbolic, levels })
    }

    /// An initial configuration in which the formula does not hold, if there is one.
    fn refuted(
        &self,
        formula: &Formula,
        meter: &mut Meter,
        statistics: &mut Vec<(String, u64)>,
    ) -> Result<Option<Trace>, Reason> {
        let hierarchy = &self.asked.built.hierarchy;
        let m = self.symbolic.as_ref().map_err(|e| reason(e.clone()))?;
        let found = Branching::new(hierarchy, m)?.holds(formula, meter)?;
        let small = |n: Natural| u64::try_from(&n).unwrap_or(u64::MAX);
        statistics.push(("configurations where it holds".into(), small(m.count(&found))));
        let initial = m.initial(hierarchy).and_then(|states| m.configurations_of(&states)).map_err(reason)?;
        let without = m.space.minus(&initial, &found).map_err(reason)?;
        Ok(m.pick(&without).map(|first| Trace { configurations: vec![first], events: vec![] }))
    }
}

/// That there is no evidence to write or read.
const NO_EVIDENCE: &str = "formulas of computation tree logic have no evidence on file";

impl Task for CtlTask {
    type Trace = Trace;
    type Proof = Decisions;

    fn args(&self) -> &Settings {
        &self.args
    }

    fn language(&self) -> &'static str {
        "altarica"
    }

    fn inputs(&self) -> Vec<Input> {
        self.asked.inputs.clone()
    }

    fn meaning(&self) -> Vec<(String, String)> {
        vec![("node".into(), self.asked.node.clone())]
    }

    fn questions(&self) -> Vec<Question> {
        let question = |(text, formula): &(String, Formula)| {
            let warnings = warnings::of_branching(&self.asked.built.hierarchy, formula, text);
            Question::plain(text, Kind::Always, warnings)
        };
        self.formulas.iter().map(question).collect()
    }

    fn unanswered(&self) -> Vec<(String, Unanswered)> {
        left_open(&self.left)
    }

    fn solve(&self, n: usize, meter: &mut Meter) -> Result<CtlReport, Error> {
        let (text, formula) = &self.formulas[n];
        let mut statistics = vec![];
        let found = self.refuted(formula, meter, &mut statistics);
        let about = |verdict| CtlReport::about(&self.name(), "altarica", text, Kind::Always, verdict);
        // A set where a formula holds is no invariant; the formula is evaluated again, plainly, or there is no answer.
        let mut report = match found {
            Ok(Some(trace)) => about(Verdict::Unsafe(trace)),
            Ok(None) => CtlReport {
                outcome: Outcome::Safe,
                reason: None,
                ..about(Verdict::Unknown(Reason::Unchecked(String::new())))
            },
            Err(why) => about(Verdict::Unknown(why)),
        };
        report.engine = "fixpoints on relations".into();
        report.statistics = statistics;
        if self.args.no_check {
            report.assumes.push("fixpoints on relations, which were not checked (--no-check)".into());
        }
        Ok(report)
    }

    fn check(&self, n: usize, report: &CtlReport, _: &Meter) -> Result<Vec<String>, Rejection> {
        let refuted = report.trace.as_ref().and_then(|t| t.configurations.first());
        let until = self.args.context.deadline(self.args.timeout).or_else(|| Instant::now().checked_add(PATIENCE));
        let judged = judge(&self.asked.built.hierarchy, &self.formulas[n].1, refuted.map(Vec::as_slice), until);
        match judged.map_err(|e| e.to_string())? {
            Some(count) => Ok(vec![format!("evaluated again, configuration by configuration: {count} can be reached")]),
            None => {
                let found = if refuted.is_none() { "it holds" } else { "it does not hold" };
                let what = format!("{found} by fixpoints on relations, and there is too much to evaluate it plainly");
                Err(Rejection::Open(what))
            }
        }
    }

    fn replay(&self, _: usize, _: &Trace, _: &Meter) -> Result<String, Rejection> {
        Err(Rejection::Wrong(NO_EVIDENCE.into()))
    }

    fn certify(&self, _: usize, _: &Decisions, _: &Meter) -> Result<String, Rejection> {
        Err(Rejection::Wrong(NO_EVIDENCE.into()))
    }

    fn present(&self, _: usize, then: &mut dyn FnMut(&Presenter<'_, Self>)) {
        match &self.levels {
            Some(levels) => then(&Named { hierarchy: &self.asked.built.hierarchy, levels }),
            None => then(&Unpresentable(NO_EVIDENCE, PhantomData)),
        }
    }
}
