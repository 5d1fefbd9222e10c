//! Invariants of counter systems for a person at a terminal.

use std::fmt::Write;

use trellis_model::counter::System;
use trellis_model::counter::evidence::Certificate;

use super::lines;
use crate::style::Style;
use crate::words::INDENT;

/// So many parts of an invariant are shown.
const MAX_PARTS: usize = 6;

/// An invariant, part by part; all of them only if that is wanted ([`Style::full`]).
pub fn invariant(system: &System, c: &Certificate, style: Style) -> String {
    let mut out = String::new();
    let most = if style.full { usize::MAX } else { MAX_PARTS };
    let mut all = lines(system, c);
    for text in all.by_ref().take(most) {
        let _ = writeln!(out, "{:INDENT$}{text}", "");
    }
    let more = all.count();
    if more > 0 {
        let text = format!("… and {more} more; --show-invariant shows them");
        let _ = writeln!(out, "{:INDENT$}{}", "", style.dim(&text));
    }
    out
}
