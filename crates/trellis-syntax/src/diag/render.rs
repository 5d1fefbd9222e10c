//! Shows diagnostics to people: the place, the line underlined, what was expected, how to mend it.
//!
//! Only the first line of a span is shown, and of a very long line only the part around the spot, so that the report
//! stays short whatever the file looks like.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use super::{Diagnostic, Severity, Source, Sources, Span, floor_char_boundary};

/// How many bytes of a long line are shown before and after the spot.
const BEFORE: usize = 60;
const AFTER: usize = 100;

/// The diagnostics as text for a terminal, in colour or not, with an empty line after each.
pub fn render(diags: &[Diagnostic], sources: &Sources, color: bool) -> String {
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    let mut out = String::new();
    for diag in diags {
        let excerpt = diag.span.map(|span| Excerpt::new(sources, span));
        let mut text = renderer.render(&[group(diag, excerpt.as_ref())]);
        if let Some(e) = excerpt.filter(|e| e.column != e.shown_column) {
            // The renderer counts columns in what it is shown.
            let [shown, real] = [e.shown_column, e.column].map(|column| format!("{}:{}:{column}", e.name, e.line));
            text = text.replacen(&shown, &real, 1);
        }
        out.push_str(&text);
        out.push_str("\n\n");
    }
    out
}

fn group<'a>(diag: &'a Diagnostic, excerpt: Option<&'a Excerpt<'a>>) -> Group<'a> {
    let level = match diag.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let mut group = Group::with_title(level.primary_title(diag.message.as_str()));
    if let Some(e) = excerpt {
        let label = (!diag.label.is_empty()).then_some(diag.label.as_str());
        let mark = AnnotationKind::Primary.span(e.start..e.end).label(label);
        group = group.element(Snippet::source(e.text.as_str()).path(e.name).line_start(e.line).annotation(mark));
    }
    match &diag.help {
        Some(help) => group.element(Level::HELP.message(help.as_str())),
        None => group,
    }
}

/// A line or a part of it, and the stretch of it to underline.
struct Excerpt<'a> {
    name: &'a str,
    text: String,
    start: usize,
    end: usize,
    line: usize,
    column: usize,
    /// The column in `text`.
    shown_column: usize,
}

impl<'a> Excerpt<'a> {
    fn new(sources: &'a Sources, span: Span) -> Excerpt<'a> {
        let Source { name, text } = sources.get(span.source);
        let (line, column) = sources.line_col(span);
        let line_start = sources.line_at(span).1;
        let rest = &text[line_start..];
        let line_end = line_start + rest.find('\n').unwrap_or(rest.len());
        let line_end = line_end - usize::from(text[line_start..line_end].ends_with('\r'));
        let start = floor_char_boundary(text, (span.start as usize).min(line_end));
        let end = floor_char_boundary(text, (span.end as usize).clamp(start, line_end));
        let near = |at: usize| floor_char_boundary(text, at);
        let from = if start - line_start <= 2 * BEFORE { line_start } else { near(start - BEFORE) };
        let to = if line_end - start <= 2 * AFTER { line_end } else { near(start + AFTER) };
        let head = if from > line_start { "…" } else { "" };
        let tail = if to < line_end { "…" } else { "" };
        let shown = format!("{head}{}{tail}", &text[from..to]);
        let shift = |at: usize| at.min(to) - from + head.len();
        let shown_column = shown[..shift(start)].chars().count() + 1;
        let (start, end) = (shift(start), shift(end));
        Excerpt { name, text: shown, start, end, line, column, shown_column }
    }
}
