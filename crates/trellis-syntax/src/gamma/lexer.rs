//! Cuts a text into tokens. Words with hyphens are keywords only: `a-b` is a difference. `^word` is a name though `word` is a keyword.

use crate::diag::SourceId;
use crate::text::tokens::{Tok, Token, cut, name, quoted, slashed};

const PUNCTUATION: [&str; 43] = [
    "-o)-", ":=", "::", "->", "..", "/=", "!=", "==", "<=", ">=", "&&", "||", "+", "-", "*", "/", "%", "<", ">", "=",
    "!", "?", ":", ";", ",", ".", "(", ")", "[", "]", "{", "}", "@", "#", "^", "&", "|", "$", "\\", "~", "'", "`",
    "\"",
];

/// Keywords with a hyphen.
const HYPHENATED: [&str; 20] = [
    "scheduled-async",
    "order-based",
    "value-based",
    "top-down",
    "bottom-up",
    "on-the-fly",
    "beginning-of-step",
    "in-state",
    "full-step",
    "reset-other-queues",
    "reset-queues",
    "reset-queue",
    "minimum-orchestrating-period",
    "maximum-orchestrating-period",
    "state-coverage",
    "transition-coverage",
    "property-file",
    "query-file",
    "test-language",
    "no-operation",
];

/// All tokens; the last one is the end.
pub fn tokens(source: SourceId, text: &str) -> Vec<Token<'_>> {
    cut(source, text, &PUNCTUATION, slashed, |first, rest| {
        let ends = |word: &&&str| {
            let next = rest[word.len()..].bytes().next();
            !next.is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
        };
        if let Some(word) = HYPHENATED.iter().filter(|w| rest.starts_with(**w)).find(ends) {
            return Some((Tok::Name(&rest[..word.len()]), word.len()));
        }
        match first {
            '"' => quoted(rest),
            '^' => {
                let (_, len) = name(&rest[1..], "", "")?;
                Some((Tok::Name(&rest[..len + 1]), len + 1))
            }
            _ => name(rest, "", ""),
        }
    })
}
