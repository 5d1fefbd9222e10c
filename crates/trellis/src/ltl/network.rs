//! Formulas about networks of automata: enumeration of states (of zones, if there are clocks), and fairness.

use std::time::Instant;

use trellis_engine::ltl::search::Search;
use trellis_engine::ltl::translate::translate;
use trellis_engine::timed::formula;
use trellis_model::evidence::{Reason, Verdict};
use trellis_model::ltl::Formula;
use trellis_model::network::{Condition, Fair, Network, Party, Query, QueryKind, Temporal};
use trellis_report::json::{self, Header};
use trellis_report::{Content, Ending, Kind, Outcome, PropertyReport, ending, text};
use trellis_syntax::ltl::network::Said;

use super::question::Ask;
use crate::binding::{Bound, Meaning};
use crate::check::{show, write_evidence};
use crate::cli::{self, Certify, Check};
use crate::evidence::{Given, idle};
use crate::files::write_file;
use crate::limits::{Work, interrupts};
use crate::load::{self, Asked, Loaded};
use crate::pipeline::{code_of, statistics, steps, worst};
use crate::{Failure, Ran, answers, exit};

/// Options that mean nothing here.
fn usage(args: &Check) -> Result<(), Failure> {
    let asked = &args.properties;
    let p = &args.programs;
    let given = [
        ("--property", !asked.properties.is_empty()),
        ("--error", !asked.errors.is_empty()),
        ("--labels", !asked.labels.is_empty()),
        ("--queries", asked.queries.is_some()),
        ("--join", args.join.is_some()),
        ("--update", args.update.is_some()),
        ("--priority", args.priority.is_some()),
        ("--order", args.order.is_some()),
        ("--symmetry", args.symmetry),
        ("--no-symmetry", args.no_symmetry),
        ("--audit", args.audit),
        ("--clocks", args.clocks.is_some()),
        ("--data", args.data.is_some()),
        ("--all-clocks", args.all_clocks),
        ("--extrapolation", args.extrapolation.is_some()),
        ("--cover", args.cover.is_some()),
        ("--ltl-step", args.formulas.ltl_step.is_some()),
        ("--domain", p.domain.is_some()),
        ("--depth", p.depth.is_some()),
        ("--threads", p.threads.is_some()),
        ("--witness", p.witness.is_some()),
    ];
    if let Some((name, _)) = given.iter().find(|(_, given)| *given) {
        return Err(Failure::Usage(format!("{name}: not together with --ltl or --buchi about a network of automata")));
    }
    if !matches!(args.engine, cli::Engine::Auto | cli::Engine::Explicit) {
        return Err(Failure::Usage(
            "--ltl about a network of automata goes with --engine explicit, or with none".into(),
        ));
    }
    Ok(())
}

/// `weak`, `strong:P1,go`, `progress`.
fn fair(net: &Network, given: &[String]) -> Result<Vec<Fair>, Failure> {
    let mut all = Vec::new();
    for text in given {
        let (kind, names) = text.split_once(':').map_or((text.as_str(), None), |(k, n)| (k, Some(n)));
        let strong = match (kind, names) {
            ("progress", None) => {
                all.push(Fair { party: Party::Anyone, strong: false });
                continue;
            }
            ("weak", _) => false,
            ("strong", _) => true,
            _ => {
                let why = format!("--fair {text}: expected progress, weak, strong, weak:NAMES or strong:NAMES");
                return Err(Failure::Usage(why));
            }
        };
        match names {
            None => {
                let everybody = (0..net.processes.len() as u32).map(Party::Process);
                all.extend(everybody.map(|party| Fair { party, strong }));
            }
            Some(names) => {
                for name in names.split(',').map(str::trim) {
                    let Some(party) = party(net, name) else { return Err(nobody(net, name)) };
                    all.push(Fair { party, strong });
                }
            }
        }
    }
    Ok(all)
}

fn array_name(channel: &str) -> &str {
    channel.split('[').next().unwrap_or(channel)
}

fn party(net: &Network, name: &str) -> Option<Party> {
    let process = net.processes.iter().position(|p| p.name == name).map(|p| Party::Process(p as u32));
    process.or_else(|| {
        // An array of channels goes by its name; its first channel stands for it.
        net.channels.iter().position(|c| array_name(&c.name) == name).map(|c| Party::Channel(c as u32))
    })
}

fn nobody(net: &Network, name: &str) -> Failure {
    let processes = net.processes.iter().map(|p| p.name.as_str());
    let mut known: Vec<&str> = processes.chain(net.channels.iter().map(|c| array_name(&c.name))).collect();
    known.dedup();
    let some = known.iter().take(20).copied().collect::<Vec<_>>().join(", ");
    let more = if known.len() > 20 { ", …" } else { "" };
    Failure::Usage(format!("--fair: there is no process or channel `{name}`; there are: {some}{more}"))
}

fn temporal(net: &mut Network, ask: &Ask, said: Said, fair: Vec<Fair>, non_zeno: bool) -> Result<Temporal, Failure> {
    let anything = Condition { prepare: net.terms.skip(), holds: net.terms.bool(true) };
    let kind = QueryKind::PotentiallyAlways(anything);
    let query = Query { text: ask.text().to_string(), kind, deadlock: false, atoms: Vec::new() };
    let (formula, automaton) = match ask {
        Ask::Formula(_) => {
            let negated = Formula::Not(Box::new(said.formula.clone()));
            (Some(said.formula), translate(&negated).map_err(|why| Failure::Usage(format!("--ltl: {why}")))?)
        }
        Ask::Forbidden(_, hoa, _) => (None, hoa.automaton.clone()),
    };
    Ok(Temporal { query, conditions: said.conditions, formula, automaton, fair, non_zeno })
}

pub fn check(args: &Check, out_color: bool, err_color: bool) -> Ran {
    usage(args)?;
    let mut asks: Vec<Ask> = args.formulas.ltl.iter().cloned().map(Ask::Formula).collect();
    if let Some(path) = &args.formulas.buchi {
        asks.push(Ask::forbidden(path, err_color)?);
    }
    let read = |asks: &[Ask]| load::load(&args.model, &Asked { asks, color: err_color, ..Default::default() });
    let mut code = exit::HOLDS;
    let mut loaded = match read(&asks) {
        // One that cannot be read leaves the others answered, unless it is the model.
        Err(Failure::Input(_)) if asks.len() > 1 && read(&[]).is_ok() => {
            let style = text::Style { color: out_color, ..Default::default() }.align(asks.iter().map(Ask::text));
            let mut kept = vec![];
            for ask in asks {
                match read(std::slice::from_ref(&ask)) {
                    Ok(_) => kept.push(ask),
                    Err(Failure::Input(said)) => {
                        eprintln!("{}", said.trim_end());
                        code = worst(code, answers::refused(args, "ltl", ask.text(), "it cannot be read", style)?);
                    }
                    Err(failure) => return Err(failure),
                }
            }
            if kept.is_empty() {
                return Ok(code);
            }
            asks = kept;
            read(&asks)?
        }
        read => read?,
    };
    eprint!("{}", loaded.warnings);
    if args.non_zeno && loaded.network.clocks.is_empty() {
        return Err(Failure::Usage("--non-zeno is for models with clocks; this one has none".into()));
    }
    let search = match args.formulas.search {
        Some(cli::LassoSearch::Nested) => Search::Nested,
        Some(cli::LassoSearch::Scc) | None => Search::Components,
    };
    let fair = fair(&loaded.network, &args.formulas.fair)?;
    let cancelled = interrupts();
    let style =
        text::Style { color: out_color, verbose: args.stats, ..Default::default() }.align(asks.iter().map(Ask::text));
    let mut reports = Vec::new();
    let said = std::mem::take(&mut loaded.said);
    for (i, (ask, said)) in asks.iter().zip(said).enumerate() {
        let names = said.names.clone();
        let asked = temporal(&mut loaded.network, ask, said, fair.clone(), args.non_zeno)?;
        let atoms: Vec<_> = asked.conditions.iter().map(|c| c.holds).collect();
        let warnings = asked
            .formula
            .as_ref()
            .map(|f| answers::of_linear(&loaded.network.terms, &atoms, &names, f, ask.text()))
            .unwrap_or_default();
        let warnings = answers::warn(args, warnings);
        let started = Instant::now();
        let found = {
            let mut work = Work::on(args, ask.text());
            let budget = &mut work.meter;
            formula::check(&loaded.network, &asked, search, budget)
        };
        let seconds = started.elapsed().as_secs_f64();
        let mut report = match found {
            Ok(a) => {
                let verdict = a.verdict;
                let mut r = PropertyReport::about(&loaded.name, loaded.language, ask.text(), Kind::Ltl, verdict);
                r.statistics = statistics(&a.stats);
                if !args.no_check {
                    match checked(&loaded.network, &asked, &r)? {
                        Checked::Passed(said) => r.checked = said,
                        Checked::Open(why) => {
                            let (verdict, statistics) = (Verdict::Unknown(Reason::Unchecked(why)), r.statistics);
                            r = PropertyReport::about(&loaded.name, loaded.language, ask.text(), Kind::Ltl, verdict);
                            r.statistics = statistics;
                        }
                    }
                }
                r
            }
            Err(broken) => {
                let mut r =
                    PropertyReport::broken(&loaded.name, loaded.language, &asked.query, broken.trace, &broken.error);
                r.kind = Kind::Ltl;
                r
            }
        };
        report.seconds = seconds;
        report.binding = bound(args, &loaded, ask).to(&ask.property());
        report.engine = engine_line(&loaded.network, search);
        report.assumes = assumptions(&args.formulas.fair, args.non_zeno);
        report.warnings = warnings;
        code = worst(code, code_of(&report));
        if let Some(note) = note(&loaded.network, &asked, &report).filter(|_| !args.quiet && !args.json) {
            eprintln!("note: {note}");
        }
        show(args, &loaded.network, &report, style)?;
        write_evidence(args, &loaded.network, &report, (asks.len() > 1).then_some(i + 1))?;
        reports.push(report);
        if cancelled.load(std::sync::atomic::Ordering::Relaxed) {
            code = exit::INTERRUPTED;
            break;
        }
    }
    if let Some(path) = &args.html {
        write_file(path, &trellis_report::network::html(&reports, &loaded.network))?;
    }
    Ok(code)
}

fn engine_line(net: &Network, search: Search) -> String {
    let states = if net.clocks.is_empty() { "explicit states" } else { "zone graph" };
    let search = match search {
        Search::Nested => "nested depth-first search",
        Search::Components => "components",
    };
    format!("{states}, {search}")
}

fn assumptions(fair: &[String], non_zeno: bool) -> Vec<String> {
    let fair = fair.iter().map(|f| format!("only fair runs count: {f}"));
    fair.chain(non_zeno.then(|| "only runs in which time goes on without end count (--non-zeno)".into())).collect()
}

/// What came of checking evidence.
enum Checked {
    Passed(Option<String>),
    /// It was not decided whether the evidence is any: why.
    Open(String),
}

/// What may surprise.
fn note(net: &Network, asked: &Temporal, r: &PropertyReport) -> Option<String> {
    let violated = r.outcome == Outcome::Unsafe;
    let idles = r.trace.as_ref().is_some_and(|t| ending(net, Kind::Ltl, t) == Ending::Idle);
    match () {
        () if violated && idles && asked.fair.is_empty() => Some(
            "time may pass for ever where nothing is urgent, so the run may stop there; --fair progress excludes that (in models \
             without clocks), and so do invariants"
                .into(),
        ),
        () if !net.clocks.is_empty() && !asked.non_zeno => {
            Some("runs with infinitely many steps in finite time (Zeno) count; --non-zeno excludes them".into())
        }
        () => None,
    }
}

fn checked(net: &Network, asked: &Temporal, r: &PropertyReport) -> Result<Checked, Failure> {
    let failed = |what: &str, why: trellis_check::Rejection| {
        Failure::Internal(format!("the {what} for `{}` did not pass its check: {why}", asked.query.text))
    };
    if let Some(t) = &r.trace {
        trellis_check::replay_formula(net, asked, t).map_err(|e| failed("trace", e))?;
        let said = format!("run of {} replayed, the formula is false on it", steps(t.steps.len()));
        return Ok(Checked::Passed(Some(said)));
    }
    if let Some(c) = &r.certificate {
        return match trellis_check::certify_formula(net, asked, c) {
            Err(e) if e.why == trellis_check::Cause::Unproven => Ok(Checked::Open(e.why.to_string())),
            certified => {
                certified.map_err(|e| failed("certificate", e))?;
                Ok(Checked::Passed(Some("certificate re-validated".into())))
            }
        };
    }
    Ok(Checked::Passed(None))
}

/// What verdicts about a formula are bound to.
fn bound<'a>(args: impl Into<Meaning<'a>>, loaded: &Loaded, ask: &Ask) -> Bound {
    Bound::new(args, loaded.inputs.iter().cloned().chain(ask.input()).collect())
}

/// Certifies evidence about a formula and a network.
pub fn certify(args: &Certify, given: &Given<'_>, err_color: bool) -> Ran {
    let asks = super::certify::asks(args, err_color)?;
    let mut loaded = load::load(&args.model, &Asked { asks: &asks, color: err_color, ..Default::default() })?;
    let fair = fair(&loaded.network, &args.fair)?;
    let at = match super::certify::chosen(given, &asks, |ask| bound(args, &loaded, ask))? {
        Ok(at) => at,
        Err(why) => return given.rejected(&why),
    };
    let (ask, said) = (&asks[at], loaded.said.swap_remove(at));
    let asked = temporal(&mut loaded.network, ask, said, fair, args.non_zeno)?;
    let net = &loaded.network;
    let content = json::read(net, &given.text).map_err(|e| given.unreadable(&e))?;
    let result = match &content {
        Content::Trace(t) => trellis_check::replay_formula(net, &asked, t)
            .map(|_| format!("the run ({}) violates it", steps(t.steps.len()))),
        Content::Certificate(c) => trellis_check::certify_formula(net, &asked, c)
            .map(|_| format!("the certificate ({} elements) proves it", c.entries.len())),
    };
    let result = result.map_err(|why| why.to_string()).and_then(|said| match &content {
        Content::Certificate(c) => idle(net, Kind::Ltl, c).map(|()| said),
        Content::Trace(_) => Ok(said),
    });
    let binding = bound(args, &loaded, ask).to(&ask.property());
    let header = Header { language: loaded.language, kind: Kind::Ltl, binding: &binding };
    let write = |out: &mut dyn std::io::Write| match &content {
        Content::Trace(t) => json::write_trace(out, net, header, t),
        Content::Certificate(c) => json::write_certificate(out, net, header, c),
    };
    given.judged(ask.text(), result, &write)
}
