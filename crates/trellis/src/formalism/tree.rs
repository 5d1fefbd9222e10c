//! Trees of transition systems, each node abstracted where it stands: hierarchical transition systems in JSON, and, with
//! `--engine hierarchy`, AltaRica's nodes and networks of automata taken apart.

use std::borrow::Cow;
use std::io;
use std::marker::PhantomData;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use serde_json::Value;
use serde_json::value::RawValue;
use trellis_check::tree as checker;
use trellis_engine::hierarchy::cover::Neat;
use trellis_engine::hierarchy::predicates::Rows;
use trellis_engine::hierarchy::{Found, Options, Split, cegar_in};
use trellis_meter::Meter;
use trellis_model::evidence::{Reason, Verdict};
use trellis_model::hierarchy::tree::detach::{Detached, detach};
use trellis_model::hierarchy::tree::evidence::{Certificate, Trace as TreeTrace};
use trellis_model::hierarchy::tree::{Condition, Tree};
use trellis_model::network::parts::{Parts, parts};
use trellis_model::network::{Network, Query, QueryKind, Trace as NetworkTrace};
use trellis_report::json::Input;
use trellis_report::present::{Body, Drawing, Shown};
use trellis_report::run::Run;
use trellis_report::step::tree::TreeStepper;
use trellis_report::tree::{TreeFile, Words, read_tree};
use trellis_report::{Ending, Kind, Outcome, Present, PropertyReport, ReadError};

use super::formula::Subject;
use super::hierarchy::{self, Left, Nodes, left_open};
use super::network::load::Loaded;
use super::{Cases, Formalism, Language, Profile, Request, Steps, boxed, by_name_only};
use crate::binding::input;
use crate::context::Context;
use crate::pipeline::steps;
use crate::settings::{self, Convert, Engine as E, Settings, Simulate};
use crate::task::{Presenter, Question, Rejection, Task, Unanswered, Unpresentable};
use crate::{Error, warnings};

/// Hierarchical transition systems.
pub struct Trees;

/// The languages.
static LANGUAGES: [Language; 1] = [Language {
    name: "hierarchy",
    title: "hierarchical transition systems",
    extensions: &["hts.json"],
    sniff: by_name_only,
}];

/// Options of questions about states.
static PROFILE: Profile = Profile {
    who: "hierarchical transition systems",
    engines: &[E::Auto, E::Hierarchy],
    options: &[("no_pruning", &[]), ("neat", &[]), ("refine", &[]), ("no_symmetry", &[])],
};

/// How many configurations or transitions one node may have.
pub const MAX_LISTED: usize = 1 << 20;

impl Formalism for Trees {
    fn languages(&self) -> &'static [Language] {
        &LANGUAGES
    }

    fn profile(&self) -> &'static Profile {
        &PROFILE
    }

    fn ask(&self, request: &Request) -> Cases {
        let (args, p) = (&request.args, &request.args.properties);
        let asks = !p.properties.is_empty() || !p.errors.is_empty() || !p.labels.is_empty() || p.queries.is_some();
        if asks {
            return Err(Error::Usage(
                "a hierarchical transition system is asked what its file says under `never`, and has no other options"
                    .into(),
            ));
        }
        let (TreeFile { tree, bad, question }, input) = read(&args.model.model)?;
        if matches!(&bad, Condition::Any(cases) if cases.is_empty()) {
            let advice = "the file says under `never` what must never be: [{\"path.of.node\": [\"state\"]}]";
            return Err(Error::Nothing("hierarchy", advice.into()));
        }
        Ok(vec![Rc::new(TreeTask {
            args: args.clone(),
            inputs: vec![input],
            source: Source::File { tree, bad, question },
        })])
    }

    fn quoted_conditions(&self, _: &Language) -> bool {
        true
    }

    fn subject(&self, request: &Request) -> Result<Subject, Error> {
        Ok(Subject::Tree(read(&request.args.model.model)?.0.tree))
    }

    fn stepper(&self, args: &Simulate, _: &'static Language, _: Option<&str>, _: &Context) -> Steps {
        boxed(TreeStepper::new(Cow::Owned(read(&args.model.model)?.0.tree)))
    }

    fn drawing(&self, args: &Convert, _: &'static Language, _: bool) -> Result<Drawing, Error> {
        Ok(read(&args.model.model)?.0.tree.drawing())
    }
}

fn read(path: &Path) -> Result<(TreeFile, Input), Error> {
    let broken = |why: &dyn std::fmt::Display| Error::Input(format!("error: {}: {why}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|e| broken(&format!("cannot be read: {e}")))?;
    let file = read_tree(&text).map_err(|e| broken(&e))?;
    Ok((file, input(path, text.as_bytes())))
}

/// Where a tree comes from.
enum Source {
    File {
        tree: Tree,
        bad: Condition,
        question: String,
    },
    /// The nodes may have too many configurations to be listed.
    Nodes {
        asked: Box<Nodes>,
        left: Left,
        detached: Result<Box<Detached>, String>,
    },
    /// Runs are the network's own, proofs are about its tree.
    Network {
        loaded: Box<Loaded>,
        parts: Result<Box<Parts>, String>,
    },
}

/// A tree, and what must never be.
pub struct TreeTask {
    args: Arc<Settings>,
    inputs: Vec<Input>,
    source: Source,
}

/// A run, in the words of what the tree comes from.
#[derive(Clone)]
pub enum Trace {
    Tree(TreeTrace),
    Network(NetworkTrace),
}

type Report = PropertyReport<Trace, Certificate>;

fn advice(why: &dyn std::fmt::Display) -> String {
    format!("{why} (--engine reach and --engine cegar)")
}

impl TreeTask {
    /// AltaRica's nodes, one by one.
    pub fn of_nodes(args: Arc<Settings>, asked: Nodes, left: Left) -> Result<TreeTask, Error> {
        let hierarchy = &asked.built.hierarchy;
        let detached = detach(hierarchy, MAX_LISTED).map(Box::new).map_err(|why| advice(&why));
        if let Ok(detached) = &detached {
            if !args.no_check {
                checker::same_vectors(hierarchy, detached).map_err(|why| Error::Internal(why.to_string()))?;
            }
            hierarchy::warn_of_nothing(&args, detached.tree.nodes().iter().any(|n| n.behaviour.initial.is_empty()));
            let merged = detached.units.iter().filter(|u| u.merged);
            let merged: Vec<String> = merged.map(|u| hierarchy.component(u.component).to_string()).collect();
            if !merged.is_empty() && !args.quiet && !args.json {
                args.context.note(format_args!(
                    "note: taken as one with all that is below, because they speak of it: {}\n",
                    merged.join(", ")
                ));
            }
        }
        let inputs = asked.inputs.clone();
        Ok(TreeTask { args, inputs, source: Source::Nodes { asked: Box::new(asked), left, detached } })
    }

    /// A network, taken apart.
    pub fn of_network(args: Arc<Settings>, loaded: Loaded) -> TreeTask {
        let parts = parts(&loaded.network, MAX_LISTED).map(Box::new).map_err(|e| e.to_string());
        let inputs = loaded.inputs.clone();
        TreeTask { args, inputs, source: Source::Network { loaded: Box::new(loaded), parts } }
    }

    /// The tree.
    fn words(&self) -> Result<Words<'_>, String> {
        match &self.source {
            Source::File { tree, .. } => Ok(Words::States(tree)),
            Source::Nodes { asked, detached, .. } => {
                Ok(Words::Variables(&asked.built.hierarchy, detached.as_ref().map_err(String::clone)?))
            }
            Source::Network { parts, .. } => Ok(Words::States(&parts.as_ref().map_err(String::clone)?.tree)),
        }
    }

    /// What is bad.
    fn bad(&self, n: usize) -> Result<Condition, String> {
        match &self.source {
            Source::File { bad, .. } => Ok(bad.clone()),
            Source::Nodes { asked, detached, .. } => {
                let detached = detached.as_ref().map_err(String::clone)?;
                let (hierarchy, bad) = (&asked.built.hierarchy, asked.conditions[n].bad);
                if hierarchy.deadlock_in(bad).is_some() {
                    return Err(advice(&"`deadlock` is about all nodes at once"));
                }
                detached.condition(hierarchy, bad).map_err(|why| advice(&why))
            }
            Source::Network { loaded, parts } => {
                never(&loaded.network, parts.as_ref().map_err(String::clone)?, &loaded.queries[n])
            }
        }
    }

    /// Values of variables in the states of each node, where there are variables.
    fn rows(&self) -> Vec<Rows> {
        match &self.source {
            Source::Nodes { detached: Ok(d), .. } => d.units.iter().map(|u| u.configurations.to_vec()).collect(),
            Source::Network { parts: Ok(parts), .. } => parts.rows(),
            _ => vec![],
        }
    }

    /// A run in the words of its source. It must be one of the tree first.
    fn trace(&self, n: usize, t: TreeTrace) -> Result<Trace, String> {
        let Source::Network { loaded, parts: Ok(parts) } = &self.source else { return Ok(Trace::Tree(t)) };
        checker::replay(&parts.tree, &self.bad(n)?, &t).map_err(|e| e.to_string())?;
        let own = parts.trace(&loaded.network, &t);
        own.map(Trace::Network).ok_or_else(|| "a step is none of the network's".into())
    }
}

/// A tree in its words; a network's runs are its own.
struct TreeView<'a> {
    words: Words<'a>,
    network: Option<&'a Network>,
}

/// What is said of a run that cannot be.
const NO_NETWORK: &str = "a run of a network, and this is none";

impl Present for TreeView<'_> {
    type Trace = Trace;
    type Proof = Certificate;

    fn run(&self, trace: &Trace) -> io::Result<Run> {
        match (trace, self.network) {
            (Trace::Tree(t), _) => self.words.run(t),
            (Trace::Network(t), Some(net)) => Present::run(net, t),
            (Trace::Network(_), None) => Err(io::Error::other(NO_NETWORK)),
        }
    }

    fn trace(&self, run: &Run) -> Result<Trace, ReadError> {
        match self.network {
            Some(net) => net.trace(run).map(Trace::Network),
            None => self.words.trace(run).map(Trace::Tree),
        }
    }

    fn ending(&self, kind: Kind, outcome: Outcome, trace: &Trace) -> Option<Ending> {
        match (trace, self.network) {
            (Trace::Network(t), Some(net)) => net.ending(kind, outcome, t),
            _ => None,
        }
    }

    fn shown(&self, trace: &Trace) -> Shown {
        match (trace, self.network) {
            (Trace::Tree(t), _) => self.words.shown(t),
            (Trace::Network(t), Some(net)) => net.shown(t),
            (Trace::Network(_), None) => Shown::default(),
        }
    }

    fn lanes(&self, trace: &Trace) -> Option<Run> {
        match (trace, self.network) {
            (Trace::Tree(t), _) => self.words.lanes(t),
            (Trace::Network(t), net) => net?.lanes(t),
        }
    }

    fn drawing(&self) -> Drawing {
        self.network.map_or_else(|| self.words.drawing(), Present::drawing)
    }

    fn body<'a>(&'a self, proof: &'a Certificate) -> io::Result<Body<'a>> {
        self.words.body(proof)
    }

    fn proof(&self, kind: &str, assumes: &[String], body: &RawValue) -> Result<Certificate, ReadError> {
        self.words.proof(kind, assumes, body)
    }

    fn size(&self, proof: &Certificate) -> Value {
        self.words.size(proof)
    }
}

impl Task for TreeTask {
    type Trace = Trace;
    type Proof = Certificate;

    fn args(&self) -> &Settings {
        &self.args
    }

    fn language(&self) -> &'static str {
        match &self.source {
            Source::File { .. } => "hierarchy",
            Source::Nodes { .. } => "altarica",
            Source::Network { loaded, .. } => loaded.language,
        }
    }

    fn inputs(&self) -> Vec<Input> {
        self.inputs.clone()
    }

    fn meaning(&self) -> Vec<(String, String)> {
        match &self.source {
            Source::Nodes { asked, .. } => vec![("node".into(), asked.node.clone())],
            _ => vec![],
        }
    }

    fn questions(&self) -> Vec<Question> {
        match &self.source {
            Source::File { bad, question, .. } => {
                vec![Question::plain(question, Kind::Always, warnings::of_tree(bad, question))]
            }
            // Of merged nodes only what can be reached is listed, so the terms are asked and not the tree.
            Source::Nodes { asked, .. } => asked.questions(),
            Source::Network { loaded, .. } => loaded.questions(),
        }
    }

    fn unanswered(&self) -> Vec<(String, Unanswered)> {
        match &self.source {
            Source::File { .. } => vec![],
            Source::Nodes { left, .. } => left_open(left),
            Source::Network { loaded, .. } => loaded.left_open(),
        }
    }

    fn solve(&self, n: usize, meter: &mut Meter) -> Result<Report, Error> {
        let question = self.question(n);
        let about = |verdict| Report::about(&self.name(), self.language(), &question.text, question.kind, verdict);
        let (tree, bad) = match self.words().and_then(|words| Ok((words, self.bad(n)?))) {
            Ok(found) => found,
            Err(why) => return Ok(about(Verdict::Unknown(Reason::Unsupported(why)))),
        };
        let tree = tree.tree();
        let found = cegar_in(tree, &bad, &self.rows(), &options(&self.args), meter);
        let counted = statistics(&found, tree.nodes().len());
        let broken = |why| Error::Internal(format!("the run for `{}` did not pass its check: {why}", question.text));
        let mut report = about(match found.verdict {
            Verdict::Safe(proof) => Verdict::Safe(proof),
            Verdict::Unsafe(t) => Verdict::Unsafe(self.trace(n, t).map_err(broken)?),
            Verdict::Unknown(why) => Verdict::Unknown(why),
        });
        report.engine = "hierarchical CEGAR, each node abstracted on its own".into();
        report.statistics = counted;
        Ok(report)
    }

    fn replay(&self, n: usize, trace: &Trace, _: &Meter) -> Result<String, Rejection> {
        let count = match (trace, &self.source) {
            (Trace::Network(t), Source::Network { loaded, .. }) => {
                trellis_check::replay(&loaded.network, &loaded.queries[n], t).map_err(|e| e.to_string())?;
                t.steps.len()
            }
            (Trace::Tree(t), Source::Nodes { asked, detached: Ok(detached), .. }) => {
                let bad = (asked.conditions[n].bad, &self.bad(n)?);
                checker::replay_nodes(&asked.built.hierarchy, detached, bad, t).map_err(|e| e.to_string())?;
                t.steps.len()
            }
            (Trace::Tree(t), _) => {
                checker::replay(self.words()?.tree(), &self.bad(n)?, t).map_err(|e| e.to_string())?;
                t.steps.len()
            }
            (Trace::Network(_), _) => return Err(Rejection::Wrong("a run of a network, and this is none".into())),
        };
        Ok(format!("run of {} replayed", steps(count)))
    }

    fn certify(&self, n: usize, proof: &Certificate, _: &Meter) -> Result<String, Rejection> {
        checker::certify(self.words()?.tree(), &self.bad(n)?, proof).map_err(|e| e.to_string())?;
        Ok(format!("{} checked, node by node: no step leaves them", abstract_states(proof)))
    }

    fn present(&self, _: usize, then: &mut dyn FnMut(&Presenter<'_, Self>)) {
        match (self.words(), &self.source) {
            (Ok(words), Source::Network { loaded, .. }) => then(&TreeView { words, network: Some(&loaded.network) }),
            (Ok(words), _) => then(&TreeView { words, network: None }),
            (Err(_), _) => then(&Unpresentable("the model cannot be taken apart", PhantomData)),
        }
    }
}

fn options(args: &Settings) -> Options {
    let neat = if args.nodes.neat { Neat::All } else { Neat::Watched };
    let split = match args.nodes.refine {
        None | Some(settings::Refine::Along) => Split::Along,
        Some(settings::Refine::Failure) => Split::Failure,
        Some(settings::Refine::Interpolants) => Split::Interpolants,
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

fn abstract_states(c: &Certificate) -> String {
    let some = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    match c.traps.len() {
        0 => some(c.tuples.len(), "abstract state"),
        n => format!("{} and {}", some(c.tuples.len(), "abstract state"), some(n, "trap region")),
    }
}

/// What must never hold, if that is what a query asks.
fn never(net: &Network, parts: &Parts, query: &Query) -> Result<Condition, String> {
    let unsupported = |what: &dyn std::fmt::Display| what.to_string();
    match &query.kind {
        QueryKind::Always(p) => {
            let holds = parts.condition(net, p).map_err(|e| unsupported(&e))?;
            Ok(Condition::Not(Box::new(holds)))
        }
        QueryKind::Possibly(p) => parts.condition(net, p).map_err(|e| unsupported(&e)),
        _ => Err(unsupported(&"--engine hierarchy answers A[] and E<>")),
    }
}
