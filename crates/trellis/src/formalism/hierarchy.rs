//! Hierarchies of nodes (AltaRica): conditions that must not be reached, on relations; formulas of computation tree logic (`ctl`),
//! specifications of Acheck (`specification`), and each node abstracted on its own ([`super::tree`]).

mod ctl;
pub mod load;
mod solver;
mod specification;

use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::io;
use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::Arc;

use serde_json::Value;
use serde_json::value::RawValue;
use trellis_check::hierarchy::{self as checker, Rejection as Wrong};
use trellis_domain::relation::{self, Decisions, Made, Memory, Relation};
use trellis_engine::cover::cegar::{self, cegar, control_locations};
use trellis_engine::cover::reach::{Direction, reach};
use trellis_engine::cover::{Either, Question as Reachability, both, reason};
use trellis_expr::TermId;
use trellis_meter::Meter;
use trellis_model::evidence::Verdict;
use trellis_model::hierarchy::evidence::{Certificate, Trace};
use trellis_model::hierarchy::symbolic::Symbolic;
use trellis_model::hierarchy::tree::detach::detach;
use trellis_model::hierarchy::{Hierarchy, Levels};
use trellis_report::hierarchy::Named;
use trellis_report::json::Input;
use trellis_report::present::{Body, Drawing, Shown};
use trellis_report::run::Run;
use trellis_report::step::hierarchy::HierarchyStepper;
use trellis_report::step::tree::TreeStepper;
use trellis_report::{Kind, Outcome, Present, PropertyReport, ReadError, iterations};
use trellis_syntax::altarica::Built;
use trellis_syntax::diag::{Sources, render};

use super::formula::Subject;
use super::{Cases, Formalism, Language, Own, Profile, Request, Steps, boxed, tree};
use crate::binding::model_input;
use crate::context::Context;
use crate::files::write_file;
use crate::pipeline::steps;
use crate::settings::{self, Convert, Engine as E, Settings, Simulate};
use crate::task::{Presenter, Question, Rejection, Task, Unanswered, Unpresentable};
use crate::{Error, warnings};
use load::{complain, top};

/// Hierarchies of nodes.
pub struct Hierarchies;

/// The languages.
pub static LANGUAGES: [Language; 1] = [Language {
    name: "altarica",
    title: "AltaRica",
    extensions: &["alt", "altarica"],
    sniff: |text| text.contains("node ") && text.contains("edon"),
}];

/// Options of questions about configurations.
static PROFILE: Profile = Profile {
    who: "AltaRica",
    engines: &[E::Auto, E::Reach, E::Cegar, E::Hierarchy],
    options: &[
        ("node", &[]),
        ("spec", &[E::Auto]),
        ("redirect", &[E::Auto]),
        ("ctl", &[E::Auto]),
        ("backward", &[E::Auto, E::Reach, E::Cegar]),
        ("iterations", &[E::Cegar]),
        ("no_pruning", &[E::Cegar, E::Hierarchy]),
        ("neat", &[E::Hierarchy]),
        ("refine", &[E::Hierarchy]),
        ("no_symmetry", &[E::Hierarchy]),
    ],
};

impl Formalism for Hierarchies {
    fn languages(&self) -> &'static [Language] {
        &LANGUAGES
    }

    fn has_constants(&self, _: &Language) -> bool {
        true
    }

    fn profile(&self) -> &'static Profile {
        &PROFILE
    }

    fn ask(&self, request: &Request) -> Cases {
        let args = &request.args;
        if let Some(path) = &args.nodes.spec {
            return Ok(vec![Rc::new(specification::SpecificationTask::new(request, path)?)]);
        }
        if !args.nodes.ctl.is_empty() {
            return Ok(vec![Rc::new(ctl::CtlTask::new(request)?)]);
        }
        let (asked, left) = Nodes::read(request)?;
        if args.engine == E::Hierarchy {
            return Ok(vec![Rc::new(tree::TreeTask::of_nodes(args.clone(), asked, left)?)]);
        }
        let symbolic = asked.symbolic(args);
        let levels = asked.built.hierarchy.levels().ok();
        let by_solver = RefCell::default();
        Ok(vec![Rc::new(NodeTask { args: args.clone(), asked, left, symbolic, levels, by_solver })])
    }

    fn own_queries(&self, _: &Language) -> Own {
        Own::Reachability
    }

    fn subject(&self, request: &Request) -> Result<Subject, Error> {
        let mut sources = Sources::default();
        let node = request.args.nodes.node.as_deref();
        let (built, node) = top(&mut sources, &request.args.model, node, &request.args.context)?;
        Ok(Subject::Nodes(Box::new(built), node))
    }

    fn stepper(&self, args: &Simulate, _: &'static Language, trace: Option<&str>, context: &Context) -> Steps {
        let (built, _) = top(&mut Sources::default(), &args.model, args.node.as_deref(), context)?;
        if trace.is_some_and(|t| t.contains("\"trellis-tree-trace/")) {
            let detached = detach(&built.hierarchy, tree::MAX_LISTED).map_err(|e| Error::Input(e.to_string()))?;
            return boxed(TreeStepper::new(Cow::Owned(detached.tree)));
        }
        boxed(HierarchyStepper::new(Cow::Owned(built.hierarchy)))
    }

    fn plain_options(&self) -> &'static [&'static str] {
        &["node"]
    }

    fn drawing(&self, args: &Convert, _: &'static Language, color: bool) -> Result<Drawing, Error> {
        let context = Context { color, ..Context::default() };
        let hierarchy = &top(&mut Sources::default(), &args.model, None, &context)?.0.hierarchy;
        let levels = &hierarchy.levels().map_err(|e| Error::Input(e.to_string()))?;
        Ok(Named { hierarchy, levels }.drawing())
    }
}

/// A condition that must never hold, or the negation of one that must always hold; or one that some configuration should satisfy.
pub struct Condition {
    /// As it was asked.
    pub name: String,
    pub bad: TermId,
    pub negated: bool,
    pub kind: Kind,
}

/// A hierarchy below a node, and the conditions that it is asked.
pub struct Nodes {
    pub built: Built,
    pub node: String,
    pub inputs: Vec<Input>,
    pub conditions: Vec<Condition>,
}

/// Questions that make no sense, and why, beside others that do.
pub type Left = Vec<(String, String)>;

impl Nodes {
    /// Reads the model and the conditions.
    fn read(request: &Request) -> Result<(Nodes, Left), Error> {
        let args = &request.args;
        let asked = questions(&args.properties)?;
        let mut sources = Sources::default();
        let (mut built, node) = top(&mut sources, &args.model, args.nodes.node.as_deref(), &args.context)?;
        let (mut conditions, mut refused) = (vec![], vec![]);
        for (name, text, kind) in asked {
            let id = sources.add("the property", text.clone());
            match built.query(&sources, id) {
                Ok(bad) => {
                    let negated = text == negation(&name);
                    conditions.push(Condition { name, bad, negated, kind });
                }
                Err(errors) => refused.push((name, errors)),
            }
        }
        let left = set_apart(&sources, refused, conditions.len(), &args.context)?;
        let inputs = vec![model_input(&args.model.model, &sources)];
        Ok((Nodes { built, node, inputs, conditions }, left))
    }

    /// The hierarchy on relations. Where nothing is initial, everything is SAFE; that is hardly what was meant.
    fn symbolic(&self, args: &Settings) -> Made<Symbolic> {
        let hierarchy = &self.built.hierarchy;
        let symbolic = match args.engine {
            E::Auto | E::Reach if !args.nodes.backward => {
                let meter = args.meter();
                Symbolic::tried(hierarchy, 2, memory(args), &|| meter.go_on().is_ok())?
            }
            _ => Symbolic::new(hierarchy, 2, memory(args))?,
        };
        warn_of_nothing(args, symbolic.initial(hierarchy).is_ok_and(|states| states.is_empty()));
        Ok(symbolic)
    }

    /// As the pipeline has them.
    pub fn questions(&self) -> Vec<Question> {
        let question = |c: &Condition| {
            let warnings = warnings::of_nodes(&self.built.hierarchy, c.bad, c.negated, &c.name);
            Question::plain(&c.name, c.kind, warnings)
        };
        self.conditions.iter().map(question).collect()
    }
}

/// As the pipeline has questions that make no sense.
pub fn left_open(left: &Left) -> Vec<(String, Unanswered)> {
    left.iter().map(|(name, why)| (name.clone(), Unanswered::Refused(why.clone()))).collect()
}

/// Questions that make no sense: shown, if there are others; otherwise that is all there is to say.
fn set_apart(
    sources: &Sources,
    refused: Vec<(String, Vec<trellis_syntax::diag::Diagnostic>)>,
    others: usize,
    context: &Context,
) -> Result<Left, Error> {
    if others == 0 && !refused.is_empty() {
        return Err(complain(sources, context.color)(refused.into_iter().flat_map(|(_, errors)| errors).collect()));
    }
    let why = |(name, errors): (String, Vec<_>)| {
        context.note(render(&errors, sources, context.color));
        let first = errors.into_iter().next().map_or_else(|| "it makes no sense".into(), |e| e.message);
        (name, first)
    };
    Ok(refused.into_iter().map(why).collect())
}

/// Says that nothing is initial.
pub fn warn_of_nothing(args: &Settings, nothing: bool) {
    if nothing {
        let why = "`init` and the assertions contradict each other";
        args.context.note(format_args!("warning: no configuration is initial, because {why}\n"));
    }
}

fn memory(args: &Settings) -> Memory {
    args.memory.map_or_else(Memory::default, Memory::within)
}

fn negation(condition: &str) -> String {
    format!("not ({condition})")
}

/// What is asked, and the condition that is bad.
fn questions(p: &settings::Properties) -> Result<Vec<(String, String, Kind)>, Error> {
    if !p.labels.is_empty() || p.queries.is_some() {
        return Err(Error::Usage("--labels, --queries: not for AltaRica; ask with -p or --error".into()));
    }
    let property = |e: &String| match e.strip_prefix("E<>") {
        Some(some) => (e.clone(), some.trim().to_string(), Kind::Possibly),
        None => (e.clone(), negation(e), Kind::Always),
    };
    let never = p.errors.iter().map(|e| (format!("never {e}"), e.clone(), Kind::Always));
    let all: Vec<(String, String, Kind)> = p.properties.iter().map(property).chain(never).collect();
    if all.is_empty() {
        let advice = "--error EXPR must never hold, -p EXPR must always hold, --ctl and --ltl take formulas, --spec FILE is Acheck's";
        return Err(Error::Nothing("altarica", advice.into()));
    }
    Ok(all)
}

/// The verdict with its proof as it is kept.
fn kept(verdict: Verdict<Trace, Certificate>) -> Verdict<Trace, NodeProof> {
    match verdict {
        Verdict::Safe(c) => Verdict::Safe(NodeProof::new(c.states)),
        Verdict::Unsafe(t) => Verdict::Unsafe(t),
        Verdict::Unknown(why) => Verdict::Unknown(why),
    }
}

/// A hierarchy of nodes on relations.
struct NodeTask {
    args: Arc<Settings>,
    asked: Nodes,
    left: Left,
    symbolic: Made<Symbolic>,
    levels: Option<Levels>,
    /// Proofs of questions that relations cannot answer.
    by_solver: RefCell<HashMap<usize, solver::Proof>>,
}

impl NodeTask {
    fn hierarchy(&self) -> &Hierarchy {
        &self.asked.built.hierarchy
    }
}

/// A report about a hierarchy of nodes.
type NodeReport = PropertyReport<Trace, NodeProof>;

/// A set of states that no event leaves; as tests of variables only when somebody wants to see it.
pub struct NodeProof {
    states: Relation,
    tests: OnceCell<Decisions>,
}

impl NodeProof {
    fn new(states: Relation) -> NodeProof {
        NodeProof { states, tests: OnceCell::new() }
    }
}

/// A hierarchy with its flat events, and with relations if they can be made.
struct NodeView<'a> {
    named: Named<'a>,
    symbolic: Option<&'a Symbolic>,
}

impl NodeView<'_> {
    fn symbolic(&self) -> Result<&Symbolic, &'static str> {
        self.symbolic.ok_or("the model has variables that relations cannot have")
    }
}

impl Present for NodeView<'_> {
    type Trace = Trace;
    type Proof = NodeProof;

    fn run(&self, trace: &Trace) -> io::Result<Run> {
        self.named.run(trace)
    }

    fn trace(&self, run: &Run) -> Result<Trace, ReadError> {
        self.named.trace(run)
    }

    fn shown(&self, trace: &Trace) -> Shown {
        self.named.shown(trace)
    }

    fn lanes(&self, trace: &Trace) -> Option<Run> {
        self.named.lanes(trace)
    }

    fn drawing(&self) -> Drawing {
        self.named.drawing()
    }

    fn body<'a>(&'a self, proof: &'a NodeProof) -> io::Result<Body<'a>> {
        let symbolic = self.symbolic().map_err(io::Error::other)?;
        self.named.body(proof.tests.get_or_init(|| symbolic.decisions(&proof.states)))
    }

    fn proof(&self, kind: &str, assumes: &[String], body: &RawValue) -> Result<NodeProof, ReadError> {
        let wrong = |why: String| ReadError::Syntax(why);
        let tests = self.named.proof(kind, assumes, body)?;
        let symbolic = self.symbolic().map_err(|e| wrong(e.into()))?;
        let states = symbolic.decided(&tests).map_err(|e| wrong(e.to_string()))?;
        Ok(NodeProof::new(states.ok_or_else(|| wrong("its tests make no sense".into()))?))
    }

    fn size(&self, proof: &NodeProof) -> Value {
        match self.symbolic {
            Some(m) => self.named.size(proof.tests.get_or_init(|| m.decisions(&proof.states))),
            None => Value::Null,
        }
    }
}

/// Evidence that cannot be written or read without the flat events of the model.
const NO_EVENTS: &str = "the events of the model cannot be listed";

impl Task for NodeTask {
    type Trace = Trace;
    type Proof = NodeProof;

    fn args(&self) -> &Settings {
        &self.args
    }

    fn language(&self) -> &'static str {
        "altarica"
    }

    fn inputs(&self) -> Vec<Input> {
        self.asked.inputs.clone()
    }

    fn meaning(&self) -> Vec<(String, String)> {
        vec![("node".into(), self.asked.node.clone())]
    }

    fn questions(&self) -> Vec<Question> {
        self.asked.questions()
    }

    fn unanswered(&self) -> Vec<(String, Unanswered)> {
        left_open(&self.left)
    }

    fn solve(&self, n: usize, meter: &mut Meter) -> Result<NodeReport, Error> {
        let (args, Condition { name, bad, kind, .. }) = (&self.args, &self.asked.conditions[n]);
        let about = |verdict| NodeReport::about(&self.name(), "altarica", name, *kind, verdict);
        let symbolic = self.symbolic.as_ref().map_err(Clone::clone);
        match symbolic.and_then(|m| asked_of(self.hierarchy(), m, *bad)) {
            Ok(question) => {
                let mut statistics = vec![];
                let (verdict, engine) = answer(args, &question, meter, &mut statistics)?;
                let mut report = about(kept(verdict));
                report.engine = engine_line(args, engine);
                report.statistics = statistics;
                Ok(report)
            }
            Err(e) if args.engine == E::Reach || args.nodes.backward || e == relation::Error::Memory => {
                Ok(about(Verdict::Unknown(reason(e))))
            }
            Err(e) => {
                let solver::Answered { verdict, outcome, engine, proof } =
                    solver::answer(self.hierarchy(), *bad, reason(e), meter);
                let mut report = about(kept(verdict));
                report.engine = engine;
                if let Some(outcome) = outcome {
                    (report.outcome, report.reason) = (outcome, None);
                }
                self.by_solver.borrow_mut().extend(proof.map(|p| (n, p)));
                Ok(report)
            }
        }
    }

    fn check(&self, n: usize, report: &NodeReport, meter: &Meter) -> Result<Vec<String>, Rejection> {
        if let (Outcome::Safe, Some(proof)) = (report.outcome, self.by_solver.borrow().get(&n)) {
            proof.check(self.hierarchy(), meter)?;
            return Ok(vec!["invariant checked by a solver".into()]);
        }
        let trace = report.trace.iter().map(|t| self.replay(n, t, meter));
        trace.chain(report.certificate.iter().map(|p| self.certify(n, p, meter))).collect()
    }

    fn replay(&self, n: usize, trace: &Trace, _: &Meter) -> Result<String, Rejection> {
        let bad = self.asked.conditions[n].bad;
        checker::replay(self.hierarchy(), self.symbolic.as_ref().ok(), bad, trace).map_err(|e| e.to_string())?;
        Ok(format!("run of {} replayed", steps(trace.events.len())))
    }

    fn certify(&self, n: usize, proof: &NodeProof, _: &Meter) -> Result<String, Rejection> {
        let (bad, open) = (self.asked.conditions[n].bad, |e: relation::Error| Rejection::Open(e.to_string()));
        let symbolic = self.symbolic.as_ref().map_err(|e| open(e.clone()))?;
        let question = asked_of(self.hierarchy(), symbolic, bad).map_err(open)?;
        proven(&question, bad, &Certificate { states: proof.states.clone() }).map_err(|e| e.to_string())?;
        Ok("set of states checked: no event leaves it".into())
    }

    fn present(&self, _: usize, then: &mut dyn FnMut(&Presenter<'_, Self>)) {
        match (&self.levels, &self.symbolic) {
            (Some(levels), symbolic) => {
                let named = Named { hierarchy: self.hierarchy(), levels };
                then(&NodeView { named, symbolic: symbolic.as_ref().ok() });
            }
            (None, _) => then(&Unpresentable(NO_EVENTS, PhantomData)),
        }
    }
}

/// The question whether a condition can be reached.
fn asked_of<'q>(hierarchy: &'q Hierarchy, symbolic: &'q Symbolic, bad: TermId) -> Made<Reachability<'q>> {
    let (initial, bad) = (symbolic.initial(hierarchy)?, symbolic.satisfying(hierarchy, bad)?);
    Ok(Reachability { hierarchy, symbolic, initial, bad })
}

/// Checks a proof: by a step on relations, and by plain steps.
fn proven(question: &Reachability<'_>, bad: TermId, c: &Certificate) -> Result<(), Wrong> {
    checker::certify(&question.initial, &question.bad, question.symbolic, c)?;
    checker::compare(question.hierarchy, question.symbolic, bad, c).map(|_| ())
}

fn engine_line(args: &Settings, engine: E) -> String {
    let way = if args.nodes.backward { "backward" } else { "forward" };
    match engine {
        E::Cegar if args.nodes.no_pruning => format!("refinement of a partition, {way} (Cegar)"),
        E::Cegar => format!("refinement of a partition with pruning, {way} (PCegar)"),
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
    args: &Settings,
    question: &Reachability<'_>,
    budget: &mut Meter,
    statistics: &mut Vec<(String, u64)>,
) -> Result<(Verdict<Trace, Certificate>, E), Error> {
    let direction = if args.nodes.backward { Direction::Backward } else { Direction::Forward };
    let options = cegar::Options {
        pruning: !args.nodes.no_pruning,
        analysis: direction,
        limit: args.states,
        ..Default::default()
    };
    let found = match args.engine {
        E::Cegar => match control_locations(question) {
            Ok(predicates) => Either::Cegar(cegar(question, &predicates, &options, budget)),
            Err(trouble) => return Ok((Verdict::Unknown(reason(trouble)), E::Cegar)),
        },
        E::Reach => Either::Reach(reach(question, direction, budget)),
        _ => both(question, direction, budget),
    };
    match found {
        Either::Reach(found) => {
            let small = |n: &trellis_domain::relation::Natural| u64::try_from(n).unwrap_or(u64::MAX);
            statistics.extend((found.rounds > 0).then(|| ("rounds".into(), found.rounds)));
            statistics.push(("nodes".into(), found.nodes as u64));
            statistics.extend(found.configurations.as_ref().map(|n| ("configurations".into(), small(n))));
            Ok((found.verdict, E::Reach))
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
            Ok((found.verdict, E::Cegar))
        }
    }
}
