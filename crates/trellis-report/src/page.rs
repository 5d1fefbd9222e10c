//! The page: what a person sees of a model, its properties, runs and proofs in a browser. One file without any other, the same for
//! `trellis serve` (which asks a server) and for `--html` (into which the answers are frozen). It knows no formalism.
//!
//! Its sources are in `web/`, built by `npm --prefix crates/trellis-report/web run build` into `web/dist/page.html`, which is kept beside them so
//! that nobody needs Node to build Trellis. The types below are what page and server speak of: a report is the object that `--json` prints,
//! and the document of a proof is the certificate that `--certificate` writes.

use std::io::{self, Write};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;
use trellis_meter as meter;

use crate::evidence::{CertificateDocument, Report};
use crate::json;
use crate::present::{Drawing, DrawnEdge, DrawnNode, Look, Present};
use crate::property::PropertyReport;
use crate::run::Run;

/// The page, with a mark where its data go.
const PAGE: &str = include_str!("../web/dist/page.html");
const MARK: &str = "{{data}}";
/// Larger proofs are shown by their size only.
const MAX_PROOF: usize = 4 << 20;

/// What the page is opened with.
#[derive(Serialize, JsonSchema)]
pub struct Page {
    /// Is there a server to be asked?
    pub live: bool,
    /// Which program made it.
    pub tool: String,
    /// The model, if it is known already.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<Model>,
    /// What was found.
    pub answers: Vec<Answer>,
}

/// A model as it is shown.
#[derive(Serialize, Default, JsonSchema)]
pub struct Model {
    /// The file's name.
    pub name: String,
    /// The language, as reports call it.
    pub language: String,
    /// The language, as people call it.
    pub title: String,
    /// The text of the file.
    pub source: String,
    /// Its picture.
    pub drawing: Drawing,
    /// What it is asked.
    pub questions: Vec<Question>,
    /// Reports about what was asked and makes no sense, or has no answer.
    #[schemars(with = "Vec<Report>")]
    pub refused: Vec<Box<RawValue>>,
    /// What is wrong with it, as the terminal shows it; then nothing else is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// How to ask something, if nothing is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
}

/// A question.
#[derive(Serialize, JsonSchema)]
pub struct Question {
    /// As a person reads it.
    pub text: String,
    /// `A[]`, `E<>`, …
    pub kind: &'static str,
}

/// What was found about a property, as it is shown.
#[derive(Serialize, JsonSchema)]
pub struct Answer {
    /// The report, as `--json` prints it, the trace within.
    #[schemars(with = "Report")]
    pub report: Box<RawValue>,
    /// The run as people see it, if that is not the trace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shown: Option<Run>,
    /// How it is laid out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub look: Option<Look>,
    /// The run of parts that send and receive, if that is not the one shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lanes: Option<Run>,
    /// What is said of a path that exists only because of joins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The proof.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proof: Option<Proof>,
    /// What refinement went through.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<Round>,
}

/// A round of a refinement: what had been built, and what was learnt from it.
#[derive(Serialize, JsonSchema)]
pub struct Round {
    /// What happened in it.
    pub title: String,
    /// What had been built so far.
    pub drawing: Drawing,
    /// The part of each box: `plain`, `waiting`, `covered`, `path` (the impossible one), `pivot` (what is refined), `error`.
    pub roles: Vec<&'static str>,
    /// Of each arrow, whether it says who covers.
    pub covers: Vec<bool>,
    /// Was more built than is shown?
    pub cut: bool,
}

/// A proof, as it is shown.
#[derive(Serialize, JsonSchema)]
pub struct Proof {
    /// How large it is, in words.
    pub summary: String,
    /// All of it in words, if there are any.
    pub text: String,
    /// The certificate, if it is not too large.
    #[schemars(with = "Option<CertificateDocument>")]
    pub document: Option<Box<RawValue>>,
}

/// A value as JSON that is kept as it is.
pub fn raw(text: Vec<u8>) -> io::Result<Box<RawValue>> {
    let text = String::from_utf8(text).map_err(io::Error::other)?;
    RawValue::from_string(text).map_err(io::Error::from)
}

impl Round {
    /// A round as it was recorded.
    pub fn of(round: &meter::Round) -> Round {
        let node = |n: &meter::RoundNode| DrawnNode { lines: n.lines.clone(), ..DrawnNode::default() };
        let edge = |e: &meter::RoundEdge| {
            let lines = Some(e.label.clone()).filter(|l| !l.is_empty()).into_iter().collect();
            DrawnEdge { from: e.from, to: e.to, lines, ..DrawnEdge::default() }
        };
        let nodes = round.nodes.iter().map(node).collect();
        Round {
            title: round.title.clone(),
            drawing: Drawing { nodes, edges: round.edges.iter().map(edge).collect() },
            roles: round.nodes.iter().map(|n| n.role.name()).collect(),
            covers: round.edges.iter().map(|e| e.covers).collect(),
            cut: round.cut,
        }
    }
}

impl Answer {
    /// What is shown of a report; `words` is its proof in words, a summary and the whole.
    pub fn of<P: Present + ?Sized>(
        report: &PropertyReport<P::Trace, P::Proof>,
        p: &P,
        words: Option<(String, String)>,
    ) -> io::Result<Answer> {
        let mut line = Vec::new();
        json::write_report(&mut line, p, report, report.certificate.as_ref().map(|c| p.size(c)))?;
        let mut answer = Answer::bare(raw(line)?);
        let trace = report.trace.as_ref().or(report.witness.as_ref());
        let path = report.inconclusive.as_ref();
        if let Some(trace) = trace.or(path.map(|i| &i.path)) {
            let mut shown = p.shown(trace);
            answer.lanes = p.lanes(trace).filter(|lanes| *lanes != shown.run && lanes.parts.len() > 1);
            let same = report.trace.is_some() && p.run(trace).is_ok_and(|run| run == shown.run);
            shown.run.ending = p.ending(report.kind, report.outcome, trace).map(|e| e.name().into());
            answer.shown = (!same).then_some(shown.run);
            answer.look = Some(shown.look);
        }
        answer.note = path.filter(|_| trace.is_none()).map(|i| {
            format!(
                "An abstract path leads to the target, but step {} cannot be taken without the join in state {}.",
                i.fails_at + 1,
                i.pivot
            )
        });
        if let Some(c) = &report.certificate {
            let mut limited = Limited(Vec::new());
            let whole = json::write_certificate(&mut limited, p, report.header(), c);
            let document = whole.and_then(|()| raw(limited.0)).ok();
            let (summary, text) = words.unwrap_or_default();
            answer.proof = Some(Proof { summary, text, document });
        }
        Ok(answer)
    }

    /// What is shown of a report that has no evidence.
    pub fn plain<T, C>(report: &PropertyReport<T, C>) -> io::Result<Answer> {
        let mut line = Vec::new();
        json::write_plain_report(&mut line, report)?;
        Ok(Answer::bare(raw(line)?))
    }

    fn bare(report: Box<RawValue>) -> Answer {
        Answer { report, shown: None, look: None, lanes: None, note: None, proof: None, rounds: vec![] }
    }
}

/// Takes no more than it may.
struct Limited(Vec<u8>);

impl Write for Limited {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > MAX_PROOF {
            return Err(io::Error::other("too large to be shown"));
        }
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Page {
    /// The page as one file.
    pub fn html(&self) -> String {
        // Within a script element only `<` could end it early; JSON has another way to write it.
        let data = serde_json::to_string(self).unwrap_or_default().replace('<', "\\u003c");
        let (before, after) = PAGE.split_once(MARK).unwrap_or((PAGE, ""));
        format!("{before}{data}{after}")
    }
}
