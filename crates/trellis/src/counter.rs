//! `trellis check` and `trellis certify` for counter systems.

mod instance;
mod load;

use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use trellis_check::counter as checker;
use trellis_engine::wsts::{self, Engine, backward, forward, lazy};
use trellis_meter::Meter;
use trellis_model::counter::System;
use trellis_model::counter::evidence::{Certificate, Trace};
use trellis_report::counter::{html, never, property, summary, text};
use trellis_report::json::{Header, Input};
use trellis_report::{Content, CounterReport, Kind, Present, Style, chart, dot, json};

use crate::cli::{self, Certify, Check};
use crate::evidence::Given;
use crate::formalism::{Evidence, Formalism, Question, Rejection, Unanswered};
use crate::pipeline::{self, statistics, steps};
use crate::{Failure, Ran, automaton};

pub use self::instance::{convert, no_instance, simulate};
pub use self::load::{Asked, is_one, load};
use self::load::{Loaded, language};

/// How counter systems are checked.
#[derive(Args, Debug, Clone, Default)]
#[command(next_help_heading = "Counter systems")]
pub struct Counters {
    /// Which node --engine wsts takes next (default: bfs, which always ends).
    #[arg(long, value_enum, value_name = "ORDER")]
    pub control: Option<Control>,
    /// With --engine wsts: start from the atoms of the initial states too, as the paper does (exact, many more regions).
    #[arg(long)]
    pub start_atoms: bool,
    /// Let --engine wsts cover nodes by nodes of the same depth too.
    #[arg(long)]
    pub equal_depth: bool,
    /// Let --engine wsts take all rules as one: few refinements, with many predicates each.
    #[arg(long)]
    pub merged: bool,
    /// With --engine wsts: refine with the full backward layer, not only along the error trace.
    #[arg(long)]
    pub layers: bool,
    /// With --engine wsts: disable predicate projection (exactly Algorithm 2 of Dimitrova and Podelski). --merged, --layers and
    /// another --control imply it.
    #[arg(long)]
    pub plain: bool,
    /// With --engine wsts: linear atoms, Boolean formulas over them and a solver, as in the paper (slow, for study).
    #[arg(long)]
    pub linear: bool,
    /// Let --engine backward keep what the state equation shows to be out of reach.
    #[arg(long)]
    pub no_prune: bool,
    /// Let --engine forward take the newest state first, not the one that is nearest to the target by the state equation.
    #[arg(long)]
    pub no_guide: bool,
    /// Draw the run, process by process, as a message sequence chart: .svg is a picture, anything else is text (`-`: here).
    #[arg(long, value_name = "FILE")]
    pub msc: Option<PathBuf>,
    /// Weighted sums that no rule changes (`x = 1, y = 2`, one or more): refused if one does, else known from the start.
    #[arg(long, value_name = "FILE")]
    pub invariants: Option<PathBuf>,
    /// How a thread transition system starts: `s|l1,l2/u1,u2`, with any number of threads in the states behind the slash (default:
    /// 0|/0).
    #[arg(long, value_name = "STATE")]
    pub start: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Control {
    /// One of least depth.
    Bfs,
    /// The newest.
    Dfs,
    /// Any, by --seed.
    Random,
    /// The newest that leads to no refinement of the root: the schedule under which lazy abstraction need not terminate.
    Adverse,
}

/// The options for counter systems that were given, for a message.
pub fn given(args: &Check) -> Option<String> {
    names(&[
        ("--engine wsts", args.engine == cli::Engine::Wsts),
        ("--engine backward", args.engine == cli::Engine::Backward),
        ("--engine forward", args.engine == cli::Engine::Forward),
        ("--engine equation", args.engine == cli::Engine::Equation),
        ("--engine frames", args.engine == cli::Engine::Frames),
        ("--control", args.counters.control.is_some()),
        ("--start-atoms", args.counters.start_atoms),
        ("--equal-depth", args.counters.equal_depth),
        ("--merged", args.counters.merged),
        ("--layers", args.counters.layers),
        ("--plain", args.counters.plain),
        ("--linear", args.counters.linear),
        ("--no-prune", args.counters.no_prune),
        ("--no-guide", args.counters.no_guide),
        ("--invariants", args.counters.invariants.is_some()),
        ("--msc", args.counters.msc.is_some()),
        ("--start", args.counters.start.is_some()),
    ])
}

fn names(options: &[(&str, bool)]) -> Option<String> {
    let given: Vec<&str> = options.iter().filter(|(_, given)| *given).map(|(name, _)| *name).collect();
    (!given.is_empty()).then(|| given.join(", "))
}

/// Options of other formalisms that were given.
fn foreign(args: &Check) -> Option<String> {
    let (p, r) = (&args.programs, &args.reading);
    let programs = [
        p.domain.is_some(),
        p.predicates.is_some(),
        p.refinement.is_some(),
        p.precision.is_some(),
        p.initial.is_some(),
        p.split.is_some(),
        p.pruning.is_some(),
        p.max_values.is_some(),
        p.depth.is_some(),
        p.witness.is_some(),
        r.ints.is_some(),
        r.data_model.is_some(),
    ];
    let clocks = [
        args.extrapolation.is_some(),
        args.cover.is_some(),
        args.clocks.is_some(),
        args.data.is_some(),
        args.all_clocks,
        args.non_zeno,
    ];
    let engines = [cli::Engine::Reach, cli::Engine::Lazy, cli::Engine::Cegar, cli::Engine::Bmc, cli::Engine::Induction];
    names(&[
        ("this engine", engines.contains(&args.engine)),
        ("options for programs", programs.contains(&true)),
        ("options for clocks", clocks.contains(&true)),
        ("--update, --join", args.update.is_some() || args.join.is_some()),
        ("--order, --priority", args.order.is_some() || args.priority.is_some()),
        ("--symmetry, --no-symmetry, --audit", args.symmetry || args.no_symmetry || args.audit),
    ])
}

fn engine(args: &Check) -> Result<Engine, Failure> {
    let say = |text: &str| Err(Failure::Usage(text.into()));
    if let Some(text) = foreign(args) {
        return Err(Failure::Usage(format!("{text}: not for counter systems")));
    }
    let c = &args.counters;
    let variants = c.control.is_some() || c.start_atoms || c.equal_depth || c.merged || c.layers;
    let wsts = variants || c.plain || c.linear;
    if wsts && args.engine != cli::Engine::Wsts {
        return say(
            "--control, --plain, --linear, --start-atoms, --equal-depth, --merged and --layers go with --engine wsts",
        );
    }
    if c.linear && variants {
        return say("--linear is the paper's algorithm and nothing else");
    }
    if c.no_prune && args.engine != cli::Engine::Backward {
        return say("--no-prune goes with --engine backward");
    }
    if c.no_guide && args.engine != cli::Engine::Forward {
        return say("--no-guide goes with --engine forward");
    }
    if args.programs.threads.is_some() && args.engine != cli::Engine::Auto {
        return say("--threads is for the portfolio, which runs when no engine is given");
    }
    Ok(match args.engine {
        cli::Engine::Wsts => Engine::Lazy(lazy::Options {
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
        cli::Engine::Backward => Engine::Backward(backward::Options { prune: !c.no_prune }),
        cli::Engine::Forward => Engine::Forward(forward::Options { guide: !c.no_guide }),
        cli::Engine::Equation => Engine::Equation,
        cli::Engine::Frames => Engine::Frames,
        cli::Engine::Explicit => Engine::Exact,
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
struct Counter {
    name: String,
    language: &'static str,
    loaded: Loaded,
    engine: Engine,
    /// None of the targets that were asked for can be read.
    all_refused: bool,
    /// Is an invariant shown in full?
    in_full: bool,
}

impl Formalism for Counter {
    type Trace = Trace;
    type Proof = Certificate;

    fn name(&self) -> &str {
        &self.name
    }

    fn language(&self) -> &'static str {
        self.language
    }

    fn inputs(&self) -> &[Input] {
        &self.loaded.inputs
    }

    fn questions(&self) -> Vec<Question> {
        if self.all_refused {
            return vec![];
        }
        let Loaded { question, system, .. } = &self.loaded;
        vec![Question { text: question.clone(), property: property(system), kind: Kind::Always, warnings: vec![] }]
    }

    fn unanswered(&self) -> Vec<(String, Unanswered)> {
        let refused =
            |(text, _): &(String, String)| (format!("never {text}"), Unanswered::Refused("it cannot be read".into()));
        self.loaded.refused.iter().map(refused).collect()
    }

    fn solve(&self, _: usize, meter: &mut Meter) -> Result<CounterReport, Failure> {
        let wsts::Outcome { verdict, stats, by } = wsts::check(&self.loaded.system, &self.engine, meter);
        let mut report = CounterReport::about(&self.name, self.language, &self.loaded.question, Kind::Always, verdict);
        report.engine = engine_line(&by.unwrap_or(self.engine));
        report.statistics = statistics(&stats);
        // They have been shown, with their places.
        report.warnings = self.loaded.odd.clone();
        Ok(report)
    }

    fn replay(&self, _: usize, trace: &Trace) -> Result<String, Rejection> {
        let system = &self.loaded.system;
        checker::replay(system, trace).map_err(|why| words(system, &why))?;
        Ok(format!("run of {} replayed", steps(trace.rules.len())))
    }

    fn certify(&self, _: usize, proof: &Certificate, _: &Meter) -> Result<String, Rejection> {
        let system = &self.loaded.system;
        checker::certify(system, proof).map_err(|why| words(system, &why))?;
        Ok(format!("{} checked", summary(proof)))
    }

    fn text(&self, _: usize, report: &CounterReport, style: Style) -> String {
        let style = Style { full: style.full || self.in_full, ..style };
        text::render(report, &self.loaded.system, style)
    }

    fn json(&self, _: usize, report: &CounterReport, out: &mut Vec<u8>) -> io::Result<()> {
        let size = report.certificate.as_ref().map(|c| self.loaded.system.size(c));
        json::write_report(out, &self.loaded.system, report, size)
    }

    fn write(
        &self,
        _: usize,
        header: Header<'_>,
        evidence: Evidence<&Trace, &Certificate>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        match evidence {
            Evidence::Trace(t) => json::write_trace(out, &self.loaded.system, header, t),
            Evidence::Proof(c) => json::write_certificate(out, &self.loaded.system, header, c),
        }
    }

    fn read(&self, _: usize, text: &str) -> Result<Evidence<Trace, Certificate>, String> {
        Ok(match json::read(&self.loaded.system, text).map_err(|e| e.to_string())? {
            Content::Trace(t) => Evidence::Trace(t),
            Content::Certificate(c) => Evidence::Proof(c),
        })
    }

    fn dot(&self, _: usize, report: &CounterReport) -> Option<String> {
        dot::report(report, &self.loaded.system)
    }

    fn html(&self, reports: &[CounterReport]) -> String {
        html(reports, &self.loaded.system)
    }

    fn chart(&self, _: usize, trace: &Trace, picture: bool) -> Option<String> {
        chart::trace(&self.loaded.system, trace, picture)
    }
}

/// `trellis check` for counter systems.
pub fn check(args: &Check, out_color: bool, err_color: bool) -> Ran {
    let engine = engine(args)?;
    let asked = Asked { properties: Some(&args.properties), counters: Some(&args.counters), color: err_color };
    let loaded = load(&args.model, &asked)?;
    eprint!("{}", loaded.warnings);
    loaded.refused.iter().for_each(|(_, why)| eprintln!("{}", why.trim_end()));
    let name = args.model.model.display().to_string();
    let all_refused = !loaded.refused.is_empty() && loaded.refused.len() == args.properties.errors.len();
    let model = Counter {
        name,
        language: language(&args.model.model),
        loaded,
        engine,
        all_refused,
        in_full: args.programs.show_invariant,
    };
    pipeline::check(args, &model, out_color)
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

/// `trellis certify` for counter systems.
pub fn certify(args: &Certify, given: &Given<'_>, err_color: bool) -> Ran {
    automaton::not_c(&args.reading)?;
    if args.non_zeno {
        return Err(Failure::Usage("--non-zeno: only for models with clocks".into()));
    }
    let counters = Counters { start: args.start.clone(), ..Counters::default() };
    let asked = Asked { properties: Some(&args.properties), counters: Some(&counters), color: err_color };
    let loaded = load(&args.model, &asked)?;
    if let Some((_, why)) = loaded.refused.into_iter().next() {
        return Err(Failure::Input(why));
    }
    let (name, language) = (args.model.model.display().to_string(), language(&args.model.model));
    let loaded = Loaded { refused: vec![], ..loaded };
    pipeline::certify(
        args,
        given,
        &Counter { name, language, loaded, engine: Engine::Portfolio(1), all_refused: false, in_full: false },
    )
}
