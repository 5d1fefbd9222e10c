//! Reports and evidence about programs and control-flow automata as JSON: `trellis-report/1` with the evidence of
//! `trellis-program-trace/2` and `trellis-program-certificate/2`.
//!
//! Variables have their full names, locations and edges their numbers in the automaton, with names and places beside them so that a
//! reader (and the one who reads it back) can tell whether they are still the same. Of the values after a step only those are
//! written that are not what they were before. Terms are texts, see `program::term`.

pub(super) mod read;
pub(super) mod write;

use std::io;

use trellis_model::cfa::Cfa;
use trellis_model::cfa::evidence::{Certificate, Trace};

use super::Header;
use crate::program::ProgramReport;
use write::{CertificateDoc, ReportDoc, TraceDoc};

pub use read::{ProgramContent, read_program_evidence};

/// The `schema` of traces of programs.
pub const PROGRAM_TRACE: &str = "trellis-program-trace/2";
/// The `schema` of certificates of programs.
pub const PROGRAM_CERTIFICATE: &str = "trellis-program-certificate/2";

/// Writes a report about a program as one line, without the newline. The trace is part of it; the certificate only if asked for
/// (otherwise it says how large it is).
pub fn write_program_report(
    out: impl io::Write,
    cfa: &Cfa,
    report: &ProgramReport,
    certificate: bool,
) -> io::Result<()> {
    let written = report.certificate.as_ref().filter(|_| certificate);
    let certificate = written.map(|c| CertificateDoc::new(cfa, report.header(), c)).transpose()?;
    Ok(serde_json::to_writer(out, &ReportDoc { cfa, report, certificate })?)
}

/// Writes a run of a program as a document of its own, indented for reading.
pub fn write_program_trace(out: impl io::Write, cfa: &Cfa, header: Header<'_>, trace: &Trace) -> io::Result<()> {
    Ok(serde_json::to_writer_pretty(out, &TraceDoc { cfa, header, trace })?)
}

/// Writes an invariant of a program as a document of its own, indented for reading.
pub fn write_program_certificate(
    out: impl io::Write,
    cfa: &Cfa,
    header: Header<'_>,
    certificate: &Certificate,
) -> io::Result<()> {
    Ok(serde_json::to_writer_pretty(out, &CertificateDoc::new(cfa, header, certificate)?)?)
}
