//! What all ways of showing have in common: how texts are cut, wrapped, quoted and escaped, and how names are told apart. Knows nothing of
//! models or reports.

use std::fmt::{self, Write};

use rustc_hash::FxHashSet;
use serde_json::Value;

/// Longer values are cut.
pub(crate) const MAX_SHOWN: usize = 200;
/// Lists are broken into lines of about this many characters, where nobody says how wide the terminal is.
const LINE: usize = 100;
/// The indentation of what belongs to a state.
pub(crate) const INDENT: usize = 9;

/// The text, or its beginning and `…`. Stops writing as soon as it is long enough.
pub(crate) fn cut(shown: &dyn fmt::Display) -> String {
    struct Short(String, usize);
    impl Write for Short {
        fn write_str(&mut self, s: &str) -> fmt::Result {
            for c in s.chars() {
                match self.1 {
                    ..MAX_SHOWN if c.is_control() => self.0.push('\u{fffd}'),
                    ..MAX_SHOWN => self.0.push(c),
                    MAX_SHOWN => self.0.push('…'),
                    _ => return Err(fmt::Error),
                }
                self.1 += 1;
            }
            Ok(())
        }
    }
    let mut out = Short(String::new(), 0);
    let _ = write!(out, "{shown}");
    out.0
}

/// The beginning of a text, so many characters long, fit for a column.
pub(crate) fn short(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_string(),
    }
}

/// The beginning of a text, fit for a message.
pub(crate) fn excerpt(text: &str) -> String {
    let mut short: String = text.chars().take(60).flat_map(char::escape_debug).collect();
    if text.chars().nth(60).is_some() {
        short.push('…');
    }
    short
}

/// The items with commas between them, in indented lines of bearable length.
pub(crate) fn wrap(items: &[String], indent: usize) -> String {
    wrap_at(items, indent, 0)
}

/// The same, for a terminal of so many columns (0: there is none).
pub(crate) fn wrap_at(items: &[String], indent: usize, columns: usize) -> String {
    let most = if columns == 0 { LINE } else { columns.saturating_sub(indent + 3).clamp(20, LINE) };
    let mut out = String::new();
    let mut column = 0;
    for (i, item) in items.iter().enumerate() {
        let length = item.chars().count();
        if i == 0 {
            let _ = write!(out, "{:indent$}", "");
        } else if column + length > most {
            let _ = write!(out, ",\n{:indent$}", "");
            column = 0;
        } else {
            out.push_str(", ");
            column += 2;
        }
        out.push_str(item);
        column += length;
    }
    if !items.is_empty() {
        out.push('\n');
    }
    out
}

/// The text without line breaks, and without what a terminal would obey.
pub(crate) fn one_line(text: &str) -> String {
    printable(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// The text without what a terminal would obey: names in models may hold anything.
pub(crate) fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\n' { '\u{fffd}' } else { c }).collect()
}

/// The same for all texts of a value, names included.
pub(crate) fn printable_value(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(printable(&text)),
        Value::Array(all) => all.into_iter().map(printable_value).collect(),
        Value::Object(all) => all.into_iter().map(|(name, v)| (printable(&name), printable_value(v))).collect(),
        plain => plain,
    }
}

/// Lines as one quoted string of the dot language.
pub(crate) fn quote<T: AsRef<str>>(lines: &[T]) -> String {
    let mut out = String::from("\"");
    for (i, line) in lines.iter().enumerate() {
        out.push_str(if i == 0 { "" } else { "\\n" });
        for c in line.as_ref().chars() {
            match c {
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                '\n' => out.push_str("\\n"),
                c if c.is_control() => out.push(' '),
                c => out.push(c),
            }
        }
    }
    out.push('"');
    out
}

/// How a graph in the dot language begins.
pub(crate) fn graph(name: &str) -> String {
    format!(
        "digraph {} {{\n  graph [fontname=\"sans-serif\"];\n  node [fontname=\"sans-serif\", fontsize=11];\n  \
         edge [fontname=\"sans-serif\", fontsize=9];\n",
        quote(&[name])
    )
}

/// For HTML and SVG.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() && c != '\n' && c != '\t' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// A name that was there before gets a number: `x`, `x#2`. Front ends see to it that this is rare.
pub(crate) fn unique(names: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut seen = FxHashSet::default();
    let mut out: Vec<String> = Vec::new();
    for name in names {
        let mut candidate = name.clone();
        let mut n = 1;
        while !seen.insert(candidate.clone()) {
            n += 1;
            candidate = format!("{name}#{n}");
        }
        out.push(candidate);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_repeat_are_numbered() {
        let names = ["x", "y", "x", "x#2", "x"].map(String::from);
        assert_eq!(unique(names), ["x", "y", "x#2", "x#2#2", "x#3"]);
    }

    #[test]
    fn odd_characters_are_escaped() {
        assert_eq!(quote(&["a \"b\"", "c\\N\n\u{1}"]), r#""a \"b\"\nc\\N\n ""#);
    }
}
