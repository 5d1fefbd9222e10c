//! Diagnostics: every complaint about input says where (file, line, column, the line itself underlined), what was
//! expected, and how to mend it.

use std::fmt::Display;

mod render;
mod source;

pub use render::render;
pub use source::{Folders, MAX_FILE, decode_source, read_source};

/// Which text a [`Span`] points into: an index into [`Sources`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceId(pub u32);

/// A stretch of one source text, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Span {
    /// Which text.
    pub source: SourceId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// From the start of `self` to the end of `other`.
    pub fn to(self, other: Span) -> Span {
        Span { source: self.source, start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// One text that was read.
#[derive(Debug, Clone)]
pub struct Source {
    /// Its file name, as the user gave it.
    pub name: String,
    /// The whole text.
    pub text: String,
}

/// Cuts a text that would make a message unreadable.
pub fn shorten(text: &str) -> String {
    if text.chars().count() <= 40 {
        return text.to_string();
    }
    text.chars().take(37).chain("...".chars()).collect()
}

/// All texts of one run: the model, its queries, scripts.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    list: Vec<Source>,
    /// For each text, where its lines start.
    lines: Vec<Vec<u32>>,
}

impl Sources {
    /// Takes in a text and names it.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> SourceId {
        let text: String = text.into();
        let ends = text.bytes().enumerate().filter(|(_, b)| *b == b'\n');
        self.lines.push(std::iter::once(0).chain(ends.map(|(i, _)| i as u32 + 1)).collect());
        self.list.push(Source { name: name.into(), text });
        SourceId(self.list.len() as u32 - 1)
    }

    /// Reads a file and takes it in. A file that cannot be read leaves nothing behind; one that is not UTF-8 is taken in
    /// with its odd bytes replaced, so that the complaint can show the place.
    pub fn read(&mut self, path: &std::path::Path) -> Result<SourceId, Diagnostic> {
        source::read_into(self, path)
    }

    /// The text behind an id.
    pub fn get(&self, id: SourceId) -> &Source {
        &self.list[id.0 as usize]
    }

    /// All texts, in the order in which they were taken in.
    pub fn iter(&self) -> impl Iterator<Item = &Source> {
        self.list.iter()
    }

    /// Line and column, both from 1, of a span's start (columns count characters).
    pub fn line_col(&self, span: Span) -> (usize, usize) {
        let (line, start) = self.line_at(span);
        let text = &self.get(span.source).text;
        let at = floor_char_boundary(text, span.start as usize);
        (line + 1, text[start..at.max(start)].chars().count() + 1)
    }

    /// The line a span starts in, from 0, and where in the text that line starts.
    fn line_at(&self, span: Span) -> (usize, usize) {
        let lines = &self.lines[span.source.0 as usize];
        let line = lines.partition_point(|start| *start <= span.start).max(1) - 1;
        (line, lines[line] as usize)
    }
}

/// The last place at or before `at` where a character starts.
fn floor_char_boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// The input cannot be used.
    Error,
    /// The input can be used, but the user should know.
    Warning,
}

/// One complaint about the input.
#[derive(Debug, Clone)]
pub struct Diagnostic {
    /// How bad.
    pub severity: Severity,
    /// What is wrong, in one line.
    pub message: String,
    /// Where; `None` only when the whole file is meant (it cannot be read, say).
    pub span: Option<Span>,
    /// A few words under the underline.
    pub label: String,
    /// How to mend it.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error at a place.
    pub fn error(span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity: Severity::Error,
            message: message.into(),
            span: Some(span),
            label: String::new(),
            help: None,
        }
    }

    /// A warning at a place.
    pub fn warning(span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(span, message) }
    }

    /// With words under the underline.
    pub fn label(mut self, label: impl Into<String>) -> Diagnostic {
        self.label = label.into();
        self
    }

    /// With advice.
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    /// With the name that was probably meant, if there is one.
    pub fn meant(self, near: Option<impl Display>) -> Diagnostic {
        if near.is_some() { self.meant_or(near, "") } else { self }
    }

    /// With the name that was probably meant, or with other advice.
    pub fn meant_or(self, near: Option<impl Display>, otherwise: impl Into<String>) -> Diagnostic {
        self.help(near.map_or_else(|| otherwise.into(), |near| format!("did you mean `{near}`?")))
    }
}
