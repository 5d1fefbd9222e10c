//! Whether XML is XML at all: wraps roxmltree, puts its complaints into our words and places. What the elements mean is the
//! business of the languages that are written in XML.

use roxmltree::{Document, Error, ParsingOptions, TextPos};

use crate::diag::{Diagnostic, SourceId, Span};

/// No sensible model has more elements.
const MAX_NODES: u32 = 2_000_000;

/// A language that is written in XML, for what is said about files that are none.
pub struct Language {
    /// The outermost element.
    pub root: &'static str,
    /// A sentence on what files contain.
    pub what: &'static str,
    /// What to say if there is no XML in the file.
    pub textual: &'static str,
}

/// Parses XML; entity declarations are refused, so no text can grow while it is read.
pub fn parse<'t>(source: SourceId, text: &'t str, language: &Language) -> Result<Document<'t>, Diagnostic> {
    let at = |start: usize, end: usize| Span { source, start: start as u32, end: end as u32 };
    if u32::try_from(text.len()).is_err() {
        return Err(Diagnostic::error(at(0, 0), "this file is larger than 4 GiB, which is the limit"));
    }
    let prolog = &text[..text.find(&format!("<{}", language.root)).unwrap_or(text.len())];
    if let Some(start) = prolog.find("<!ENTITY") {
        return Err(Diagnostic::error(
            at(start, start + "<!ENTITY".len()),
            "expected no entity declarations, found one",
        )
        .label("not supported")
        .help("write out what the entity stands for"));
    }
    let options = ParsingOptions { allow_dtd: true, nodes_limit: MAX_NODES, ..ParsingOptions::default() };
    let document =
        Document::parse_with_options(text, options).map_err(|error| explain(source, text, &error, language))?;
    for node in document.descendants().filter(|n| n.is_element()) {
        if let Some(again) = namespace_again(&text[node.range()]) {
            let (start, name) = (node.range().start + again.0, again.1);
            let message = format!("expected each attribute once, found `{name}` again");
            return Err(Diagnostic::error(at(start, start + name.len()), message).help("remove one of them"));
        }
    }
    Ok(document)
}

/// The second `xmlns`, or `xmlns:name`, of a tag that has it twice, which the parser lets pass; and where.
fn namespace_again(element: &str) -> Option<(usize, &str)> {
    let mut seen: Vec<&str> = vec![];
    let (bytes, mut i) = (element.as_bytes(), 1);
    while i < bytes.len() && !matches!(bytes[i], b'>' | b'/') {
        let start = i;
        match bytes[i] {
            quote @ (b'"' | b'\'') => i += 1 + element[i + 1..].find(quote as char)?,
            b if !b.is_ascii_whitespace() && b != b'=' => {
                i += element[i..].find(|c: char| c.is_whitespace() || "=>/".contains(c))?;
                let name = &element[start..i];
                if name == "xmlns" || name.starts_with("xmlns:") {
                    if seen.contains(&name) {
                        return Some((start, name));
                    }
                    seen.push(name);
                }
                continue;
            }
            _ => {}
        }
        i += 1;
    }
    None
}

fn explain(source: SourceId, text: &str, error: &Error, language: &Language) -> Diagnostic {
    let start = match error {
        Error::UnclosedRootNode | Error::UnexpectedEndOfStream => text.trim_end().len(),
        Error::NoRootNode => 0,
        _ => offset(text, error.pos()),
    };
    let width = text[start..].chars().next().map_or(0, char::len_utf8);
    let span = Span { source, start: start as u32, end: (start + width) as u32 };
    let found =
        text[start..].chars().next().map_or("the end of the file".to_string(), |c| format!("`{}`", c.escape_debug()));
    let (message, help) = words(error, text, &found, language);
    let diagnostic = Diagnostic::error(span, message);
    match help {
        Some(help) => diagnostic.help(help),
        None => diagnostic,
    }
}

fn words(error: &Error, text: &str, found_there: &str, language: &Language) -> (String, Option<&'static str>) {
    const ESCAPE: &str = "in XML, write `&lt;` for `<` and `&amp;` for `&`, or put the text into <![CDATA[ … ]]>";
    let root = language.root;
    match error {
        Error::UnexpectedCloseTag(expected, found, _) => (
            format!("expected </{expected}>, found </{found}>"),
            Some("close the elements in the order they were opened"),
        ),
        Error::UnclosedRootNode | Error::UnexpectedEndOfStream => (
            "expected more XML, found the end of the file".to_string(),
            Some("an element, comment or quote that was opened is never closed"),
        ),
        Error::NoRootNode if text.trim().is_empty() => {
            (format!("expected an <{root}> element, found an empty file"), None)
        }
        Error::NoRootNode => (format!("expected an <{root}> element, found none"), Some(language.textual)),
        Error::UnknownToken(_) if text.contains(&format!("</{root}>")) || text.contains(&format!("<{root}/>")) => {
            (format!("expected nothing outside the <{root}> element, found {found_there}"), Some("remove it"))
        }
        Error::UnknownToken(_) => (format!("expected XML, found {found_there}"), Some(language.what)),
        Error::UnknownEntityReference(name, _) => {
            (format!("expected one of XML's own entities, found `&{};`", crate::diag::shorten(name)), Some(ESCAPE))
        }
        Error::MalformedEntityReference(_) => {
            ("expected an entity such as `&amp;`, found a `&` that starts none".to_string(), Some(ESCAPE))
        }
        Error::InvalidName(_) => {
            (format!("expected the name of an element or attribute, found {found_there}"), Some(ESCAPE))
        }
        Error::InvalidAttributeValue(_) => ("expected the end of the attribute, found `<`".to_string(), Some(ESCAPE)),
        Error::NonXmlChar(c, _) => (
            format!("found the character U+{:04X}, which XML does not allow", *c as u32),
            Some("is this a text file? remove the character"),
        ),
        Error::NodesLimitReached => (format!("expected at most {MAX_NODES} elements, found more"), None),
        Error::DuplicatedAttribute(name, _) => {
            (format!("expected each attribute once, found `{name}` again"), Some("remove one of them"))
        }
        Error::InvalidChar(expected, found, _) => {
            (format!("expected {}, found {}", byte(*expected), byte(*found)), Some(ESCAPE))
        }
        Error::InvalidChar2(expected, found, _) => {
            (format!("expected {expected}, found {}", byte(*found)), Some(ESCAPE))
        }
        Error::InvalidString(expected, _) => (format!("expected `{expected}`, found {found_there}"), None),
        Error::UnexpectedDeclaration(_) => {
            ("expected `<?xml` at the very start, found it here".to_string(), Some("remove what stands before it"))
        }
        Error::InvalidComment(_) => (
            "expected the end of the comment after `--`, found more".to_string(),
            Some("write no `--` inside a comment"),
        ),
        other => {
            // The place is shown by other means.
            let text = other.to_string().replace(&format!(" at {}", other.pos()), "");
            (format!("expected well-formed XML, found {text}"), None)
        }
    }
}

fn byte(b: u8) -> String {
    if b.is_ascii_graphic() { format!("`{}`", b as char) } else { format!("the byte 0x{b:02X}") }
}

/// The byte at a row and column.
fn offset(text: &str, pos: TextPos) -> usize {
    let row = pos.row.saturating_sub(1) as usize;
    let start = match row {
        0 => 0,
        _ => text.match_indices('\n').nth(row - 1).map_or(text.len(), |(i, _)| i + 1),
    };
    let column = pos.col.saturating_sub(1) as usize;
    text[start..].char_indices().nth(column).map_or(text.len(), |(i, _)| start + i)
}
