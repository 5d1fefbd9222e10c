//! Invariants of programs for a person at a terminal.

use std::fmt::Write;

use trellis_model::cfa::evidence::Certificate;

use super::Program;
use crate::style::Style;
use crate::words::{INDENT, cut};

/// So many elements of an invariant are shown for one location.
const MAX_ELEMENTS: usize = 20;

/// `an invariant for 3 locations`.
pub fn summary(c: &Certificate) -> String {
    let n = c.invariant.len();
    let how = if c.k == 1 { String::new() } else { format!(", by induction over {} steps", c.k) };
    format!("an invariant for {n} location{}{how}", if n == 1 { "" } else { "s" })
}

/// An invariant: for each location the elements, any of which may hold there.
pub fn invariant(p: &Program<'_>, c: &Certificate, style: Style) -> String {
    let mut out = String::new();
    for (l, elements) in &c.invariant {
        let name = match (&p.cfa.location(*l).name, p.location(*l)) {
            (name, place) if *name == place => place,
            (name, place) => format!("{place} ({name})"),
        };
        let _ = writeln!(out, "{:INDENT$}{}", "", style.bold(&name));
        let most = if style.full { usize::MAX } else { MAX_ELEMENTS };
        for (i, &e) in elements.iter().take(most).enumerate() {
            let text = c.terms.show(e).to_string();
            let text = if style.full { text } else { cut(&text) };
            let _ = writeln!(out, "{:INDENT$}  {}{text}", "", if i == 0 { "   " } else { "or " });
        }
        if elements.len() > most {
            let more = format!("… or one of {} more (--full-trace shows them)", elements.len() - most);
            let _ = writeln!(out, "{:INDENT$}     {}", "", style.dim(&more));
        }
    }
    out
}
