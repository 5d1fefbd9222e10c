//! A text to be lexed that remembers where in the file each of its bytes came from.
//!
//! For `.xta` and `.q` files that is the file itself. The content of an XML element is decoded first (`&lt;`, CDATA), and
//! then the same byte has two places; a [`Text`] maps the decoded one back, so that every span points into the file as
//! the user sees it.

use std::borrow::Cow;

use crate::diag::{SourceId, Span};

/// A stretch of the decoded text.
#[derive(Debug, Clone, Copy)]
struct Piece {
    /// Where it starts in the decoded text.
    at: usize,
    /// Where it starts in the file.
    raw: usize,
    /// Where it ends in the file.
    raw_end: usize,
    /// Whether each byte stands for itself; otherwise the whole piece came from one entity.
    plain: bool,
}

/// A text and its way back into the file.
#[derive(Debug, Clone)]
pub struct Text<'a> {
    /// The text, entities resolved.
    pub text: Cow<'a, str>,
    pieces: Vec<Piece>,
    /// Where the text ends in the file.
    raw_end: usize,
    /// Which file.
    pub source: SourceId,
}

impl<'a> Text<'a> {
    /// A file as it is.
    pub fn plain(source: SourceId, text: &'a str) -> Text<'a> {
        Text { text: Cow::Borrowed(text), pieces: Vec::new(), raw_end: text.len(), source }
    }

    /// A part of a file as it is.
    pub fn part(source: SourceId, file: &'a str, start: usize, end: usize) -> Text<'a> {
        Text {
            text: Cow::Borrowed(&file[start..end]),
            pieces: vec![Piece { at: 0, raw: start, raw_end: end, plain: true }],
            raw_end: end,
            source,
        }
    }

    /// The content of an XML element, from `start` to `end` of the file: entities and CDATA are resolved, comments and
    /// whatever else stands in `<…>` are left out. The XML must be well-formed; anything odd is taken literally.
    pub fn xml(source: SourceId, file: &'a str, start: usize, end: usize) -> Text<'a> {
        let raw = &file[start..end];
        if !raw.contains(['&', '<']) {
            return Text::part(source, file, start, end);
        }
        let mut out = String::with_capacity(raw.len());
        let mut pieces = Vec::new();
        let mut at = 0;
        while at < raw.len() {
            let rest = &raw[at..];
            if let Some(body) = rest.strip_prefix("<![CDATA[") {
                let len = body.find("]]>").unwrap_or(body.len());
                let from = start + at + "<![CDATA[".len();
                pieces.push(Piece { at: out.len(), raw: from, raw_end: from + len, plain: true });
                out.push_str(&body[..len]);
                at += ("<![CDATA[".len() + len + "]]>".len()).min(rest.len());
            } else if rest.starts_with('<') {
                at += markup_len(rest);
            } else if rest.starts_with('&') {
                let (decoded, len) = entity(rest);
                pieces.push(Piece { at: out.len(), raw: start + at, raw_end: start + at + len, plain: false });
                out.push(decoded);
                at += len;
            } else {
                let len = rest.find(['&', '<']).unwrap_or(rest.len());
                pieces.push(Piece { at: out.len(), raw: start + at, raw_end: start + at + len, plain: true });
                out.push_str(&rest[..len]);
                at += len;
            }
        }
        Text { text: Cow::Owned(out), pieces, raw_end: end, source }
    }

    /// The place in the file of a stretch of the text.
    pub fn span(&self, start: usize, end: usize) -> Span {
        let (from, to) = if self.pieces.is_empty() {
            (start, end)
        } else if start >= self.text.len() {
            (self.raw_end, self.raw_end)
        } else {
            let from = self.place(start).0;
            (from, if end > start { self.place(end - 1).1 } else { from })
        };
        Span { source: self.source, start: from as u32, end: to as u32 }
    }

    /// The first and the one-past-last byte in the file of the byte at `at`.
    fn place(&self, at: usize) -> (usize, usize) {
        let index = self.pieces.partition_point(|p| p.at <= at);
        match index.checked_sub(1).and_then(|i| self.pieces.get(i)) {
            Some(p) if p.plain => (p.raw + (at - p.at), p.raw + (at - p.at) + 1),
            Some(p) => (p.raw, p.raw_end),
            None => (self.raw_end, self.raw_end),
        }
    }
}

/// How long the comment, processing instruction or tag at the start of `rest` is.
fn markup_len(rest: &str) -> usize {
    let close = if rest.starts_with("<!--") {
        rest.find("-->").map(|i| i + 3)
    } else if rest.starts_with("<?") {
        rest.find("?>").map(|i| i + 2)
    } else {
        return tag_len(rest);
    };
    close.unwrap_or(rest.len())
}

/// How long the tag at the start of `rest` is, with its `>`; quoted attribute values may hold a `>`.
pub fn tag_len(rest: &str) -> usize {
    let mut quote = None;
    for (i, b) in rest.bytes().enumerate() {
        match quote {
            Some(q) if b == q => quote = None,
            Some(_) => {}
            None if b == b'"' || b == b'\'' => quote = Some(b),
            None if b == b'>' => return i + 1,
            None => {}
        }
    }
    rest.len()
}

/// The character that the entity at the start of `rest` stands for, and how long the entity is.
fn entity(rest: &str) -> (char, usize) {
    // The longest sensible one is `&#x10FFFF;` with some leading zeros.
    let Some(end) = rest.bytes().take(24).position(|b| b == b';') else { return ('&', 1) };
    let decoded = match &rest[1..end] {
        "lt" => Some('<'),
        "gt" => Some('>'),
        "amp" => Some('&'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        name => match name.strip_prefix("#x") {
            Some(hex) => u32::from_str_radix(hex, 16).ok().and_then(char::from_u32),
            None => name.strip_prefix('#').and_then(|d| d.parse().ok()).and_then(char::from_u32),
        },
    };
    decoded.map_or(('&', 1), |c| (c, end + 1))
}
