//! Cuts the text into tokens. Names may contain `'` and `^`, and a quoted name is a name like any other.

use crate::diag::SourceId;
use crate::text::tokens::{Tok, Token, cut, name, slashed};

const PUNCTUATION: [&str; 31] = [
    ":=", "+=", "-=", "|-", "->", "=>", "!=", "<=", ">=", "<", ">", "=", "+", "-", "*", "/", "(", ")", "[", "]", "{",
    "}", ",", ";", ":", ".", "?", "|", "&", "~", "!",
];

/// All tokens; the last one is the end.
pub fn tokens(source: SourceId, text: &str) -> Vec<Token<'_>> {
    cut(source, text, &PUNCTUATION, slashed, |first, rest| match first {
        '\'' | '"' => {
            let len = rest[1..].find([first, '\n'])?;
            rest[1 + len..].starts_with(first).then(|| (Tok::Quoted(&rest[1..1 + len]), len + 2))
        }
        _ => name(rest, "", "'^"),
    })
}
