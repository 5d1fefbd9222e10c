//! `trellis check --ltl` and `--buchi`: formulas of linear temporal logic about programs, automata, transition systems and
//! statecharts, and automata of what must not be; [`network`]: about networks.

mod certify;
pub mod network;
pub mod question;

use std::path::Path;
use std::time::Instant;

use trellis_check::ltl::{self as evidence, Rejection};
use trellis_engine::ltl::search::Search;
use trellis_engine::ltl::{Engine, Options, Outcome};
use trellis_engine::program;
use trellis_meter::Meter;
use trellis_model::evidence::{Reason, Verdict as Plain};
use trellis_model::ltl::Buchi;
use trellis_model::ltl::evidence::Verdict;
use trellis_report::ltl::{Counterexample, Formula, LtlReport, Parts};
use trellis_report::{Kind, Present, Program, Style, dot, json, ltl as tell, text as plain_text};
use trellis_syntax::diag;
use trellis_syntax::ltl::subject::Asked;

pub use certify::certify;
use question::{Ask, Question, TERMINATION};

use crate::binding::Bound;
use crate::cli::{self, Check};
use crate::files::{write_file, write_with};
use crate::limits::{Work, interrupts};
use crate::pipeline::{code_of, numbered, statistics, worst};
use crate::program::cegar_options;
use crate::{Failure, Ran, answers, automaton, c_program, exit, limits, print, statechart};

/// Is a formula asked?
pub fn is_asked(args: &Check) -> bool {
    !args.formulas.ltl.is_empty() || args.formulas.buchi.is_some()
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

/// Options that mean nothing here.
fn usage(args: &Check) -> Result<(), Failure> {
    let (p, asked) = (&args.programs, &args.properties);
    let given = [
        ("--fair (only for networks of automata, which have processes)", !args.formulas.fair.is_empty()),
        ("--property", !asked.properties.is_empty()),
        ("--error", !asked.errors.is_empty()),
        ("--labels", !asked.labels.is_empty()),
        ("--queries", asked.queries.is_some()),
        ("--witness", p.witness.is_some()),
        ("--show-invariant", p.show_invariant),
        ("--termination", p.termination),
        ("--property-file", args.reading.property_file.is_some()),
    ];
    if let Some((name, _)) = given.iter().find(|(_, given)| *given) {
        return Err(Failure::Usage(format!("{name}: not together with --ltl or --buchi")));
    }
    crate::program::not_foreign(args)
}

/// Asks formulas about whatever the model is.
pub fn ask(args: &Check, out_color: bool, err_color: bool) -> Ran {
    let path = &args.model.model;
    let foreign = args.nodes.given().map(String::from).or_else(|| crate::counter::given(args));
    if let Some(name) = foreign {
        return Err(Failure::Usage(format!("{name}: not together with --ltl or --buchi")));
    }
    let nodes = crate::hierarchy::is_one(path) || crate::tree::is_one(path);
    if nodes || automaton::is_one(path) || crate::counter::is_one(path) {
        return check(args, out_color, err_color);
    }
    network::check(args, out_color, err_color)
}

fn check(args: &Check, out_color: bool, err_color: bool) -> Ran {
    usage(args)?;
    let mut asks: Vec<Ask> = args.formulas.ltl.iter().cloned().map(Ask::Formula).collect();
    if let Some(path) = &args.formulas.buchi {
        asks.push(Ask::forbidden(path, err_color)?);
    }
    let code = ask_all(args, &asks, out_color, err_color)?;
    let is_c = matches!(args.model.model.extension().and_then(|e| e.to_str()), Some("c" | "i"));
    if !is_c || code == exit::INTERRUPTED {
        return Ok(code);
    }
    Ok(worst(code, c_program::undefined(args, out_color, err_color)?))
}

/// Does every run of a C program end?
pub fn termination(args: &Check, out_color: bool, err_color: bool) -> Ran {
    ask_all(args, &[Ask::Formula(TERMINATION.into())], out_color, err_color)
}

fn ask_all(args: &Check, asks: &[Ask], out_color: bool, err_color: bool) -> Ran {
    let engine = engine(args)?;
    let cancelled = interrupts();
    let style = Style { color: out_color, verbose: args.stats, full: args.programs.full_trace, ..Default::default() }
        .align(asks.iter().map(Ask::text));
    let mut done = vec![];
    let mut code = exit::HOLDS;
    for (i, ask) in asks.iter().enumerate() {
        let read = Question::read(ask, &args.model, &args.reading, args.formulas.ltl_step, err_color);
        let question = match read {
            // The others are asked all the same.
            Err(Failure::Input(said)) if asks.len() > 1 => {
                eprintln!("{}", said.trim_end());
                code = worst(code, answers::refused(args, "ltl", ask.text(), "it cannot be read", style)?);
                continue;
            }
            read => read?,
        };
        if i == 0 && ask.text() != TERMINATION {
            eprint!("{}", diag::render(&question.asked.warnings, &question.sources, err_color));
        }
        let warnings = match ask {
            Ask::Formula(text) => {
                let spec = &question.asked.spec;
                answers::of_linear(&question.asked.subject.cfa.terms, &spec.atoms, &spec.names, &spec.formula, text)
            }
            Ask::Forbidden(..) => vec![],
        };
        let warnings = answers::warn(args, warnings);
        let started = Instant::now();
        let Outcome { verdict, stats, by, .. } = {
            let mut work = Work::on(args, ask.text());
            let budget = &mut work.meter;
            answer(&question.asked, &question.automaton, &engine, &limits::meter(args), budget)
        };
        let model = args.model.model.display().to_string();
        let verdict = match (&question.asked.chart, plain(verdict)) {
            (Some(chart), Plain::Unsafe(run)) => match statechart::fair(chart, &run) {
                Ok(()) => Plain::Unsafe(run),
                Err(why) => Plain::Unknown(Reason::Unsupported(why)),
            },
            (_, verdict) => verdict,
        };
        let mut report = LtlReport::about(&model, question.language, ask.text(), Kind::Ltl, verdict);
        report.assumes = question.assumes.clone();
        // A run of a chart is one whatever else its environment could do.
        if let (Some(chart), None) = (&question.asked.chart, &report.trace) {
            report.assumes.extend(statechart::assumes(chart));
        }
        report.binding = Bound::new(args, question.inputs.clone()).to(&ask.property());
        report.engine = by.unwrap_or(engine).to_string();
        report.statistics = statistics(&stats);
        report.seconds = started.elapsed().as_secs_f64();
        if !args.no_check {
            checked(&mut report, &question, &limits::meter(args))?;
        }
        report.warnings = warnings;
        code = worst(code, code_of(&report));
        let texts = automaton::texts(question.language, &question.asked.subject.cfa, &question.sources);
        let program = Program::new(&question.asked.subject.cfa, &texts);
        let formula = Formula { program: &program, asked: question.about() };
        show(args, &question, &formula, &report, style)?;
        write_evidence(args, &formula, &report, (asks.len() > 1).then_some(i + 1))?;
        done.push((report, question, texts));
        if cancelled.load(std::sync::atomic::Ordering::Relaxed) {
            code = exit::INTERRUPTED;
            break;
        }
    }
    if let Some(path) = &args.html {
        let all: Vec<_> = done
            .iter()
            .map(|(r, question, texts)| (r, question, Program::new(&question.asked.subject.cfa, texts)))
            .collect();
        let all: Vec<_> =
            all.iter().map(|(r, question, program)| (*r, Formula { program, asked: question.about() })).collect();
        write_file(path, &tell::html(&all))?;
    }
    Ok(code)
}

fn show(args: &Check, question: &Question, p: &Formula<'_>, r: &LtlReport, style: Style) -> Result<(), Failure> {
    if args.json {
        let mut line = Vec::new();
        let size = r.certificate.as_ref().map(|c| p.size(c));
        json::write_report(&mut line, p, r, size).map_err(|e| Failure::Internal(e.to_string()))?;
        print(&String::from_utf8_lossy(&line))?;
        return Ok(());
    }
    let said = match (&question.asked.chart, &r.trace) {
        _ if args.quiet => plain_text::line(r, style),
        // A run of a statechart is told in its own words.
        (Some(chart), Some(trace)) => {
            let Parts { stem, cycle, end } = tell::parts(trace);
            plain_text::head(r, style) + &statechart::lasso(chart, stem, cycle, &end)
        }
        _ => plain_text::render(r, p, style),
    };
    print(&said)?;
    Ok(())
}

fn write_evidence(args: &Check, p: &Formula<'_>, r: &LtlReport, several: Option<usize>) -> Result<(), Failure> {
    let path = |file: &Path| numbered(file, several);
    if let (Some(file), Some(t)) = (&args.trace, &r.trace) {
        write_with(&path(file), |out| json::write_trace(out, p, r.header(), t))?;
    }
    if let (Some(file), Some(c)) = (&args.certificate, &r.certificate) {
        write_with(&path(file), |out| json::write_certificate(out, p, r.header(), c))?;
    }
    if let (Some(file), Some(graph)) = (&args.dot, dot::report(r, p)) {
        write_file(&path(file), &graph)?;
    }
    Ok(())
}

/// Asks the engine; of a statechart first whether its queues are long enough.
fn answer(asked: &Asked, automaton: &Buchi, engine: &Engine, limits: &Meter, budget: &mut Meter) -> Outcome {
    if let Some(chart) = &asked.chart
        && !chart.overflow.is_empty()
    {
        let outcome = program::check(&chart.cfa, &program::Engine::Portfolio(2), budget);
        let proven = match &outcome.verdict {
            Plain::Safe(invariant) => trellis_check::program::certify(&chart.cfa, invariant, limits).is_ok(),
            _ => false,
        };
        if !proven {
            let verdict = Verdict::Unknown(Reason::Unsupported(statechart::limits(chart)));
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
        Verdict::Diverges(recurrence) => Plain::Unsafe(Counterexample::Recurrence(Box::new(recurrence))),
        Verdict::Unknown(why) => Plain::Unknown(why),
    }
}

/// Checks the evidence, and says so. Evidence that is wrong is a bug; a proof that the checker's solver cannot follow is no proof.
fn checked(report: &mut LtlReport, question: &Question, limits: &Meter) -> Result<(), Failure> {
    let (subject, claim) = (&question.asked.subject, question.claim());
    let violated = if question.is_forbidden { "the automaton accepts it" } else { "the formula is false on it" };
    let questions = |n: usize| if n == 1 { "1 question".to_string() } else { format!("{n} questions") };
    let done = match (&report.trace, &report.certificate) {
        (Some(Counterexample::Lasso(lasso)), _) => {
            evidence::replay(subject, claim, lasso).map(|()| format!("lasso replayed, {violated}"))
        }
        (Some(Counterexample::Recurrence(r)), _) => evidence::certify_recurrence(subject, claim, r, limits)
            .map(|n| format!("beginning replayed, recurrent set checked: {} to the solver", questions(n))),
        (None, Some(proof)) => evidence::certify(subject, claim, proof, limits)
            .map(|n| format!("{} checked: {} to the solver", trellis_report::ltl::summary(proof), questions(n))),
        (None, None) => return Ok(()),
    };
    match done {
        Ok(said) => report.checked = Some(said),
        Err(why @ (Rejection::Undecided(_) | Rejection::Unproven)) => {
            let reason = match why {
                Rejection::Undecided(trellis_smt::Reason::Time) => Reason::Time,
                Rejection::Undecided(trellis_smt::Reason::Cancelled) => Reason::Interrupted,
                Rejection::Undecided(why) => {
                    Reason::Solver(format!("evidence was found that could not be checked: {why}"))
                }
                why => Reason::Unchecked(why.to_string()),
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
