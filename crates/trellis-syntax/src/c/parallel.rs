//! Parses large files in two pieces side by side.
//!
//! What makes C hard to cut is that a name may be a type. So everything up to the last `typedef` at file scope belongs to both
//! pieces; what comes after it has no new types (those declared inside functions stay there). A piece keeps its place in the text:
//! what is not its own is blanked out.

use lang_c::ast::TranslationUnit;
use lang_c::driver::{Config, Flavor, parse_preprocessed};

use super::STACK;

/// Smaller files are parsed in one piece.
const LARGE: usize = 1 << 20;

/// Parses a file; or the offset of what the parser does not expect.
pub fn parse(code: String) -> Result<TranslationUnit, (usize, String)> {
    let parsed = match cuts(&code, LARGE) {
        // Before anything is refused it is looked at whole: a cut may have been a bad one.
        Some(cuts) => parse_pieces(&code, cuts).or_else(|_| parse_piece(code.clone())),
        None => parse_piece(code.clone()),
    };
    parsed.map_err(|at| (at, code))
}

fn parse_piece(code: String) -> Result<TranslationUnit, usize> {
    let config = Config { cpp_command: String::new(), cpp_options: vec![], flavor: Flavor::GnuC11 };
    match parse_preprocessed(&config, code) {
        Ok(parsed) => Ok(parsed.unit),
        Err(error) => Err(error.offset),
    }
}

fn parse_pieces(code: &str, (types, middle): (usize, usize)) -> Result<TranslationUnit, usize> {
    let second = format!("{}{}{}", &code[..types], " ".repeat(middle - types), &code[middle..]);
    let (first, second) = std::thread::scope(|scope| {
        let run = move || parse_piece(second);
        let other = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, run);
        let first = parse_piece(code[..middle].to_string());
        match other.map(|t| t.join()) {
            Ok(Ok(second)) => (first, Some(second)),
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(_) => (first, None),
        }
    });
    // No thread to be had: all in one piece.
    let Some(second) = second else { return parse_piece(code.to_string()) };
    let TranslationUnit(mut all) = first?;
    all.extend(second?.0.into_iter().filter(|item| item.span.start >= types));
    Ok(TranslationUnit(all))
}

/// Where the types end, and the middle of the rest, both between two declarations; none if it is not worth it.
fn cuts(code: &str, large: usize) -> Option<(usize, usize)> {
    if code.len() < large {
        return None;
    }
    let bytes = code.as_bytes();
    let (mut depth, mut i, mut types, mut typedef) = (0usize, 0, 0, false);
    let mut ends = vec![];
    while i < bytes.len() {
        let start = i;
        i += 1;
        match bytes[start] {
            quote @ (b'"' | b'\'') => i = super::preprocess::end_of_quoted(bytes, start, quote),
            b'#' => i = code[start..].find('\n').map_or(bytes.len(), |n| start + n),
            b'{' | b'(' | b'[' => depth += 1,
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
        // A function has ended; but `struct s {…} x;` has not.
        if bytes[start] == b'}' && depth == 0 && starts_declaration(&code[i..]) {
            ends.push(i);
        }
    }
    let half = types + (code.len() - types) / 2;
    let middle = ends.into_iter().find(|end| *end >= half)?;
    (types < code.len() / 4 && middle < code.len()).then_some((types, middle))
}

/// Does the text start with a word that only a declaration starts with? (After `}` that is enough, and true of most.)
fn starts_declaration(rest: &str) -> bool {
    let rest = rest.trim_start();
    let word = &rest[..rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len())];
    matches!(
        word,
        "int"
            | "void"
            | "char"
            | "short"
            | "long"
            | "unsigned"
            | "signed"
            | "static"
            | "extern"
            | "const"
            | "struct"
            | "enum"
            | "_Bool"
    ) && !rest.starts_with("const")
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
        let (types, middle) = cuts(&code, 0).expect("worth it");
        assert!(types < 30 && middle > code.len() / 3 && middle < code.len() * 2 / 3);
        let whole = parse_piece(code.clone());
        assert_eq!(parse_pieces(&code, (types, middle)), whole);
        code.push_str("int wrong( { }\n");
        assert_eq!(parse_pieces(&code, (types, middle)), Err(code.rfind('{').expect("there")));
    }
}
