//! Cuts a text into tokens.

use crate::diag::shorten;
use crate::diag::{SourceId, Span};

/// The kinds of token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tok<'a> {
    /// A name or a keyword.
    Name(&'a str),
    /// Digits.
    Number(&'a str),
    /// `8'd5`: width, base, digits.
    Bits(&'a str, char, &'a str),
    /// What stands between quotes, as it is written.
    Quoted(&'a str),
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
            Tok::Quoted(text) => format!("`\"{}\"`", shorten(text)),
            Tok::P(p) => format!("`{p}`"),
            Tok::Odd(c) => odd(c),
            Tok::End => "the end of the text".into(),
        }
    }
}

/// How a diagnostic names a character that belongs to no token.
pub fn odd(c: char) -> String {
    if c.is_ascii_graphic() { format!("the character `{c}`") } else { format!("the character U+{:04X}", u32::from(c)) }
}

/// A token in its place.
#[derive(Debug, Clone, Copy)]
pub struct Token<'a> {
    pub tok: Tok<'a>,
    pub span: Span,
}

/// A token and its length.
pub type Cut<'a> = (Tok<'a>, usize);

/// All tokens; the last one is the end. The language says how long the blanks and comments are that a text starts with, and which
/// token of its own it starts with, if that is neither digits nor punctuation. Of the punctuation, the longer ones come first.
pub fn cut<'a>(
    source: SourceId,
    text: &'a str,
    punctuation: &[&'static str],
    blank: impl Fn(&str) -> usize,
    own: impl Fn(char, &'a str) -> Option<Cut<'a>>,
) -> Vec<Token<'a>> {
    let mut all = vec![];
    let mut at = 0;
    let span = |start: usize, end: usize| Span { source, start: start as u32, end: end as u32 };
    loop {
        at += blank(&text[at..]);
        let rest = &text[at..];
        let Some(first) = rest.chars().next() else { break };
        let (tok, len) = own(first, rest).unwrap_or_else(|| match punctuation.iter().find(|p| rest.starts_with(**p)) {
            Some(p) => (Tok::P(p), p.len()),
            None if first.is_ascii_digit() => digits(rest),
            None => (Tok::Odd(first), first.len_utf8()),
        });
        all.push(Token { tok, span: span(at, at + len) });
        at += len;
    }
    all.push(Token { tok: Tok::End, span: span(text.len(), text.len()) });
    all
}

/// How many bytes at the start are like this.
pub fn run(text: &str, inside: impl Fn(u8) -> bool) -> usize {
    text.bytes().position(|b| !inside(b)).unwrap_or(text.len())
}

/// A number.
pub fn digits(rest: &str) -> Cut<'_> {
    let len = run(rest, |b| b.is_ascii_digit());
    (Tok::Number(&rest[..len]), len)
}

/// A name of letters, digits and `_`, if there is one; beside these it may start with, or contain, some more.
pub fn name<'a>(rest: &'a str, start: &str, inside: &str) -> Option<Cut<'a>> {
    let first = *rest.as_bytes().first()?;
    let starts = first.is_ascii_alphabetic() || first == b'_' || start.as_bytes().contains(&first);
    let len = run(rest, |b| b.is_ascii_alphanumeric() || b == b'_' || inside.as_bytes().contains(&b));
    starts.then(|| (Tok::Name(&rest[..len]), len))
}

/// What stands in double quotes, in which a backslash may stand before a quote; nothing if they are not closed.
pub fn quoted(rest: &str) -> Option<Cut<'_>> {
    let mut escaped = false;
    let end = rest[1..].find(|c| {
        let ends = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        ends
    })?;
    Some((Tok::Quoted(&rest[1..=end]), end + 2))
}

/// Blanks; and, if there is one, the byte order mark.
pub fn is_blank(c: char) -> bool {
    c.is_whitespace() || c == '\u{feff}'
}

/// How long the blanks and comments are, `// …` and `/* … */`, that a text starts with.
pub fn slashed(text: &str) -> usize {
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(is_blank);
        let comment = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |n| n + 2)
        } else {
            return text.len() - rest.len();
        };
        rest = &rest[comment..];
    }
}
