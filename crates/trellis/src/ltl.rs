//! `trellis check --ltl`: formulas of linear temporal logic about programs, automata, transition systems and statecharts.

use std::path::Path;
use std::time::Instant;

use trellis_check::ltl::{self as evidence, Refusal};
use trellis_engine::budget::{Budget, Progress};
use trellis_engine::ltl::search::Search;
use trellis_engine::ltl::translate::translate;
use trellis_engine::ltl::{Engine, Options, Outcome};
use trellis_engine::program;
use trellis_model::evidence::{Reason, Verdict as Plain};
use trellis_model::ltl::evidence::Verdict;
use trellis_model::ltl::{Buchi, Formula};
use trellis_report::ltl::{Counterexample, LtlReport, render};
use trellis_report::{Kind, Program, Style};
use trellis_smt::Limits;
use trellis_syntax::diag::{self, Sources};
use trellis_syntax::ltl::subject::{self, Asked, Language, Moment};

use crate::automaton::{self, c_options};
use crate::check::{ProgressLine, code_of, interrupts, statistics, worst};
use crate::cli::{self, Check};
use crate::program::cegar_options;
use crate::{Failure, Ran, exit, print};

/// Is a formula asked?
pub fn is_asked(args: &Check) -> bool {
    !args.formulas.ltl.is_empty()
}

fn engine(args: &Check) -> Result<Engine, Failure> {
    let search = match args.formulas.search {
        Some(cli::LassoSearch::Nested) => Search::Nested,
        Some(cli::LassoSearch::Scc) | None => Search::Components,
    };
    let cegar = || Engine::Cegar(Options { cegar: cegar_options(args), search });
    match args.engine {
        cli::Engine::Auto if args.formulas.search.is_none() && crate::program::chosen(args).is_none() => {
            Ok(Engine::Portfolio(args.programs.threads.unwrap_or(2).into()))
        }
        cli::Engine::Auto | cli::Engine::Cegar => Ok(cegar()),
        cli::Engine::Explicit => Ok(Engine::Explicit(search)),
        cli::Engine::Bmc => Ok(Engine::Bounded(args.programs.depth)),
        _ => Err(Failure::Usage("--ltl goes with --engine cegar, explicit or bmc, or with none".into())),
    }
}

/// What a path's extension says.
fn language<'o>(path: &Path, args: &Check, options: &'o trellis_syntax::c::Options) -> Language<'o> {
    match path.extension().and_then(|e| e.to_str()) {
        Some("c" | "i") => Language::C(options),
        Some("xsts") => Language::Xsts(match args.formulas.ltl_step {
            Some(cli::LtlStep::Full) => Moment::Full,
            _ => Moment::Half,
        }),
        Some("sts" | "system") => Language::Sts,
        Some("scxml") => Language::Scxml,
        _ => Language::Cfa,
    }
}

pub fn check(args: &Check, out_color: bool, err_color: bool) -> Ran {
    let engine = engine(args)?;
    let path = &args.model.model;
    let options = c_options(path, &args.reading);
    let language = language(path, args, &options);
    if !matches!(language, Language::C(_)) {
        automaton::not_c(&args.reading)?;
    }
    let name = match language {
        Language::C(_) => "c",
        Language::Cfa => "cfa",
        Language::Xsts(_) => "xsts",
        Language::Sts => "sts",
        Language::Scxml => "scxml",
    };
    let cancelled = interrupts();
    let style = Style { color: out_color, verbose: args.stats, full: args.programs.full_trace, ..Default::default() }
        .align(args.formulas.ltl.iter().map(String::as_str));
    let mut code = exit::HOLDS;
    for (i, text) in args.formulas.ltl.iter().enumerate() {
        let mut sources = Sources::default();
        let read = sources.read(path).map_err(|d| vec![d]).and_then(|model| {
            let formula = sources.add("--ltl", text.as_str());
            subject::read(&mut sources, model, formula, language)
        });
        let asked = read.map_err(|errors| Failure::Input(diag::render(&errors, &sources, err_color)))?;
        if i == 0 {
            eprint!("{}", diag::render(&asked.warnings, &sources, err_color));
        }
        let negation = Formula::Not(Box::new(asked.spec.formula.clone()));
        let automaton = translate(&negation).map_err(|why| Failure::Usage(format!("--ltl: {why}")))?;
        let started = Instant::now();
        let Outcome { verdict, stats, by, .. } = {
            let mut line = ProgressLine::new(args, text);
            let mut observer = |p: &Progress| line.show(p);
            let mut budget = Budget::unlimited()
                .time(args.timeout)
                .memory(args.memory)
                .states(args.states)
                .cancel(cancelled.clone())
                .observe(&mut observer);
            answer(&asked, &automaton, &engine, &mut budget)
        };
        let mut report = LtlReport::about(&path.display().to_string(), name, text, Kind::Ltl, plain(verdict));
        report.engine = by.unwrap_or(engine).to_string();
        report.statistics = statistics(&stats);
        report.seconds = started.elapsed().as_secs_f64();
        if !args.no_check {
            let limits = Limits::none().cancelled_by(cancelled.clone());
            let limits = args.timeout.map_or(limits.clone(), |t| limits.time(t));
            checked(&mut report, &asked, &limits)?;
        }
        code = worst(code, code_of(&report));
        let texts = automaton::texts(name, &asked.subject.cfa, &sources);
        let program = Program::new(&asked.subject.cfa, &texts);
        print(&render(&report, &program, &asked.subject, args.quiet, style))?;
        if cancelled.load(std::sync::atomic::Ordering::Relaxed) {
            return Ok(exit::INTERRUPTED);
        }
    }
    Ok(code)
}

/// Asks the engine; of a statechart first whether its queue of internal events is long enough.
fn answer(asked: &Asked, automaton: &Buchi, engine: &Engine, budget: &mut Budget<'_>) -> Outcome {
    if let Some(chart) = &asked.chart
        && chart.overflow.is_some()
    {
        let outcome = program::check(&chart.cfa, &program::Engine::Portfolio(2), budget);
        if !matches!(outcome.verdict, Plain::Safe(_)) {
            let why = "there may be more internal events than the queue holds; trellis:queue=\"N\" on <scxml> makes it longer";
            let verdict = Verdict::Unknown(Reason::Unsupported(why.into()));
            return Outcome { verdict, stats: outcome.stats, by: None };
        }
    }
    trellis_engine::ltl::check(&asked.subject, &asked.spec.atoms, automaton, engine, budget)
}

/// The verdict as reports have it.
fn plain(verdict: Verdict) -> Plain<Counterexample, trellis_model::ltl::evidence::Proof> {
    match verdict {
        Verdict::Holds(proof) => Plain::Safe(proof),
        Verdict::Violated(lasso) => Plain::Unsafe(Counterexample::Lasso(lasso)),
        Verdict::Diverges(recurrence) => Plain::Unsafe(Counterexample::Recurrence(recurrence)),
        Verdict::Unknown(why) => Plain::Unknown(why),
    }
}

/// Checks the evidence, and says so. Evidence that is wrong is a bug; a proof that the checker's solver cannot follow is no proof.
fn checked(report: &mut LtlReport, asked: &Asked, limits: &Limits) -> Result<(), Failure> {
    let (subject, spec) = (&asked.subject, &asked.spec);
    let questions = |n: usize| if n == 1 { "1 question".to_string() } else { format!("{n} questions") };
    let done = match (&report.trace, &report.certificate) {
        (Some(Counterexample::Lasso(lasso)), _) => {
            evidence::replay(subject, spec, lasso).map(|()| "lasso replayed, the formula is false on it".to_string())
        }
        (Some(Counterexample::Recurrence(r)), _) => evidence::certify_recurrence(subject, spec, r, limits)
            .map(|n| format!("beginning replayed, recurrent set checked: {} to the solver", questions(n))),
        (None, Some(proof)) => evidence::certify(subject, spec, proof, limits)
            .map(|n| format!("{} checked: {} to the solver", trellis_report::ltl::summary(proof), questions(n))),
        (None, None) => return Ok(()),
    };
    match done {
        Ok(said) => report.checked = Some(said),
        Err(Refusal::Undecided(why)) => {
            let reason = match why {
                trellis_smt::Reason::Time => Reason::Time,
                trellis_smt::Reason::Cancelled => Reason::Interrupted,
                why => Reason::Solver(format!("evidence was found that could not be checked: {why}")),
            };
            let unknown =
                LtlReport::about(&report.model, &report.language, &report.query, report.kind, Plain::Unknown(reason));
            let (engine, statistics) = (std::mem::take(&mut report.engine), std::mem::take(&mut report.statistics));
            *report = LtlReport { engine, statistics, seconds: report.seconds, ..unknown };
        }
        Err(why) => {
            let text = format!("the evidence for `{}` did not pass its check: {why}", report.query);
            return Err(Failure::Internal(text));
        }
    }
    Ok(())
}
