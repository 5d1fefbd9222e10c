//! Help topics as wide as the terminal: paragraphs and the right-hand columns of tables are filled anew.
//!
//! A line that starts in the first column belongs to a paragraph. A line with a gap of two or more blanks in it is a row of a table, and goes
//! on below its right-hand column. Everything else (examples, headings) stays as it is unless it is too long.

use textwrap::{Options, fill};

/// So wide where there is no terminal, and at most.
pub const WIDTH: usize = 110;

/// A piece of text that is filled as one.
struct Piece {
    /// What its first line begins with: nothing, or the left-hand column of a table.
    first: String,
    /// How far its other lines are indented.
    hang: usize,
    words: String,
}

/// The text for a terminal of so many columns; 0 if there is none.
pub fn fold(text: &str, columns: usize) -> String {
    let width = if columns == 0 { WIDTH } else { columns.clamp(40, WIDTH) };
    let mut out = String::new();
    let mut piece: Option<Piece> = None;
    for line in text.lines() {
        let indent = line.len() - line.trim_start().len();
        let new = start(line, indent);
        match (&mut piece, new) {
            (Some(p), None) if !line.is_empty() && indent == p.hang => p.words = format!("{} {}", p.words, line.trim()),
            (Some(p), Some(n)) if n.first.is_empty() && p.first.is_empty() && n.hang == p.hang && n.hang == 0 => {
                p.words = format!("{} {}", p.words, n.words);
            }
            (_, new) => {
                flush(piece.take(), width, &mut out);
                match new {
                    Some(new) => piece = Some(new),
                    None => flush(Some(plain(line, indent)), width, &mut out),
                }
            }
        }
    }
    flush(piece, width, &mut out);
    out
}

fn plain(line: &str, indent: usize) -> Piece {
    Piece { first: line[..indent].into(), hang: indent, words: line[indent..].into() }
}

/// The beginning of a paragraph or of a row; nothing if the line is neither.
fn start(line: &str, indent: usize) -> Option<Piece> {
    let body = line[indent..].trim_end();
    match body.rfind("  ") {
        _ if body.is_empty() => None,
        Some(gap) if indent > 0 => {
            let first = &line[..indent + gap + 2];
            Some(Piece { first: first.into(), hang: first.chars().count(), words: body[gap + 2..].into() })
        }
        None if indent == 0 => Some(plain(line, 0)),
        _ => None,
    }
}

fn flush(piece: Option<Piece>, width: usize, out: &mut String) {
    let Some(p) = piece else { return };
    let rest = " ".repeat(p.hang.min(width / 2));
    let options = Options::new(width).initial_indent(&p.first).subsequent_indent(&rest).break_words(false);
    out.push_str(fill(&p.words, options).trim_end());
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_and_rows_are_filled_and_examples_stay() {
        let text = "Title\n\nA long first\nparagraph here.\n\n  --flag    what it does\n            in words\n  --other   no\n\n    let x = 1\n    let y = 2\n";
        assert_eq!(
            fold(text, 0),
            text.replace("first\nparagraph", "first paragraph").replace("does\n            in", "does in")
        );
        let narrow = fold(&format!("  --flag    {}", "word ".repeat(20)), 40);
        assert!(narrow.lines().all(|l| l.chars().count() <= 40), "{narrow}");
        assert!(narrow.lines().skip(1).all(|l| l.starts_with("            word")), "{narrow}");
    }
}
