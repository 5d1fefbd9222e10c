//! Reports as JSON: the same fields for every formalism, the trace as a document within, and of a proof how large it is.

use std::io;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::{REPORT, TraceDocument, trace_document};
use crate::present::Present;
use crate::property::PropertyReport;
use crate::run::Run;

/// What is reported about one property. All fields are always there, `null` where there is nothing to say.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Report {
    /// What kind of document it is, and of which version.
    #[schemars(extend("const" = REPORT))]
    pub schema: String,
    /// The model's file name.
    pub model: String,
    /// The language it is written in.
    pub language: String,
    /// The query as the user wrote it.
    pub query: String,
    /// What is asked: `A[]`, `E<>`, `LTL`, …
    pub kind: String,
    /// `universal`, `existential` or `bound`.
    #[schemars(extend("enum" = ["universal", "existential", "bound"]))]
    pub class: String,
    /// `SAFE`, `UNSAFE`, `HOLDS`, `FAILS`, `BOUND`, `UNKNOWN` or `ERROR`.
    #[schemars(extend("enum" = ["SAFE", "UNSAFE", "HOLDS", "FAILS", "BOUND", "UNKNOWN", "ERROR"]))]
    pub verdict: String,
    /// Does the property hold? `null` if that is not known, or not the question, or if the evidence was found and not re-checked.
    pub holds: Option<bool>,
    /// For `sup` and `inf`: the bound.
    pub bound: Option<i64>,
    /// For `sup` and `inf` of a clock: the bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock_bound: Option<Limit>,
    /// Why there is no answer.
    pub reason: Option<Reason>,
    /// What the independent checker did with the evidence.
    pub checked: Option<String>,
    /// Why the evidence was found and not checked, if it was not.
    pub unchecked: Option<String>,
    /// What the answer rests on and nobody has checked.
    pub assumes: Vec<String>,
    /// What the reader should know of the question itself.
    pub warnings: Vec<String>,
    /// How it was searched.
    pub engine: String,
    /// What was counted.
    #[schemars(with = "std::collections::BTreeMap<String, u64>")]
    pub statistics: IndexMap<String, u64>,
    /// How long it took.
    pub seconds: f64,
    /// The run that shows it.
    pub trace: Option<TraceDocument>,
    /// How large the proof is that shows it; what is counted depends on the formalism.
    pub certificate: Option<serde_json::Map<String, Value>>,
    /// A path that exists only because of joins.
    pub inconclusive: Option<Inconclusive>,
}

/// A bound of a clock.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Limit {
    /// The number; `null` if there is none.
    pub value: Option<i64>,
    /// Whether some reachable state has it.
    pub attained: bool,
}

/// Why there is no answer.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Reason {
    /// For machines.
    pub kind: String,
    /// For people.
    pub text: String,
}

/// A path that exists only because of joins.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Inconclusive {
    /// The abstract path.
    #[serde(flatten)]
    pub run: Run,
    /// The step (from 0) that cannot be taken without joins.
    pub fails_at: usize,
    /// The moments that are joins.
    pub joins: Vec<usize>,
    /// The join without which the path fails.
    pub pivot: usize,
}

impl Report {
    /// A report without evidence.
    fn plain<T, C>(r: &PropertyReport<T, C>) -> Report {
        Report {
            schema: REPORT.into(),
            model: r.model.clone(),
            language: r.language.clone(),
            query: r.query.clone(),
            kind: r.kind.symbol().into(),
            class: r.kind.class().name().into(),
            verdict: r.outcome.word().into(),
            holds: r.holds(),
            bound: r.bound,
            clock_bound: r.clock_bound.map(|l| Limit { value: l.value, attained: l.attained }),
            reason: r.reason.as_ref().map(|w| Reason { kind: w.kind.clone(), text: w.text.clone() }),
            checked: r.checked.clone(),
            unchecked: r.unchecked.clone(),
            assumes: r.assumes.clone(),
            warnings: r.warnings.clone(),
            engine: r.engine.clone(),
            statistics: r.statistics.iter().cloned().collect(),
            seconds: if r.seconds.is_finite() { r.seconds } else { 0.0 },
            trace: None,
            certificate: None,
            inconclusive: None,
        }
    }
}

/// Writes a report as one line, without the newline. The trace is part of it; of the proof it says how large it is ([`Present::size`]).
pub fn write_report<P: Present + ?Sized, C>(
    out: impl io::Write,
    p: &P,
    r: &PropertyReport<P::Trace, C>,
    size: Option<Value>,
) -> io::Result<()> {
    let mut report = Report::plain(r);
    report.trace = r.trace.as_ref().map(|t| trace_document(p, r.header(), r.outcome, t)).transpose()?;
    report.certificate = size.map(|size| match size {
        Value::Object(counts) => counts,
        other => serde_json::Map::from_iter([("size".into(), other)]),
    });
    if let Some(i) = &r.inconclusive {
        let run = p.run(&i.path)?;
        report.inconclusive = Some(Inconclusive { run, fails_at: i.fails_at, joins: i.joins.clone(), pivot: i.pivot });
    }
    Ok(serde_json::to_writer(out, &report)?)
}

/// Writes a report that has no evidence, whatever it is about, as one line without the newline.
pub fn write_plain_report<T, C>(out: impl io::Write, report: &PropertyReport<T, C>) -> io::Result<()> {
    Ok(serde_json::to_writer(out, &Report::plain(report))?)
}
