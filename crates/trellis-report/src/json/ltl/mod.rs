//! Reports and evidence about formulas of linear temporal logic as JSON: `trellis-report/1` with the evidence of
//! `trellis-ltl-trace/2` and `trellis-ltl-certificate/2`.
//!
//! Runs are written like those of programs; a step without an edge is one of a run that has ended. Proofs and recurrent sets speak
//! of locations of the product, by number: whoever reads them makes the product anew, from the automaton that stands beside them.

mod read;
mod write;

use std::io;

use trellis_expr::TermId;
use trellis_model::ltl::Buchi;
use trellis_model::ltl::evidence::Proof;
use trellis_model::ltl::product::Subject;

use super::Header;
use crate::ltl::{Counterexample, LtlReport};
use write::{CertificateDoc, ReportDoc, TraceDoc};

pub use read::{LtlContent, read_ltl_evidence};

/// The `schema` of runs that violate a formula.
pub const LTL_TRACE: &str = "trellis-ltl-trace/2";
/// The `schema` of proofs of formulas.
pub const LTL_CERTIFICATE: &str = "trellis-ltl-certificate/2";

/// What evidence is about.
#[derive(Debug, Clone, Copy)]
pub struct LtlAsked<'a> {
    /// The model.
    pub subject: &'a Subject,
    /// What the atoms are, in the model.
    pub atoms: &'a [TermId],
    /// The atoms as they were written.
    pub names: &'a [String],
    /// When a letter is read, where that can be chosen: `half`, `full`.
    pub step: Option<&'a str>,
    /// The automaton of the runs that must not be, if that was asked instead of a formula.
    pub forbidden: Option<&'a Buchi>,
}

/// Writes a report about a formula as one line, without the newline. The run is part of it; the proof only if asked for (otherwise
/// it says how large it is).
pub fn write_ltl_report(
    out: impl io::Write,
    asked: LtlAsked<'_>,
    report: &LtlReport,
    certificate: bool,
) -> io::Result<()> {
    let written = report.certificate.as_ref().filter(|_| certificate);
    let certificate = written.map(|c| CertificateDoc::new(asked, report.header(), c)).transpose()?;
    let trace = report.trace.as_ref().map(|t| TraceDoc::new(asked, report.header(), t)).transpose()?;
    Ok(serde_json::to_writer(out, &ReportDoc { report, trace, certificate })?)
}

/// Writes a run that violates a formula as a document of its own, indented for reading.
pub fn write_ltl_trace(
    out: impl io::Write,
    asked: LtlAsked<'_>,
    header: Header<'_>,
    trace: &Counterexample,
) -> io::Result<()> {
    Ok(serde_json::to_writer_pretty(out, &TraceDoc::new(asked, header, trace)?)?)
}

/// Writes a proof of a formula as a document of its own, indented for reading.
pub fn write_ltl_certificate(
    out: impl io::Write,
    asked: LtlAsked<'_>,
    header: Header<'_>,
    proof: &Proof,
) -> io::Result<()> {
    Ok(serde_json::to_writer_pretty(out, &CertificateDoc::new(asked, header, proof)?)?)
}
