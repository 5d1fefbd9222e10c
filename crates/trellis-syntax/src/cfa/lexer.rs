//! Cuts the text into tokens.

use crate::diag::{SourceId, Span};
use crate::uppaal::token::shorten;

/// The kinds of token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tok<'a> {
    /// A name or a keyword.
    Name(&'a str),
    /// Digits.
    Number(&'a str),
    /// `8'd5`: width, base, digits.
    Bits(&'a str, char, &'a str),
    /// Punctuation.
    P(&'static str),
    /// A character that belongs to no token.
    Odd(char),
    /// The end.
    End,
}

impl Tok<'_> {
    /// How a diagnostic names it.
    pub fn describe(self) -> String {
        match self {
            Tok::Name(text) | Tok::Number(text) => format!("`{}`", shorten(text)),
            Tok::Bits(width, base, digits) => format!("`{}`", shorten(&format!("{width}'{base}{digits}"))),
            Tok::P(p) => format!("`{p}`"),
            Tok::Odd(c) if c.is_ascii_graphic() => format!("the character `{c}`"),
            Tok::Odd(c) => format!("the character U+{:04X}", u32::from(c)),
            Tok::End => "the end of the text".into(),
        }
    }
}

/// A token in its place.
#[derive(Debug, Clone, Copy)]
pub struct Token<'a> {
    pub tok: Tok<'a>,
    pub span: Span,
}

/// The longer ones first.
const PUNCTUATION: [&str; 25] = [
    "->", "<-", ":=", "<=", ">=", "/=", "++", "<", ">", "=", "+", "-", "*", "/", "%", "(", ")", "[", "]", "{", "}",
    ",", ":", "'", ".",
];

/// All tokens; the last one is the end.
pub fn tokens(source: SourceId, text: &str) -> Vec<Token<'_>> {
    let mut all = vec![];
    let mut at = 0;
    loop {
        at = skip(text, at);
        let rest = &text[at..];
        let Some(first) = rest.chars().next() else { break };
        let run = |from: usize, inside: fn(u8) -> bool| {
            from + rest.as_bytes()[from..].iter().position(|b| !inside(*b)).unwrap_or(rest.len() - from)
        };
        let word = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
        let (tok, len) = match first {
            'a'..='z' | 'A'..='Z' | '_' => {
                let len = run(0, word);
                (Tok::Name(&rest[..len]), len)
            }
            '0'..='9' => number(rest, run(0, |b| b.is_ascii_digit())),
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

/// `5`, or `8'd5`.
fn number(rest: &str, width: usize) -> (Tok<'_>, usize) {
    let plain = (Tok::Number(&rest[..width]), width);
    let mut after = rest[width..].chars();
    let (Some('\''), Some(base @ ('b' | 'd' | 'x'))) = (after.next(), after.next()) else { return plain };
    let start = width + 2;
    let signed = usize::from(base == 'd' && rest[start..].starts_with(['+', '-']));
    let digit = |c: char| match base {
        'x' => c.is_ascii_hexdigit(),
        _ => c.is_ascii_digit(),
    };
    let digits = rest[start + signed..].find(|c| !digit(c)).unwrap_or(rest.len() - start - signed);
    if digits == 0 {
        return plain;
    }
    let end = start + signed + digits;
    (Tok::Bits(&rest[..width], base, &rest[start..end]), end)
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
