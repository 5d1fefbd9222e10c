//! Cuts the text into tokens. A header's name has its colon; an alias its `@`; comments may stand in each other.

use crate::diag::SourceId;
use crate::text::tokens::{Tok, Token, cut, quoted, run};

const PUNCTUATION: [&str; 14] =
    ["--BODY--", "--END--", "--ABORT--", "!", "&", "|", "(", ")", "[", "]", "{", "}", ":", ","];

/// All tokens; the last one is the end.
pub fn tokens(source: SourceId, text: &str) -> Vec<Token<'_>> {
    cut(source, text, &PUNCTUATION, blank, |first, rest| match first {
        '"' => quoted(rest),
        c if c.is_ascii_alphabetic() || c == '_' || c == '@' => {
            let len = 1 + run(&rest[1..], |b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
            let len = len + usize::from(c != '@' && rest[len..].starts_with(':'));
            Some((Tok::Name(&rest[..len]), len))
        }
        _ => None,
    })
}

/// What the quotation says.
pub fn unescaped(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        out.push(if c == '\\' { chars.next().unwrap_or('\\') } else { c });
    }
    out
}

/// How long blanks and comments are.
fn blank(text: &str) -> usize {
    let bytes = text.as_bytes();
    let (mut at, mut open) = (0, 0);
    while at < bytes.len() {
        if bytes[at..].starts_with(b"/*") {
            open += 1;
            at += 2;
        } else if open > 0 && bytes[at..].starts_with(b"*/") {
            open -= 1;
            at += 2;
        } else if open > 0 || bytes[at].is_ascii_whitespace() {
            at += 1;
        } else {
            break;
        }
    }
    at
}
