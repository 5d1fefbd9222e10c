//! Cuts the text into tokens.

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
    /// What stands between double quotes.
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

/// What tells the languages apart.
pub struct Dialect {
    /// Beside letters, digits and `_`, what a name may contain; all but the dot also at its start.
    pub in_names: &'static [u8],
    /// The longer ones first.
    pub punctuation: &'static [&'static str],
    /// Are there literals like `8'd5`?
    pub bits: bool,
    /// Are there texts in double quotes?
    pub quotes: bool,
}

/// Control-flow automata.
pub const CFA: Dialect = Dialect {
    in_names: &[],
    punctuation: &[
        "->", "<-", ":=", "<=", ">=", "/=", "++", "<", ">", "=", "+", "-", "*", "/", "%", "(", ")", "[", "]", "{", "}",
        ",", ":", "'", ".",
    ],
    bits: true,
    quotes: false,
};

/// All tokens; the last one is the end.
pub fn tokens<'a>(source: SourceId, text: &'a str, dialect: &Dialect) -> Vec<Token<'a>> {
    let mut all = vec![];
    let mut at = 0;
    loop {
        at = skip(text, at);
        let rest = &text[at..];
        let Some(first) = rest.chars().next() else { break };
        let run = |inside: &dyn Fn(u8) -> bool| rest.bytes().position(|b| !inside(b)).unwrap_or(rest.len());
        let more = |b: u8| dialect.in_names.contains(&b);
        let (tok, len) = match first {
            c if c.is_ascii_alphabetic() || c == '_' || (c != '.' && c.is_ascii() && more(c as u8)) => {
                let len = run(&|b| b.is_ascii_alphanumeric() || b == b'_' || more(b));
                (Tok::Name(&rest[..len]), len)
            }
            '0'..='9' => {
                let len = run(&|b| b.is_ascii_digit());
                if dialect.bits { number(rest, len) } else { (Tok::Number(&rest[..len]), len) }
            }
            '"' if dialect.quotes && rest[1..].contains('"') => {
                let len = rest[1..].find('"').unwrap_or(0);
                (Tok::Quoted(&rest[1..1 + len]), len + 2)
            }
            c => match dialect.punctuation.iter().find(|p| rest.starts_with(**p)) {
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
