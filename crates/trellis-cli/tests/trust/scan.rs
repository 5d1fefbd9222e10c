//! Where in a text something can be changed: words, numbers, signs and texts in quotes of any language; elements, attributes and
//! contents of XML. The scanner knows nothing of what is meant, and so cannot share a mistake with a reader.

use std::ops::Range;

/// What a piece of text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Word,
    Number,
    Sign,
    Quoted,
}

/// A piece of text.
#[derive(Debug, Clone)]
pub struct Token {
    pub kind: Kind,
    pub at: Range<usize>,
}

/// How comments and texts in quotes look.
#[derive(Debug, Clone, Copy)]
pub struct Style {
    /// What starts a comment that ends with the line.
    pub line: &'static [&'static str],
    /// What starts and ends a longer comment.
    pub block: &'static [(&'static str, &'static str)],
    pub quotes: &'static [char],
}

/// As in C.
pub const C: Style = Style { line: &["//"], block: &[("/*", "*/")], quotes: &['"', '\''] };

/// Signs of more than one character, the longest first.
const SIGNS: [&str; 38] = [
    "<<=", ">>=", "-->", "<->", "--", "++", "->", "+>", "~>", "=>", "<=", ">=", "==", "!=", "/=", ":=", "+=", "-=",
    "*=", "%=", "&&", "||", "<>", "[]", "<<", ">>", "&amp;", "&lt;", "&gt;", "|->", "<?", ">?", "..", "::", "&=", "|=",
    "^=", "--BODY--",
];

/// Cuts a part of a text into pieces; comments and white space are left out.
pub fn tokens(text: &str, part: Range<usize>, style: Style) -> Vec<Token> {
    let mut all = vec![];
    let mut at = part.start;
    while at < part.end {
        let rest = &text[at..part.end];
        let Some(first) = rest.chars().next() else { break };
        if let Some(end) = comment(rest, style) {
            at += end;
            continue;
        }
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let (kind, len) = if first.is_ascii_digit() {
            (Kind::Number, rest.find(|c| !is_word(c)).unwrap_or(rest.len()))
        } else if is_word(first) {
            (Kind::Word, rest.find(|c| !is_word(c)).unwrap_or(rest.len()))
        } else if style.quotes.contains(&first) {
            let inner = &rest[first.len_utf8()..];
            let end = inner.find([first, '\n']).map_or(rest.len(), |n| n + 2 * first.len_utf8());
            (Kind::Quoted, end.min(rest.len()))
        } else {
            let sign = SIGNS.iter().filter(|s| rest.starts_with(**s)).map(|s| s.len()).max();
            (Kind::Sign, sign.unwrap_or(first.len_utf8()))
        };
        all.push(Token { kind, at: at..at + len });
        at += len;
    }
    all
}

/// How long the comment is that a text starts with, if it does.
fn comment(rest: &str, style: Style) -> Option<usize> {
    if style.line.iter().any(|s| rest.starts_with(s)) {
        return Some(rest.find('\n').unwrap_or(rest.len()));
    }
    let (_, end) = style.block.iter().find(|(start, _)| rest.starts_with(start))?;
    Some(rest[2..].find(end).map_or(rest.len(), |n| n + 2 + end.len()))
}

/// An element of XML.
#[derive(Debug, Clone)]
pub struct Element {
    pub name: String,
    /// Where its name is written: once, or twice.
    pub names: Vec<Range<usize>>,
    /// All of it.
    pub all: Range<usize>,
    /// Where its first tag ends: before `>` or `/>`.
    pub tag_end: usize,
    /// Between its tags, if it has two.
    pub inside: Option<Range<usize>>,
    pub attributes: Vec<Attribute>,
    /// The texts directly in it.
    pub texts: Vec<Range<usize>>,
}

/// An attribute.
#[derive(Debug, Clone)]
pub struct Attribute {
    pub name: Range<usize>,
    pub value: Range<usize>,
    pub all: Range<usize>,
}

/// The elements of an XML text; nothing but what well-formed files need. The models are well-formed, which is all that is asked.
pub fn elements(text: &str) -> Vec<Element> {
    let (mut done, mut open): (Vec<Element>, Vec<Element>) = (vec![], vec![]);
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let skip = |end: &str| at + rest.find(end).map_or(rest.len(), |n| n + end.len());
        if rest.starts_with("<!--") {
            at = skip("-->");
        } else if let Some(inner) = rest.strip_prefix("<![CDATA[") {
            let len = inner.find("]]>").unwrap_or(inner.len());
            if let Some(e) = open.last_mut() {
                e.texts.push(at + 9..at + 9 + len);
            }
            at = skip("]]>");
        } else if rest.starts_with("<?") || rest.starts_with("<!") {
            at = skip(">");
        } else if rest.starts_with("</") {
            let end = skip(">");
            if let Some(mut e) = open.pop() {
                e.names.push(at + 2..at + 2 + e.name.len());
                e.inside = Some(e.all.end..at);
                e.all.end = end;
                done.push(e);
            }
            at = end;
        } else if rest.starts_with('<') {
            let (e, closed) = tag(text, at);
            at = e.all.end;
            if closed { done.push(e) } else { open.push(e) }
        } else {
            let len = rest.find('<').unwrap_or(rest.len());
            if let Some(e) = open.last_mut() {
                e.texts.push(at..at + len);
            }
            at += len;
        }
    }
    assert!(open.is_empty(), "elements are closed");
    done
}

/// A first tag, and whether it is the only one.
fn tag(text: &str, start: usize) -> (Element, bool) {
    let is_name = |c: char| c.is_alphanumeric() || "_-:.".contains(c);
    let name_at = |from: usize| from + text[from..].find(|c| !is_name(c)).unwrap_or(0);
    let name = start + 1..name_at(start + 1);
    let mut attributes = vec![];
    let mut at = name.end;
    loop {
        at += text[at..].find(|c: char| !c.is_whitespace()).unwrap_or(0);
        if text[at..].starts_with(['>', '/']) {
            break;
        }
        let named = at..name_at(at);
        let quote = named.end + text[named.end..].find(['"', '\'']).expect("a value in quotes");
        let mark = text[quote..].chars().next().expect("a quotation mark");
        let end = quote + 1 + text[quote + 1..].find(mark).expect("the other quotation mark");
        attributes.push(Attribute { name: named.clone(), value: quote + 1..end, all: named.start..end + 1 });
        at = end + 1;
    }
    let closed = text[at..].starts_with('/');
    let end = at + if closed { 2 } else { 1 };
    let element = Element {
        name: text[name.clone()].to_string(),
        names: vec![name],
        all: start..end,
        tag_end: at,
        inside: None,
        attributes,
        texts: vec![],
    };
    (element, closed)
}
