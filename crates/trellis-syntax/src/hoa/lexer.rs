//! Cuts the text into tokens. A header's name has its colon; an alias its `@`.

use crate::cfa::lexer::{Tok, Token};
use crate::diag::{SourceId, Span};

const PUNCTUATION: [&str; 14] =
    ["--BODY--", "--END--", "--ABORT--", "!", "&", "|", "(", ")", "[", "]", "{", "}", ":", ","];

/// All tokens; the last one is the end.
pub fn tokens(source: SourceId, text: &str) -> Vec<Token<'_>> {
    let mut all = vec![];
    let mut at = 0;
    loop {
        at = skip(text, at);
        let rest = &text[at..];
        let Some(first) = rest.chars().next() else { break };
        let run =
            |inside: &dyn Fn(u8) -> bool| rest.bytes().skip(1).position(|b| !inside(b)).map_or(rest.len(), |n| n + 1);
        let word = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
        let (tok, len) = match first {
            c if c.is_ascii_alphabetic() || c == '_' || c == '@' => {
                let len = run(&word);
                let len = len + usize::from(c != '@' && rest[len..].starts_with(':'));
                (Tok::Name(&rest[..len]), len)
            }
            '0'..='9' => {
                let len = run(&|b| b.is_ascii_digit());
                (Tok::Number(&rest[..len]), len)
            }
            '"' => match closing(rest) {
                Some(end) => (Tok::Quoted(&rest[1..end]), end + 1),
                None => (Tok::Odd('"'), 1),
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

/// Where the quotation ends that starts here.
fn closing(rest: &str) -> Option<usize> {
    let mut escaped = false;
    rest.bytes().enumerate().skip(1).find_map(|(n, b)| {
        let end = b == b'"' && !escaped;
        escaped = b == b'\\' && !escaped;
        end.then_some(n)
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

/// Over blanks and comments, which may stand in each other.
fn skip(text: &str, mut at: usize) -> usize {
    let bytes = text.as_bytes();
    let mut open = 0;
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
