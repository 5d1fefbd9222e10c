//! Cuts the text into tokens.

use crate::diag::shorten;
use crate::diag::{SourceId, Span};

/// The kinds of token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tok<'a> {
    /// A name or a keyword.
    Name(&'a str),
    /// A name in double quotes, as it is written between them.
    Quoted(&'a str),
    /// Digits.
    Number(&'a str),
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
            Tok::Name(text) | Tok::Number(text) | Tok::Quoted(text) => format!("`{}`", shorten(text)),
            Tok::P(p) => format!("`{p}`"),
            Tok::Odd(c) if c.is_ascii_graphic() => format!("the character `{c}`"),
            Tok::Odd(c) => format!("the character U+{:04X}", u32::from(c)),
            Tok::End => "the end of the file".into(),
        }
    }
}

/// A token in its place.
#[derive(Debug, Clone, Copy)]
pub struct Token<'a> {
    pub tok: Tok<'a>,
    pub span: Span,
}

const PUNCTUATION: [&str; 10] = ["->", ">=", "=", ",", ";", "'", "[", "]", "+", "-"];

/// All tokens of a system; the last one is the end.
pub fn tokens(source: SourceId, text: &str) -> Vec<Token<'_>> {
    cut(source, text, false)
}

/// The same of what is asked about a system, whose variables may have any names: what does not look like a name is written in quotes.
pub fn question(source: SourceId, text: &str) -> Vec<Token<'_>> {
    cut(source, text, true)
}

/// A name that was in quotes.
pub fn unquoted(raw: &str) -> Option<String> {
    let mut name = String::new();
    let mut chars = raw.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            name.push(c);
            continue;
        }
        name.push(match chars.next()? {
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            '0' => '\0',
            c @ ('"' | '\'' | '\\') => c,
            'u' => {
                let rest = chars.as_str().strip_prefix('{')?;
                let (digits, rest) = rest.split_once('}')?;
                chars = rest.chars();
                char::from_u32(u32::from_str_radix(digits, 16).ok()?)?
            }
            _ => return None,
        });
    }
    Some(name)
}

/// What no name without quotes contains.
fn apart(c: char) -> bool {
    c.is_whitespace() || c == '\u{feff}' || ",;=<>'\"[]()#".contains(c)
}

fn cut(source: SourceId, text: &str, any_name: bool) -> Vec<Token<'_>> {
    let mut all = vec![];
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let run = |inside: fn(u8) -> bool| rest.bytes().position(|b| !inside(b)).unwrap_or(rest.len());
        let (tok, len) = match first {
            '#' => {
                at += rest.find('\n').unwrap_or(rest.len());
                continue;
            }
            c if c.is_whitespace() || c == '\u{feff}' => {
                at += c.len_utf8();
                continue;
            }
            '"' if any_name => {
                let mut escaped = false;
                let end = rest[1..].find(|c| {
                    let ends = c == '"' && !escaped;
                    escaped = c == '\\' && !escaped;
                    ends
                });
                match end {
                    Some(end) => (Tok::Quoted(&rest[1..=end]), end + 2),
                    None => (Tok::Odd('"'), 1),
                }
            }
            c if any_name && !apart(c) => {
                let len = rest.find(apart).unwrap_or(rest.len());
                let word = &rest[..len];
                let digits = word.bytes().all(|b| b.is_ascii_digit());
                (if digits { Tok::Number(word) } else { Tok::Name(word) }, len)
            }
            'A'..='Z' | 'a'..='z' | '_' => {
                let len = run(|b| b.is_ascii_alphanumeric() || b == b'_');
                (Tok::Name(&rest[..len]), len)
            }
            '0'..='9' => {
                let len = run(|b| b.is_ascii_digit());
                (Tok::Number(&rest[..len]), len)
            }
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
