//! `trellis check` for AltaRica: which node, which conditions, which engine; specifications of Acheck.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use trellis_domain::relation::Memory;
use trellis_engine::acheck::Specification;
use trellis_engine::budget::{Budget, Progress};
use trellis_engine::cover::cegar::{self, cegar, control_locations};
use trellis_engine::cover::reach::{Direction, reach};
use trellis_engine::cover::{Question, reason};
use trellis_model::acheck::Line;
use trellis_model::evidence::{Reason, Verdict};
use trellis_model::hierarchy::evidence::{Certificate, Trace};
use trellis_model::hierarchy::symbolic::Symbolic;
use trellis_report::hierarchy::{self as tell, HierarchyReport};
use trellis_report::{Kind, Style, text};
use trellis_syntax::acheck;
use trellis_syntax::altarica::ast::Name;
use trellis_syntax::altarica::{Built, File, parse};
use trellis_syntax::diag::{Diagnostic, Sources, render};

use crate::check::{ProgressLine, code_of, interrupts, steps, worst};
use crate::cli::{self, Check};
use crate::{Failure, Ran, exit, print, program, tree};

/// What only models in AltaRica have.
#[derive(Args, Debug, Clone, Default)]
pub struct Nodes {
    /// The node at the top; without it, the last one in the file.
    #[arg(long, value_name = "NAME", help_heading = "AltaRica")]
    pub node: Option<String>,
    /// An Acheck specification: the cardinals of what it shows, and whether its tests pass.
    #[arg(long, value_name = "FILE", help_heading = "AltaRica")]
    pub spec: Option<PathBuf>,
    /// Start from what is bad: with --engine reach, states that lead to it; with cegar, paths are looked at from their end.
    #[arg(long, help_heading = "AltaRica")]
    pub backward: bool,
    /// For --engine cegar: keep abstract states that PCegar would throw away.
    #[arg(long, help_heading = "AltaRica")]
    pub no_pruning: bool,
    /// For --engine hierarchy: states of a node that differ in any event are told apart from the start, as 001's neat covers do, not only
    /// those that priorities depend on.
    #[arg(long, help_heading = "AltaRica")]
    pub neat: bool,
}

impl Nodes {
    /// The options that were given, for a message.
    pub fn given(&self) -> Option<&'static str> {
        let all = [
            ("--node", self.node.is_some()),
            ("--spec", self.spec.is_some()),
            ("--backward", self.backward),
            ("--no-pruning", self.no_pruning),
            ("--neat", self.neat),
        ];
        all.into_iter().find(|(_, given)| *given).map(|(name, _)| name)
    }
}

/// Is it a model in AltaRica, by its name?
pub fn is_one(path: &Path) -> bool {
    matches!(path.extension().and_then(|e| e.to_str()), Some("alt" | "altarica"))
}

fn complain<'s>(sources: &'s Sources, color: bool) -> impl Fn(Vec<Diagnostic>) -> Failure + 's {
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
    let file = read(sources, &model.model, color)?;
    let Some(last) = file.nodes().last().map(|n| (*n).clone()) else {
        return Err(Failure::Input(format!("error: {}: there is no node", model.model.display())));
    };
    let top = Name { text: node.map_or(last.text, String::from), span: last.span };
    build(sources, &file, &top, &model.constants, color)
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

fn memory(args: &Check) -> Memory {
    args.memory.map_or_else(Memory::default, Memory::within)
}

/// What is asked, and the condition that is bad.
fn questions(args: &Check) -> Result<Vec<(String, String)>, Failure> {
    let p = &args.properties;
    if !p.labels.is_empty() || p.queries.is_some() {
        return Err(Failure::Usage("--labels, --queries: not for AltaRica; ask with -p or --error".into()));
    }
    let always = p.properties.iter().map(|e| (e.clone(), format!("not ({e})")));
    let never = p.errors.iter().map(|e| (format!("never {e}"), e.clone()));
    let all: Vec<(String, String)> = always.chain(never).collect();
    if all.is_empty() {
        let text =
            "what is to be checked? --error EXPR must never hold, -p EXPR must always hold, --spec FILE is Acheck's";
        return Err(Failure::Usage(text.into()));
    }
    Ok(all)
}

fn refuse_foreign(args: &Check) -> Result<(), Failure> {
    let engine = matches!(args.engine, cli::Engine::Auto | cli::Engine::Reach | cli::Engine::Cegar);
    if !engine {
        return Err(Failure::Usage("AltaRica is checked with --engine reach, cegar or hierarchy".into()));
    }
    let files = [
        ("--neat", args.nodes.neat),
        ("--json", args.json),
        ("--trace", args.trace.is_some()),
        ("--certificate", args.certificate.is_some()),
        ("--dot", args.dot.is_some()),
        ("--html", args.html.is_some()),
    ];
    if let Some((name, _)) = files.iter().find(|(_, given)| *given) {
        return Err(Failure::Usage(format!("{name}: not for AltaRica yet")));
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
        return specification(args, &mut sources, &file, path, last, err_color);
    }
    let top = Name { text: args.nodes.node.clone().unwrap_or(last.text), span: last.span };
    let asked = questions(args)?;
    let mut built = build(&sources, &file, &top, &args.model.constants, err_color)?;
    let mut conditions = vec![];
    for (name, text) in asked {
        let id = sources.add("the property", text);
        conditions.push((name, built.condition(&sources, id).map_err(complain(&sources, err_color))?));
    }
    let hierarchy = &built.hierarchy;
    if args.engine == cli::Engine::Hierarchy {
        return tree::check_nodes(args, hierarchy, &conditions, out_color);
    }
    let cancelled = interrupts();
    let style = Style { color: out_color, verbose: args.stats, ..Default::default() }
        .align(conditions.iter().map(|(name, _)| name.as_str()));
    let symbolic = Symbolic::new(hierarchy, 2, memory(args));
    let mut code = exit::HOLDS;
    for (name, bad) in &conditions {
        let started = Instant::now();
        let mut line = ProgressLine::new(args, name);
        let mut observer = |p: &Progress| line.show(p);
        let mut budget = Budget::unlimited().time(args.timeout).cancel(cancelled.clone()).observe(&mut observer);
        let mut statistics = vec![];
        let model = args.model.model.display().to_string();
        let (verdict, question) = match symbolic.as_ref().map_err(Clone::clone).and_then(|symbolic| {
            let (initial, bad) = (symbolic.initial(hierarchy)?, symbolic.satisfying(hierarchy, *bad)?);
            Ok(Question { hierarchy, symbolic, initial, bad })
        }) {
            Ok(question) => (answer(args, &question, &mut budget, &mut statistics), Some(question)),
            Err(trouble) => (Verdict::Unknown(reason(trouble)), None),
        };
        drop(line);
        let mut report: HierarchyReport = HierarchyReport::about(&model, "altarica", name, Kind::Always, verdict);
        report.engine = engine_line(args);
        report.statistics = statistics;
        report.seconds = started.elapsed().as_secs_f64();
        if let Some(question) = question.filter(|_| !args.no_check) {
            checked(&mut report, &question, *bad)?;
        }
        code = worst(code, code_of(&report));
        let said = match &symbolic {
            Ok(m) if !args.quiet => tell::render(&report, hierarchy, &m.levels, style),
            _ => text::line(&report, style),
        };
        print(&said)?;
        if cancelled.load(std::sync::atomic::Ordering::Relaxed) {
            return Ok(exit::INTERRUPTED);
        }
    }
    Ok(code)
}

fn engine_line(args: &Check) -> String {
    let way = if args.nodes.backward { "backward" } else { "forward" };
    match args.engine {
        cli::Engine::Cegar if args.nodes.no_pruning => format!("refinement of a partition, {way} (001 Cegar)"),
        cli::Engine::Cegar => format!("refinement of a partition with pruning, {way} (001 PCegar)"),
        _ => format!("reachability on relations, {way}"),
    }
}

fn answer(
    args: &Check,
    question: &Question<'_>,
    budget: &mut Budget<'_>,
    statistics: &mut Vec<(String, u64)>,
) -> Verdict<Trace, Certificate> {
    let direction = if args.nodes.backward { Direction::Backward } else { Direction::Forward };
    if args.engine != cli::Engine::Cegar {
        let found = reach(question, direction, budget);
        let small = |n: &trellis_domain::relation::Natural| u64::try_from(n).unwrap_or(u64::MAX);
        statistics.extend((found.rounds > 0).then(|| ("rounds".into(), found.rounds)));
        statistics.push(("nodes".into(), found.nodes as u64));
        statistics.extend(found.configurations.as_ref().map(|n| ("configurations".into(), small(n))));
        return found.verdict;
    }
    let options = cegar::Options {
        pruning: !args.nodes.no_pruning,
        analysis: direction,
        limit: args.states,
        ..Default::default()
    };
    let found = match control_locations(question) {
        Ok(predicates) => cegar(question, &predicates, &options, budget),
        Err(trouble) => return Verdict::Unknown(reason(trouble)),
    };
    let sum = |f: fn(&cegar::Iteration) -> u64| found.iterations.iter().map(f).sum();
    statistics.push(("refinements".into(), found.iterations.len() as u64));
    statistics.push(("images for paths".into(), sum(|i| i.analysis)));
    statistics.push(("images for transitions".into(), sum(|i| i.distribution)));
    statistics
        .push(("abstract states, at most".into(), found.iterations.iter().map(|i| i.states as u64).max().unwrap_or(0)));
    found.verdict
}

/// Checks the evidence, and says so.
fn checked(report: &mut HierarchyReport, question: &Question<'_>, bad: trellis_expr::TermId) -> Result<(), Failure> {
    use trellis_check::hierarchy::{certify, replay};
    let failed = |what: &str, why: &dyn std::fmt::Display| {
        Failure::Internal(format!("the {what} for `{}` did not pass its check: {why}", report.query))
    };
    if let Some(t) = &report.trace {
        replay(question.hierarchy, question.symbolic, bad, t).map_err(|e| failed("run", &e))?;
        report.checked = Some(format!("run of {} replayed", steps(t.events.len())));
    }
    if let Some(c) = &report.certificate {
        certify(&question.initial, &question.bad, question.symbolic, c).map_err(|e| failed("proof", &e))?;
        report.checked = Some("set of states checked: no event leaves it".into());
    }
    Ok(())
}

/// `trellis check model.alt --spec file.spe`
fn specification(args: &Check, sources: &mut Sources, file: &File, path: &Path, last: Name, color: bool) -> Ran {
    let id = sources.read(path).map_err(|d| complain(sources, color)(vec![d]))?;
    let named = acheck::nodes(sources, id).map_err(complain(sources, color))?;
    let (nodes, all) = match &args.nodes.node {
        Some(node) => (vec![Name { text: node.clone(), span: last.span }], true),
        None => (named, false),
    };
    let cancelled = interrupts();
    let mut code = exit::HOLDS;
    for node in nodes {
        let mut built = build(sources, file, &node, &args.model.constants, color)?;
        let only = (!all).then_some(node.text.as_str());
        let lines = acheck::lines(sources, id, only, &mut built).map_err(complain(sources, color))?;
        let mut budget = Budget::unlimited().time(args.timeout).cancel(cancelled.clone());
        let mut out = String::new();
        let done = evaluate(args, &built, &lines, &mut budget, &mut out);
        print(&out)?;
        match done {
            Ok(passed) => code = worst(code, if passed { exit::HOLDS } else { exit::FAILS }),
            Err(why) => {
                eprintln!("{}: UNKNOWN: {why}", node.text);
                code = worst(code, exit::UNDECIDED);
            }
        }
    }
    Ok(code)
}

/// Did all tests pass?
fn evaluate(
    args: &Check,
    built: &Built,
    lines: &[Line],
    budget: &mut Budget<'_>,
    out: &mut String,
) -> Result<bool, Reason> {
    let hierarchy = &built.hierarchy;
    let symbolic = Symbolic::new(hierarchy, 2, memory(args)).map_err(reason)?;
    let mut sets = Specification::new(hierarchy, &symbolic, budget)?;
    let mut passed = true;
    for line in lines {
        match line {
            Line::Define(name, of, fixpoint, set) => sets.define(name, *of, *fixpoint, set).map_err(reason)?,
            Line::Show(names) => {
                for name in names {
                    if let Some(set) = sets.defined.get(name) {
                        *out += &format!("{name}\t{}\n", sets.cardinal(set));
                    }
                }
            }
            Line::Test(name, expected) => {
                let found = sets.defined.get(name).map(|set| sets.cardinal(set));
                let ok = found.as_ref() == Some(&(*expected).into());
                passed &= ok;
                let found = found.map_or_else(String::new, |n| n.to_string());
                let word = if ok { "passed" } else { "failed" };
                *out += &format!("test {name} = {expected}: {word} ({found})\n");
            }
        }
    }
    Ok(passed)
}
