//! `trellis check` and `trellis certify` for counter systems.

mod instance;
mod load;

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::{Args, ValueEnum};
use trellis_check::counter as checker;
use trellis_engine::budget::Progress;
use trellis_engine::wsts::{self, Engine, backward, forward, lazy};
use trellis_model::counter::System;
use trellis_model::counter::evidence::Trace;
use trellis_report::counter::{chart, draw, never, property, summary, text};
use trellis_report::json::Header;
use trellis_report::{CounterContent, CounterReport, Kind, Style, json, read_counter_evidence, text as plain};

use crate::binding::Bound;
use crate::check::{ProgressLine, budget, code_of, interrupts, statistics, steps, worst};
use crate::cli::{self, Certify, Check};
use crate::evidence::Given;
use crate::files::{write_file, write_with};
use crate::{Failure, Ran, answers, automaton, exit, print};

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
    /// Let --engine wsts begin with the atoms of the start too, as 003 does: exact, but many more regions.
    #[arg(long)]
    pub start_atoms: bool,
    /// Let --engine wsts cover nodes by nodes of the same depth too.
    #[arg(long)]
    pub equal_depth: bool,
    /// Let --engine wsts take all rules as one: few refinements, with many predicates each.
    #[arg(long)]
    pub merged: bool,
    /// Let a refinement of --engine wsts bring what leads into the target by any rules, not only by those of the error trace.
    #[arg(long)]
    pub layers: bool,
    /// Let --engine wsts take no predicates but those of 003; without it, it also takes those in which variables are forgotten that
    /// are not needed to refute the error trace. --merged, --layers and another --control imply it.
    #[arg(long)]
    pub plain: bool,
    /// Let --engine wsts use linear atoms, Boolean formulas over them and a solver, as 003 writes it: slow, for study.
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
    /// The newest that leads to no refinement of the root: what 003 §5 warns of.
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

pub fn check(args: &Check, out_color: bool, err_color: bool) -> Ran {
    let engine = engine(args)?;
    let asked = Asked { properties: Some(&args.properties), counters: Some(&args.counters), color: err_color };
    let Loaded { system, question, warnings, odd, refused, inputs } = load(&args.model, &asked)?;
    eprint!("{warnings}");
    let mut code = exit::HOLDS;
    let all = args.properties.errors.len();
    for (text, why) in &refused {
        eprintln!("{}", why.trim_end());
        let style = Style { color: out_color, ..Style::default() };
        let query = format!("never {text}");
        code = worst(code, answers::refused(args, language(&args.model.model), &query, "it cannot be read", style)?);
    }
    if !refused.is_empty() && refused.len() == all {
        return Ok(code);
    }
    let cancelled = interrupts();
    let started = Instant::now();
    let wsts::Outcome { verdict, stats, by } = {
        let mut line = ProgressLine::new(args, &question);
        let mut observer = |p: &Progress| line.show(p);
        let mut budget = budget(args, &cancelled, &mut observer);
        wsts::check(&system, &engine, &mut budget)
    };
    let name = args.model.model.display().to_string();
    let mut report = CounterReport::about(&name, language(&args.model.model), &question, Kind::Always, verdict);
    report.binding = Bound::new(args, inputs).to(&property(&system));
    report.engine = engine_line(&by.unwrap_or(engine));
    report.statistics = statistics(&stats);
    report.seconds = started.elapsed().as_secs_f64();
    report.warnings = odd;
    if !args.no_check {
        checked(&mut report, &system)?;
    }
    let full = args.programs.full_trace || args.programs.show_invariant;
    let style = Style { color: out_color, verbose: args.stats, full, ..Style::default() };
    if args.json {
        let mut line = Vec::new();
        json::write_counter_report(&mut line, &system, &report).map_err(|e| Failure::Internal(e.to_string()))?;
        print(&String::from_utf8_lossy(&line))?;
    } else if args.quiet {
        print(&plain::line(&report, style))?;
    } else {
        print(&text::render(&report, &system, style))?;
    }
    if let (Some(file), Some(t)) = (&args.trace, &report.trace) {
        write_with(file, |out| json::write_counter_trace(out, &system, report.header(), t))?;
    }
    if let (Some(file), Some(c)) = (&args.certificate, &report.certificate) {
        write_with(file, |out| json::write_counter_certificate(out, &system, report.header(), c))?;
    }
    if let Some(file) = &args.html {
        write_file(file, &draw::html(&report, &system))?;
    }
    if let (Some(file), Some(t)) = (&args.dot, &report.trace) {
        write_file(file, &draw::dot(&system, t, &question))?;
    }
    if let (Some(file), Some(t)) = (&args.counters.msc, &report.trace) {
        write_chart(file, &system, t)?;
    }
    let interrupted = cancelled.load(std::sync::atomic::Ordering::Relaxed);
    Ok(if interrupted { exit::INTERRUPTED } else { worst(code, code_of(&report)) })
}

/// A run as a message sequence chart: a picture, or text.
fn write_chart(file: &Path, system: &System, t: &Trace) -> Result<(), Failure> {
    let Some(drawn) = chart::chart(system, t) else {
        eprintln!("note: the run has too many processes or steps to be drawn");
        return Ok(());
    };
    if file == Path::new("-") {
        return print(&chart::text(system, &drawn)).map(|_| ());
    }
    let is_picture = file.extension().is_some_and(|e| e == "svg");
    write_file(file, &if is_picture { chart::svg(system, &drawn) } else { chart::text(system, &drawn) })
}

/// Checks the evidence, and says so. Evidence that is wrong is a bug.
fn checked(report: &mut CounterReport, system: &System) -> Result<(), Failure> {
    let failed = |what: &str, why: &checker::Refusal| {
        let why = words(system, why);
        Failure::Internal(format!("the {what} for `{}` did not pass its check: {why}", report.query))
    };
    if let Some(t) = &report.trace {
        checker::replay(system, t).map_err(|why| failed("run", &why))?;
        report.checked = Some(format!("run of {} replayed", steps(t.rules.len())));
    }
    if let Some(c) = &report.certificate {
        checker::certify(system, c).map_err(|why| failed("invariant", &why))?;
        report.checked = Some(format!("{} checked", summary(c)));
    }
    Ok(())
}

/// A refusal in the system's names.
fn words(system: &System, why: &checker::Refusal) -> String {
    match *why {
        checker::Refusal::Step(r) => format!("`{}` may lead out of the invariant", system.describe(r)),
        checker::Refusal::Target(t) => format!("the invariant does not say: {}", never(system, &system.target[t])),
        checker::Refusal::Loose(r) => format!("`{}` depends on a number that is not fixed", system.describe(r)),
        checker::Refusal::Grows(b, r) => format!("`{}` may break bound {}", system.describe(r), b + 1),
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
    let Loaded { system, inputs, question, refused, .. } = load(&args.model, &asked)?;
    if let Some((_, why)) = refused.into_iter().next() {
        return Err(Failure::Input(why));
    }
    let (bound, asked) = (Bound::new(args, inputs), property(&system));
    if let Err(why) = given.asked(&bound, &[&asked])? {
        return given.rejected(&why);
    }
    // What is proven is what the model and the command line ask, never what the evidence says.
    let content = read_counter_evidence(&system, &given.text).map_err(|e| given.unreadable(&e))?.content;
    let result = match &content {
        CounterContent::Trace(t) => {
            checker::replay(&system, t).map(|()| format!("the run of {} covers a target", steps(t.rules.len())))
        }
        CounterContent::Certificate(c) => checker::certify(&system, c).map(|()| format!("{} proves it", summary(c))),
    };
    let binding = bound.to(&asked);
    let header = Header { language: language(&args.model.model), kind: Kind::Always, binding: &binding };
    let write = |out: &mut dyn std::io::Write| match &content {
        CounterContent::Trace(t) => json::write_counter_trace(out, &system, header, t),
        CounterContent::Certificate(c) => json::write_counter_certificate(out, &system, header, c),
    };
    given.judged(&question, result.map_err(|why| words(&system, &why)), &write)
}
