//! Evidence and reports as JSON, for all formalisms, and evidence back: `trellis-trace/2`, `trellis-certificate/2`, `trellis-report/1`, under the
//! schemas that [`crate::schema()`] gives.
//!
//! Evidence starts with what it is bound to ([`Binding`]). A trace goes on with the fields of a [`Run`]; a certificate with its kind, what it takes
//! for granted, and a body that only the formalism reads. Everything is written in the model's own names, so that it outlives changes of the
//! numbering; certificates are written and read row by row, for they may have hundreds of thousands.
//!
//! This knows no formalism ([`Present`]), and judges nothing.

mod binding;
mod bodies;
mod report;
mod trace;

use std::io;

use schemars::JsonSchema;
use serde::Serialize;

use crate::binding::Input;
use crate::present::{Body, Present, WriteBody};
use crate::property::{Kind, Outcome, PropertyReport};
use crate::reader::{Node, Path, ReadError, field, optional};
use crate::run::Run;

pub use crate::binding::Binding;
pub use binding::{form, read_binding, rewritten};
pub(crate) use bodies::CertificateDocument;
pub use report::{Report, write_plain_report, write_report};

/// The `schema` of reports.
pub const REPORT: &str = "trellis-report/1";
/// The `schema` of traces.
pub const TRACE: &str = "trellis-trace/2";
/// The `schema` of certificates.
pub const CERTIFICATE: &str = "trellis-certificate/2";

/// What a piece of evidence is about.
#[derive(Debug, Clone, Copy)]
pub struct Header<'a> {
    /// The language that the model is written in.
    pub language: &'a str,
    /// What kind of query it is about.
    pub kind: Kind,
    /// What it was made from, and what it claims.
    pub binding: &'a Binding,
}

impl<T, C> PropertyReport<T, C> {
    /// What its evidence is about.
    pub fn header(&self) -> Header<'_> {
        Header { language: &self.language, kind: self.kind, binding: &self.binding }
    }
}

/// What all evidence starts with.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Head {
    /// What kind of document it is, and of which version.
    pub schema: String,
    /// The tool and its version.
    pub tool: String,
    /// The language of the model.
    pub language: String,
    /// The files that the verdict depends on, the model first.
    pub inputs: Vec<Input>,
    /// The property, in canonical form.
    pub property: String,
    /// The options that change what the model or the property means.
    pub options: std::collections::BTreeMap<String, String>,
}

impl Head {
    fn new(schema: &str, header: Header<'_>) -> Head {
        let Binding { tool, inputs, property, options } = header.binding.clone();
        Head { schema: schema.into(), tool, language: header.language.into(), inputs, property, options }
    }
}

/// A trace as a document.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TraceDocument {
    /// What it is bound to.
    #[serde(flatten)]
    pub head: Head,
    /// The run.
    #[serde(flatten)]
    pub run: Run,
}

/// What a certificate says before its body.
#[derive(Serialize)]
struct CertificateHead {
    #[serde(flatten)]
    head: Head,
    assumes: Vec<&'static str>,
    kind: &'static str,
}

/// The document of a trace.
pub fn trace_document<P: Present + ?Sized>(
    p: &P,
    header: Header<'_>,
    outcome: Outcome,
    trace: &P::Trace,
) -> io::Result<TraceDocument> {
    let mut run = p.run(trace)?;
    run.ending = p.ending(header.kind, outcome, trace).map(|e| e.name().into());
    Ok(TraceDocument { head: Head::new(TRACE, header), run })
}

/// Writes a trace as a document of its own, indented for reading.
pub fn write_trace<P: Present + ?Sized>(
    mut out: impl io::Write,
    p: &P,
    header: Header<'_>,
    trace: &P::Trace,
) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut out, &trace_document(p, header, Outcome::Unknown, trace)?)?;
    out.write_all(b"\n")
}

/// Writes a proof as a document of its own; a large one a row a line.
pub fn write_certificate<P: Present + ?Sized>(
    mut out: impl io::Write,
    p: &P,
    header: Header<'_>,
    proof: &P::Proof,
) -> io::Result<()> {
    let Body { kind, assumes, write } = p.body(proof)?;
    let document = CertificateHead { head: Head::new(CERTIFICATE, header), assumes, kind: kind.name() };
    // The body comes last, so that what comes before can be written as one object.
    let head = serde_json::to_string_pretty(&document)?;
    let head = head.strip_suffix("\n}").unwrap_or(&head);
    write!(out, "{head},\n  \"body\": ")?;
    write(&mut Indented(&mut out))?;
    out.write_all(b"\n}\n")
}

/// Two blanks after each line break: there are none within the texts of JSON.
struct Indented<'a>(&'a mut dyn io::Write);

impl io::Write for Indented<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut rest = bytes;
        while let Some(at) = rest.iter().position(|b| *b == b'\n') {
            self.0.write_all(&rest[..=at])?;
            self.0.write_all(b"  ")?;
            rest = &rest[at + 1..];
        }
        self.0.write_all(rest)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// A piece of evidence that was read.
#[derive(Debug, Clone)]
pub enum Content<T, P> {
    /// A run.
    Trace(T),
    /// A proof.
    Certificate(P),
}

/// Reads a trace, a certificate, or a report that contains a trace. What is read fits the model; whether it shows anything is for `trellis-check`
/// to say, and should be asked before it is shown.
pub fn read<P: Present + ?Sized>(p: &P, text: &str) -> Result<Content<P::Trace, P::Proof>, ReadError> {
    document(p, Node::top(text)?)
}

/// The run of a trace, whatever the model: nothing of it is checked.
pub fn read_run(text: &str) -> Result<Run, ReadError> {
    let top = Node::top(text)?;
    let fields = top.object()?;
    let schema = field(&fields, &top.path, "schema")?;
    let kind = schema.string("the name of a schema")?;
    if kind != TRACE {
        return binding::other(&schema, &kind, &format!("\"{TRACE}\""));
    }
    trace::run(&fields, &top.path)
}

fn document<P: Present + ?Sized>(p: &P, top: Node<'_, '_>) -> Result<Content<P::Trace, P::Proof>, ReadError> {
    let fields = top.object()?;
    let schema = field(&fields, &top.path, "schema")?;
    let what = format!("\"{TRACE}\", \"{CERTIFICATE}\" or \"{REPORT}\"");
    match &*schema.string(&what)? {
        TRACE => p.trace(&trace::run(&fields, &top.path)?).map(Content::Trace),
        CERTIFICATE => {
            let kind = field(&fields, &top.path, "kind")?.string("a kind of proof")?;
            let list = field(&fields, &top.path, "assumes")?;
            let mut assumes = vec![];
            for (i, raw) in list.array()?.into_iter().enumerate() {
                assumes.push(Node::new(Path::Item(&list.path, i), raw).string("a text")?.into_owned());
            }
            let body = field(&fields, &top.path, "body")?;
            p.proof(&kind, &assumes, body.raw()).map(Content::Certificate)
        }
        REPORT if matches!(top.path, Path::Top) => match optional(&fields, &top.path, "trace") {
            Some(trace) => document(p, trace),
            None => top.fail("a report with a trace (write certificates out with --certificate)"),
        },
        kind => binding::other(&schema, kind, &what),
    }
}

/// The body of a certificate that must be of this kind; the path of everything in it starts with `body`.
pub(crate) fn body<'a>(
    wanted: crate::present::ProofKind,
    kind: &str,
    raw: &'a serde_json::value::RawValue,
) -> Result<Node<'static, 'a>, ReadError> {
    if kind == wanted.name() {
        return Ok(Node::new(Path::Field(&Path::Top, "body"), raw));
    }
    Err(ReadError::Content {
        path: "kind".into(),
        expected: format!("\"{}\"", wanted.name()),
        found: format!("\"{}\"", crate::words::excerpt(kind)),
    })
}

/// Writes a value as a body, indented for reading.
pub(crate) fn pretty<'a>(value: impl Serialize + 'a) -> WriteBody<'a> {
    Box::new(move |out| Ok(serde_json::to_writer_pretty(out, &value)?))
}
