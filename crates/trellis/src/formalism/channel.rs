//! Lossy channel systems: processes that talk through queues which lose messages. Which engine, and evidence.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use trellis_check::channel as checker;
use trellis_engine::wsts::{lazy, lossy};
use trellis_meter::Meter;
use trellis_model::channel::{Action, Certificate, System};
use trellis_model::refinements::History;
use trellis_report::channel::{ChannelReport, invariant, question, summary};
use trellis_report::json::Input;
use trellis_report::present::Drawing;
use trellis_report::step::Trail;
use trellis_report::{Kind, Present, Style, refinements};
use trellis_syntax::diag::{self, Sources};
use trellis_syntax::lcs;

use super::formula::Subject;
use super::{Cases, Formalism, Language, Own, Profile, Request, Steps, boxed, by_name_only, counter};
use crate::context::Context;
use crate::pipeline::{statistics, steps};
use crate::settings::{Control, Convert, Engine as E, Model, Settings, Simulate};
use crate::task::{Presenter, Question, Rejection, Task};
use crate::{Error, binding};

/// Lossy channel systems.
pub struct Channels;

static LANGUAGES: [Language; 1] =
    [Language { name: "lcs", title: "lossy channel systems", extensions: &["lcs"], sniff: by_name_only }];

static PROFILE: Profile = Profile {
    who: "lossy channel systems",
    engines: &[E::Auto, E::Wsts, E::Backward],
    options: &[
        ("control", &[E::Wsts]),
        ("equal_depth", &[E::Wsts]),
        ("show_tree", &[E::Wsts]),
        ("show_invariant", &[]),
    ],
};

/// Reads the system, and what it is asked beside what the file says.
fn load(model: &Model, errors: &[String], color: bool) -> Result<(System, Input), Error> {
    let (text, input) = binding::read(&model.model)?;
    let mut sources = Sources::default();
    let id = sources.add(model.model.display().to_string(), text);
    let mut system = lcs::parse(&sources, id).map_err(|d| Error::Input(diag::render(&d, &sources, color)))?;
    if !errors.is_empty() {
        let mut targets = vec![];
        for error in errors {
            let id = sources.add("--error", error.as_str());
            let read = lcs::parse_target(&sources, id, &system);
            targets.push(read.map_err(|d| Error::Input(diag::render(&d, &sources, color)))?);
        }
        system.target = targets;
    }
    Ok((system, input))
}

impl Formalism for Channels {
    fn languages(&self) -> &'static [Language] {
        &LANGUAGES
    }

    fn profile(&self) -> &'static Profile {
        &PROFILE
    }

    fn ask(&self, request: &Request) -> Cases {
        let args = &request.args;
        let asked = &args.properties;
        if !asked.properties.is_empty() || !asked.labels.is_empty() || asked.queries.is_some() {
            let why =
                "a lossy channel system is asked what must never be reached: --error 'Sender.wait, data >= m1 m0'";
            return Err(Error::Usage(why.into()));
        }
        let (system, input) = load(&args.model, &asked.errors, args.context.color)?;
        if system.target.is_empty() {
            let how =
                "there is no `error` in it: say what must never be reached, as --error 'Sender.wait, data >= m1 m0'";
            return Err(Error::Nothing("lcs", how.into()));
        }
        Ok(vec![Rc::new(ChannelTask { args: args.clone(), system, input, history: RefCell::default() })])
    }

    fn own_queries(&self, _: &Language) -> Own {
        Own::Errors
    }

    fn subject(&self, _: &Request) -> Result<Subject, Error> {
        let why = "formulas about lossy channel systems are not supported (whether something holds again and again is undecidable for them)";
        Err(Error::Usage(why.into()))
    }

    fn stepper(&self, args: &Simulate, _: &'static Language, _: Option<&str>, context: &Context) -> Steps {
        let (system, _) = load(&args.model, &[], context.color)?;
        let start = system.initial.clone();
        boxed(Trail::from(system, vec![start]))
    }

    fn drawing(&self, args: &Convert, _: &'static Language, color: bool) -> Result<Drawing, Error> {
        Ok(load(&args.model, &[], color)?.0.drawing())
    }
}

/// A system, and the question whether its errors can be reached.
struct ChannelTask {
    args: Arc<Settings>,
    system: System,
    input: Input,
    /// What lazy abstraction did, if that is to be shown.
    history: RefCell<Option<History>>,
}

impl Task for ChannelTask {
    type Trace = Vec<Action>;
    type Proof = Certificate;

    fn args(&self) -> &Settings {
        &self.args
    }

    fn language(&self) -> &'static str {
        "lcs"
    }

    fn inputs(&self) -> Vec<Input> {
        vec![self.input.clone()]
    }

    fn questions(&self) -> Vec<Question> {
        vec![Question::plain(&question(&self.system), Kind::Always, vec![])]
    }

    fn solve(&self, _: usize, meter: &mut Meter) -> Result<ChannelReport, Error> {
        let (verdict, stats, engine) = if self.args.engine == E::Wsts {
            let control = match self.args.counters.control {
                None | Some(Control::Bfs) => lazy::Control::Breadth,
                Some(Control::Dfs) => lazy::Control::Depth,
                Some(Control::Random) => lazy::Control::Random(self.args.seed),
                Some(Control::Adverse) => lazy::Control::Adverse,
            };
            let options =
                lazy::Options { control, equal_depth: self.args.counters.equal_depth, ..lazy::Options::default() };
            let keep = self.args.counters.show_tree.is_some() || self.args.dot.is_some();
            let (verdict, stats, history) = lossy::lazy(&self.system, &options, keep, meter);
            *self.history.borrow_mut() = history;
            (verdict, stats, format!("lazy abstraction without a solver, {options}"))
        } else {
            let (verdict, stats) = lossy::backward(&self.system, meter);
            (verdict, stats, "backward search".into())
        };
        let asked = question(&self.system);
        let mut report = ChannelReport::about(&self.name(), "lcs", &asked, Kind::Always, verdict);
        report.engine = engine;
        report.statistics = statistics(&stats);
        Ok(report)
    }

    fn replay(&self, _: usize, trace: &Vec<Action>, _: &Meter) -> Result<String, Rejection> {
        checker::replay(&self.system, trace).map_err(|why| self.words(&why))?;
        Ok(format!("run of {} replayed", steps(trace.len())))
    }

    fn certify(&self, _: usize, proof: &Certificate, _: &Meter) -> Result<String, Rejection> {
        checker::certify(&self.system, proof).map_err(|why| self.words(&why))?;
        Ok(format!("{} checked", summary(proof)))
    }

    fn present(&self, _: usize, then: &mut dyn FnMut(&Presenter<'_, Self>)) {
        then(&self.system);
    }

    fn more_text(&self, _: usize, report: &ChannelReport, style: Style) -> String {
        let mut out = report.certificate.as_ref().map_or_else(String::new, |c| invariant(&self.system, c, style));
        if let (Some(file), Some(history)) = (&self.args.counters.show_tree, &*self.history.borrow())
            && file == Path::new("-")
        {
            out.push('\n');
            out.push_str(&refinements::text(history));
        }
        out
    }

    fn proof_text(&self, _: usize, proof: &Certificate) -> Option<(String, String)> {
        Some((summary(proof), invariant(&self.system, proof, Style { full: true, ..Style::default() })))
    }

    fn write_more(&self, _: usize, report: &ChannelReport, file: &dyn Fn(&Path) -> PathBuf) -> Result<(), Error> {
        counter::write_trees(&self.args, &self.history, report.certificate.is_some(), file)
    }
}

impl ChannelTask {
    /// A refusal in the system's names.
    fn words(&self, why: &checker::Rejection) -> String {
        match *why {
            checker::Rejection::Leaves(_, r) => format!("`{}` may lead out of the invariant", self.system.describe(r)),
            checker::Rejection::Target(t) => {
                format!("the invariant does not say: never {}", self.system.pattern(&self.system.target[t]))
            }
            ref other => other.to_string(),
        }
    }
}
