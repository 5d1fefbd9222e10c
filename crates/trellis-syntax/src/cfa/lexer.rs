//! Cuts the text into tokens. Beside plain numbers there are bit-vectors.

use crate::diag::SourceId;
use crate::text::tokens::{Cut, Tok, Token, cut, digits, name, slashed};

const PUNCTUATION: [&str; 25] = [
    "->", "<-", ":=", "<=", ">=", "/=", "++", "<", ">", "=", "+", "-", "*", "/", "%", "(", ")", "[", "]", "{", "}",
    ",", ":", "'", ".",
];

/// All tokens; the last one is the end.
pub fn tokens(source: SourceId, text: &str) -> Vec<Token<'_>> {
    cut(source, text, &PUNCTUATION, slashed, |_, rest| name(rest, "", "").or_else(|| bits(rest)))
}

/// `8'd5`
fn bits(rest: &str) -> Option<Cut<'_>> {
    let (_, width) = digits(rest);
    let mut after = rest[width..].chars();
    let (Some('\''), Some(base @ ('b' | 'd' | 'x')), 1..) = (after.next(), after.next(), width) else { return None };
    let start = width + 2;
    let signed = usize::from(base == 'd' && rest[start..].starts_with(['+', '-']));
    let digit = |c: char| if base == 'x' { c.is_ascii_hexdigit() } else { c.is_ascii_digit() };
    let len = rest[start + signed..].find(|c| !digit(c)).unwrap_or(rest.len() - start - signed);
    let end = start + signed + len;
    (len > 0).then(|| (Tok::Bits(&rest[..width], base, &rest[start..end]), end))
}
