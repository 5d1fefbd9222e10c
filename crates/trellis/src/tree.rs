//! `trellis check --engine hierarchy`, and hierarchical transition systems in JSON: each node abstracted where it stands (001 Ch. 5).

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use trellis_check::tree as checker;
use trellis_engine::hierarchy::cover::Neat;
use trellis_engine::hierarchy::predicates::Rows;
use trellis_engine::hierarchy::{Found, Options, Split, cegar_in};
use trellis_expr::TermId;
use trellis_model::evidence::{Reason, Verdict};
use trellis_model::hierarchy::Hierarchy;
use trellis_model::hierarchy::tree::Condition;
use trellis_model::hierarchy::tree::detach::detach;
use trellis_model::hierarchy::tree::evidence::{Certificate, Trace};
use trellis_model::network::parts::{Parts, parts};
use trellis_model::network::{Network, Query, QueryKind};
use trellis_report::json::{self, Binding, Header, Input};
use trellis_report::tree::{TreeFile, TreeReport, Words, read_tree};
use trellis_report::{Content, Kind, Present, PropertyReport, Style, text};

use crate::binding::{Bound, input};
use crate::check::{show, write_evidence};
use crate::cli::{self, Certify, Check, Properties};
use crate::evidence::Given;
use crate::files::write_with;
use crate::limits::{Work, interrupts};
use crate::load::Loaded;
use crate::pipeline::{code_of, steps, worst};
use crate::{Failure, Ran, answers, counter, exit, hierarchy, print, program};

/// How many configurations or transitions one node may have.
const MAX_LISTED: usize = 1 << 20;

/// Is it a hierarchical transition system, by its name?
pub fn is_one(path: &Path) -> bool {
    path.file_name().and_then(|n| n.to_str()).is_some_and(|n| n.ends_with(".hts.json"))
}

/// One question about a tree, and how its evidence is checked.
struct Question<'q> {
    name: &'q str,
    words: Words<'q>,
    /// Values of variables in the states of each node, where there are variables.
    rows: &'q [Rows],
    bad: Result<Condition, Reason>,
    /// What is odd about it. Of merged nodes only what can be reached is listed, so the terms are asked and not the tree.
    warnings: Vec<String>,
    replay: &'q dyn Fn(&Condition, &Trace) -> Result<(), String>,
    cancelled: Arc<AtomicBool>,
    /// What its evidence is bound to.
    bound: &'q Bound,
}

/// Refuses options of other engines.
fn refuse_foreign(args: &Check) -> Result<(), Failure> {
    let nodes = &args.nodes;
    let given = [
        ("--spec", nodes.spec.is_some()),
        ("--backward", nodes.backward),
        ("--ctl", !nodes.ctl.is_empty()),
        ("--iterations", nodes.iterations.is_some()),
        ("--dot", args.dot.is_some()),
        ("--html", args.html.is_some()),
    ];
    if let Some((name, _)) = given.iter().find(|(_, given)| *given) {
        return Err(Failure::Usage(format!("{name}: not for --engine hierarchy")));
    }
    let ours = Check { engine: cli::Engine::Auto, no_symmetry: false, ..args.clone() };
    match program::given(&ours).or_else(|| program::foreign(&ours)).or_else(|| counter::given(&ours)) {
        Some(text) => Err(Failure::Usage(format!("{text}: not for --engine hierarchy"))),
        None => Ok(()),
    }
}

/// `trellis check model.alt --engine hierarchy`: the conditions are bad, and some are negations of what was written.
pub fn check_nodes(
    args: &Check,
    hierarchy: &Hierarchy,
    conditions: &[(String, TermId)],
    negated: &[bool],
    bound: &Bound,
    out_color: bool,
) -> Ran {
    refuse_foreign(args)?;
    let detached = match detach(hierarchy, MAX_LISTED) {
        Ok(detached) => detached,
        Err(why) => {
            let style = Style { color: out_color, ..Default::default() };
            for (name, _) in conditions {
                let verdict: Verdict<Trace, Certificate> = Verdict::Unknown(Reason::Unsupported(advice(&why)));
                print(&text::line(&report(args, "altarica", name, verdict), style))?;
            }
            return Ok(exit::UNDECIDED);
        }
    };
    if !args.no_check {
        checker::same_vectors(hierarchy, &detached).map_err(|why| Failure::Internal(why.to_string()))?;
    }
    hierarchy::warn_of_nothing(detached.tree.nodes().iter().any(|n| n.behaviour.initial.is_empty()));
    let merged: Vec<String> =
        detached.units.iter().filter(|u| u.merged).map(|u| hierarchy.component(u.component).to_string()).collect();
    if !merged.is_empty() && !args.quiet && !args.json {
        eprintln!("note: taken as one with all that is below, because they speak of it: {}", merged.join(", "));
    }
    let style = Style { color: out_color, verbose: args.stats, ..Default::default() }
        .align(conditions.iter().map(|(name, _)| name.as_str()));
    let rows: Vec<Rows> = detached.units.iter().map(|u| u.configurations.to_vec()).collect();
    let (mut code, cancelled) = (exit::HOLDS, interrupts());
    for (i, (name, term)) in conditions.iter().enumerate() {
        let bad = detached.condition(hierarchy, *term).map_err(|why| Reason::Unsupported(advice(&why)));
        let replay = |bad: &Condition, t: &Trace| {
            checker::replay_nodes(hierarchy, &detached, (*term, bad), t).map_err(|e| e.to_string())
        };
        let words = Words::Variables(hierarchy, &detached);
        let cancelled = cancelled.clone();
        let warnings = answers::of_nodes(hierarchy, *term, negated[i], name);
        let question = Question { name, words, rows: &rows, bad, warnings, replay: &replay, cancelled, bound };
        let several = (conditions.len() > 1).then_some(i + 1);
        let now = answer(args, "altarica", question, style, several)?;
        code = worst(code, now);
        if now == exit::INTERRUPTED {
            return Ok(now);
        }
    }
    Ok(code)
}

fn advice(why: &dyn std::fmt::Display) -> String {
    format!("{why} (--engine reach and --engine cegar)")
}

/// `trellis check model.hts.json`
pub fn check(args: &Check, out_color: bool) -> Ran {
    if !matches!(args.engine, cli::Engine::Auto | cli::Engine::Hierarchy) {
        return Err(Failure::Usage("hierarchical transition systems are checked with --engine hierarchy".into()));
    }
    refuse_foreign(args)?;
    let p = &args.properties;
    if asks(p) || args.nodes.node.is_some() || !args.model.constants.is_empty() {
        return Err(only_never());
    }
    let (TreeFile { tree, bad, question }, input) = read(&args.model.model)?;
    if matches!(&bad, Condition::Any(cases) if cases.is_empty()) {
        let advice = "the file says under `never` what must never be: [{\"path.of.node\": [\"state\"]}]";
        return Err(Failure::Nothing("hierarchy", advice.into()));
    }
    let bound = &Bound::new(args, vec![input]);
    let style = Style { color: out_color, verbose: args.stats, ..Default::default() };
    let replay = |bad: &Condition, t: &Trace| checker::replay(&tree, bad, t).map_err(|e| e.to_string());
    let (words, cancelled) = (Words::States(&tree), interrupts());
    let (name, warnings) = (question.as_str(), answers::of_tree(&bad, &question));
    let question = Question { name, words, rows: &[], bad: Ok(bad), warnings, replay: &replay, cancelled, bound };
    answer(args, "hierarchy", question, style, None)
}

/// Reads a hierarchical transition system.
pub fn load(path: &Path) -> Result<TreeFile, Failure> {
    read(path).map(|(file, _)| file)
}

fn read(path: &Path) -> Result<(TreeFile, Input), Failure> {
    let broken = |why: &dyn std::fmt::Display| Failure::Input(format!("error: {}: {why}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|e| broken(&format!("cannot be read: {e}")))?;
    let file = read_tree(&text).map_err(|e| broken(&e))?;
    Ok((file, input(path, text.as_bytes())))
}

fn report(args: &Check, language: &str, name: &str, verdict: Verdict<Trace, Certificate>) -> TreeReport {
    TreeReport::about(&args.model.model.display().to_string(), language, name, Kind::Always, verdict)
}

/// Answers one question: an exit code.
fn answer(
    args: &Check,
    language: &str,
    question: Question<'_>,
    style: Style,
    several: Option<usize>,
) -> Result<u8, Failure> {
    let warnings = answers::warn(args, question.warnings.clone());
    let (mut report, bad) = match &question.bad {
        Ok(_) => search(args, language, &question, Kind::Always)?,
        Err(reason) => {
            let report = report(args, language, question.name, Verdict::Unknown(reason.clone()));
            return tell_and_write(args, &report, question.words, style, several, &question);
        }
    };
    report.warnings = warnings;
    if let Some(t) = report.trace.as_ref().filter(|_| !args.no_check) {
        let failed = |why| Failure::Internal(format!("the run for `{}` did not pass its check: {why}", question.name));
        (question.replay)(&bad, t).map_err(failed)?;
        report.checked = Some(format!("run of {} replayed", steps(t.steps.len())));
    }
    tell_and_write(args, &report, question.words, style, several, &question)
}

/// Searches; a proof is checked.
fn search(
    args: &Check,
    language: &str,
    question: &Question<'_>,
    kind: Kind,
) -> Result<(TreeReport, Condition), Failure> {
    let tree = question.words.tree();
    let bad = question.bad.clone().map_err(|e| Failure::Internal(e.to_string()))?;
    let started = Instant::now();
    let found = {
        let mut work = Work::on(args, question.name);
        let budget = &mut work.meter;
        cegar_in(tree, &bad, question.rows, &options(args), budget)
    };
    let counted = statistics(&found, tree.nodes().len());
    let model = args.model.model.display().to_string();
    let mut report = TreeReport::about(&model, language, question.name, kind, found.verdict);
    report.binding = question.bound.to(question.name);
    report.engine = "hierarchical CEGAR, each node abstracted on its own".into();
    report.statistics = counted;
    report.seconds = started.elapsed().as_secs_f64();
    if let Some(c) = report.certificate.as_ref().filter(|_| !args.no_check) {
        let failed =
            |why| Failure::Internal(format!("the proof for `{}` did not pass its check: {why}", question.name));
        checker::certify(tree, &bad, c).map_err(failed)?;
        report.checked = Some(format!("{} checked, node by node: no step leaves them", abstract_states(c)));
    }
    Ok((report, bad))
}

/// Tells what was found, and writes the evidence: an exit code.
fn tell_and_write(
    args: &Check,
    report: &TreeReport,
    words: Words<'_>,
    style: Style,
    several: Option<usize>,
    question: &Question<'_>,
) -> Result<u8, Failure> {
    let tree = words.tree();
    if args.json {
        let mut line = Vec::new();
        json::write_report(&mut line, tree, report, report.certificate.as_ref().map(|c| tree.size(c)))
            .map_err(|e| Failure::Internal(e.to_string()))?;
        print(&String::from_utf8_lossy(&line))?;
    } else if args.quiet {
        print(&text::line(report, style))?;
    } else {
        print(&text::render(report, &words, style))?;
    }
    let numbered = |path: &Path| crate::pipeline::numbered(path, several);
    if let (Some(file), Some(t)) = (&args.trace, &report.trace) {
        write_with(&numbered(file), |out| json::write_trace(out, tree, report.header(), t))?;
    }
    if let (Some(file), Some(c)) = (&args.certificate, &report.certificate) {
        write_with(&numbered(file), |out| json::write_certificate(out, tree, report.header(), c))?;
    }
    let interrupted = question.cancelled.load(Ordering::Relaxed);
    Ok(if interrupted { exit::INTERRUPTED } else { code_of(report) })
}

fn options(args: &Check) -> Options {
    let neat = if args.nodes.neat { Neat::All } else { Neat::Watched };
    let split = match args.nodes.refine {
        None | Some(cli::Refine::Along) => Split::Along,
        Some(cli::Refine::Failure) => Split::Failure,
        Some(cli::Refine::Interpolants) => Split::Interpolants,
    };
    Options { neat, split, pruning: !args.nodes.no_pruning, symmetry: !args.no_symmetry, limit: None }
}

fn statistics(found: &Found, nodes: usize) -> Vec<(String, u64)> {
    vec![
        ("nodes".into(), nodes as u64),
        ("blocks".into(), found.blocks as u64),
        ("behaviours abstracted".into(), found.behaviours as u64),
        ("like a sibling".into(), found.symmetric as u64),
        ("refinements".into(), found.refinements),
        ("abstract states".into(), found.states as u64),
        ("expanded in all".into(), found.counted.expanded),
        ("by predicates".into(), found.interpolated),
        ("certified".into(), found.certified as u64),
        ("never bad again".into(), found.pruned),
    ]
}

// Evidence again.

/// `trellis certify model.hts.json`
pub fn certify(args: &Certify, given: &Given<'_>) -> Ran {
    if asks(&args.properties) || !args.model.constants.is_empty() {
        return Err(only_never());
    }
    let (TreeFile { tree, bad, question }, input) = read(&args.model.model)?;
    if matches!(&bad, Condition::Any(cases) if cases.is_empty()) {
        return Err(Failure::Input(format!("error: {}: nothing is asked under `never`", args.model.model.display())));
    }
    let bound = Bound::new(args, vec![input]);
    if let Err(why) = given.asked(&bound, &[&question])? {
        return given.rejected(&why);
    }
    let replay = |t: &Trace| checker::replay(&tree, &bad, t).map_err(|e| e.to_string());
    judge(given, &tree, &bad, ("hierarchy", Kind::Always, &bound.to(&question)), &replay)
}

/// Does the command line ask anything?
fn asks(p: &Properties) -> bool {
    !p.properties.is_empty() || !p.errors.is_empty() || !p.labels.is_empty() || p.queries.is_some()
}

fn only_never() -> Failure {
    Failure::Usage(
        "a hierarchical transition system is asked what its file says under `never`, and has no other options".into(),
    )
}

/// `trellis certify model.alt` with evidence about a tree; the condition is bad.
pub fn certify_nodes(given: &Given<'_>, h: &Hierarchy, (name, term): (&str, TermId), bound: &Bound) -> Ran {
    let detached = detach(h, MAX_LISTED).map_err(|e| given.unreadable(&e))?;
    checker::same_vectors(h, &detached).map_err(|why| Failure::Internal(why.to_string()))?;
    let bad = detached.condition(h, term).map_err(|e| given.unreadable(&e))?;
    let replay = |t: &Trace| checker::replay_nodes(h, &detached, (term, &bad), t).map_err(|e| e.to_string());
    judge(given, &detached.tree, &bad, ("altarica", Kind::Always, &bound.to(name)), &replay)
}

fn judge(
    given: &Given<'_>,
    tree: &trellis_model::hierarchy::tree::Tree,
    bad: &Condition,
    (language, kind, binding): (&str, Kind, &Binding),
    replay: &dyn Fn(&Trace) -> Result<(), String>,
) -> Ran {
    let content = json::read(tree, &given.text).map_err(|e| given.unreadable(&e))?;
    let result = match &content {
        Content::Trace(t) => replay(t).map(|()| format!("the run of {} shows what it claims", steps(t.steps.len()))),
        Content::Certificate(c) => checker::certify(tree, bad, c)
            .map(|()| format!("the proof of {} holds", abstract_states(c)))
            .map_err(|e| e.to_string()),
    };
    let header = Header { language, kind, binding };
    let write = |out: &mut dyn std::io::Write| match &content {
        Content::Trace(t) => json::write_trace(out, tree, header, t),
        Content::Certificate(c) => json::write_certificate(out, tree, header, c),
    };
    given.judged(&binding.property, result, &write)
}

fn abstract_states(c: &Certificate) -> String {
    let some = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    match c.traps.len() {
        0 => some(c.tuples.len(), "abstract state"),
        n => format!("{} and {}", some(c.tuples.len(), "abstract state"), some(n, "trap region")),
    }
}

// Networks of automata.

/// What must never hold, if that is what a query asks.
fn never(net: &Network, parts: &Parts, query: &Query) -> Result<Condition, Reason> {
    let unsupported = |what: &dyn std::fmt::Display| Reason::Unsupported(what.to_string());
    match &query.kind {
        QueryKind::Always(p) => {
            let holds = parts.condition(net, p).map_err(|e| unsupported(&e))?;
            Ok(Condition::Not(Box::new(holds)))
        }
        QueryKind::Possibly(p) => parts.condition(net, p).map_err(|e| unsupported(&e)),
        _ => Err(unsupported(&"--engine hierarchy answers A[] and E<>")),
    }
}

/// `trellis check model.xta --engine hierarchy`: runs are the network's own, proofs are about its tree.
pub fn check_network(args: &Check, loaded: &Loaded, out_color: bool) -> Ran {
    refuse_foreign(args)?;
    let net = &loaded.network;
    let parts = parts(net, MAX_LISTED);
    let style = Style { color: out_color, verbose: args.stats, ..Default::default() }
        .align(loaded.queries.iter().map(|q| q.text.as_str()));
    let bound = Bound::new(args, loaded.inputs.clone());
    let (mut code, cancelled) = (exit::HOLDS, interrupts());
    for (i, query) in loaded.queries.iter().enumerate() {
        let several = (loaded.queries.len() > 1).then_some(i + 1);
        let asked = parts.as_ref().map_err(|e| Reason::Unsupported(e.to_string()));
        let asked = asked.and_then(|p| Ok((p, never(net, p, query)?)));
        let now = match asked {
            Ok((parts, bad)) => {
                let ways = (several, cancelled.clone(), &bound);
                network_answer(args, loaded, query, (parts, bad), style, ways)?
            }
            Err(reason) => {
                let report = PropertyReport::new(&loaded.name, loaded.language, query, Verdict::Unknown(reason));
                show(args, net, &report, style)?;
                code_of(&report)
            }
        };
        code = worst(code, now);
        if now == exit::INTERRUPTED {
            return Ok(now);
        }
    }
    Ok(code)
}

fn network_answer(
    args: &Check,
    loaded: &Loaded,
    query: &Query,
    (parts, bad): (&Parts, Condition),
    style: Style,
    (several, cancelled, bound): (Option<usize>, Arc<AtomicBool>, &Bound),
) -> Result<u8, Failure> {
    let net = &loaded.network;
    let (name, words) = (query.text.as_str(), Words::States(&parts.tree));
    let broken = |why: String| Failure::Internal(format!("the run for `{name}` did not pass its check: {why}"));
    let replay = |bad: &Condition, t: &Trace| checker::replay(&parts.tree, bad, t).map_err(|e| e.to_string());
    let rows = parts.rows();
    let warnings = answers::warn(args, answers::of_query(net, query));
    let question = Question { name, words, rows: &rows, bad: Ok(bad), warnings, replay: &replay, cancelled, bound };
    let (mut report, bad) = search(args, loaded.language, &question, Kind::of(&query.kind))?;
    report.warnings.clone_from(&question.warnings);
    let Some(t) = report.trace.take() else { return tell_and_write(args, &report, words, style, several, &question) };
    // A run is told and kept in the words of the network.
    replay(&bad, &t).map_err(broken)?;
    let trace = parts.trace(net, &t).ok_or_else(|| broken("a step is none of the network's".into()))?;
    let mut own = PropertyReport::new(&loaded.name, loaded.language, query, Verdict::Unsafe(trace));
    (own.engine, own.seconds) = (report.engine, report.seconds);
    own.binding = report.binding;
    own.statistics = report.statistics;
    own.warnings = report.warnings;
    if let Some(t) = own.trace.as_ref().filter(|_| !args.no_check) {
        trellis_check::replay(net, query, t).map_err(|e| broken(e.to_string()))?;
        own.checked = Some(format!("run of {} replayed", steps(t.steps.len())));
    }
    show(args, net, &own, style)?;
    write_evidence(args, net, &own, several)?;
    Ok(code_of(&own))
}

/// `trellis certify model.xta` with a proof about its tree.
pub fn certify_network(given: &Given<'_>, loaded: &Loaded, query: &Query, bound: &Bound) -> Ran {
    let net = &loaded.network;
    let parts = parts(net, MAX_LISTED).map_err(|e| given.unreadable(&e))?;
    let bad = never(net, &parts, query).map_err(|e| given.unreadable(&e))?;
    let replay = |t: &Trace| checker::replay(&parts.tree, &bad, t).map_err(|e| e.to_string());
    judge(given, &parts.tree, &bad, (loaded.language, Kind::of(&query.kind), &bound.to(&query.text)), &replay)
}
