//! Cuts a text into tokens, one at a time, so that a file of ten megabytes needs no list of them.
//!
//! Comments and blanks are skipped; the comments right above a query are kept for it. Characters that belong to no token
//! are reported in runs, not one by one. It knows no grammar: `process` and `select` are words like others.

use super::text::Text;
use super::token::{Kw, Punct, Tok, Token};
use crate::diag::Diagnostic;
use crate::text::errors::Errors;

/// The lexer.
pub struct Lexer<'a> {
    text: &'a Text<'a>,
    src: &'a str,
    at: usize,
    /// Where it began.
    start: usize,
    /// Whether `-->` is one token (in queries) or `--` and `>`.
    queries: bool,
    /// The comments since the last blank line or token, from the first to the end of the last.
    comment: Option<(usize, usize)>,
}

impl<'a> Lexer<'a> {
    /// Reads a text from `start` to `end`.
    pub fn new(text: &'a Text<'a>, queries: bool, start: usize, end: usize) -> Lexer<'a> {
        let src: &'a str = &text.text[..end];
        // A byte order mark is not part of the text.
        let at = if start == 0 && src.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { start };
        Lexer { text, src, at, start: at, queries, comment: None }
    }

    /// The words of the comment right above a token, without its marks.
    pub fn comment_above(&self, token: &Token<'_>) -> String {
        let (start, end) = token.comment;
        let lines = self.src[start..end].lines().map(|line| {
            let line = line.trim();
            let line = line.strip_prefix("/*").unwrap_or(line);
            let line = line.strip_suffix("*/").unwrap_or(line);
            line.trim_start_matches('/').trim_start_matches("* ").trim()
        });
        lines.filter(|l| !l.is_empty()).collect::<Vec<_>>().join("\n")
    }

    /// The next token.
    pub fn next(&mut self, errors: &mut Errors) -> Token<'a> {
        let mut first_on_line = self.at == 0;
        self.comment = None;
        loop {
            if errors.stopped() {
                self.at = self.src.len();
            }
            first_on_line |= self.skip_blanks(errors);
            let bytes = self.src.as_bytes();
            let Some(&b) = bytes.get(self.at) else {
                return self.token(Tok::Eof, self.at, first_on_line);
            };
            let start = self.at;
            let tok = match b {
                b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                    self.at += count(&bytes[start..], |b| b.is_ascii_alphanumeric() || b == b'_');
                    let word = &self.src[start..self.at];
                    Kw::from_text(word).map_or(Tok::Ident(word), Tok::Kw)
                }
                b'0'..=b'9' => self.number(),
                b'"' => self.string(errors),
                _ => match self.punct() {
                    Some(p) => Tok::P(p),
                    None => match self.junk(errors) {
                        Some(tok) => tok,
                        None => continue,
                    },
                },
            };
            return self.token(tok, start, first_on_line);
        }
    }

    fn token(&self, tok: Tok<'a>, start: usize, first_on_line: bool) -> Token<'a> {
        let comment = self.comment.unwrap_or((start, start));
        Token { tok, span: self.text.span(start, self.at), at: start, end: self.at, comment, first_on_line }
    }

    /// Skips blanks and comments; says whether a line ended.
    fn skip_blanks(&mut self, errors: &mut Errors) -> bool {
        let bytes = self.src.as_bytes();
        // A comment behind something on the same line is not about what comes next.
        let mut about_next = self.at == self.start;
        let mut line_ended = false;
        let mut newlines = 0;
        while let Some(&b) = bytes.get(self.at) {
            match b {
                b'\n' => {
                    line_ended = true;
                    about_next = true;
                    newlines += 1;
                    if newlines > 1 {
                        self.comment = None;
                    }
                    self.at += 1;
                }
                b' ' | b'\t' | b'\r' | 0x0b | 0x0c => self.at += 1,
                b'\\' => {
                    // A continued line: the backslash, blanks, and the end of the line.
                    let blanks = count(&bytes[self.at + 1..], |b| matches!(b, b' ' | b'\t' | b'\r'));
                    match bytes.get(self.at + 1 + blanks) {
                        Some(b'\n') => self.at += blanks + 2,
                        _ => break,
                    }
                }
                b'/' if bytes.get(self.at + 1) == Some(&b'/') => {
                    let start = self.at;
                    let rest = &self.src[start..];
                    self.at += rest.find('\n').unwrap_or(rest.len());
                    if about_next {
                        self.note_comment(start);
                    }
                    newlines = 0;
                }
                b'/' if bytes.get(self.at + 1) == Some(&b'*') => {
                    let start = self.at;
                    match self.src[start + 2..].find("*/") {
                        Some(len) => self.at += len + 4,
                        None => {
                            self.at = self.src.len();
                            errors.push(
                                Diagnostic::error(self.text.span(start, start + 2), "this comment is never closed")
                                    .label("opened here")
                                    .help("close it with `*/`"),
                            );
                        }
                    }
                    if about_next {
                        self.note_comment(start);
                    }
                    newlines = 0;
                }
                _ => break,
            }
        }
        line_ended
    }

    fn note_comment(&mut self, start: usize) {
        let first = self.comment.map_or(start, |(first, _)| first);
        self.comment = Some((first, self.at));
    }

    fn number(&mut self) -> Tok<'a> {
        let bytes = self.src.as_bytes();
        let start = self.at;
        let digit = |b: u8| b.is_ascii_digit();
        self.at += count(&bytes[self.at..], digit);
        let mut float = false;
        if bytes.get(self.at) == Some(&b'.') && bytes.get(self.at + 1).is_some_and(u8::is_ascii_digit) {
            float = true;
            self.at += 1 + count(&bytes[self.at + 1..], digit);
        }
        if matches!(bytes.get(self.at), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(self.at + 1), Some(b'+' | b'-')));
            let digits = count(&bytes[(self.at + 1 + sign).min(bytes.len())..], digit);
            if digits > 0 {
                float = true;
                self.at += 1 + sign + digits;
            }
        }
        let text = &self.src[start..self.at];
        if float { Tok::Float(text) } else { Tok::Int(text.parse().ok()) }
    }

    /// A string; if its quote is never closed it ends with its line, which is reported.
    fn string(&mut self, errors: &mut Errors) -> Tok<'a> {
        let start = self.at;
        let body = &self.src[start + 1..];
        match body.find(['"', '\n']) {
            Some(len) if body.as_bytes()[len] == b'"' => {
                self.at = start + len + 2;
                Tok::Str(&body[..len])
            }
            end => {
                let len = end.unwrap_or(body.len());
                self.at = start + 1 + len;
                errors.push(
                    Diagnostic::error(self.text.span(start, start + 1), "this string is never closed")
                        .label("opened here")
                        .help("close it with `\"` on the same line"),
                );
                Tok::Str(&body[..len])
            }
        }
    }

    fn punct(&mut self) -> Option<Punct> {
        let bytes = &self.src.as_bytes()[self.at..];
        let longest = if self.queries && bytes.starts_with(b"-->") { 3 } else { 0 };
        for len in [3, 2, 1] {
            let Some(head) = bytes.get(..len) else { continue };
            let Ok(head) = std::str::from_utf8(head) else { continue };
            match Punct::from_text(head) {
                Some(Punct::LeadsTo) if longest != 3 => {}
                Some(p) => {
                    self.at += len;
                    return Some(p);
                }
                None => {}
            }
        }
        None
    }

    /// A run of characters that belong to no token; a word in foreign letters still passes for a name.
    fn junk(&mut self, errors: &mut Errors) -> Option<Tok<'a>> {
        let rest = &self.src[self.at..];
        let first = rest.chars().next().unwrap_or('\0');
        if let Some((meant, help)) = typographic(first) {
            let span = self.text.span(self.at, self.at + first.len_utf8());
            self.at += first.len_utf8();
            let message = format!("found the character `{first}` (U+{:04X}), which has no meaning here", first as u32);
            errors.push(Diagnostic::error(span, message).help(help));
            return meant.map(Tok::P);
        }
        let word = first.is_alphabetic();
        let ends = |c: char| if word { !c.is_alphanumeric() && c != '_' } else { is_known(c) || c.is_alphabetic() };
        let len = rest[first.len_utf8()..].find(ends).map_or(rest.len(), |i| i + first.len_utf8());
        let span = self.text.span(self.at, self.at + len);
        self.at += len;
        let found = match first {
            '\0' => "a NUL byte".to_string(),
            c if c.is_control() || (!c.is_ascii() && !word) => format!("the character U+{:04X}", c as u32),
            c => format!("the character `{c}`"),
        };
        let error = Diagnostic::error(span, format!("found {found}, which has no meaning here"));
        errors.push(match first {
            _ if word => error.label("not an ASCII letter").help("names are made of a-z, A-Z, 0-9 and `_`"),
            '\\' => error
                .label("not at the end of a line")
                .help("`\\` continues a query on the next line; nothing may follow it"),
            '\0' => error.help("is this a text file? UTF-16 must be converted to UTF-8"),
            '~' => error.help("there is no bitwise not; write `-x - 1`"),
            '@' | '$' | '`' => error.help("remove it"),
            _ => error,
        });
        word.then(|| Tok::Ident(&rest[..len]))
    }
}

/// What a sign from a text processor or a textbook stands for.
fn typographic(c: char) -> Option<(Option<Punct>, &'static str)> {
    Some(match c {
        '−' | '–' | '—' => (Some(Punct::Minus), "write `-`"),
        '×' | '·' | '∗' => (Some(Punct::Star), "write `*`"),
        '÷' => (Some(Punct::Slash), "write `/`"),
        '∧' => (Some(Punct::AndAnd), "write `&&`"),
        '∨' => (Some(Punct::OrOr), "write `||`"),
        '¬' => (Some(Punct::Not), "write `!`"),
        '≤' => (Some(Punct::Le), "write `<=`"),
        '≥' => (Some(Punct::Ge), "write `>=`"),
        '≠' => (Some(Punct::Ne), "write `!=`"),
        '→' => (Some(Punct::Arrow), "write `->`"),
        '“' | '”' | '„' | '«' | '»' => (None, "write `\"`"),
        '\u{a0}' => (None, "this is a space that does not break lines; write an ordinary one"),
        _ => return None,
    })
}

/// Whether a character can be in a token or between tokens.
fn is_known(c: char) -> bool {
    c.is_ascii_alphanumeric() || c.is_ascii_whitespace() || "_\"()[]{};,.:?'-=+*/%&|^<>!#".contains(c)
}

fn count(bytes: &[u8], mut pred: impl FnMut(u8) -> bool) -> usize {
    bytes.iter().position(|b| !pred(*b)).unwrap_or(bytes.len())
}
