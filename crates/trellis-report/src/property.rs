//! What is reported about one property: plain data that the command line fills in.

use std::fmt;

use trellis_model::evidence::{Reason, Verdict};
use trellis_model::network::{Certificate, ModelError, Query, QueryKind, Trace};

use crate::binding::Binding;

/// The answer to one property, how it was found, and what it rests on. What a trace and a certificate are depends on what the
/// property is about: networks, unless it says otherwise ([`crate::ProgramReport`]).
#[derive(Debug, Clone)]
pub struct PropertyReport<T = Trace, C = Certificate> {
    /// The model's file name.
    pub model: String,
    /// The language it is written in: `uppaal`.
    pub language: String,
    /// The query as the user wrote it.
    pub query: String,
    /// What is asked.
    pub kind: Kind,
    /// What was found.
    pub outcome: Outcome,
    /// The run that shows it: a counterexample, a witness, the way to an error.
    pub trace: Option<T>,
    /// For `sup` and `inf`: a run that attains the bound, or shows that there is none.
    pub witness: Option<T>,
    /// The inductive set that shows it.
    pub certificate: Option<C>,
    /// What the independent checker did with the evidence: `trace replayed: 7 steps`.
    pub checked: Option<String>,
    /// Why the evidence was found and not checked, if it was not: `not re-checked: time limit reached`. Then it is no verdict to rely on.
    pub unchecked: Option<String>,
    /// What the answer rests on and nobody has checked: `monotone transitions (000 Def. 2)`.
    pub assumes: Vec<String>,
    /// What the reader should know of the question itself: that it is true whatever the model does, say.
    pub warnings: Vec<String>,
    /// Why there is no answer.
    pub reason: Option<Why>,
    /// For an inconclusive join: where the joins lead.
    pub inconclusive: Option<Inconclusive<T>>,
    /// For `sup` and `inf`: the bound; nothing if no state qualifies.
    pub bound: Option<i64>,
    /// For `sup` and `inf` of a clock: the bound; nothing if no state qualifies.
    pub clock_bound: Option<ClockLimit>,
    /// How it was searched: `reach, join update, breadth first`.
    pub engine: String,
    /// What was counted, in the order to show it: `added`, `stored`, …
    pub statistics: Vec<(String, u64)>,
    /// How long it took.
    pub seconds: f64,
    /// What its evidence is bound to; empty until somebody says.
    pub binding: Binding,
}

impl PropertyReport {
    /// A report with the outcome and evidence that a verdict means for a query; everything else is empty. The verdict is
    /// `Safe` if what was looked for (a violation of `A…`, a witness of `E…`) does not exist.
    pub fn new(model: &str, language: &str, query: &Query, verdict: Verdict<Trace, Certificate>) -> PropertyReport {
        PropertyReport::about(model, language, &query.text, Kind::of(&query.kind), verdict)
    }

    /// A report that the model does something undefined, and how it gets there.
    pub fn broken(
        model: &str,
        language: &str,
        query: &Query,
        trace: Option<Trace>,
        error: &ModelError,
    ) -> PropertyReport {
        let reason = Some(Why { kind: "model-error".into(), text: error.to_string() });
        let empty = PropertyReport::empty(model, language, &query.text, Kind::of(&query.kind));
        PropertyReport { outcome: Outcome::Error, trace, reason, ..empty }
    }
}

impl<T, C> PropertyReport<T, C> {
    /// A report about a question of this kind, in these words: the outcome and the evidence of a verdict, and nothing else.
    pub fn about(model: &str, language: &str, query: &str, kind: Kind, verdict: Verdict<T, C>) -> PropertyReport<T, C> {
        let mut report = PropertyReport::empty(model, language, query, kind);
        let found = match verdict {
            Verdict::Safe(certificate) => {
                report.certificate = Some(certificate);
                Some(false)
            }
            Verdict::Unsafe(trace) => {
                report.trace = Some(trace);
                Some(true)
            }
            Verdict::Unknown(reason) => {
                report.reason = Some(Why::from(&reason));
                None
            }
        };
        report.outcome = match (report.kind.class(), found) {
            (_, None) => Outcome::Unknown,
            (Class::Bound, _) => Outcome::Bound,
            (Class::Universal, Some(true)) => Outcome::Unsafe,
            (Class::Universal, Some(false)) => Outcome::Safe,
            (Class::Existential, Some(true)) => Outcome::Holds,
            (Class::Existential, Some(false)) => Outcome::Fails,
        };
        report
    }

    /// The same with evidence of another kind, or without.
    pub fn map<U, D>(self, run: impl Fn(T) -> Option<U>, proof: impl Fn(C) -> Option<D>) -> PropertyReport<U, D> {
        PropertyReport {
            model: self.model,
            language: self.language,
            query: self.query,
            kind: self.kind,
            outcome: self.outcome,
            trace: self.trace.and_then(&run),
            witness: self.witness.and_then(&run),
            certificate: self.certificate.and_then(proof),
            checked: self.checked,
            unchecked: self.unchecked,
            assumes: self.assumes,
            warnings: self.warnings,
            reason: self.reason,
            inconclusive: self.inconclusive.and_then(|i| {
                let Inconclusive { path, fails_at, joins, pivot } = i;
                Some(Inconclusive { path: run(path)?, fails_at, joins, pivot })
            }),
            bound: self.bound,
            clock_bound: self.clock_bound,
            engine: self.engine,
            statistics: self.statistics,
            seconds: self.seconds,
            binding: self.binding,
        }
    }

    /// All but the evidence.
    pub fn summary(&self) -> PropertyReport<(), ()> {
        PropertyReport {
            checked: self.checked.clone(),
            unchecked: self.unchecked.clone(),
            assumes: self.assumes.clone(),
            warnings: self.warnings.clone(),
            reason: self.reason.clone(),
            outcome: self.outcome,
            bound: self.bound,
            clock_bound: self.clock_bound,
            engine: self.engine.clone(),
            statistics: self.statistics.clone(),
            seconds: self.seconds,
            binding: self.binding.clone(),
            ..PropertyReport::empty(&self.model, &self.language, &self.query, self.kind)
        }
    }

    /// A report that nothing was asked, and how to ask.
    pub fn unasked(model: &str, language: &str, advice: &str) -> PropertyReport<T, C> {
        let reason = Some(Why { kind: "nothing-asked".into(), text: format!("nothing was asked: {advice}") });
        PropertyReport { reason, ..PropertyReport::empty(model, language, "", Kind::Always) }
    }

    /// A report about a question that makes no sense, and why it does not.
    pub fn refused(model: &str, language: &str, query: &str, why: &str) -> PropertyReport<T, C> {
        let reason = Some(Why { kind: "query".into(), text: why.into() });
        let empty = PropertyReport::empty(model, language, query, Kind::Always);
        PropertyReport { outcome: Outcome::Error, reason, ..empty }
    }

    fn empty(model: &str, language: &str, query: &str, kind: Kind) -> PropertyReport<T, C> {
        PropertyReport {
            model: model.into(),
            language: language.into(),
            query: query.into(),
            kind,
            outcome: Outcome::Unknown,
            trace: None,
            witness: None,
            certificate: None,
            checked: None,
            unchecked: None,
            assumes: Vec::new(),
            warnings: Vec::new(),
            reason: None,
            inconclusive: None,
            bound: None,
            clock_bound: None,
            engine: String::new(),
            statistics: Vec::new(),
            seconds: 0.0,
            binding: Binding::default(),
        }
    }

    /// Does the property hold? Nothing if that is not known, or not the question, or if the evidence was found and not re-checked.
    pub fn holds(&self) -> Option<bool> {
        match self.outcome {
            _ if self.unchecked.is_some() => None,
            Outcome::Safe | Outcome::Holds => Some(true),
            Outcome::Unsafe | Outcome::Fails => Some(false),
            Outcome::Bound | Outcome::Unknown | Outcome::Error => None,
        }
    }

    /// The number that was asked for, as an equation's right side: `5`, `5 (not attained)`, `∞`.
    pub fn value(&self) -> Option<String> {
        self.clock_bound.map(|c| c.to_string()).or_else(|| self.bound.map(|n| n.to_string()))
    }

    /// What was counted under a name.
    pub fn statistic(&self, name: &str) -> Option<u64> {
        self.statistics.iter().find(|(n, _)| n == name).map(|(_, count)| *count)
    }
}

/// The supremum or infimum of a clock: a whole number, for the constants of models are, or infinity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockLimit {
    /// The number; nothing if the clock grows without limit.
    pub value: Option<i64>,
    /// Whether some reachable state has it. Infinity is never attained.
    pub attained: bool,
}

impl fmt::Display for ClockLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.value, self.attained) {
            (None, _) => f.write_str("∞"),
            (Some(n), true) => write!(f, "{n}"),
            (Some(n), false) => write!(f, "{n} (not attained)"),
        }
    }
}

/// What a query asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `A[] p`.
    Always,
    /// `E<> p`.
    Possibly,
    /// `A<> p`.
    Eventually,
    /// `E[] p`.
    PotentiallyAlways,
    /// `p --> q`.
    LeadsTo,
    /// `sup: e`.
    Sup,
    /// `inf: e`.
    Inf,
    /// A formula of linear temporal logic.
    Ltl,
}

impl Kind {
    /// The kind of a query.
    pub fn of(kind: &QueryKind) -> Kind {
        match kind {
            QueryKind::Always(_) => Kind::Always,
            QueryKind::Possibly(_) => Kind::Possibly,
            QueryKind::Eventually(_) => Kind::Eventually,
            QueryKind::PotentiallyAlways(_) => Kind::PotentiallyAlways,
            QueryKind::LeadsTo(..) => Kind::LeadsTo,
            QueryKind::Bound { sup: true, .. } | QueryKind::ClockBound { sup: true, .. } => Kind::Sup,
            QueryKind::Bound { sup: false, .. } | QueryKind::ClockBound { sup: false, .. } => Kind::Inf,
        }
    }

    /// As it is written in a query.
    pub fn symbol(self) -> &'static str {
        match self {
            Kind::Always => "A[]",
            Kind::Possibly => "E<>",
            Kind::Eventually => "A<>",
            Kind::PotentiallyAlways => "E[]",
            Kind::LeadsTo => "-->",
            Kind::Sup => "sup",
            Kind::Inf => "inf",
            Kind::Ltl => "LTL",
        }
    }

    /// Whether it is about all runs, some run, or a number.
    pub fn class(self) -> Class {
        match self {
            Kind::Always | Kind::Eventually | Kind::LeadsTo | Kind::Ltl => Class::Universal,
            Kind::Possibly | Kind::PotentiallyAlways => Class::Existential,
            Kind::Sup | Kind::Inf => Class::Bound,
        }
    }

    /// Is it about whole runs, rather than about single states?
    pub fn is_liveness(self) -> bool {
        matches!(self, Kind::Eventually | Kind::PotentiallyAlways | Kind::LeadsTo | Kind::Ltl)
    }
}

/// Whether a query is about all runs, some run, or a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// `A[]`, `A<>`, `-->`: a counterexample refutes it.
    Universal,
    /// `E<>`, `E[]`: a witness proves it.
    Existential,
    /// `sup`, `inf`.
    Bound,
}

impl Class {
    /// `universal`, `existential`, `bound`.
    pub fn name(self) -> &'static str {
        match self {
            Class::Universal => "universal",
            Class::Existential => "existential",
            Class::Bound => "bound",
        }
    }
}

/// What was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// A universal property holds.
    Safe,
    /// A universal property fails.
    Unsafe,
    /// An existential property holds.
    Holds,
    /// An existential property fails.
    Fails,
    /// The bound that was asked for is known.
    Bound,
    /// There is no answer.
    Unknown,
    /// The model does something undefined.
    Error,
}

impl Outcome {
    /// The word that the report starts with.
    pub fn word(self) -> &'static str {
        match self {
            Outcome::Safe => "SAFE",
            Outcome::Unsafe => "UNSAFE",
            Outcome::Holds => "HOLDS",
            Outcome::Fails => "FAILS",
            Outcome::Bound => "BOUND",
            Outcome::Unknown => "UNKNOWN",
            Outcome::Error => "ERROR",
        }
    }
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Why {
    /// For machines: `time`, `memory`, `iterations`, `interrupted`, `inconclusive-join`, `unsupported`, `solver`, `stuck`,
    /// `unchecked`, `nothing-asked`, `query`, `model-error`.
    pub kind: String,
    /// For people.
    pub text: String,
}

impl From<&Reason> for Why {
    fn from(reason: &Reason) -> Why {
        let kind = match reason {
            Reason::Time => "time",
            Reason::Memory => "memory",
            Reason::Iterations => "iterations",
            Reason::Depth => "depth",
            Reason::Interrupted => "interrupted",
            Reason::InconclusiveJoin => "inconclusive-join",
            Reason::Unsupported(_) => "unsupported",
            Reason::Solver(_) => "solver",
            Reason::Stuck(_) => "stuck",
            Reason::Unchecked(_) => "unchecked",
            _ => "other",
        };
        Why { kind: kind.into(), text: reason.to_string() }
    }
}

/// A path that exists only because of joins (000 §B.1).
#[derive(Debug, Clone)]
pub struct Inconclusive<T = Trace> {
    /// The abstract path.
    pub path: T,
    /// The step (from 0) that cannot be taken without joins.
    pub fails_at: usize,
    /// The states (0 is the initial one) that are joins.
    pub joins: Vec<usize>,
    /// The join without which the path fails.
    pub pivot: usize,
}

/// How a run ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// In the state that was looked for.
    Target,
    /// It does not: it returns to an earlier state, forever.
    Loop,
    /// In a state where time may pass forever.
    Idle,
    /// In a state where nothing can happen.
    Deadlock,
    /// In a state where the model does something undefined.
    Error,
}

impl Ending {
    /// `target`, `loop`, `idle`, `deadlock`, `error`.
    pub fn name(self) -> &'static str {
        match self {
            Ending::Target => "target",
            Ending::Loop => "loop",
            Ending::Idle => "idle",
            Ending::Deadlock => "deadlock",
            Ending::Error => "error",
        }
    }
}
