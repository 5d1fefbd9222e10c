//! Cuts a TChecker file into tokens. Outside braces the end of a line is a token and `#` starts a comment; the value of
//! an attribute is a stretch of text up to the next `:` or `}`, in which the same lexer finds an expression or statements.

use crate::diag::shorten;
use crate::diag::{SourceId, Span};

/// The kinds of token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tok<'a> {
    /// A name or a keyword: letters, digits, `_` and `.`.
    Name(&'a str),
    /// A number; `None` if it does not fit 64 bits.
    Int(Option<i64>),
    /// Punctuation.
    P(&'static str),
    /// A character that belongs to no token.
    Odd(char),
    /// The end of a line.
    Line,
    /// The end of what is read.
    End,
}

impl Tok<'_> {
    /// How a diagnostic names it.
    pub fn describe(self) -> String {
        match self {
            Tok::Name(name) => format!("`{}`", shorten(name)),
            Tok::Int(Some(n)) => format!("`{n}`"),
            Tok::Int(None) => "a very large number".into(),
            Tok::P(p) => format!("`{p}`"),
            Tok::Odd(c) if c.is_ascii_graphic() => format!("the character `{c}`"),
            Tok::Odd(c) => format!("the character U+{:04X}", u32::from(c)),
            Tok::Line => "the end of the line".into(),
            Tok::End => "the end of the text".into(),
        }
    }
}

/// A token in its place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token<'a> {
    pub tok: Tok<'a>,
    pub span: Span,
}

/// The longer ones first.
const PUNCTUATION: [&str; 26] = [
    "&&", "||", "==", "!=", "<=", ">=", ":=", "<", ">", "=", "!", "+", "-", "*", "/", "%", "(", ")", "[", "]", "{",
    "}", ";", ":", "@", "?",
];

/// The lexer.
pub(super) struct Lexer<'a> {
    text: &'a str,
    at: usize,
    end: usize,
    source: SourceId,
    /// Whether lines and comments count.
    lines: bool,
}

impl<'a> Lexer<'a> {
    /// Reads declarations.
    pub fn new(source: SourceId, text: &'a str) -> Lexer<'a> {
        let at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        Lexer { text, at, end: text.len(), source, lines: true }
    }

    /// Reads the value of an attribute.
    pub fn value_of(&self, value: Span) -> Lexer<'a> {
        Lexer { text: self.text, at: value.start as usize, end: value.end as usize, source: self.source, lines: false }
    }

    pub fn span(&self, start: usize, end: usize) -> Span {
        Span { source: self.source, start: start as u32, end: end as u32 }
    }

    pub fn slice(&self, span: Span) -> &'a str {
        &self.text[span.start as usize..span.end as usize]
    }

    /// Goes back to where this place is.
    pub fn rewind(&mut self, at: u32) {
        self.at = at as usize;
    }

    /// Whether lines count from here on.
    pub fn lines(&mut self, lines: bool) {
        self.lines = lines;
    }

    /// The text up to the next `:`, brace or `#`, without the blanks around it.
    pub fn value(&mut self) -> Span {
        let rest = &self.text[self.at..self.end];
        let end = self.at + rest.find([':', '{', '}', '#']).unwrap_or(rest.len());
        let value = self.text[self.at..end].trim_end();
        let start = self.at + (value.len() - value.trim_start().len());
        let span = self.span(start, (self.at + value.len()).max(start));
        self.at = end;
        span
    }

    /// Skips to the end of the line.
    pub fn skip_line(&mut self) {
        let rest = &self.text[self.at..self.end];
        self.at += rest.find('\n').unwrap_or(rest.len());
    }

    pub fn next(&mut self) -> Token<'a> {
        loop {
            let rest = &self.text[self.at..self.end];
            let blank = |c: char| matches!(c, ' ' | '\t' | '\r') || (c == '\n' && !self.lines);
            self.at += rest.find(|c| !blank(c)).unwrap_or(rest.len());
            if self.lines && self.text[self.at..self.end].starts_with('#') {
                self.skip_line();
            } else {
                break;
            }
        }
        let start = self.at;
        let rest = &self.text[start..self.end];
        let Some(first) = rest.chars().next() else {
            return Token { tok: Tok::End, span: self.span(start, start) };
        };
        let run = |inside: fn(u8) -> bool| rest.bytes().position(|b| !inside(b)).unwrap_or(rest.len());
        let (tok, len) = match first {
            '\n' => (Tok::Line, 1),
            'a'..='z' | 'A'..='Z' | '_' => {
                let len = run(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'.');
                (Tok::Name(&rest[..len]), len)
            }
            '0'..='9' => {
                let len = run(|b| b.is_ascii_digit());
                (Tok::Int(rest[..len].parse().ok()), len)
            }
            c => match PUNCTUATION.iter().find(|p| rest.starts_with(**p)) {
                Some(p) => (Tok::P(p), p.len()),
                None => (Tok::Odd(c), c.len_utf8()),
            },
        };
        self.at = start + len;
        Token { tok, span: self.span(start, start + len) }
    }
}
