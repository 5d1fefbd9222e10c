//! `trellis check` for AltaRica: which node, which conditions, which engine; specifications of Acheck.

mod solver;
mod specification;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use trellis_check::branching::judge;
use trellis_check::hierarchy::Rejection;
use trellis_domain::relation::{self, Made, Memory};
use trellis_engine::cover::cegar::{self, cegar, control_locations};
use trellis_engine::cover::reach::{Direction, reach};
use trellis_engine::cover::{Either, Question, both, reason};
use trellis_engine::ctl::Branching;
use trellis_expr::TermId;
use trellis_meter::Meter;
use trellis_model::evidence::{Reason, Verdict};
use trellis_model::hierarchy::Hierarchy;
use trellis_model::hierarchy::evidence::{Certificate, Trace};
use trellis_model::hierarchy::symbolic::Symbolic;
use trellis_report::hierarchy::{HierarchyReport, Named};
use trellis_report::{Content, Kind, Present, Style, dot, html, iterations, json, text};
use trellis_syntax::altarica::ast::Name;
use trellis_syntax::altarica::{Built, File, parse};
use trellis_syntax::ctl;
use trellis_syntax::diag::{Diagnostic, Sources, render};

use crate::binding::{Bound, Meaning, model_input};
use crate::cli::{self, Certify, Check};
use crate::evidence::Given;
use crate::files::{write_file, write_with};
use crate::limits::{Work, interrupts};
use crate::pipeline::{code_of, numbered, steps, worst};
use crate::{Failure, Ran, answers, automaton, exit, limits, print, program, tree};

/// How long a formula of branching time is evaluated again, if no limit was given.
const PATIENCE: Duration = Duration::from_secs(60);

/// What only models in AltaRica have.
#[derive(Args, Debug, Clone, Default)]
pub struct Nodes {
    /// The node at the top; without it, the last one in the file.
    #[arg(long, value_name = "NAME", help_heading = "AltaRica")]
    pub node: Option<String>,
    /// An Acheck specification: the cardinals of what it shows, and whether its tests pass.
    #[arg(long, value_name = "FILE", help_heading = "AltaRica")]
    pub spec: Option<PathBuf>,
    /// Follow the redirections of that specification (`show(x) > 'f/$NODENAME.res'`): files below this folder.
    #[arg(long, value_name = "FOLDER", requires = "spec", help_heading = "AltaRica")]
    pub redirect: Option<PathBuf>,
    /// A formula of computation tree logic that must hold in every initial configuration: AG EF x = 1, A[a U b]; may be given
    /// several times.
    #[arg(long, value_name = "FORMULA", help_heading = "AltaRica")]
    pub ctl: Vec<String>,
    /// Start from what is bad: with --engine reach, states that lead to it; with cegar, paths are looked at from their end.
    #[arg(long, help_heading = "AltaRica")]
    pub backward: bool,
    /// For --engine cegar: what each refinement did, to a file: .csv, .svg (a plot), or a table.
    #[arg(long, value_name = "FILE", help_heading = "AltaRica")]
    pub iterations: Option<PathBuf>,
    /// For --engine cegar: keep abstract states that PCegar would throw away. For --engine hierarchy: no certified pairs, and what can
    /// never become bad is explored all the same.
    #[arg(long, help_heading = "AltaRica")]
    pub no_pruning: bool,
    /// For --engine hierarchy: start from neat covers (states of a node that differ in any event are told apart), not only from
    /// those that priorities depend on.
    #[arg(long, help_heading = "AltaRica")]
    pub neat: bool,
    /// For --engine hierarchy: how a spurious counterexample splits the blocks of the failing node (default: along).
    #[arg(long, value_enum, value_name = "HOW", help_heading = "AltaRica")]
    pub refine: Option<cli::Refine>,
}

impl Nodes {
    /// An option that was given, for a message.
    pub fn given(&self) -> Option<&'static str> {
        let of_trees = [("--no-pruning", self.no_pruning), ("--neat", self.neat), ("--refine", self.refine.is_some())];
        self.of_nodes_only().or_else(|| of_trees.into_iter().find(|(_, given)| *given).map(|(name, _)| name))
    }

    /// The same without those of --engine hierarchy, which is not only for AltaRica.
    pub fn of_nodes_only(&self) -> Option<&'static str> {
        let all = [
            ("--node", self.node.is_some()),
            ("--spec", self.spec.is_some()),
            ("--ctl", !self.ctl.is_empty()),
            ("--backward", self.backward),
            ("--iterations", self.iterations.is_some()),
        ];
        all.into_iter().find(|(_, given)| *given).map(|(name, _)| name)
    }
}

/// Is it a model in AltaRica, by its name?
pub fn is_one(path: &Path) -> bool {
    matches!(path.extension().and_then(|e| e.to_str()), Some("alt" | "altarica"))
}

/// Diagnostics as a failure.
pub fn complain<'s>(sources: &'s Sources, color: bool) -> impl Fn(Vec<Diagnostic>) -> Failure + 's {
    move |d| Failure::Input(render(&d, sources, color))
}

/// Reads a file.
pub fn read(sources: &mut Sources, path: &Path, color: bool) -> Result<File, Failure> {
    let id = sources.read(path).map_err(|d| complain(sources, color)(vec![d]))?;
    let (file, warnings) = parse(sources, id).map_err(complain(sources, color))?;
    eprint!("{}", render(&warnings, sources, color));
    Ok(file)
}

/// Reads a file and builds the hierarchy below a node, or below the last one.
pub fn top(sources: &mut Sources, model: &cli::Model, node: Option<&str>, color: bool) -> Result<Built, Failure> {
    top_named(sources, model, node, color).map(|(built, _)| built)
}

/// The same, and the node's name.
fn top_named(
    sources: &mut Sources,
    model: &cli::Model,
    node: Option<&str>,
    color: bool,
) -> Result<(Built, String), Failure> {
    let file = read(sources, &model.model, color)?;
    let Some(last) = file.nodes().last().map(|n| (*n).clone()) else {
        return Err(Failure::Input(format!("error: {}: there is no node", model.model.display())));
    };
    let top = Name { text: node.map_or(last.text, String::from), span: last.span };
    let built = build(sources, &file, &top, &model.constants, color)?;
    Ok((built, top.text))
}

/// Builds the hierarchy below a node.
pub fn build(
    sources: &Sources,
    file: &File,
    node: &Name,
    constants: &[(String, i64)],
    color: bool,
) -> Result<Built, Failure> {
    let (built, warnings) = file.build(node, constants).map_err(complain(sources, color))?;
    eprint!("{}", render(&warnings, sources, color));
    Ok(built)
}

/// The same, beside nodes whose literals have numbers already.
pub fn build_beside(
    sources: &Sources,
    file: &File,
    node: &Name,
    literals: &[String],
    color: bool,
) -> Result<Built, Failure> {
    let (built, warnings) = file.build_beside(node, literals).map_err(complain(sources, color))?;
    eprint!("{}", render(&warnings, sources, color));
    Ok(built)
}

/// Where nothing is initial, everything is SAFE; that is hardly what was meant.
pub fn warn_of_nothing(nothing: bool) {
    if nothing {
        eprintln!("warning: no configuration is initial, because `init` and the assertions contradict each other");
    }
}

fn memory(args: &Check) -> Memory {
    args.memory.map_or_else(Memory::default, Memory::within)
}

fn negation(condition: &str) -> String {
    format!("not ({condition})")
}

/// What is asked, and the condition that is bad.
fn questions(p: &cli::Properties) -> Result<Vec<(String, String)>, Failure> {
    if !p.labels.is_empty() || p.queries.is_some() {
        return Err(Failure::Usage("--labels, --queries: not for AltaRica; ask with -p or --error".into()));
    }
    let always = p.properties.iter().map(|e| (e.clone(), negation(e)));
    let never = p.errors.iter().map(|e| (format!("never {e}"), e.clone()));
    let all: Vec<(String, String)> = always.chain(never).collect();
    if all.is_empty() {
        let advice = "--error EXPR must never hold, -p EXPR must always hold, --ctl and --ltl take formulas, --spec FILE is Acheck's";
        return Err(Failure::Nothing("altarica", advice.into()));
    }
    Ok(all)
}

fn refuse_foreign(args: &Check) -> Result<(), Failure> {
    let engine = matches!(args.engine, cli::Engine::Auto | cli::Engine::Reach | cli::Engine::Cegar);
    if !engine {
        return Err(Failure::Usage("AltaRica is checked with --engine reach, cegar or hierarchy".into()));
    }
    let (nodes, refine) = (&args.nodes, args.nodes.refine.is_some());
    let theirs = [("--neat", nodes.neat), ("--refine", refine), ("--no-symmetry", args.no_symmetry)];
    if let Some((name, _)) = theirs.iter().find(|(_, given)| *given) {
        return Err(Failure::Usage(format!("{name} goes with --engine hierarchy")));
    }
    if args.nodes.iterations.is_some() && args.engine != cli::Engine::Cegar {
        return Err(Failure::Usage("--iterations goes with --engine cegar".into()));
    }
    let ours = Check { engine: cli::Engine::Auto, ..args.clone() };
    match program::given(&ours).or_else(|| program::foreign(&ours)) {
        Some(text) => Err(Failure::Usage(format!("{text}: not for AltaRica"))),
        None => Ok(()),
    }
}

/// `trellis check model.alt`
pub fn check(args: &Check, out_color: bool, err_color: bool) -> Ran {
    if args.engine != cli::Engine::Hierarchy {
        refuse_foreign(args)?;
    }
    let mut sources = Sources::default();
    let file = read(&mut sources, &args.model.model, err_color)?;
    let Some(last) = file.nodes().last().map(|n| (*n).clone()) else {
        return Err(Failure::Input(format!("error: {}: there is no node", args.model.model.display())));
    };
    if let Some(path) = args.nodes.spec.as_ref().filter(|_| args.engine != cli::Engine::Hierarchy) {
        return specification::check(args, &mut sources, &file, path, last, err_color);
    }
    let top = Name { text: args.nodes.node.clone().unwrap_or(last.text), span: last.span };
    if !args.nodes.ctl.is_empty() && args.engine != cli::Engine::Hierarchy {
        return branching(args, &mut sources, &file, &top, out_color, err_color);
    }
    let asked = questions(&args.properties)?;
    let mut built = build(&sources, &file, &top, &args.model.constants, err_color)?;
    let (mut conditions, mut bad_texts, mut refused) = (vec![], vec![], vec![]);
    for (name, text) in asked {
        let id = sources.add("the property", text.clone());
        match built.condition(&sources, id) {
            Ok(t) => {
                conditions.push((name, t));
                bad_texts.push(text);
            }
            Err(errors) => refused.push((name, errors)),
        }
    }
    let style = Style { color: out_color, verbose: args.stats, ..Default::default() }
        .align(conditions.iter().map(|(name, _)| name.as_str()));
    let refused = set_apart(args, &sources, refused, conditions.len(), style, err_color)?;
    let hierarchy = &built.hierarchy;
    let bound = bound(args, &args.model, &sources, &top.text);
    if args.engine == cli::Engine::Hierarchy {
        let negated: Vec<bool> = conditions.iter().zip(&bad_texts).map(|((name, _), t)| *t == negation(name)).collect();
        let code = tree::check_nodes(args, hierarchy, &conditions, &negated, &bound, out_color)?;
        return Ok(if code == exit::INTERRUPTED { code } else { worst(code, refused) });
    }
    let cancelled = interrupts();
    let symbolic = Symbolic::new(hierarchy, 2, memory(args));
    if let Ok(m) = &symbolic {
        warn_of_nothing(m.initial(hierarchy).is_ok_and(|states| states.is_empty()));
    }
    let levels = hierarchy.levels();
    let mut code = refused;
    let mut reports = vec![];
    for (n, (name, bad)) in conditions.iter().enumerate() {
        let negated = bad_texts[n] == negation(name);
        let warnings = answers::warn(args, answers::of_nodes(hierarchy, *bad, negated, name));
        let started = Instant::now();
        let mut work = Work::on(args, name);
        let budget = &mut work.meter;
        let mut statistics = vec![];
        let model = args.model.model.display().to_string();
        let question = symbolic.as_ref().map_err(Clone::clone).and_then(|m| asked_of(hierarchy, m, *bad));
        let mut report = match question {
            Ok(question) => {
                let (verdict, engine) = answer(args, &question, budget, &mut statistics)?;
                let mut report: HierarchyReport =
                    HierarchyReport::about(&model, "altarica", name, Kind::Always, verdict);
                report.engine = engine_line(args, engine);
                if !args.no_check {
                    checked(&mut report, &question, *bad)?;
                }
                report
            }
            Err(trouble)
                if args.engine == cli::Engine::Reach || args.nodes.backward || trouble == relation::Error::Memory =>
            {
                let verdict = Verdict::Unknown(reason(trouble));
                HierarchyReport::about(&model, "altarica", name, Kind::Always, verdict)
            }
            Err(trouble) => {
                let why = reason(trouble);
                solver::answer(hierarchy, *bad, (&model, name), why, !args.no_check, budget)?
            }
        };
        drop(work);
        report.binding = bound.to(name);
        report.statistics = statistics;
        report.warnings = warnings;
        report.seconds = started.elapsed().as_secs_f64();
        code = worst(code, code_of(&report));
        let several = (conditions.len() > 1).then_some(n + 1);
        match &levels {
            Ok(levels) => {
                let named = Named { hierarchy, levels };
                told(args, named, symbolic.as_ref().ok(), &report, style, several)?;
            }
            Err(_) => answers::plain(args, &report, style)?,
        }
        reports.push(report);
        if cancelled.load(std::sync::atomic::Ordering::Relaxed) {
            return Ok(exit::INTERRUPTED);
        }
    }
    if let (Some(path), Ok(levels)) = (&args.html, &levels) {
        let named = Named { hierarchy, levels };
        let all: Vec<_> = reports.iter().map(|r| (r, html::Evidence::of(r, &named))).collect();
        write_file(path, &html::page(&all))?;
    }
    Ok(code)
}

/// Questions that make no sense: said, if there are others; otherwise that is all there is to say. The exit code so far.
fn set_apart(
    args: &Check,
    sources: &Sources,
    refused: Vec<(String, Vec<Diagnostic>)>,
    others: usize,
    style: Style,
    err_color: bool,
) -> Ran {
    if others == 0 && !refused.is_empty() {
        return Err(complain(sources, err_color)(refused.into_iter().flat_map(|(_, errors)| errors).collect()));
    }
    let mut code = exit::HOLDS;
    for (name, errors) in refused {
        eprint!("{}", render(&errors, sources, err_color));
        let why = errors.first().map_or("it makes no sense", |e| e.message.as_str());
        code = worst(code, answers::refused(args, "altarica", &name, why, style)?);
    }
    Ok(code)
}

/// Says what was found, on the terminal and in files.
fn told(
    args: &Check,
    named: Named<'_>,
    m: Option<&Symbolic>,
    report: &HierarchyReport,
    style: Style,
    several: Option<usize>,
) -> Result<(), Failure> {
    let wanted = args.json || args.certificate.is_some();
    let proof = report.certificate.as_ref().filter(|_| wanted);
    let states = proof.and_then(|c| m.map(|m| m.decisions(&c.states)));
    if args.json {
        let mut line = Vec::new();
        let size = states.as_ref().map(|s| named.size(s));
        json::write_report(&mut line, &named, report, size).map_err(|e| Failure::Internal(e.to_string()))?;
        print(&format!("{}\n", String::from_utf8_lossy(&line)))?;
    } else if args.quiet {
        print(&text::line(report, style))?;
    } else {
        print(&text::render(report, &named, style))?;
    }
    if let (Some(path), Some(t)) = (&args.trace, &report.trace) {
        write_with(&numbered(path, several), |out| json::write_trace(out, &named, report.header(), t))?;
    }
    if let (Some(path), Some(graph)) = (&args.dot, dot::report(report, &named)) {
        write_file(&numbered(path, several), &graph)?;
    }
    if let (Some(path), Some(states)) = (&args.certificate, &states) {
        write_with(&numbered(path, several), |out| json::write_certificate(out, &named, report.header(), states))?;
    }
    Ok(())
}

/// `trellis certify model.alt EVIDENCE`
pub fn certify(args: &Certify, given: &Given<'_>, err_color: bool) -> Ran {
    automaton::not_c(&args.reading)?;
    if args.non_zeno {
        return Err(Failure::Usage("--non-zeno: only for models with clocks".into()));
    }
    let asked = questions(&args.properties)?;
    let mut sources = Sources::default();
    let (mut built, node) = top_named(&mut sources, &args.model, args.node.as_deref(), err_color)?;
    let bound = bound(args, &args.model, &sources, &node);
    let names: Vec<&str> = asked.iter().map(|(name, _)| name.as_str()).collect();
    let at = match given.asked(&bound, &names)? {
        Ok(at) => at,
        Err(why) => return given.rejected(&why),
    };
    let (name, bad_text) = &asked[at];
    let id = sources.add("the property", bad_text.clone());
    let bad = built.condition(&sources, id).map_err(complain(&sources, err_color))?;
    if given.is_about_a_tree() {
        return tree::certify_nodes(given, &built.hierarchy, (name, bad), &bound);
    }
    let hierarchy = &built.hierarchy;
    let impossible = |e: &dyn std::fmt::Display| Failure::Usage(format!("the evidence cannot be checked: {e}"));
    let m = Symbolic::new(hierarchy, 2, Memory::default()).map_err(|e| impossible(&e))?;
    let named = Named { hierarchy, levels: &m.levels };
    let content = json::read(&named, &given.text).map_err(|e| given.unreadable(&e))?;
    let result = match &content {
        Content::Trace(t) => trellis_check::hierarchy::replay(hierarchy, Some(&m), bad, t)
            .map(|()| format!("the run of {} ends where it should not", steps(t.events.len()))),
        Content::Certificate(tests) => {
            let states = m.decided(tests).map_err(|e| impossible(&e))?;
            let states = states.ok_or_else(|| given.unreadable(&"its tests make no sense"))?;
            let question = asked_of(hierarchy, &m, bad).map_err(|e| impossible(&e))?;
            proven(&question, bad, &Certificate { states })
                .map(|()| format!("the set of states ({} tests) proves it: no event leaves it", tests.tests.len()))
        }
    };
    let binding = bound.to(name);
    let header = json::Header { language: "altarica", kind: Kind::Always, binding: &binding };
    let write = |out: &mut dyn std::io::Write| match &content {
        Content::Trace(t) => json::write_trace(out, &named, header, t),
        Content::Certificate(tests) => json::write_certificate(out, &named, header, tests),
    };
    given.judged(name, result.map_err(|why| why.to_string()), &write)
}

/// What verdicts about the node are bound to.
fn bound<'a>(args: impl Into<Meaning<'a>>, model: &cli::Model, sources: &Sources, node: &str) -> Bound {
    Bound::new(args, vec![model_input(&model.model, sources)]).with("node", node)
}

/// The question whether a condition can be reached.
fn asked_of<'q>(hierarchy: &'q Hierarchy, symbolic: &'q Symbolic, bad: TermId) -> Made<Question<'q>> {
    let (initial, bad) = (symbolic.initial(hierarchy)?, symbolic.satisfying(hierarchy, bad)?);
    Ok(Question { hierarchy, symbolic, initial, bad })
}

/// Checks a proof: by a step on relations, and by plain steps.
fn proven(question: &Question<'_>, bad: TermId, c: &Certificate) -> Result<(), Rejection> {
    trellis_check::hierarchy::certify(&question.initial, &question.bad, question.symbolic, c)?;
    trellis_check::hierarchy::compare(question.hierarchy, question.symbolic, bad, c).map(|_| ())
}

fn engine_line(args: &Check, engine: cli::Engine) -> String {
    let way = if args.nodes.backward { "backward" } else { "forward" };
    match engine {
        cli::Engine::Cegar if args.nodes.no_pruning => format!("refinement of a partition, {way} (Cegar)"),
        cli::Engine::Cegar => format!("refinement of a partition with pruning, {way} (PCegar)"),
        _ => format!("reachability on relations, {way}"),
    }
}

/// A round, for a table.
pub fn row(i: &cegar::Iteration) -> iterations::Row {
    iterations::Row {
        states: i.states as u64,
        transitions: i.transitions as u64,
        path: i.path as u64,
        certified: (i.reachable as u64, i.coreachable as u64),
        analysis: i.analysis,
        distribution: i.distribution,
    }
}

/// The answer, and whose it is.
fn answer(
    args: &Check,
    question: &Question<'_>,
    budget: &mut Meter,
    statistics: &mut Vec<(String, u64)>,
) -> Result<(Verdict<Trace, Certificate>, cli::Engine), Failure> {
    let direction = if args.nodes.backward { Direction::Backward } else { Direction::Forward };
    let options = cegar::Options {
        pruning: !args.nodes.no_pruning,
        analysis: direction,
        limit: args.states,
        ..Default::default()
    };
    let found = match args.engine {
        cli::Engine::Cegar => match control_locations(question) {
            Ok(predicates) => Either::Cegar(cegar(question, &predicates, &options, budget)),
            Err(trouble) => return Ok((Verdict::Unknown(reason(trouble)), cli::Engine::Cegar)),
        },
        cli::Engine::Reach => Either::Reach(reach(question, direction, budget)),
        _ => both(question, direction, budget),
    };
    match found {
        Either::Reach(found) => {
            let small = |n: &trellis_domain::relation::Natural| u64::try_from(n).unwrap_or(u64::MAX);
            statistics.extend((found.rounds > 0).then(|| ("rounds".into(), found.rounds)));
            statistics.push(("nodes".into(), found.nodes as u64));
            statistics.extend(found.configurations.as_ref().map(|n| ("configurations".into(), small(n))));
            Ok((found.verdict, cli::Engine::Reach))
        }
        Either::Cegar(found) => {
            let sum = |f: fn(&cegar::Iteration) -> u64| found.iterations.iter().map(f).sum();
            let most = found.iterations.iter().map(|i| i.states as u64).max().unwrap_or(0);
            if let Some(path) = &args.nodes.iterations {
                let rows: Vec<iterations::Row> = found.iterations.iter().map(row).collect();
                let text = match path.extension().and_then(|e| e.to_str()) {
                    Some("csv") => iterations::csv(&rows),
                    Some("svg") => {
                        let name = if options.pruning { "PCegar" } else { "Cegar" };
                        iterations::svg(&args.model.model.display().to_string(), &[(name, &rows)])
                    }
                    _ => iterations::table(&rows, 0),
                };
                write_file(path, &text)?;
            }
            statistics.push(("refinements".into(), found.iterations.len() as u64));
            statistics.push(("images for paths".into(), sum(|i| i.analysis)));
            statistics.push(("images for transitions".into(), sum(|i| i.distribution)));
            statistics.push(("abstract states, at most".into(), most));
            Ok((found.verdict, cli::Engine::Cegar))
        }
    }
}

/// Checks the evidence, and says so.
fn checked(report: &mut HierarchyReport, question: &Question<'_>, bad: TermId) -> Result<(), Failure> {
    use trellis_check::hierarchy::replay;
    let failed = |what: &str, why: &dyn std::fmt::Display| {
        Failure::Internal(format!("the {what} for `{}` did not pass its check: {why}", report.query))
    };
    if let Some(t) = &report.trace {
        replay(question.hierarchy, Some(question.symbolic), bad, t).map_err(|e| failed("run", &e))?;
        report.checked = Some(format!("run of {} replayed", steps(t.events.len())));
    }
    if let Some(c) = &report.certificate {
        proven(question, bad, c).map_err(|e| failed("proof", &e))?;
        report.checked = Some("set of states checked: no event leaves it".into());
    }
    Ok(())
}

/// `trellis check model.alt --ctl FORMULA`
fn branching(args: &Check, sources: &mut Sources, file: &File, top: &Name, out_color: bool, err_color: bool) -> Ran {
    let p = &args.properties;
    if !p.properties.is_empty() || !p.errors.is_empty() || args.certificate.is_some() || args.trace.is_some() {
        return Err(Failure::Usage("--ctl: not together with -p or --error, and it writes no evidence".into()));
    }
    let mut built = build(sources, file, top, &args.model.constants, err_color)?;
    let (mut formulas, mut refused) = (vec![], vec![]);
    for text in &args.nodes.ctl {
        let id = sources.add("--ctl", text.clone());
        match ctl::parse(sources, id, &mut built) {
            Ok(formula) => formulas.push((text, formula)),
            Err(errors) => refused.push((text.clone(), errors)),
        }
    }
    let hierarchy = &built.hierarchy;
    let cancelled = interrupts();
    let style = Style { color: out_color, verbose: args.stats, ..Default::default() }
        .align(formulas.iter().map(|(text, _)| text.as_str()));
    let mut code = set_apart(args, sources, refused, formulas.len(), style, err_color)?;
    let symbolic = Symbolic::new(hierarchy, 2, memory(args));
    if let Ok(m) = &symbolic {
        warn_of_nothing(m.initial(hierarchy).is_ok_and(|states| states.is_empty()));
    }
    for (formula_text, formula) in &formulas {
        let warnings = answers::warn(args, answers::of_branching(hierarchy, formula, formula_text));
        let started = Instant::now();
        let mut budget = limits::meter(args);
        let mut statistics = vec![];
        let mut run = || -> Result<Verdict<Trace, Certificate>, Reason> {
            let m = symbolic.as_ref().map_err(|e| reason(e.clone()))?;
            let found = Branching::new(hierarchy, m)?.holds(formula, &mut budget)?;
            let small = |n: trellis_domain::relation::Natural| u64::try_from(&n).unwrap_or(u64::MAX);
            statistics.push(("configurations where it holds".into(), small(m.count(&found))));
            let initial = m.initial(hierarchy).and_then(|states| m.configurations_of(&states)).map_err(reason)?;
            let without = m.space.minus(&initial, &found).map_err(reason)?;
            Ok(match m.pick(&without) {
                None => Verdict::Safe(Certificate { states: found }),
                Some(first) => Verdict::Unsafe(Trace { configurations: vec![first], events: vec![] }),
            })
        };
        let verdict = run().unwrap_or_else(Verdict::Unknown);
        let model = args.model.model.display().to_string();
        let mut report: HierarchyReport =
            HierarchyReport::about(&model, "altarica", formula_text, Kind::Always, verdict);
        // A set where a formula holds is no invariant; the formula is evaluated again, plainly, or there is no answer.
        let safe = report.certificate.take().is_some();
        let refuted = report.trace.as_ref().and_then(|t| t.configurations.first());
        if !args.no_check && (safe || refuted.is_some()) {
            let failed =
                |why| Failure::Internal(format!("the answer to `{formula_text}` did not pass its check: {why}"));
            let until = crate::limits::deadline(args.timeout).or_else(|| Instant::now().checked_add(PATIENCE));
            match judge(hierarchy, formula, refuted.map(Vec::as_slice), until).map_err(failed)? {
                Some(count) => {
                    let said = format!("evaluated again, configuration by configuration: {count} can be reached");
                    report.checked = Some(said);
                }
                None => {
                    let found = if safe { "it holds" } else { "it does not hold" };
                    let what =
                        format!("{found} by fixpoints on relations, and there is too much to evaluate it plainly");
                    let unknown = Verdict::Unknown(Reason::Unchecked(what));
                    report = HierarchyReport::about(&model, "altarica", formula_text, Kind::Always, unknown);
                }
            }
        }
        if args.no_check {
            report.assumes.push("fixpoints on relations, which were not checked (--no-check)".into());
        }
        report.engine = "fixpoints on relations".into();
        report.statistics = statistics;
        report.warnings = warnings;
        report.seconds = started.elapsed().as_secs_f64();
        code = worst(code, code_of(&report));
        match &symbolic {
            Ok(m) if args.json => {
                let named = Named { hierarchy, levels: &m.levels };
                told(args, named, Some(m), &report, style, None)?;
            }
            Ok(m) if !args.quiet => {
                print(&text::render(&report, &Named { hierarchy, levels: &m.levels }, style))?;
            }
            _ => answers::plain(args, &report, style)?,
        }
        if cancelled.load(std::sync::atomic::Ordering::Relaxed) {
            return Ok(exit::INTERRUPTED);
        }
    }
    Ok(code)
}
