//! Cuts the text into tokens. Names may contain `'` and `^`, and a quoted name is a name like any other.

use crate::cfa::lexer::{Tok, Token};
use crate::diag::{SourceId, Span};

/// The longer ones first.
const PUNCTUATION: &[&str] = &[
    ":=", "+=", "-=", "|-", "->", "=>", "!=", "<=", ">=", "<", ">", "=", "+", "-", "*", "/", "(", ")", "[", "]", "{",
    "}", ",", ";", ":", ".", "?", "|", "&", "~", "!",
];

/// All tokens; the last one is the end.
pub fn tokens(source: SourceId, text: &str) -> Vec<Token<'_>> {
    let mut all = vec![];
    let mut at = 0;
    loop {
        at = skip(text, at);
        let rest = &text[at..];
        let Some(first) = rest.chars().next() else { break };
        let run = |inside: &dyn Fn(u8) -> bool| rest.bytes().position(|b| !inside(b)).unwrap_or(rest.len());
        let (tok, len) = match first {
            c if c.is_ascii_alphabetic() || c == '_' => {
                let len = run(&|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'\'' | b'^'));
                (Tok::Name(&rest[..len]), len)
            }
            '0'..='9' => {
                let len = run(&|b| b.is_ascii_digit());
                (Tok::Number(&rest[..len]), len)
            }
            '\'' | '"' => match rest[1..].find([first, '\n']) {
                Some(len) if rest[1 + len..].starts_with(first) => (Tok::Quoted(&rest[1..1 + len]), len + 2),
                _ => (Tok::Odd(first), 1),
            },
            c => match PUNCTUATION.iter().find(|p| rest.starts_with(**p)) {
                Some(p) => (Tok::P(p), p.len()),
                None => (Tok::Odd(c), c.len_utf8()),
            },
        };
        all.push(Token { tok, span: Span { source, start: at as u32, end: (at + len) as u32 } });
        at += len;
    }
    let end = Span { source, start: text.len() as u32, end: text.len() as u32 };
    all.push(Token { tok: Tok::End, span: end });
    all
}

/// Over blanks and comments.
fn skip(text: &str, mut at: usize) -> usize {
    loop {
        let rest = &text[at..];
        let start = at;
        at += rest.len() - rest.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}').len();
        let rest = &text[at..];
        if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
        } else if rest.starts_with("/*") {
            at += rest.find("*/").map_or(rest.len(), |n| n + 2);
        } else if at == start {
            return at;
        }
    }
}
