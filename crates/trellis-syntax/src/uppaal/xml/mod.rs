//! The XML form of UPPAAL models: the elements of the flat DTDs, with the text inside them left to the parser.
//!
//! Layout (`x`, `y`, `color`, `nail`) is kept for pictures, as far as it makes sense. Elements, attributes and label kinds that are not known are errors: leaving out a
//! misspelt guard would change what the model means. So are parts that can be there only once and are there twice. Entities other than
//! XML's own five are refused. What UPPAAL remembers of former runs (`option`) says nothing about the model; outcomes
//! (`expect`, `result`) are kept with their queries. `controllable="false"` is for games: symbolic questions are about all that can happen.

use std::collections::{BTreeMap, HashSet};

use roxmltree::Node;
use trellis_model::network::sketch::{Label, Spot};

use super::ast::{Decl, Edge, Ident, Location, Nta, Template};
use super::parser::{Parser, add_commented, by_reference_if_old, duplicate_location, queries_of};
use super::text::{Text, tag_len};
use super::token::shorten;
use crate::diag::{Diagnostic, SourceId, Span};
use crate::text::errors::{Errors, Reported, closest};
use crate::xml::{Language, parse};

const LANGUAGE: Language = Language {
    root: "nta",
    what: "an UPPAAL model is an <nta> element; the textual form belongs into a file called .xta",
    textual: "is this the textual form? then call the file .xta",
};

/// The attributes of the flat DTDs; of elements that are not here, nothing is read.
const ATTRIBUTES: [(&str, &[&str]); 21] = [
    ("nta", &[]),
    ("declaration", &[]),
    ("system", &[]),
    ("instantiation", &[]),
    ("template", &[]),
    ("name", &["x", "y"]),
    ("parameter", &["x", "y"]),
    ("location", &["id", "x", "y", "color"]),
    ("branchpoint", &["id", "x", "y", "color"]),
    ("init", &["ref"]),
    ("urgent", &[]),
    ("committed", &[]),
    ("transition", &["id", "x", "y", "color", "controllable", "action"]),
    ("source", &["ref"]),
    ("target", &["ref"]),
    ("label", &["kind", "x", "y"]),
    ("nail", &["x", "y"]),
    ("queries", &[]),
    ("query", &[]),
    ("formula", &[]),
    ("comment", &[]),
];

/// Reads a model in XML, with the queries in it.
pub fn parse_xml(source: SourceId, text: &str) -> (Nta, Vec<Diagnostic>) {
    let mut reader = Reader { source, text, errors: Errors::default(), old: false };
    let mut nta = Nta::default();
    match parse(source, text, &LANGUAGE) {
        Ok(document) => {
            reader.old = is_old(text);
            reader.attributes(document.root_element());
            reader.root(document.root_element(), &mut nta);
            by_reference_if_old(&mut nta, reader.old);
        }
        Err(error) => reader.errors.push(error),
    }
    (nta, reader.errors.finish())
}

/// Whether the file says that it is in the syntax of before UPPAAL 3.4.
fn is_old(text: &str) -> bool {
    let prolog = &text[..text.find("<nta").unwrap_or(0)];
    prolog.contains("DTD Flat System 1.0//")
}

/// Where an element stands, if it says so. It is only for pictures: what makes no sense is as good as nothing.
fn at(node: Node) -> Option<(f64, f64)> {
    let number = |name| node.attribute(name)?.trim().parse::<f64>().ok().filter(|n| n.abs() < 1e6);
    Some((number("x")?, number("y")?))
}

/// The colour of an element, if it is one that pictures know.
fn color(node: Node) -> Option<String> {
    let is_digits = |c: &str| c.len() == 6 && c.bytes().all(|b| b.is_ascii_hexdigit());
    node.attribute("color").filter(|c| c.strip_prefix('#').is_some_and(is_digits)).map(String::from)
}

struct Reader<'t> {
    source: SourceId,
    text: &'t str,
    errors: Errors,
    old: bool,
}

/// The locations of a template by their XML id.
type Ids<'d> = BTreeMap<&'d str, usize>;

impl<'t> Reader<'t> {
    fn span(&self, range: std::ops::Range<usize>) -> Span {
        Span { source: self.source, start: range.start as u32, end: range.end as u32 }
    }

    /// The start tag of an element.
    fn tag(&self, node: Node) -> Span {
        let range = node.range();
        let len = tag_len(&self.text[range.clone()]);
        self.span(range.start..range.start + len)
    }

    /// The text inside an element.
    fn content(&self, node: Node) -> Text<'t> {
        let range = node.range();
        let raw = &self.text[range.clone()];
        let start = tag_len(raw);
        let end = if raw[..start].ends_with("/>") { start } else { raw.rfind("</").unwrap_or(start).max(start) };
        Text::xml(self.source, self.text, range.start + start, range.start + end)
    }

    /// Lets the parser read the text inside an element.
    fn read<T>(&mut self, node: Node, read: impl FnOnce(&mut Parser) -> T) -> T {
        if let Some(child) = node.children().find(Node::is_element) {
            let (parent, name) = (node.tag_name().name(), shorten(child.tag_name().name()));
            let message = format!("expected text inside <{parent}>, found the element <{name}>");
            let span = self.tag(child);
            self.error(span, message, "in XML, write `&lt;` for `<`".to_string());
        }
        let text = self.content(node);
        let mut parser = Parser::new(&text, &mut self.errors);
        let result = read(&mut parser);
        self.old |= parser.old;
        result
    }

    /// What stands in a label, and where, if anything does.
    fn written(&self, node: Node) -> Option<Label> {
        let text = self.content(node).text.trim().to_string();
        (!text.is_empty()).then(|| Label { text, at: at(node) })
    }

    /// Lets the parser read the text inside an element, if there is any and it is right.
    fn label<T>(&mut self, node: Node, read: impl FnOnce(&mut Parser) -> Result<T, Reported>) -> Option<T> {
        self.read(node, |p| if p.is_empty() { None } else { read(p).ok() })
    }

    fn error(&mut self, span: Span, message: String, help: String) {
        self.errors.push(Diagnostic::error(span, message).help(help));
    }

    /// The child elements; stray text between them is reported.
    fn children<'a, 'd>(&mut self, parent: Node<'a, 'd>) -> Vec<Node<'a, 'd>> {
        let mut elements = Vec::new();
        for child in parent.children() {
            if child.is_element() {
                elements.push(child);
            } else if child.is_text() && child.text().is_some_and(|t| !t.trim().is_empty()) {
                let range = child.range();
                let raw = &self.text[range.clone()];
                let start = range.start + (raw.len() - raw.trim_start().len());
                let span = self.span(start..(range.start + raw.trim_end().len()).max(start));
                let name = parent.tag_name().name();
                self.errors.push(
                    Diagnostic::error(span, format!("expected elements inside <{name}>, found text"))
                        .help("put it into the element it belongs to, or remove it"),
                );
            }
        }
        elements
    }

    fn unknown(&mut self, node: Node, parent: &str, known: &[&'static str]) {
        let name = node.tag_name().name();
        let help = match closest(name, known.iter().copied()) {
            Some(near) => format!("did you mean <{near}>?"),
            None if known.is_empty() => format!("inside <{parent}> there is only text"),
            None => format!("inside <{parent}> there can be: {}", known.join(", ")),
        };
        let span = self.tag(node);
        self.error(span, format!("there is no element <{}> inside <{parent}>", shorten(name)), help);
    }

    /// Refuses attributes that are not known, in all of the document.
    fn attributes(&mut self, root: Node) {
        for node in root.descendants().filter(Node::is_element) {
            let name = node.tag_name().name();
            let Some((_, known)) = ATTRIBUTES.iter().find(|(element, _)| *element == name) else { continue };
            for attribute in node.attributes().filter(|a| a.namespace().is_none() && !known.contains(&a.name())) {
                let help = match (closest(attribute.name(), known.iter().copied()), known) {
                    (Some(near), _) => format!("did you mean `{near}`?"),
                    (None, []) => format!("<{name}> has no attributes"),
                    (None, _) => format!("<{name}> can have: {}", known.join(", ")),
                };
                let span = self.span(attribute.range());
                self.error(span, format!("there is no attribute `{}` of <{name}>", shorten(attribute.name())), help);
            }
        }
    }

    /// Refuses a second element where there is one.
    fn only_once(&mut self, parent: &str, children: &[Node], names: &[&str]) {
        for name in names {
            if let Some(second) = children.iter().filter(|n| n.has_tag_name(*name)).nth(1) {
                let span = self.tag(*second);
                let help = format!("inside <{parent}> there is one <{name}>; remove one of them");
                self.error(span, format!("expected one <{name}>, found another"), help);
            }
        }
    }

    fn root(&mut self, root: Node, nta: &mut Nta) {
        if !root.has_tag_name("nta") {
            let span = self.tag(root);
            let name = shorten(root.tag_name().name());
            let help = "an UPPAAL model is an <nta> element".to_string();
            return self.error(span, format!("expected <nta>, found <{name}>"), help);
        }
        let end = root.range().end;
        nta.end = Some(self.span(end..end));
        for node in self.children(root) {
            match node.tag_name().name() {
                "declaration" => self.read(node, |p| p.file(nta)),
                "instantiation" | "system" => self.read(node, |p| p.system_section(nta)),
                "template" => {
                    if let Some(template) = self.template(node) {
                        nta.templates.push(template);
                    }
                }
                "queries" => self.queries(node, nta),
                name @ ("imports" | "lsc") => {
                    if node.has_children() {
                        let what = if name == "lsc" { "a live sequence chart" } else { "imports" };
                        nta.decls.push(Decl::Unsupported { what: what.to_string(), span: self.tag(node) });
                    }
                }
                "comment" => {}
                _ => self.unknown(
                    node,
                    "nta",
                    &["declaration", "template", "instantiation", "system", "queries", "imports", "lsc"],
                ),
            }
        }
    }

    fn queries(&mut self, node: Node, nta: &mut Nta) {
        for query in self.children(node) {
            match query.tag_name().name() {
                "query" => {}
                "option" => continue,
                _ => {
                    self.unknown(query, "queries", &["query", "option"]);
                    continue;
                }
            }
            let parts = self.children(query);
            self.only_once("query", &parts, &["formula", "comment"]);
            let known = ["formula", "comment", "option", "expect", "result"];
            for part in parts.iter().filter(|n| !known.contains(&n.tag_name().name())) {
                self.unknown(*part, "query", &known);
            }
            let comment = parts.iter().copied().find(|n| n.has_tag_name("comment"));
            let comment = comment.map_or(String::new(), |n| self.content(n).text.trim().to_string());
            // What is expected counts, rather than what came out last.
            let outcome = |tag| parts.iter().rev().find(|n| n.has_tag_name(tag)).and_then(|n| n.attribute("outcome"));
            let recorded = match outcome("expect").or_else(|| outcome("result")) {
                Some("success") => Some(true),
                Some("failure") => Some(false),
                _ => None,
            };
            for formula in parts.iter().filter(|n| n.has_tag_name("formula")) {
                if let Some(child) = formula.children().find(Node::is_element) {
                    self.unknown(child, "formula", &[]);
                }
                let text = self.content(*formula);
                let queries = queries_of(&text, &mut self.errors);
                add_commented(nta, queries, &comment, recorded);
            }
        }
    }

    fn template(&mut self, node: Node) -> Option<Template> {
        let children = self.children(node);
        self.only_once("template", &children, &["name", "parameter"]);
        let tag = self.tag(node);
        let name = match children.iter().find(|n| n.has_tag_name("name")) {
            Some(name) => self.read(*name, |p| p.name_label("the name of the template")).ok(),
            None => {
                let help = "give it one: <name>P</name>".to_string();
                self.error(tag, "expected a <name> in this template, found none".to_string(), help);
                None
            }
        };
        // The rest is read even if the name is bad, for the mistakes in it.
        let name_or = name.clone().unwrap_or(Ident { name: "_".to_string(), span: tag });
        let span = name_or.span;
        let mut template = Template {
            name: name_or,
            params: Vec::new(),
            decls: Vec::new(),
            locations: Vec::new(),
            init: None,
            edges: Vec::new(),
            span,
        };
        let mut ids = Ids::new();
        let mut names = HashSet::new();
        for child in &children {
            match child.tag_name().name() {
                "location" => self.location(*child, &mut template, &mut ids, &mut names),
                "branchpoint" => self.branchpoint(*child, &mut template, &mut ids),
                "parameter" => {
                    if let Ok(params) = self.read(*child, |p| p.params_label()) {
                        template.params = params;
                    }
                }
                "declaration" => self.read(*child, |p| p.local_section(&mut template.decls)),
                "name" | "init" | "transition" | "comment" => {}
                _ => self.unknown(
                    *child,
                    "template",
                    &["name", "parameter", "declaration", "location", "branchpoint", "init", "transition"],
                ),
            }
        }
        self.init(&children, &mut template, &ids);
        for child in children.iter().filter(|n| n.has_tag_name("transition")) {
            if let Some(edge) = self.transition(*child, &template, &ids) {
                template.edges.push(edge);
            }
        }
        name.map(|_| template)
    }

    fn init(&mut self, children: &[Node], template: &mut Template, ids: &Ids) {
        let mut inits = children.iter().filter(|n| n.has_tag_name("init"));
        if let Some(init) = inits.next() {
            template.init = self.reference(*init, ids);
            if let Some(second) = inits.next() {
                let span = self.tag(*second);
                let help = "a template starts in one location; remove one of them".to_string();
                self.error(span, "expected one <init>, found another".to_string(), help);
            }
        } else if !template.locations.is_empty() {
            let id = shorten(ids.iter().find(|(_, i)| **i == 0).map_or("id0", |(id, _)| id));
            let help = format!("add one after the locations, such as <init ref=\"{id}\"/>");
            let message = format!("template `{}` has no initial location", shorten(&template.name.name));
            self.errors.push(Diagnostic::error(template.span, message).label("no <init> in this template").help(help));
        }
    }

    /// The location that the `ref` of an element points to.
    fn reference(&mut self, node: Node, ids: &Ids) -> Option<usize> {
        let name = node.tag_name().name();
        let Some(attribute) = node.attribute_node("ref") else {
            let span = self.tag(node);
            let help = format!("write <{name} ref=\"ID\"/> with the id of a location");
            self.error(span, format!("expected a `ref` on <{name}>, found none"), help);
            return None;
        };
        let found = ids.get(attribute.value()).copied();
        if found.is_none() {
            let span = self.span(attribute.range_value());
            let help = match closest(attribute.value(), ids.keys().copied()) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => "`ref` must be the `id` of a <location> of this template".to_string(),
            };
            let value = shorten(attribute.value());
            self.error(span, format!("there is no location with the id \"{value}\" in this template"), help);
        }
        found
    }

    /// The `id` of a location or branch point, registered as the next location; `None` is reported.
    fn id<'d>(&mut self, node: Node<'d, '_>, next: usize, ids: &mut Ids<'d>) -> Option<(&'d str, Span)> {
        let name = node.tag_name().name();
        let Some(attribute) = node.attribute_node("id") else {
            let span = self.tag(node);
            self.error(
                span,
                format!("expected an `id` on <{name}>, found none"),
                "give it one, such as id=\"id0\"".into(),
            );
            return None;
        };
        let span = self.span(attribute.range_value());
        let id = attribute.value();
        if ids.insert(id, next).is_some() {
            let message = format!("the id \"{}\" is already taken in this template", shorten(id));
            self.error(span, message, "ids must differ; rename one of them and the `ref`s to it".to_string());
            return None;
        }
        Some((id, span))
    }

    fn branchpoint<'d>(&mut self, node: Node<'d, '_>, template: &mut Template, ids: &mut Ids<'d>) {
        if let Some((id, span)) = self.id(node, template.locations.len(), ids) {
            let name = Ident { name: id.to_string(), span };
            template.locations.push(Location { branches: true, ..Location::new(name, true) });
        }
    }

    fn location<'d>(
        &mut self,
        node: Node<'d, '_>,
        template: &mut Template,
        ids: &mut Ids<'d>,
        names: &mut HashSet<String>,
    ) {
        let Some((id, span)) = self.id(node, template.locations.len(), ids) else { return };
        let mut location = Location::new(Ident { name: id.to_string(), span }, true);
        location.drawn = Spot { at: at(node), color: color(node), labels: vec![] };
        let children = self.children(node);
        self.only_once("location", &children, &["name"]);
        for child in children {
            match child.tag_name().name() {
                "name" => {
                    if let Some(name) = self.label(child, |p| p.name_label("the name of the location")) {
                        if !names.insert(name.name.clone()) {
                            self.errors.push(duplicate_location(&name));
                        }
                        location.drawn.labels.insert(0, Label { text: name.name.clone(), at: at(child) });
                        location.name = name;
                        location.anonymous = false;
                    }
                }
                "urgent" => location.urgent = true,
                "committed" => location.committed = true,
                "label" => self.location_label(child, &mut location),
                "comment" => {}
                _ => self.unknown(child, "location", &["name", "label", "urgent", "committed"]),
            }
        }
        template.locations.push(location);
    }

    fn location_label(&mut self, node: Node, location: &mut Location) {
        match node.attribute("kind") {
            Some("invariant") => {
                location.drawn.labels.extend(self.written(node));
                if let Some(inv) = self.label(node, |p| p.condition_label("an invariant"))
                    && location.invariant.replace(inv).is_some()
                {
                    self.second_label(node, "invariant");
                }
            }
            Some("exponentialrate") => {
                if let Some(span) = self.label(node, |p| p.rate()) {
                    location.rate = Some(span);
                }
            }
            Some("comments" | "testcodeEnter" | "testcodeExit" | "testcode") => {}
            _ => self.unknown_label(node, "location", &["invariant", "exponentialrate", "comments"]),
        }
    }

    fn second_label(&mut self, node: Node, kind: &str) {
        let span = self.tag(node);
        let help = "join the two into one label".to_string();
        self.error(span, format!("expected one label of kind \"{kind}\", found another"), help);
    }

    fn unknown_label(&mut self, node: Node, parent: &str, known: &[&'static str]) {
        let list = known.join(", ");
        match node.attribute_node("kind") {
            None => {
                let span = self.tag(node);
                self.error(span, "expected a `kind` on <label>, found none".into(), format!("the kinds are: {list}"));
            }
            Some(kind) => {
                let span = self.span(kind.range_value());
                let help = match closest(kind.value(), known.iter().copied()) {
                    Some(near) => format!("did you mean \"{near}\"?"),
                    None => format!("the kinds are: {list}"),
                };
                let value = shorten(kind.value());
                self.error(span, format!("there is no label of kind \"{value}\" on a {parent}"), help);
            }
        }
    }

    fn transition(&mut self, node: Node, template: &Template, ids: &Ids) -> Option<Edge> {
        let children = self.children(node);
        let mut edge = Edge::new(self.tag(node));
        edge.drawn.color = color(node);
        self.only_once("transition", &children, &["source", "target"]);
        let mut ends = [None, None];
        for child in children {
            match child.tag_name().name() {
                "source" => ends[0] = Some(self.reference(child, ids)),
                "target" => ends[1] = Some(self.reference(child, ids)),
                "label" => self.edge_label(child, &mut edge),
                "nail" => edge.drawn.nails.extend(at(child)),
                "comment" => {}
                _ => self.unknown(child, "transition", &["source", "target", "label", "nail"]),
            }
        }
        for (end, name) in ends.iter().zip(["source", "target"]) {
            if end.is_none() {
                let message = format!("expected a <{name}> in this transition, found none");
                let help = match template.locations.is_empty() {
                    true => "this template has no locations".to_string(),
                    false => format!("add <{name} ref=\"ID\"/> with the id of a location"),
                };
                self.error(edge.span, message, help);
            }
        }
        edge.source = ends[0].flatten()?;
        edge.target = ends[1].flatten()?;
        Some(edge)
    }

    fn edge_label(&mut self, node: Node, edge: &mut Edge) {
        let kind = node.attribute("kind");
        if !matches!(kind, Some("comments" | "testcode")) {
            edge.drawn.labels.extend(self.written(node));
        }
        let second = match kind {
            Some("select") => {
                let select = self.label(node, |p| p.select_label());
                select.is_some_and(|s| !std::mem::replace(&mut edge.select, s).is_empty())
            }
            Some("guard") => {
                let guard = self.label(node, |p| p.condition_label("a guard"));
                guard.is_some_and(|g| edge.guard.replace(g).is_some())
            }
            Some("synchronisation" | "synchronization") => {
                let before = edge.sync.is_some();
                self.label(node, |p| p.sync_label(edge)).is_some() && before
            }
            Some("assignment" | "update") => {
                let update = self.label(node, |p| p.update_label());
                update.is_some_and(|u| !std::mem::replace(&mut edge.update, u).is_empty())
            }
            Some("probability") => {
                let weight = self.label(node, |p| p.rate());
                weight.is_some_and(|w| edge.weight.replace(w).is_some())
            }
            Some("comments" | "testcode") => false,
            _ => {
                let known = ["select", "guard", "synchronisation", "assignment", "probability", "comments"];
                self.unknown_label(node, "transition", &known);
                false
            }
        };
        if second {
            self.second_label(node, kind.unwrap_or_default());
        }
    }
}
