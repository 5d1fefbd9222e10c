//! Cuts the text into tokens.

use crate::diag::{SourceId, shorten};
use crate::text::tokens::{Tok, Token, cut, is_blank, name, quoted};

const PUNCTUATION: [&str; 11] = ["->", ">=", "=", ",", ";", "'", "[", "]", "+", "-", ":"];

/// How a diagnostic names a token.
pub fn describe(tok: Tok<'_>) -> String {
    match tok {
        Tok::Quoted(text) => format!("`{}`", shorten(text)),
        Tok::End => "the end of the file".into(),
        tok => tok.describe(),
    }
}

/// All tokens of a system; the last one is the end.
pub fn tokens(source: SourceId, text: &str) -> Vec<Token<'_>> {
    cut(source, text, &PUNCTUATION, blank, |_, rest| name(rest, "", ""))
}

/// The same of what is asked about a system, whose variables may have any names: what does not look like a name is written in quotes.
pub fn question(source: SourceId, text: &str) -> Vec<Token<'_>> {
    cut(source, text, &PUNCTUATION, blank, |first, rest| match first {
        '"' => quoted(rest),
        c if apart(c) => None,
        _ => {
            let len = rest.find(apart).unwrap_or(rest.len());
            let word = &rest[..len];
            let digits = word.bytes().all(|b| b.is_ascii_digit());
            Some((if digits { Tok::Number(word) } else { Tok::Name(word) }, len))
        }
    })
}

/// How long blanks and comments are: `# …`.
fn blank(text: &str) -> usize {
    let mut rest = text.trim_start_matches(is_blank);
    while rest.starts_with('#') {
        rest = rest[rest.find('\n').unwrap_or(rest.len())..].trim_start_matches(is_blank);
    }
    text.len() - rest.len()
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
    is_blank(c) || ",;=<>'\"[]()#".contains(c)
}
