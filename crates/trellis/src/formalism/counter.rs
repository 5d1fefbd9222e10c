//! Counter systems: any number of processes, or the tokens of nets. Which engine, and evidence.

mod instance;
mod load;
mod second;

use std::borrow::Cow;
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use trellis_check::counter as checker;
use trellis_engine::wsts::{self, Engine, backward, forward, lazy};
use trellis_meter::Meter;
use trellis_model::counter::System;
use trellis_model::counter::evidence::{Certificate, Trace};
use trellis_model::refinements::History;
use trellis_report::counter::{never, property, summary, text};
use trellis_report::json::Input;
use trellis_report::present::Drawing;
use trellis_report::step::counter::CounterStepper;
use trellis_report::{CounterReport, Kind, Present, Style, dot, refinements, svg};

use super::formula::Subject;
use super::{Cases, Formalism, Language, Own, Profile, Request, Steps, boxed, by_name_only};
use crate::Error;
use crate::context::Context;
use crate::files::write_file;
use crate::pipeline::{statistics, steps};
use crate::settings::{Control, Convert, Engine as E, Format, Settings, Simulate};
use crate::task::{Presenter, Question, Rejection, Task, Unanswered};

use self::load::{Asked, Loaded, load};

/// Counter systems.
pub struct Counters;

/// The languages.
static LANGUAGES: [Language; 4] = [
    Language {
        name: "spec",
        title: "mist's counter systems",
        extensions: &["spec"],
        sniff: |text| ["vars", "rules", "init", "target"].iter().all(|word| text.contains(word)),
    },
    Language {
        name: "pnml",
        title: "Petri nets, PNML",
        extensions: &["pnml"],
        sniff: |text| text.trim_start().starts_with('<') && text.contains("<pnml"),
    },
    Language { name: "lola", title: "Petri nets, LoLA", extensions: &["lola", "llnet"], sniff: by_name_only },
    Language { name: "tts", title: "thread transition systems", extensions: &["tts"], sniff: by_name_only },
];

/// Options of questions about states.
static PROFILE: Profile = Profile {
    who: "counter systems",
    engines: &[E::Auto, E::Wsts, E::Backward, E::Forward, E::Equation, E::Frames, E::Explicit],
    options: &[
        ("control", &[E::Wsts]),
        ("start_atoms", &[E::Wsts]),
        ("equal_depth", &[E::Wsts]),
        ("merged", &[E::Wsts]),
        ("layers", &[E::Wsts]),
        ("plain", &[E::Wsts]),
        ("linear", &[E::Wsts]),
        ("show_tree", &[E::Wsts]),
        ("no_prune", &[E::Backward]),
        ("no_guide", &[E::Forward]),
        ("invariants", &[]),
        ("start", &[]),
        ("threads", &[E::Auto]),
        ("show_invariant", &[]),
        ("after", &[]),
    ],
};

impl Formalism for Counters {
    fn languages(&self) -> &'static [Language] {
        &LANGUAGES
    }

    fn profile(&self) -> &'static Profile {
        &PROFILE
    }

    fn ask(&self, request: &Request) -> Cases {
        let args = &request.args;
        let engine = engine(args)?;
        let asked = Asked {
            properties: Some(&args.properties),
            counters: Some(&args.counters),
            color: request.args.context.color,
        };
        let loaded = load(&args.model, request.language, &asked)?;
        args.context.note(&loaded.warnings);
        loaded.refused.iter().for_each(|(_, why)| args.context.note(format_args!("{}\n", why.trim_end())));
        let all_refused = !loaded.refused.is_empty() && loaded.refused.len() == args.properties.errors.len();
        let language = request.language.name;
        let task = |loaded, turn| {
            let (args, history) = (args.clone(), RefCell::default());
            Rc::new(CounterTask { args, language, loaded, engine, all_refused, turn, history })
        };
        if matches!(engine, Engine::Portfolio(_))
            && !all_refused
            && !loaded.system.is_monotone()
            && let Some(formula) = second::as_formula(request, &loaded.system, &loaded.question)
        {
            let first = task(loaded.clone(), Some(second::TURNS.0));
            return Ok(vec![Rc::new(second::Second { first, formula: Rc::new(formula), last: task(loaded, None) })]);
        }
        Ok(vec![task(loaded, None)])
    }

    fn own_queries(&self, _: &Language) -> Own {
        Own::Errors
    }

    fn subject(&self, request: &Request) -> Result<Subject, Error> {
        let asked =
            Asked { counters: Some(&request.args.counters), color: request.args.context.color, ..Default::default() };
        Ok(Subject::Counters(load(&request.args.model, request.language, &asked)?.system))
    }

    fn stepper(&self, args: &Simulate, language: &'static Language, _: Option<&str>, context: &Context) -> Steps {
        let (system, start) = instance::start(&args.model, language, args.instance.as_deref(), context.color)?;
        boxed(CounterStepper::new(Cow::Owned(system), start))
    }

    fn plain_options(&self) -> &'static [&'static str] {
        &["instance", "after"]
    }

    fn drawing(&self, args: &Convert, language: &'static Language, color: bool) -> Result<Drawing, Error> {
        Ok(load(&args.model, language, &Asked { color, ..Default::default() })?.system.drawing())
    }

    fn convert(&self, args: &Convert, language: &'static Language, color: bool) -> Result<String, Error> {
        if args.to != Format::Xta || args.property.is_some() {
            return Err(Error::Usage("a counter system is written as an instance: --to xta --instance 'x = 3'".into()));
        }
        instance::written(&args.model, language, args.instance.as_deref(), color)
    }
}

fn engine(args: &Settings) -> Result<Engine, Error> {
    let say = |text: &str| Err(Error::Usage(text.into()));
    let c = &args.counters;
    if c.linear && (c.start_atoms || c.merged || c.layers) {
        return say(
            "--linear is the paper's algorithm: only its control may be another one (--control, --equal-depth)",
        );
    }
    Ok(match args.engine {
        E::Wsts => Engine::Lazy(lazy::Options {
            control: match c.control {
                None | Some(Control::Bfs) => lazy::Control::Breadth,
                Some(Control::Dfs) => lazy::Control::Depth,
                Some(Control::Random) => lazy::Control::Random(args.seed),
                Some(Control::Adverse) => lazy::Control::Adverse,
            },
            start_atoms: c.start_atoms,
            equal_depth: c.equal_depth,
            merged: c.merged,
            layers: c.layers,
            project: !(c.plain || c.merged || c.layers || c.linear) && matches!(c.control, None | Some(Control::Bfs)),
            linear: c.linear,
        }),
        E::Backward => Engine::Backward(backward::Options { prune: !c.no_prune }),
        E::Forward => Engine::Forward(forward::Options { guide: !c.no_guide }),
        E::Equation => Engine::Equation,
        E::Frames => Engine::Frames,
        E::Explicit => Engine::Exact,
        _ => Engine::Portfolio(args.programs.threads.unwrap_or(2).into()),
    })
}

fn engine_line(engine: &Engine) -> String {
    match engine {
        Engine::Lazy(o) if o.linear => format!("lazy abstraction, {o}"),
        Engine::Lazy(o) => format!("lazy abstraction without a solver, {o}"),
        Engine::Backward(o) if o.prune => "backward search, pruned by the state equation".into(),
        Engine::Backward(_) => "backward search".into(),
        Engine::Forward(o) if o.guide => "forward search with accelerations, guided by the state equation".into(),
        Engine::Forward(_) => "forward search with accelerations".into(),
        Engine::Equation => "state equation with traps".into(),
        Engine::Frames => "frames, as IC3 has them".into(),
        Engine::Exact => "forward search, exact where guards have upper bounds".into(),
        other => other.to_string(),
    }
}

/// A counter system, and the question whether its target can be covered.
struct CounterTask {
    args: Arc<Settings>,
    language: &'static str,
    loaded: Loaded,
    engine: Engine,
    /// None of the targets that were asked for can be read.
    all_refused: bool,
    /// It is ended after this long.
    turn: Option<Duration>,
    /// What lazy abstraction did, if that is to be shown.
    history: RefCell<Option<History>>,
}

impl Task for CounterTask {
    type Trace = Trace;
    type Proof = Certificate;

    fn args(&self) -> &Settings {
        &self.args
    }

    fn language(&self) -> &'static str {
        self.language
    }

    fn inputs(&self) -> Vec<Input> {
        self.loaded.inputs.clone()
    }

    fn questions(&self) -> Vec<Question> {
        if self.all_refused {
            return vec![];
        }
        let Loaded { question, system, .. } = &self.loaded;
        let property = property(system);
        vec![Question { property, ..Question::plain(question, Kind::Always, vec![]) }]
    }

    fn unanswered(&self) -> Vec<(String, Unanswered)> {
        let refused =
            |(text, _): &(String, String)| (format!("never {text}"), Unanswered::Refused("it cannot be read".into()));
        self.loaded.refused.iter().map(refused).collect()
    }

    fn solve(&self, _: usize, meter: &mut Meter) -> Result<CounterReport, Error> {
        let turn = self.turn.and_then(|turn| Instant::now().checked_add(turn));
        let deadline = turn.into_iter().chain(self.args.context.deadline(self.args.timeout)).min();
        let wsts::Outcome { verdict, stats, by } = self.search(&mut meter.clone().until(deadline));
        let mut report =
            CounterReport::about(&self.name(), self.language, &self.loaded.question, Kind::Always, verdict);
        report.engine = engine_line(&by.unwrap_or(self.engine));
        report.statistics = statistics(&stats);
        // They have been shown, with their places.
        report.warnings = self.loaded.odd.clone();
        Ok(report)
    }

    fn replay(&self, _: usize, trace: &Trace, _: &Meter) -> Result<String, Rejection> {
        let system = &self.loaded.system;
        checker::replay(system, trace).map_err(|why| words(system, &why))?;
        Ok(format!("run of {} replayed", steps(trace.length() as usize)))
    }

    fn certify(&self, _: usize, proof: &Certificate, _: &Meter) -> Result<String, Rejection> {
        let system = &self.loaded.system;
        checker::certify(system, proof).map_err(|why| words(system, &why))?;
        Ok(format!("{} checked", summary(proof)))
    }

    fn present(&self, _: usize, then: &mut dyn FnMut(&Presenter<'_, Self>)) {
        then(&self.loaded.system);
    }

    fn more_text(&self, _: usize, report: &CounterReport, style: Style) -> String {
        let mut out =
            report.certificate.as_ref().map_or_else(String::new, |c| text::invariant(&self.loaded.system, c, style));
        if let (Some(file), Some(history)) = (&self.args.counters.show_tree, &*self.history.borrow())
            && file == Path::new("-")
        {
            out.push('\n');
            out.push_str(&refinements::text(history));
        }
        out
    }

    fn write_more(&self, _: usize, report: &CounterReport, file: &dyn Fn(&Path) -> PathBuf) -> Result<(), Error> {
        write_trees(&self.args, &self.history, report.certificate.is_some(), file)
    }
}

impl CounterTask {
    fn search(&self, meter: &mut Meter) -> wsts::Outcome {
        match &self.engine {
            Engine::Lazy(options) if self.args.counters.show_tree.is_some() || self.args.dot.is_some() => {
                let (outcome, _, history) = lazy::told(&self.loaded.system, options, true, meter);
                *self.history.borrow_mut() = history;
                outcome
            }
            engine => wsts::check(&self.loaded.system, engine, meter),
        }
    }
}

/// Writes the trees of lazy abstraction, in the form that the file's name asks for; `--dot` of a proof is the last of them.
pub(super) fn write_trees(
    args: &Settings,
    history: &RefCell<Option<History>>,
    proved: bool,
    file: &dyn Fn(&Path) -> PathBuf,
) -> Result<(), Error> {
    let history = history.borrow();
    let Some(history) = &*history else { return Ok(()) };
    let name = args.model.model.display().to_string();
    if let Some(to) = args.dot.as_ref().filter(|_| proved) {
        write_file(&file(to), &dot::drawing(&refinements::proof(history), &name))?;
    }
    let Some(to) = args.counters.show_tree.as_ref().filter(|to| *to != Path::new("-")) else { return Ok(()) };
    let text = match to.extension().and_then(|e| e.to_str()) {
        Some("json") => format!("{:#}\n", refinements::json(history)),
        Some("dot") => dot::drawing(&refinements::drawing(history), &name),
        Some("svg") => svg::drawing(&refinements::drawing(history), None).map_err(Error::Usage)?,
        _ => refinements::text(history),
    };
    write_file(&file(to), &text)
}

/// A refusal in the system's names.
fn words(system: &System, why: &checker::Rejection) -> String {
    match *why {
        checker::Rejection::Step(r) => format!("`{}` may lead out of the invariant", system.describe(r)),
        checker::Rejection::Target(t) => format!("the invariant does not say: {}", never(system, &system.target[t])),
        checker::Rejection::Loose(r) => format!("`{}` depends on a number that is not fixed", system.describe(r)),
        checker::Rejection::Grows(b, r) => format!("`{}` may break bound {}", system.describe(r), b + 1),
        ref other => other.to_string(),
    }
}
