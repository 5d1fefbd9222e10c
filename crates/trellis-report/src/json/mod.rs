//! Reports and evidence as JSON, under the schemas that [`crate::schema()`] gives, and evidence back from JSON.
//!
//! Three kinds of document, told apart by their `schema` field: `trellis-report/1` (one property), `trellis-trace/2` and
//! `trellis-certificate/2`. Evidence starts with what it is bound to ([`Binding`]). All fields are always there, `null` where there is nothing to say; but those about time
//! (`clocks`, `delay`, `rest`, …) only in documents about timed models. States, steps and
//! certificates are written in the model's own names, so that they outlive changes of the numbering. Documents are
//! written piece by piece and certificates read row by row: they may have hundreds of thousands of entries.
//!
//! Everything comes back as it was written, but for what means nothing: the value in a cell that an entry does not know
//! (it comes back as the initial one), a list of known cells that are all known, constraints without a bound.
//!
//! Evidence about programs has schemas of its own, see [`write_program_trace`] and [`write_program_certificate`]; so has
//! evidence about counter systems, see [`write_counter_trace`] and [`write_counter_certificate`], and about formulas, see
//! [`write_ltl_trace`] and [`write_ltl_certificate`], and about hierarchies of nodes, see [`write_node_trace`] and
//! [`write_node_certificate`]. Hierarchical transition systems are themselves read from JSON ([`read_tree`]); for
//! evidence about them see [`write_tree_trace`] and [`write_tree_certificate`].
//!
//! What is read back fits the network (names, numbers, widths); whether it shows anything is for `trellis-check` to say.

mod binding;
mod counter;
mod ltl;
mod node;
mod nodes;
mod program;
mod read;
mod tree;
mod write;

use std::io;

use trellis_model::network::{Certificate, Network, Trace};

use crate::property::{Ending, Kind, PropertyReport};
use crate::tell::Renderer;
use write::{CertificateDoc, PlainDoc, ReportDoc, TraceDoc};

pub use binding::{Binding, Input, read_binding, rewritten};
pub use counter::{
    COUNTER_CERTIFICATE, COUNTER_TRACE, CounterContent, CounterEvidence, read_counter_evidence,
    write_counter_certificate, write_counter_report, write_counter_trace,
};
pub use ltl::{
    LTL_CERTIFICATE, LTL_TRACE, LtlAsked, LtlContent, read_ltl_evidence, write_ltl_certificate, write_ltl_report,
    write_ltl_trace,
};
pub use node::ReadError;
pub use nodes::{
    NODE_CERTIFICATE, NODE_TRACE, Named, NodeAsked, NodeContent, read_node_evidence, write_node_certificate,
    write_node_report, write_node_trace,
};
pub use program::{
    PROGRAM_CERTIFICATE, PROGRAM_TRACE, ProgramContent, read_program_evidence, write_program_certificate,
    write_program_report, write_program_trace,
};
pub use read::{Content, Evidence, read_evidence};
pub use tree::{
    TREE, TREE_CERTIFICATE, TREE_TRACE, TreeContent, TreeFile, read_tree, read_tree_evidence, write_tree_certificate,
    write_tree_report, write_tree_trace,
};

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

/// Writes a report as one line, without the newline. The trace is part of it; the certificate only if asked for
/// (otherwise it says how many entries there are).
pub fn write_report(out: impl io::Write, net: &Network, report: &PropertyReport, certificate: bool) -> io::Result<()> {
    let teller = Renderer::new(net);
    Ok(serde_json::to_writer(out, &ReportDoc { teller: &teller, report, certificate })?)
}

/// Writes a report that has no evidence, whatever it is about, as one line without the newline.
pub fn write_plain_report<T, C>(out: impl io::Write, report: &PropertyReport<T, C>) -> io::Result<()> {
    Ok(serde_json::to_writer(out, &PlainDoc(report))?)
}

/// Writes a trace as a document of its own, indented for reading.
pub fn write_trace(
    out: impl io::Write,
    net: &Network,
    header: Header<'_>,
    trace: &Trace,
    ending: Ending,
) -> io::Result<()> {
    let teller = Renderer::new(net);
    Ok(serde_json::to_writer_pretty(out, &TraceDoc { teller: &teller, header, trace, ending })?)
}

/// Writes a certificate as a document of its own: the columns on top, then one row per entry, each on a line.
pub fn write_certificate(
    mut out: impl io::Write,
    net: &Network,
    header: Header<'_>,
    certificate: &Certificate,
) -> io::Result<()> {
    let teller = Renderer::new(net);
    CertificateDoc::new(&teller, header, certificate).write_lines(&mut out)
}
