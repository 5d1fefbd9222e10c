//! What labels and attributes say: texts, numbers, colours, intervals of time.

use roxmltree::Node;
use trellis_model::counter::LARGEST;

use crate::diag::shorten;
use crate::diag::{Diagnostic, Span};

use super::{Read, Reader, children};

/// A text and where it stands.
pub struct Said<'a> {
    pub text: &'a str,
    pub span: Span,
    /// Is it in a <value>, as PIPE writes it?
    pub value: bool,
}

impl<'a> Reader<'a> {
    /// What an attribute says.
    pub fn attribute(&self, node: Node<'a, 'a>, name: &str) -> Option<Said<'a>> {
        let a = node.attributes().find(|a| a.namespace().is_none() && a.name() == name)?;
        let range = a.range();
        Some(Said { text: a.value(), span: self.at(range.start, range.end), value: false })
    }

    /// What a label says: `<name><text>…</text></name>`, `<name><value>…</value></name>`, `<name value="…"/>` or `<name>…</name>`.
    pub fn label(&self, node: Node<'a, 'a>, name: &'static str) -> Read<Option<Said<'a>>> {
        let mut all = children(node, name);
        let Some(label) = all.next() else { return Ok(None) };
        if let Some(again) = all.next() {
            return self.fail(again, format!("a second <{name}>: which one counts?"));
        }
        let mut said: Vec<Said<'a>> = self.attribute(label, "value").into_iter().collect();
        for part in label.children().filter(Node::is_element) {
            let tag = part.tag_name().name();
            if tag == "text" || tag == "value" {
                said.push(Said { text: self.only_text(part)?, span: self.span(part), value: tag == "value" });
            }
        }
        let own: Vec<Node<'_, '_>> =
            label.children().filter(|n| n.is_text() && n.text().is_some_and(|t| !t.trim().is_empty())).collect();
        match (&said[..], &own[..]) {
            ([_], []) => Ok(said.pop()),
            ([], []) => Ok(Some(Said { text: "", span: self.span(label), value: false })),
            ([], [text]) => {
                Ok(Some(Said { text: text.text().unwrap_or_default().trim(), span: self.span(label), value: false }))
            }
            _ => self.fail(label, format!("<{name}> says several things: which one counts?")),
        }
    }

    /// The text of an element that has nothing else in it.
    fn only_text(&self, node: Node<'a, 'a>) -> Read<&'a str> {
        let mut texts = node.children().filter(Node::is_text);
        let text = texts.next().and_then(|t| t.text()).unwrap_or_default();
        match texts.next() {
            Some(_) => self.fail(node, "expected one text, found several".into()),
            None => Ok(text.trim()),
        }
    }

    /// A number in an attribute or a label, whichever there is; not in both.
    pub fn either(&self, node: Node<'a, 'a>, name: &'static str) -> Read<Option<Said<'a>>> {
        match (self.attribute(node, name), self.label(node, name)?) {
            (Some(a), Some(_)) => Err(Diagnostic::error(
                a.span,
                format!("`{name}` is an attribute and an element here: which one counts?"),
            )),
            (a, b) => Ok(a.or(b)),
        }
    }

    /// A number of tokens: `3`, or `Default,3` with a colour. Nets with several colours are refused.
    pub fn tokens(&mut self, said: &Said<'a>, what: &str) -> Read<u64> {
        let parts: Vec<&'a str> = said.text.split(',').map(str::trim).collect();
        if let [number] = parts[..] {
            return number_in(number, said.span, what);
        }
        if !parts.len().is_multiple_of(2) {
            return number_in(said.text, said.span, what);
        }
        let mut sum = 0;
        for pair in parts.chunks(2) {
            let n = number_in(pair[1], said.span, what)?;
            if n == 0 {
                continue;
            }
            let colour = *self.colour.get_or_insert(pair[0]);
            if colour != pair[0] {
                let message = format!("tokens of several colours (`{}` and `{}`)", shorten(colour), shorten(pair[0]));
                return Err(Diagnostic::error(said.span, message)
                    .help("nets whose tokens have colours are not supported: unfold the net first"));
            }
            sum += n;
        }
        if sum > LARGEST { number_in("", said.span, what) } else { Ok(sum) }
    }
}

fn number_in(text: &str, span: Span, what: &str) -> Read<u64> {
    match text.parse::<u64>() {
        Ok(n) if n <= LARGEST => Ok(n),
        _ => Err(Diagnostic::error(
            span,
            format!("expected a number up to {LARGEST} as {what}, found `{}`", shorten(text)),
        )),
    }
}

/// A number, and nothing else.
pub fn number(said: &Said<'_>, what: &str) -> Read<u64> {
    number_in(said.text.trim(), said.span, what)
}

/// What an attribute `inscription` says of an arc.
pub enum Inscription {
    /// A weight.
    Weight(u64),
    /// Any age; of a transport arc, with the number of its pair.
    AnyAge(Option<u64>),
}

/// `3`, or an interval of ages that allows every age, `[0,inf)`; of a transport arc with a number, `[0,inf):1`. Any other interval is
/// time, and refused.
pub fn inscription(said: &Said<'_>) -> Read<Inscription> {
    let text: String = said.text.chars().filter(|c| !c.is_whitespace()).collect();
    if !text.starts_with(['[', '(']) {
        return number(said, "a weight").map(Inscription::Weight);
    }
    let (interval, pair) = match text.split_once(':') {
        Some((interval, pair)) => (interval, Some(number_in(pair, said.span, "the number of a pair")?)),
        None => (&text[..], None),
    };
    if ["[0,inf)", "[0,∞)"].contains(&interval) {
        return Ok(Inscription::AnyAge(pair));
    }
    Err(timed(said.span, &format!("tokens of an age in `{}`", shorten(interval))))
}

/// An invariant of a place: any age, or time.
pub fn invariant(said: &Said<'_>) -> Read<()> {
    let text: String = said.text.chars().filter(|c| !c.is_whitespace()).collect();
    match &text[..] {
        "<inf" | "<=inf" | "<∞" => Ok(()),
        _ => Err(timed(said.span, &format!("an invariant, `{}`,", shorten(&text)))),
    }
}

fn timed(span: Span, what: &str) -> Diagnostic {
    Diagnostic::error(span, format!("{what} is time, and nets with time are not supported"))
        .help("leave it out if the net is meant without time, or write a timed automaton")
}
