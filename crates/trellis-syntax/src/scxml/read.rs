//! From XML to the tree: the elements of the structure. Executable content is read by `content`, names are resolved by
//! `resolve`.
//!
//! What is not known is refused: leaving out an element or a misspelt attribute would change what the chart means. Only what a
//! foreign namespace adds outside of executable content (the layout of some editor) is left out, with one warning.

use roxmltree::{Attribute, Node};

use super::expr::{self, Expr};
use super::tree::{Block, Data, DataType, History, Kind, Payload, State, Transition, Tree};
use crate::diag::shorten;
use crate::diag::{Diagnostic, SourceId, Span};
use crate::text::errors::{Errors, closest};
use crate::uppaal::text::{Text, tag_len};
use crate::xml::{Language, parse};

/// W3C's namespace.
const SCXML: &str = "http://www.w3.org/2005/07/scxml";
/// The namespace of our own attributes.
const TRELLIS: &str = "urn:trellis";
/// How deeply states, and `<if>`s, may be nested.
const MAX_DEPTH: usize = 40;
/// How many states, and how many transitions, there may be.
const MAX_SIZE: usize = 1_000;
/// The longest queue that can be asked for.
const MAX_QUEUE: usize = 64;

/// Names with their places.
pub type Names = Vec<(String, Span)>;

/// The tree, and the names in it that are still to be resolved.
#[derive(Default)]
pub struct Raw {
    pub tree: Tree,
    /// For each state the names in `initial`; none: not said.
    pub initials: Vec<Option<Names>>,
    /// For each transition its targets.
    pub targets: Vec<Names>,
    /// For each history its default targets.
    pub defaults: Vec<Names>,
    /// The charts that are invoked.
    pub invokes: Vec<RawInvoke>,
}

/// `<invoke>`
pub struct RawInvoke {
    pub state: usize,
    pub id: String,
    pub idlocation: Option<Expr>,
    pub processor: Option<Expr>,
    pub params: Vec<(String, Expr)>,
    pub autoforward: bool,
    pub finalize: Block,
    pub chart: Box<Raw>,
    pub span: Span,
}

const LANGUAGE: Language = Language {
    root: "scxml",
    what: "a statechart is an <scxml> element",
    textual: "a statechart is an <scxml> element",
};

/// Reads the elements.
pub fn read(source: SourceId, text: &str) -> (Raw, Errors) {
    let mut reader = Reader { source, text, errors: Errors::default(), raw: Raw::default(), depth: 0, foreign: false };
    match parse(source, text, &LANGUAGE) {
        Ok(document) => reader.root(document.root_element()),
        Err(error) => reader.errors.push(error),
    }
    (reader.raw, reader.errors)
}

pub struct Reader<'t> {
    pub source: SourceId,
    pub text: &'t str,
    pub errors: Errors,
    pub raw: Raw,
    depth: usize,
    /// Has the warning about foreign elements been given?
    foreign: bool,
}

impl<'t> Reader<'t> {
    // Elements, attributes and their places.

    /// The start tag of an element.
    pub fn tag(&self, node: Node) -> Span {
        let range = node.range();
        let len = tag_len(&self.text[range.clone()]);
        Span { source: self.source, start: range.start as u32, end: (range.start + len) as u32 }
    }

    pub fn error(&mut self, span: Span, message: impl Into<String>) {
        self.errors.push(Diagnostic::error(span, message));
    }

    fn refuse(&mut self, span: Span, message: impl Into<String>, help: impl Into<String>) {
        self.errors.push(Diagnostic::error(span, message).help(help));
    }

    /// The value of an attribute, with the way back into the file.
    pub fn value(&self, attribute: Attribute) -> Text<'t> {
        let range = attribute.range();
        let raw = &self.text[range.clone()];
        // Neither names nor `=` have quotes in them.
        let start = raw.find(['"', '\'']).map_or(raw.len(), |quote| quote + 1);
        let end = (raw.len().max(1) - 1).max(start);
        Text::xml(self.source, self.text, range.start + start, range.start + end.min(raw.len()))
    }

    /// The place of an attribute's value.
    pub fn value_span(&self, attribute: Attribute) -> Span {
        let text = self.value(attribute);
        text.span(0, text.text.len())
    }

    /// The words of an attribute.
    pub fn words(&self, attribute: Attribute) -> Names {
        let text = self.value(attribute);
        let mut words = vec![];
        let mut at = 0;
        for part in text.text.split(char::is_whitespace) {
            if !part.is_empty() {
                words.push((part.to_string(), text.span(at, at + part.len())));
            }
            at += part.len() + text.text[at + part.len()..].chars().next().map_or(0, char::len_utf8);
        }
        words
    }

    /// Is an attribute missing that must be there?
    pub fn missing(&mut self, node: Node, name: &str) -> bool {
        let missing = !node.has_attribute(name);
        if missing {
            let (span, element) = (self.tag(node), node.tag_name().name());
            self.error(span, format!("expected the attribute `{name}` on <{element}>, found none"));
        }
        missing
    }

    /// Refuses attributes that are not among these.
    pub fn attributes(&mut self, node: Node, known: &[&'static str], own: &[&'static str]) {
        for attribute in node.attributes() {
            let name = attribute.name();
            let known = match attribute.namespace() {
                None => known,
                Some(TRELLIS) => own,
                Some(_) => continue,
            };
            if !known.contains(&name) {
                let help = match closest(name, known.iter().copied()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None if known.is_empty() => "it takes no attributes".into(),
                    None => format!("the attributes here are: {}", known.join(", ")),
                };
                let (range, element) = (attribute.range(), node.tag_name().name());
                let span = Span { source: self.source, start: range.start as u32, end: range.end as u32 };
                self.refuse(span, format!("the attribute `{}` of <{element}> is not supported", shorten(name)), help);
            }
        }
    }

    /// The elements inside; stray text is refused. What a foreign namespace adds is left out, if that is harmless here.
    pub fn children<'a, 'd>(&mut self, parent: Node<'a, 'd>, harmless: bool) -> Vec<Node<'a, 'd>> {
        let mut elements = vec![];
        for child in parent.children() {
            if child.is_text() && child.text().is_some_and(|t| !t.trim().is_empty()) {
                let range = child.range();
                let raw = &self.text[range.clone()];
                let start = range.start + (raw.len() - raw.trim_start().len());
                let end = (range.start + raw.trim_end().len()).max(start);
                let span = Span { source: self.source, start: start as u32, end: end as u32 };
                let name = parent.tag_name().name();
                self.error(span, format!("expected elements inside <{name}>, found text"));
            }
            if !child.is_element() {
                continue;
            }
            match child.tag_name().namespace() {
                None | Some(SCXML) => elements.push(child),
                Some(TRELLIS) if parent.tag_name().name() == "scxml" => elements.push(child),
                Some(TRELLIS) => {
                    let (span, name) = (self.tag(child), shorten(child.tag_name().name()));
                    self.error(span, format!("there is no element <trellis:{name}> here"));
                }
                Some(_) if harmless => {
                    if !std::mem::replace(&mut self.foreign, true) {
                        let span = self.tag(child);
                        let what = "elements of another namespace are left out";
                        self.errors.push(Diagnostic::warning(span, what).label("the first one"));
                    }
                }
                Some(_) => {
                    let (span, name) = (self.tag(child), shorten(child.tag_name().name()));
                    self.error(span, format!("executable content of another namespace (<{name}>) is not supported"));
                }
            }
        }
        elements
    }

    /// Refuses an element.
    pub fn unknown(&mut self, node: Node, parent: &str, known: &[&'static str]) {
        let name = node.tag_name().name();
        let span = self.tag(node);
        let unsupported = ["validate"];
        if unsupported.contains(&name) {
            return self.error(span, format!("<{name}> is not supported"));
        }
        let help = match closest(name, known.iter().copied()) {
            Some(near) => format!("did you mean <{near}>?"),
            None if known.is_empty() => "it must be empty".into(),
            None => format!("inside <{parent}> there can be: {}", known.join(", ")),
        };
        self.refuse(span, format!("there is no element <{}> inside <{parent}>", shorten(name)), help);
    }

    /// Refuses everything inside.
    pub fn empty(&mut self, node: Node) {
        for child in self.children(node, false) {
            self.unknown(child, node.tag_name().name(), &[]);
        }
    }

    /// An attribute that is an expression.
    pub fn expression(&mut self, attribute: Attribute) -> Option<Expr> {
        match expr::parse(&self.value(attribute)) {
            Ok(e) => Some(e),
            Err(error) => {
                self.errors.push(error);
                None
            }
        }
    }

    /// Goes one level deeper, unless that is too deep.
    pub fn deeper<T>(&mut self, node: Node, read: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.depth >= MAX_DEPTH {
            let span = self.tag(node);
            self.errors.stop(Diagnostic::error(span, format!("expected at most {MAX_DEPTH} levels, found more")));
            return None;
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        Some(result)
    }

    // The structure.

    pub fn root(&mut self, root: Node) {
        let span = self.tag(root);
        if root.tag_name().name() != "scxml" || !matches!(root.tag_name().namespace(), None | Some(SCXML)) {
            let message = format!("expected <scxml>, found <{}>", shorten(root.tag_name().name()));
            let help = format!("a statechart is an <scxml> element, with xmlns=\"{SCXML}\"");
            return self.refuse(span, message, help);
        }
        self.attributes(
            root,
            &["initial", "name", "version", "datamodel", "binding"],
            &["property", "events", "queue", "external", "timers"],
        );
        for (name, allowed) in
            [("version", &["1.0"][..]), ("binding", &["early", "late"]), ("datamodel", &["ecmascript", "null"])]
        {
            if let Some(attribute) = root.attribute_node(name)
                && !allowed.contains(&attribute.value())
            {
                let (span, value) = (self.value_span(attribute), shorten(attribute.value()));
                let help = format!("write {name}=\"{}\"", allowed[0]);
                self.refuse(span, format!("{name}=\"{value}\" is not supported"), help);
            }
        }
        if let Some(attribute) = root.attribute_node((TRELLIS, "property")) {
            let property = self.expression(attribute);
            self.raw.tree.properties.extend(property);
        }
        if let Some(attribute) = root.attribute_node((TRELLIS, "events")) {
            let words = self.words(attribute);
            let names = words.into_iter().filter_map(|(word, span)| match word.as_str() {
                "*" => Some(String::new()),
                _ => self.event_name(&word, span),
            });
            self.raw.tree.events = Some(names.collect());
        }
        self.raw.tree.late = root.attribute("binding") == Some("late");
        self.raw.tree.name = root.attribute("name").map(String::from);
        self.raw.tree.queue = self.length(root, "queue");
        self.raw.tree.external = self.length(root, "external");
        self.raw.tree.timers = self.length(root, "timers");
        self.state(root, Kind::Root, 0);
    }

    /// How long a queue may be, in an attribute of ours.
    fn length(&mut self, root: Node, name: &'static str) -> Option<usize> {
        let attribute = root.attribute_node((TRELLIS, name))?;
        let length = attribute.value().parse().ok().filter(|n| (1..=MAX_QUEUE).contains(n));
        if length.is_none() {
            let span = self.value_span(attribute);
            self.error(span, format!("expected a number from 1 to {MAX_QUEUE}"));
        }
        length
    }

    /// A `<state>`, `<parallel>`, `<final>`, or the root; with all that is in it.
    fn state(&mut self, node: Node, kind: Kind, parent: usize) {
        let (element, span) = (node.tag_name().name(), self.tag(node));
        let s = self.raw.tree.states.len();
        if s >= MAX_SIZE {
            let message = format!("expected at most {MAX_SIZE} states, found more");
            return self.errors.stop(Diagnostic::error(span, message));
        }
        let name = if kind == Kind::Root { None } else { node.attribute("id") };
        let name = name.map_or_else(|| self.anonymous(span), String::from);
        if name.starts_with('@') {
            self.error(span, "names that begin with `@` are not supported");
        }
        self.raw.tree.states.push(State {
            name,
            kind,
            parent,
            end: 0,
            children: vec![],
            histories: vec![],
            entry: vec![],
            exit: vec![],
            transitions: vec![],
            initial: vec![],
            initial_content: vec![],
            done: Payload::None,
            span: node.attribute_node("id").map_or(span, |id| self.value_span(id)),
        });
        self.raw.initials.push(None);
        match kind {
            Kind::Root => {}
            Kind::State => self.attributes(node, &["id", "initial"], &[]),
            Kind::Parallel | Kind::Final => self.attributes(node, &["id"], &[]),
        }
        if s > 0 {
            self.raw.tree.states[parent].children.push(s);
        }
        if let (Kind::Root | Kind::State, Some(attribute)) = (kind, node.attribute_node("initial")) {
            self.raw.initials[s] = Some(self.words(attribute));
        }
        let inside: &[&'static str] = match kind {
            Kind::Root => &["state", "parallel", "final", "datamodel", "script"],
            Kind::State => &[
                "state",
                "parallel",
                "final",
                "history",
                "initial",
                "transition",
                "onentry",
                "onexit",
                "datamodel",
                "invoke",
            ],
            Kind::Parallel => {
                &["state", "parallel", "history", "transition", "onentry", "onexit", "datamodel", "invoke"]
            }
            Kind::Final => &["onentry", "onexit", "donedata"],
        };
        for child in self.children(node, true) {
            let name = child.tag_name().name();
            if child.tag_name().namespace() == Some(TRELLIS) {
                self.property(child);
                continue;
            }
            if !inside.contains(&name) {
                self.unknown(child, element, inside);
                continue;
            }
            match name {
                "state" | "parallel" | "final" => {
                    let kind = match name {
                        "state" => Kind::State,
                        "parallel" => Kind::Parallel,
                        _ => Kind::Final,
                    };
                    self.deeper(child, |r| r.state(child, kind, s));
                }
                "history" => self.history(child, s),
                "initial" => self.initial(child, s),
                "transition" => self.transition(child, s),
                "datamodel" => self.datamodel(child, s),
                "invoke" => self.invoke(child, s),
                "script" => {
                    let script = self.script(child);
                    self.raw.tree.script.extend(script);
                }
                "donedata" => {
                    self.attributes(child, &[], &[]);
                    if let Some(done) = self.payload(child) {
                        self.raw.tree.states[s].done = done;
                    }
                }
                _ => {
                    self.attributes(child, &[], &[]);
                    let block = self.block(child);
                    let state = &mut self.raw.tree.states[s];
                    if name == "onentry" { &mut state.entry } else { &mut state.exit }.push(block);
                }
            }
        }
        self.raw.tree.states[s].end = self.raw.tree.states.len();
    }

    /// What to call an element without an id.
    fn anonymous(&self, span: Span) -> String {
        let before = &self.text[..(span.start as usize).min(self.text.len())];
        let line = before.matches('\n').count() + 1;
        let column = before.len() - before.rfind('\n').map_or(0, |n| n + 1) + 1;
        format!("state@{line}:{column}")
    }

    /// `<trellis:property expr="…"/>`
    fn property(&mut self, node: Node) {
        if node.tag_name().name() != "property" {
            let (span, name) = (self.tag(node), shorten(node.tag_name().name()));
            return self.error(span, format!("there is no element <trellis:{name}>"));
        }
        self.attributes(node, &["expr"], &[]);
        self.empty(node);
        if !self.missing(node, "expr")
            && let Some(attribute) = node.attribute_node("expr")
        {
            let property = self.expression(attribute);
            self.raw.tree.properties.extend(property);
        }
    }

    /// `<initial><transition target="…"/></initial>`
    fn initial(&mut self, node: Node, s: usize) {
        self.attributes(node, &[], &[]);
        let span = self.tag(node);
        if self.raw.initials[s].is_some() {
            return self.error(span, "the initial state is given twice");
        }
        if let Some((targets, content)) = self.only_transition(node) {
            self.raw.initials[s] = Some(targets);
            self.raw.tree.states[s].initial_content = content;
        }
    }

    /// The one transition of an `<initial>` or `<history>`.
    fn only_transition(&mut self, node: Node) -> Option<(Names, Block)> {
        let mut found = None;
        for child in self.children(node, true) {
            if child.tag_name().name() != "transition" || found.is_some() {
                self.unknown(child, node.tag_name().name(), &["one transition"]);
                continue;
            }
            self.attributes(child, &["target", "type"], &[]);
            self.missing(child, "target");
            let targets = child.attribute_node("target").map_or(vec![], |target| self.words(target));
            found = Some((targets, self.block(child)));
        }
        if found.is_none() {
            let (span, name) = (self.tag(node), node.tag_name().name());
            self.error(span, format!("expected a <transition> in <{name}>, found none"));
        }
        found
    }

    fn history(&mut self, node: Node, parent: usize) {
        self.attributes(node, &["id", "type"], &[]);
        let deep = match node.attribute_node("type") {
            Some(attribute) if attribute.value() == "deep" => true,
            Some(attribute) if attribute.value() != "shallow" => {
                let span = self.value_span(attribute);
                return self.error(span, "expected `shallow` or `deep`");
            }
            _ => false,
        };
        let Some((default, content)) = self.only_transition(node) else { return };
        let span = self.tag(node);
        let h = self.raw.tree.histories.len();
        let name = node.attribute("id").map_or_else(|| self.anonymous(span), String::from);
        self.raw.tree.states[parent].histories.push(h);
        self.raw.tree.histories.push(History { name, parent, deep, default: vec![], content, span });
        self.raw.defaults.push(default);
    }

    fn transition(&mut self, node: Node, source: usize) {
        let span = self.tag(node);
        self.attributes(node, &["event", "cond", "target", "type"], &[]);
        if !["event", "cond", "target"].iter().any(|name| node.has_attribute(*name)) {
            self.error(span, "expected one of `event`, `cond` and `target` on <transition>, found none");
        }
        let events = node.attribute_node("event").map(|attribute| {
            let words = self.words(attribute);
            if words.is_empty() {
                let span = self.value_span(attribute);
                self.error(span, "expected the name of an event, found none");
            }
            words.into_iter().filter_map(|(word, span)| self.descriptor(&word, span)).collect()
        });
        let internal = match node.attribute_node("type") {
            Some(attribute) if attribute.value() == "internal" => true,
            Some(attribute) if attribute.value() != "external" => {
                let span = self.value_span(attribute);
                self.error(span, "expected `internal` or `external`");
                false
            }
            _ => false,
        };
        let cond = node.attribute_node("cond").and_then(|attribute| self.expression(attribute));
        let targets = node.attribute_node("target").map(|attribute| {
            let words = self.words(attribute);
            if words.is_empty() {
                let span = self.value_span(attribute);
                self.error(span, "expected the name of a state, found none");
            }
            words
        });
        let content = self.block(node);
        let t = self.raw.tree.transitions.len();
        if t >= MAX_SIZE {
            let message = format!("expected at most {MAX_SIZE} transitions, found more");
            return self.errors.stop(Diagnostic::error(span, message));
        }
        self.raw.tree.states[source].transitions.push(t);
        self.raw.tree.transitions.push(Transition { source, events, cond, targets: vec![], internal, content });
        self.raw.targets.push(targets.unwrap_or_default());
    }

    /// `a.b.*`, `a.b` and `a.b.` are the same; `*` is the empty one.
    fn descriptor(&mut self, word: &str, span: Span) -> Option<String> {
        if word == "*" {
            return Some(String::new());
        }
        // W3C's tests write `.*` where any event is meant.
        if word == ".*" {
            return Some(String::new());
        }
        self.event_name(word.strip_suffix(".*").or_else(|| word.strip_suffix('.')).unwrap_or(word), span)
    }

    /// Checks the name of an event.
    pub fn event_name(&mut self, name: &str, span: Span) -> Option<String> {
        if name.starts_with('@') {
            self.error(span, "names that begin with `@` are not supported");
            return None;
        }
        if name.split('.').any(|token| token.is_empty() || token.contains(|c: char| c == '*' || c.is_whitespace())) {
            self.error(span, "this is not the name of an event");
            return None;
        }
        Some(name.to_string())
    }

    fn datamodel(&mut self, node: Node, state: usize) {
        self.attributes(node, &[], &[]);
        for child in self.children(node, false) {
            if child.tag_name().name() != "data" {
                self.unknown(child, "datamodel", &["data"]);
                continue;
            }
            self.attributes(child, &["id", "expr"], &["type"]);
            if self.missing(child, "id") {
                continue;
            }
            let before = self.errors.count();
            let expr = match child.attribute_node("expr") {
                Some(attribute) => {
                    self.empty(child);
                    self.expression(attribute)
                }
                None if child.children().any(|c| c.is_element() || c.text().is_some_and(|t| !t.trim().is_empty())) => {
                    self.inline(child)
                }
                None => None,
            };
            let ty = child.attribute_node((TRELLIS, "type")).and_then(|attribute| self.data_type(attribute));
            if let (Some(id), true) = (child.attribute_node("id"), self.errors.count() == before) {
                let (name, span) = (id.value().to_string(), self.value_span(id));
                self.raw.tree.data.push(Data { name, span, expr, state, ty });
            }
        }
    }

    /// `bool`, `int`, `0..10`, `{red, green}`
    fn data_type(&mut self, attribute: Attribute) -> Option<DataType> {
        let text = attribute.value().trim();
        let range = text.split_once("..").and_then(|(lo, hi)| Some((lo.trim().parse().ok()?, hi.trim().parse().ok()?)));
        let literals = text.strip_prefix('{').and_then(|text| text.strip_suffix('}'));
        let literals = literals.map(|text| text.split(',').map(|l| l.trim().to_string()).collect::<Vec<_>>());
        match (text, range, literals) {
            ("bool", ..) => Some(DataType::Bool),
            ("int", ..) => Some(DataType::Int),
            (_, Some((lo, hi)), _) if lo <= hi => Some(DataType::Range(lo, hi)),
            (_, _, Some(literals))
                if literals.iter().enumerate().all(|(n, l)| !l.is_empty() && !literals[..n].contains(l)) =>
            {
                Some(DataType::Enum(literals))
            }
            _ => {
                let span = self.value_span(attribute);
                self.error(span, "expected `bool`, `int`, bounds such as `0..10`, or literals such as `{red, green}`");
                None
            }
        }
    }
}
