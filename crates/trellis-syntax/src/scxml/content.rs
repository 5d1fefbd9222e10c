//! Executable content: `<assign>`, `<if>`, `<foreach>`, `<raise>`, `<send>`, `<cancel>`, `<script>` and `<log>`.
//!
//! **`<send>`.** Without a `target` an event goes into the chart's own *external* queue, at once or after a `delay` (`send` says
//! how), with what `<param>`, `namelist` or `<content>` say. A text in `<content>`, `<data>` or `<assign>` is a value if it is
//! JSON, otherwise a string, with its blanks normalized; XML is refused. So is everything that goes over HTTP. `<cancel>` names
//! the id of a `<send>`.

use roxmltree::Node;

use super::expr::Node as Expression;
use super::read::Reader;
use super::tree::{Action, Block, Delay, Payload, Send, microseconds};
use super::{expr, script};
use crate::uppaal::text::Text;

const KNOWN: [&str; 8] = ["assign", "if", "foreach", "raise", "log", "send", "cancel", "script"];

impl Reader<'_> {
    /// The content of an element.
    pub fn block(&mut self, parent: Node) -> Block {
        let name = parent.tag_name().name();
        let mut block = vec![];
        self.children(parent, false).into_iter().for_each(|child| self.action(child, name, &mut block));
        block
    }

    /// Reads one element, unless something is wrong with it.
    fn action(&mut self, node: Node, parent: &str, block: &mut Block) {
        let action = match node.tag_name().name() {
            "assign" => self.assign(node),
            "raise" => {
                self.attributes(node, &["event"], &[]);
                self.empty(node);
                if self.missing(node, "event") { None } else { self.named_event(node).map(Action::Raise) }
            }
            "if" => self.deeper(node, |r| r.conditional(node)).flatten(),
            "foreach" => self.deeper(node, |r| r.foreach(node)).flatten(),
            "log" => {
                self.attributes(node, &["label", "expr"], &[]);
                // What cannot be read cannot be said, and that is all.
                node.attribute_node("expr").and_then(|e| expr::parse(&self.value(e)).ok()).map(Action::Log)
            }
            "script" => return block.extend(self.script(node)),
            "send" => self.send(node).map(|send| Action::Send(Box::new(send))),
            "cancel" => {
                self.attributes(node, &["sendid", "sendidexpr"], &[]);
                self.empty(node);
                if !node.has_attribute("sendidexpr") && self.missing(node, "sendid") {
                    return;
                }
                self.either(node, "sendid", "sendidexpr").map(Action::Cancel)
            }
            _ => {
                self.unknown(node, parent, &KNOWN);
                None
            }
        };
        block.extend(action);
    }

    /// `<script>`
    pub fn script(&mut self, node: Node) -> Block {
        self.attributes(node, &[], &[]);
        let Some(text) = self.only_text(node) else { return vec![] };
        match script::parse(&text) {
            Ok(block) => block,
            Err(error) => {
                self.errors.push(error);
                vec![]
            }
        }
    }

    /// The text of an element that has nothing but text in it; elements are refused.
    fn only_text(&mut self, node: Node) -> Option<Text<'_>> {
        if let Some(child) = node.children().find(|c| c.is_element()) {
            let (span, name) = (self.tag(child), child.tag_name().name().to_string());
            self.error(span, format!("XML as a value (<{}>) is not supported", crate::diag::shorten(&name)));
            return None;
        }
        let inside = |c: &Node| c.is_text();
        let (first, last) = (node.children().find(inside), node.children().rfind(inside));
        let range = match (first, last) {
            (Some(first), Some(last)) => first.range().start..last.range().end,
            _ => return None,
        };
        Some(Text::xml(self.source, self.text, range.start, range.end))
    }

    /// What the text of an element stands for: a value in JSON, or else a string.
    pub fn inline(&mut self, node: Node) -> Option<super::expr::Expr> {
        let before = self.errors.count();
        let Some(text) = self.only_text(node) else {
            let (span, known) = (self.tag(node), self.errors.count() == before);
            return known.then(|| super::expr::Expr::new(Expression::Text(String::new()), span));
        };
        let trimmed = text.text.trim();
        let fraction = trimmed.parse::<f64>().is_ok() && !trimmed.bytes().all(|b| b.is_ascii_digit() || b == b'-');
        if fraction && trimmed.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
            let span = text.span(0, text.text.len());
            self.error(span, "fractions are not supported");
            return None;
        }
        let span = text.span(0, text.text.len());
        let json = expr::parse(&text).ok().filter(|e| e.is_literal() && !trimmed.contains('\''));
        let words = trimmed.split_whitespace().collect::<Vec<_>>().join(" ");
        Some(json.unwrap_or_else(|| super::expr::Expr::new(Expression::Text(words), span)))
    }

    fn assign(&mut self, node: Node) -> Option<Action> {
        self.attributes(node, &["location", "expr"], &[]);
        if self.missing(node, "location") {
            return None;
        }
        let expr = match node.attribute_node("expr") {
            Some(attribute) => {
                self.empty(node);
                self.expression(attribute)
            }
            None if node.children().any(|c| c.is_text()) => self.inline(node),
            None => {
                self.missing(node, "expr");
                None
            }
        };
        let to = self.expression(node.attribute_node("location")?);
        Some(Action::Assign { to: to?, expr: expr?, create: false })
    }

    fn foreach(&mut self, node: Node) -> Option<Action> {
        self.attributes(node, &["array", "item", "index"], &[]);
        let missing = [self.missing(node, "array"), self.missing(node, "item")];
        let body = self.block(node);
        if missing.contains(&true) {
            return None;
        }
        let array = self.expression(node.attribute_node("array")?)?;
        let word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
        let name = |text: &str| {
            let text = text.trim();
            let fine = !text.is_empty() && text.chars().all(word) && !text.starts_with(|c: char| c.is_numeric());
            fine.then(|| text.to_string())
        };
        let (item, index) = (node.attribute("item").and_then(name), node.attribute("index"));
        let known = index.is_none() || index.and_then(name).is_some();
        Some(Action::Foreach { array, item: item.filter(|_| known), index: index.and_then(name), body })
    }

    /// An attribute, or the expression in another one, of which there may be only one.
    fn either(&mut self, node: Node, plain: &'static str, computed: &'static str) -> Option<super::expr::Expr> {
        match (node.attribute_node(plain), node.attribute_node(computed)) {
            (Some(_), Some(attribute)) => {
                let span = self.value_span(attribute);
                self.error(span, format!("there cannot be both `{plain}` and `{computed}`"));
                None
            }
            (Some(attribute), None) => {
                let span = self.value_span(attribute);
                Some(super::expr::Expr::new(Expression::Text(attribute.value().to_string()), span))
            }
            (None, attribute) => self.expression(attribute?),
        }
    }

    /// `<param>`, `<content>` and `namelist`
    pub fn payload(&mut self, node: Node) -> Option<Payload> {
        let mut fields = vec![];
        if let Some(attribute) = node.attribute_node("namelist") {
            for (name, span) in self.words(attribute) {
                fields.push((name.clone(), super::expr::Expr::new(Expression::Name(name), span)));
            }
        }
        let mut content = None;
        for child in self.children(node, false) {
            match child.tag_name().name() {
                "param" => {
                    self.attributes(child, &["name", "expr", "location"], &[]);
                    self.empty(child);
                    let value = child.attribute_node("expr").or(child.attribute_node("location"));
                    if self.missing(child, "name") || (value.is_none() && self.missing(child, "expr")) {
                        return None;
                    }
                    fields.push((child.attribute("name")?.to_string(), self.expression(value?)?));
                }
                "content" => {
                    self.attributes(child, &["expr"], &[]);
                    content = match child.attribute_node("expr") {
                        Some(attribute) => Some(self.expression(attribute)?),
                        None => Some(self.inline(child)?),
                    };
                }
                _ => self.unknown(child, node.tag_name().name(), &["param", "content"]),
            }
        }
        match content {
            Some(content) if fields.is_empty() => Some(Payload::Content(content)),
            Some(content) => {
                self.error(content.span, "there cannot be both <content> and <param> or `namelist`");
                None
            }
            None if fields.is_empty() => Some(Payload::None),
            None => Some(Payload::Fields(fields)),
        }
    }

    fn named_event(&mut self, node: Node) -> Option<String> {
        let attribute = node.attribute_node("event")?;
        let span = self.value_span(attribute);
        self.event_name(attribute.value().trim(), span)
    }

    /// `<if cond="…"> … <elseif cond="…"/> … <else/> … </if>`
    fn conditional(&mut self, node: Node) -> Option<Action> {
        self.attributes(node, &["cond"], &[]);
        let mut branches = vec![];
        let mut otherwise = None;
        let mut cond = self.condition(node);
        let mut block = vec![];
        for child in self.children(node, false) {
            let name = child.tag_name().name();
            if !matches!(name, "elseif" | "else") {
                self.action(child, "if", &mut block);
                continue;
            }
            let span = self.tag(child);
            self.empty(child);
            if otherwise.is_some() {
                self.error(span, format!("there cannot be an <{name}> after <else>"));
                return None;
            }
            branches.push((cond.take(), std::mem::take(&mut block)));
            if name == "else" {
                self.attributes(child, &[], &[]);
                otherwise = Some(());
            } else {
                self.attributes(child, &["cond"], &[]);
                cond = self.condition(child);
            }
        }
        let otherwise = match otherwise {
            Some(()) => block,
            None => {
                branches.push((cond, block));
                vec![]
            }
        };
        let branches = branches.into_iter().map(|(cond, block)| Some((cond?, block))).collect::<Option<Vec<_>>>()?;
        Some(Action::If { branches, otherwise, script: false })
    }

    fn condition(&mut self, node: Node) -> Option<super::expr::Expr> {
        if self.missing(node, "cond") {
            return None;
        }
        self.expression(node.attribute_node("cond")?)
    }

    fn send(&mut self, node: Node) -> Option<Send> {
        let known = [
            "event",
            "eventexpr",
            "target",
            "targetexpr",
            "type",
            "typeexpr",
            "id",
            "idlocation",
            "delay",
            "delayexpr",
            "namelist",
        ];
        self.attributes(node, &known, &[]);
        let span = self.tag(node);
        let data = self.payload(node);
        if let Some(processor) = node.attribute_node("type")
            && processor.value().contains("HTTP")
        {
            let span = self.value_span(processor);
            self.error(span, "events can only be sent to charts: HTTP is not supported");
        }
        if let Some(target) = node.attribute_node("target")
            && target.value().contains("://")
        {
            let span = self.value_span(target);
            self.error(span, "events can only be sent to charts: leave `target` out, or `#_internal`");
        }
        if !node.has_attribute("eventexpr") && self.missing(node, "event") {
            return None;
        }
        if node.has_attribute("event") {
            self.named_event(node)?;
        }
        let delay = self.delay(node)?;
        let late = ["delay", "delayexpr"].iter().find_map(|name| node.attribute_node(*name));
        if let (Some("#_internal"), Some(delay)) = (node.attribute("target"), late) {
            let span = self.value_span(delay);
            self.error(span, "what is sent to `#_internal` cannot be delayed");
            return None;
        }
        let idlocation = node.attribute_node("idlocation").map(|attribute| self.expression(attribute));
        let optional = |r: &mut Self, plain: &'static str, computed: &'static str| {
            let there = node.has_attribute(plain) || node.has_attribute(computed);
            if there { r.either(node, plain, computed).map(Some) } else { Some(None) }
        };
        Some(Send {
            event: self.either(node, "event", "eventexpr")?,
            target: optional(self, "target", "targetexpr")?,
            processor: optional(self, "type", "typeexpr")?,
            id: node.attribute("id").map(String::from),
            idlocation: match idlocation {
                Some(e) => Some(e?),
                None => None,
            },
            delay,
            data: data?,
            to: None,
            from: None,
            span,
        })
    }

    /// How long a `<send>` waits.
    fn delay(&mut self, node: Node) -> Option<Delay> {
        match (node.attribute_node("delay"), node.attribute_node("delayexpr")) {
            (None, None) => Some(Delay::Fixed(0)),
            (Some(attribute), None) => {
                let fixed = microseconds(attribute.value()).map(Delay::Fixed);
                if fixed.is_none() {
                    let span = self.value_span(attribute);
                    self.error(span, "expected a time such as `1s`, `.5s` or `200ms`");
                }
                fixed
            }
            (None, Some(attribute)) => {
                let expr = self.expression(attribute)?;
                let known = match &expr.node {
                    Expression::Text(text) => microseconds(text),
                    _ => None,
                };
                Some(known.map_or(Delay::Computed(expr), Delay::Fixed))
            }
            (Some(_), Some(attribute)) => {
                let span = self.value_span(attribute);
                self.error(span, "there cannot be both `delay` and `delayexpr`");
                None
            }
        }
    }
}
