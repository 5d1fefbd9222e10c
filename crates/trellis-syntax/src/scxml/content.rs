//! Executable content: `<assign>`, `<if>`, `<raise>`, `<send>` and `<cancel>`. `<log>` changes nothing and is left out.
//!
//! **`<send>`.** Without a `target` an event goes into the chart's own *external* queue, at once or after a `delay` (`send` says how).
//! Sent to `#_internal`, it is raised. All other targets, other processors and all data are refused, by name. A `<cancel>` names the id
//! of a `<send>`.

use roxmltree::Node;

use super::expr::Node as Expression;
use super::read::Reader;
use super::tree::{Action, Block, Delay, microseconds};

const KNOWN: [&str; 6] = ["assign", "if", "raise", "log", "send", "cancel"];

/// The event processor that delivers to charts.
const PROCESSORS: [&str; 2] = ["scxml", "http://www.w3.org/TR/scxml/#SCXMLEventProcessor"];

impl Reader<'_> {
    /// The content of an element.
    pub fn block(&mut self, parent: Node) -> Block {
        let name = parent.tag_name().name();
        self.children(parent, false).into_iter().filter_map(|child| self.action(child, name)).collect()
    }

    fn action(&mut self, node: Node, parent: &str) -> Option<Action> {
        match node.tag_name().name() {
            "assign" => {
                self.attributes(node, &["location", "expr"], &[]);
                self.empty(node);
                if self.missing(node, "location") || self.missing(node, "expr") {
                    return None;
                }
                let location = node.attribute_node("location")?;
                let expr = self.expression(node.attribute_node("expr")?)?;
                Some(Action::Assign {
                    name: location.value().trim().to_string(),
                    span: self.value_span(location),
                    expr,
                })
            }
            "raise" => {
                self.attributes(node, &["event"], &[]);
                self.empty(node);
                if self.missing(node, "event") {
                    return None;
                }
                self.named_event(node).map(Action::Raise)
            }
            "if" => self.deeper(node, |r| r.conditional(node)).flatten(),
            "log" => {
                self.attributes(node, &["label", "expr"], &[]);
                None
            }
            "send" => self.send(node),
            "cancel" => {
                self.attributes(node, &["sendid"], &[]);
                self.empty(node);
                if self.missing(node, "sendid") {
                    return None;
                }
                node.attribute("sendid").map(|id| Action::Cancel(id.to_string()))
            }
            _ => {
                self.unknown(node, parent, &KNOWN);
                None
            }
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
                block.extend(self.action(child, "if"));
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
        Some(Action::If { branches, otherwise })
    }

    fn condition(&mut self, node: Node) -> Option<super::expr::Expr> {
        if self.missing(node, "cond") {
            return None;
        }
        self.expression(node.attribute_node("cond")?)
    }

    fn send(&mut self, node: Node) -> Option<Action> {
        self.attributes(node, &["event", "target", "type", "id", "delay", "delayexpr"], &[]);
        self.empty(node);
        if self.missing(node, "event") {
            return None;
        }
        let event = self.named_event(node)?;
        if let Some(processor) = node.attribute_node("type")
            && !PROCESSORS.contains(&processor.value())
        {
            let span = self.value_span(processor);
            self.error(span, "events can only be sent to the chart itself");
        }
        match node.attribute_node("target") {
            None => {
                let id = node.attribute("id").map(String::from);
                Some(Action::Send { event, delay: self.delay(node)?, id })
            }
            Some(target) if target.value() == "#_internal" => {
                match ["delay", "delayexpr"].iter().find_map(|name| node.attribute_node(*name)) {
                    None => Some(Action::Raise(event)),
                    Some(delay) => {
                        let span = self.value_span(delay);
                        self.error(span, "what is sent to `#_internal` cannot be delayed");
                        None
                    }
                }
            }
            Some(target) => {
                let span = self.value_span(target);
                self.error(span, "events can only be sent to the chart itself: leave `target` out, or `#_internal`");
                None
            }
        }
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
