//! What a formalism says about itself so that everything else can be written once: its traces as runs and back, its proofs as documents and
//! back, its parts, and its drawing. Text, JSON, dot, SVG, pages and charts are generic over [`Present`] and know no formalism.
//!
//! A value that implements it knows the model; it judges nothing. What [`Present::trace`] and [`Present::proof`] return fits the model (names,
//! numbers, types); whether it shows anything is for `trellis-check` to say.

use std::io;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::property::{Ending, Kind, Outcome};
use crate::reader::ReadError;
use crate::run::Run;
use crate::words::{printable, printable_value};

/// What a formalism says about itself.
pub trait Present {
    /// A run, as the interpreter replays it.
    type Trace;
    /// What shows that there is none.
    type Proof;

    /// A trace as a run: everything that is needed to replay it. It fails only for what has no text.
    fn run(&self, trace: &Self::Trace) -> io::Result<Run>;
    /// A run back as a trace.
    fn trace(&self, run: &Run) -> Result<Self::Trace, ReadError>;
    /// How a trace that answers a question of this kind ends, if that is worth saying.
    fn ending(&self, _kind: Kind, _outcome: Outcome, _trace: &Self::Trace) -> Option<Ending> {
        None
    }
    /// A trace as people see it: a program's in lines of its source, a statechart's in events and states.
    fn shown(&self, trace: &Self::Trace) -> Shown {
        // With words for the start, steps are shown by their labels.
        let look = Look { start: Some("start".into()), ..Look::default() };
        Shown { run: self.run(trace).unwrap_or_default(), look }
    }
    /// A trace as a run of parts that act, send and receive, for a message sequence chart; nothing if there is too much to draw.
    fn lanes(&self, trace: &Self::Trace) -> Option<Run> {
        Some(self.shown(trace).run)
    }
    /// A trace in a form of its formalism's own tools, by the name of a file; or why it cannot be written so.
    fn native(&self, _file: &str, _trace: &Self::Trace) -> Option<Result<String, String>> {
        None
    }
    /// The model as a picture.
    fn drawing(&self) -> Drawing {
        Drawing::default()
    }

    /// A proof as a document.
    fn body<'a>(&'a self, proof: &'a Self::Proof) -> io::Result<Body<'a>>;
    /// A document back as a proof.
    fn proof(&self, kind: &str, assumes: &[String], body: &RawValue) -> Result<Self::Proof, ReadError>;
    /// How large a proof is, for reports.
    fn size(&self, proof: &Self::Proof) -> Value;
}

/// Writes a value of JSON.
pub type WriteBody<'a> = Box<dyn Fn(&mut dyn io::Write) -> io::Result<()> + 'a>;

/// What a document says about a proof.
pub struct Body<'a> {
    /// What kind of proof it is.
    pub kind: ProofKind,
    /// What it takes for granted: `order` (the set holds what is below its elements, too), `symmetry` (and what they become when parts
    /// that cannot be told apart are exchanged).
    pub assumes: Vec<&'static str>,
    /// Writes it, as one value of JSON; row by row if it is large.
    pub write: WriteBody<'a>,
}

impl<'a> Body<'a> {
    /// A proof that takes nothing for granted, as a value of JSON.
    pub fn json(kind: ProofKind, value: impl serde::Serialize + 'a) -> Body<'a> {
        let write = move |out: &mut dyn io::Write| serde_json::to_writer(out, &value).map_err(io::Error::from);
        Body { kind, assumes: vec![], write: Box::new(write) }
    }
}

/// The kinds of proofs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProofKind {
    /// A set of states or zones that no step leaves.
    States,
    /// Formulas for locations.
    Invariant,
    /// Vectors that are never reached, or never left.
    Basis,
    /// A set of configurations, as tests of variables.
    Relation,
    /// A partition of each node's states, and tuples of blocks.
    Partition,
    /// An abstraction with rankings: nothing bad happens forever.
    Ranking,
}

impl ProofKind {
    /// `states`, `invariant`, `basis`, `relation`, `partition`, `ranking`.
    pub fn name(self) -> &'static str {
        match self {
            ProofKind::States => "states",
            ProofKind::Invariant => "invariant",
            ProofKind::Basis => "basis",
            ProofKind::Relation => "relation",
            ProofKind::Partition => "partition",
            ProofKind::Ranking => "ranking",
        }
    }
}

/// A run as people see it.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Shown {
    /// Its steps may be fewer than those of the trace, and its values texts.
    pub run: Run,
    /// How it is laid out.
    pub look: Look,
}

impl Shown {
    /// The same, without what a terminal would obey.
    pub(crate) fn printable(&self) -> Shown {
        let clean = serde_json::to_value(&self.run).map(printable_value).and_then(serde_json::from_value);
        let text = |t: &Option<String>| t.as_deref().map(printable);
        let look = Look { start: text(&self.look.start), end: text(&self.look.end), ..self.look.clone() };
        Shown { run: clean.unwrap_or_default(), look }
    }
}

/// How the runs of a formalism are laid out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Look {
    /// What is said of the start. Without it, the places of the parts are; and steps say how parts move, not only their label.
    pub start: Option<String>,
    /// A line for each step, in columns: where, what, and what changes.
    pub table: bool,
    /// How many steps of the trace each step stands for, if not one.
    pub counts: Vec<usize>,
    /// Lines of source are not numbered.
    pub unnumbered: bool,
    /// Values that are 0 are not worth showing at the start.
    pub sparse: bool,
    /// What changes is indented by so much more.
    pub indent: usize,
    /// What is said at the end, or before what comes again and again.
    pub end: Option<String>,
    /// What the last state is called in pictures, if the run ends there: `the error`.
    pub last: String,
}

/// A picture of a model: boxes, some within others, and arrows. A template of several processes is one frame, in which each box is lit by any of
/// them. What stands in a frame and has places (`at`, `nails`, `lines_at`) has them in the frame's own coordinates, as its author sees them: `x`
/// grows to the right, `y` down.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Drawing {
    /// The boxes; whatever is within another comes after it.
    pub nodes: Vec<DrawnNode>,
    /// The arrows.
    pub edges: Vec<DrawnEdge>,
}

/// A box of a picture.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct DrawnNode {
    /// What stands in it, line by line.
    pub lines: Vec<String>,
    /// The box around it, by number.
    pub within: Option<usize>,
    /// How it looks.
    pub shape: NodeShape,
    /// Where its author has put its middle, if anybody has. Its lines then stand beside it, not within.
    pub at: Option<(f64, f64)>,
    /// Where the upper left corner of each line is, if their author has put them somewhere; else empty.
    pub lines_at: Vec<(f64, f64)>,
    /// Its colour, if its author gave it one: `#rrggbb`, or a name that SVG knows.
    pub color: Option<String>,
    /// It is lit in a state in which one of these names has this value; `None` lights it for any value but `0` and `false`.
    pub lit: Vec<(String, Option<String>)>,
}

/// How a box looks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum NodeShape {
    /// A place to be in.
    #[default]
    Plain,
    /// A place to start in.
    Initial,
    /// A point, whose arrow leads to the place to start in.
    Start,
    /// One that is left at once.
    Committed,
    /// One in which no time passes.
    Urgent,
    /// One that should not be reached.
    Error,
    /// One where runs end.
    Final,
    /// A box for others.
    Frame,
    /// A transition of a net.
    Bar,
}

/// An arrow of a picture.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct DrawnEdge {
    /// From which box.
    pub from: usize,
    /// To which.
    pub to: usize,
    /// What stands at it, line by line.
    pub lines: Vec<String>,
    /// The points it goes through, in order, if its author has put any.
    pub nails: Vec<(f64, f64)>,
    /// Where the upper left corner of each line is, if their author has put them somewhere; else empty.
    pub lines_at: Vec<(f64, f64)>,
    /// Its colour, if its author gave it one.
    pub color: Option<String>,
}

/// The boxes that are lit in a state, each with the names that light it: the processes that are there.
pub fn lit<'d>(drawing: &'d Drawing, state: &crate::run::Values) -> Vec<(usize, Vec<&'d str>)> {
    let lights = |(name, wanted): &&(String, Option<String>)| {
        let value = state.get(name).map(crate::run::shown);
        // Of several active states each is lit.
        let several = state.get(name).and_then(Value::as_array);
        match wanted {
            Some(wanted) => {
                value.as_ref() == Some(wanted) || several.is_some_and(|all| all.iter().any(|v| v == wanted))
            }
            None => value.is_some_and(|v| v != "0" && v != "false"),
        }
    };
    let by = |n: &'d DrawnNode| n.lit.iter().filter(lights).map(|(name, _)| name.as_str()).collect::<Vec<_>>();
    let all = drawing.nodes.iter().map(by).enumerate();
    all.filter(|(_, by)| !by.is_empty()).collect()
}
