//! Parses large files in pieces, two at a time.
//!
//! What makes C hard to cut is that a name may be a type. So everything up to the last `typedef` at file scope belongs to all
//! pieces; what comes after it has no new types (those declared inside functions stay there). A piece keeps its place in the text:
//! what comes before it is blanked out. More pieces than threads, because what the parser remembers of a piece is looked up faster
//! if it is small.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use lang_c::ast::TranslationUnit;
use lang_c::driver::{Config, Flavor, parse_preprocessed};

use super::{Options, STACK};

/// Smaller files are parsed in one piece.
const LARGE: usize = 1 << 20;
/// Into how many pieces the others are cut.
const PIECES: usize = 16;

/// Why there is no tree.
pub enum Failed {
    /// The offset of what the parser does not expect, and the text.
    Syntax(usize, String),
    /// It took longer than this.
    Late(Duration),
}

/// Parses a file, in a thread of its own: there are texts with which the parser does not come to an end, and nothing can stop it
/// then. The thread that is left behind ends with the process.
pub fn parse(code: String, options: &Options) -> Result<TranslationUnit, Failed> {
    let limit = options.at_most(Duration::from_secs(60 + (code.len() >> 15) as u64));
    let (sender, receiver) = channel();
    let text = code.clone();
    let work = move || {
        let _ = sender.send(parse_whole(&text));
    };
    let Ok(thread) = std::thread::Builder::new().stack_size(STACK).spawn(work) else {
        // No thread to be had.
        return parse_whole(&code).map_err(|at| Failed::Syntax(at, code));
    };
    match receiver.recv_timeout(limit) {
        Ok(parsed) => parsed.map_err(|at| Failed::Syntax(at, code)),
        Err(RecvTimeoutError::Timeout) => Err(Failed::Late(limit)),
        Err(RecvTimeoutError::Disconnected) => match thread.join() {
            Err(panic) => std::panic::resume_unwind(panic),
            Ok(()) => Err(Failed::Late(limit)),
        },
    }
}

fn parse_whole(code: &str) -> Result<TranslationUnit, usize> {
    match cuts(code, LARGE) {
        // Before anything is refused it is looked at whole: a cut may have been a bad one.
        Some(cuts) => parse_pieces(code, cuts).or_else(|_| parse_piece(code.to_string())),
        None => parse_piece(code.to_string()),
    }
}

fn parse_piece(code: String) -> Result<TranslationUnit, usize> {
    let config = Config { cpp_command: String::new(), cpp_options: vec![], flavor: Flavor::GnuC11 };
    match parse_preprocessed(&config, code) {
        Ok(parsed) => Ok(parsed.unit),
        Err(error) => Err(error.offset),
    }
}

/// Parses the types with each of the pieces that `ends` cut off.
fn parse_pieces(code: &str, (types, ends): (usize, Vec<usize>)) -> Result<TranslationUnit, usize> {
    let piece = |k: usize| {
        let start = if k == 0 { types } else { ends[k - 1] };
        let piece = format!("{}{}{}", &code[..types], " ".repeat(start - types), &code[start..ends[k]]);
        let TranslationUnit(mut items) = parse_piece(piece)?;
        items.retain(|item| k == 0 || item.span.start >= types);
        Ok(items)
    };
    // Each thread takes every other piece, and stops where it fails: the text is looked at whole then.
    let every_other = |first: usize| (first..ends.len()).step_by(2).map(piece).collect::<Result<Vec<_>, usize>>();
    let (even, odd) = std::thread::scope(|scope| {
        let other = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, || every_other(1));
        let even = every_other(0);
        match other.map(|t| t.join()) {
            Ok(Ok(odd)) => (even, odd),
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            // No thread to be had.
            Err(_) => (even, every_other(1)),
        }
    });
    let (even, mut odd) = (even?, odd?.into_iter());
    let mut all = vec![];
    for items in even {
        all.extend(items);
        all.extend(odd.next().unwrap_or_default());
    }
    Ok(TranslationUnit(all))
}

/// Where the types end, and the pieces of the rest, all between two declarations; none if it is not worth it.
fn cuts(code: &str, large: usize) -> Option<(usize, Vec<usize>)> {
    if code.len() < large {
        return None;
    }
    let bytes = code.as_bytes();
    // After `)` a brace at file scope starts the body of a function; another may be followed by what it declares.
    let (mut depth, mut i, mut types, mut typedef, mut body) = (0usize, 0, 0, false, false);
    let mut ends = vec![];
    while i < bytes.len() {
        let start = i;
        i += 1;
        match bytes[start] {
            quote @ (b'"' | b'\'') => i = super::preprocess::end_of_quoted(bytes, start, quote),
            b'#' => i = code[start..].find('\n').map_or(bytes.len(), |n| start + n),
            b'{' if depth == 0 => {
                body = code[..start].trim_end().ends_with(')');
                depth = 1;
            }
            b'{' | b'(' | b'[' => depth += 1,
            b'}' if depth == 1 && body => {
                depth = 0;
                ends.push(i);
            }
            b'}' | b')' | b']' => depth = depth.saturating_sub(1),
            b';' if depth == 0 => {
                if std::mem::take(&mut typedef) {
                    types = i;
                    ends.clear();
                }
                ends.push(i);
            }
            b if b.is_ascii_alphanumeric() || b == b'_' => {
                while i < bytes.len() && (bytes[i].is_ascii_alphanumeric() || bytes[i] == b'_') {
                    i += 1;
                }
                typedef |= depth == 0 && &code[start..i] == "typedef";
            }
            _ => {}
        }
    }
    let length = (code.len() - types) / PIECES;
    let mut pieces = vec![];
    for end in ends {
        if end >= types + length * (pieces.len() + 1) && pieces.len() < PIECES - 1 {
            pieces.push(end);
        }
    }
    pieces.push(code.len());
    (types < code.len() / 4 && pieces.len() > 1).then_some((types, pieces))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_make_the_same_tree() {
        let mut code = String::from("typedef int number;\nstruct s { number a; } global;\n");
        for n in 0..200 {
            code.push_str(&format!(
                "number f{n}(number x) {{ if (x > {n}) {{ return (number) x; }} return '{{' + x; }}\n"
            ));
            code.push_str(&format!(
                "static struct s v{n};\nint g{n}(void) {{ typedef char number; number c = 1; return c; }}\n"
            ));
        }
        let (types, ends) = cuts(&code, 0).expect("worth it");
        assert!(types < 30 && ends.len() == PIECES && ends.is_sorted());
        let longest = ends.windows(2).map(|w| w[1] - w[0]).max();
        assert!(longest < Some(code.len() / PIECES * 2));
        let whole = parse_piece(code.clone());
        assert_eq!(parse_pieces(&code, (types, ends.clone())), whole);
        code.push_str("int wrong( { }\n");
        let ends = [&ends[..PIECES - 1], &[code.len()]].concat();
        assert_eq!(parse_pieces(&code, (types, ends)), Err(code.rfind('{').expect("there")));
    }
}
