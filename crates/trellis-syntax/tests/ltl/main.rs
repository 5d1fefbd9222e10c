//! Formulas of linear temporal logic, and automata in the Hanoi format.
//!
//! `TRELLIS_RUNS=n` damages so many texts.

mod automata;
mod formulas;
mod models;
mod refused;

use trellis_syntax::diag::{Diagnostic, Sources};

/// The errors as `column: message`, with the help behind it.
pub fn shown(sources: &Sources, complaints: &[Diagnostic]) -> Vec<String> {
    let one = |d: &Diagnostic| {
        let at = d.span.map_or(0, |span| sources.line_col(span).1);
        let help = d.help.as_ref().map_or(String::new(), |h| format!(" ({h})"));
        format!("{at}: {}{help}", d.message)
    };
    complaints.iter().map(one).collect()
}

/// Numbers that are the same every time.
pub struct Random(pub u64);

impl Random {
    /// Below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n.max(1)
    }

    /// A text with a few pieces taken away, doubled or moved.
    pub fn damaged(&mut self, text: &str, pieces: &[&str]) -> String {
        let mut chars: Vec<char> = text.chars().collect();
        for _ in 0..1 + self.below(3) {
            let at = self.below(chars.len() + 1);
            match self.below(4) {
                0 => chars.truncate(at),
                1 if at < chars.len() => {
                    chars.remove(at);
                }
                _ => {
                    let piece = pieces[self.below(pieces.len())];
                    chars.splice(at..at, piece.chars());
                }
            }
        }
        chars.into_iter().collect()
    }
}

/// How many: what the environment says, or few.
pub fn runs(few: u64) -> u64 {
    std::env::var("TRELLIS_RUNS").ok().and_then(|n| n.parse().ok()).unwrap_or(few)
}
