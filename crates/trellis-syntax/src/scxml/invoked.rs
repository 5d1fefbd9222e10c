//! `<invoke>` as it is written; what becomes of it is in `invoke`.

use roxmltree::Node;

use super::expr::{self, Expr};
use super::read::{Raw, RawInvoke, Reader};

impl Reader<'_> {
    /// `<invoke>` of a chart that is written inside it.
    pub fn invoke(&mut self, node: Node, s: usize) {
        self.attributes(
            node,
            &["type", "typeexpr", "src", "srcexpr", "id", "idlocation", "namelist", "autoforward"],
            &[],
        );
        let span = self.tag(node);
        for name in ["src", "srcexpr"] {
            if let Some(attribute) = node.attribute_node(name) {
                let span = self.value_span(attribute);
                return self.error(span, format!("<invoke {name}=…> is not supported: write the chart into <content>"));
            }
        }
        let mut params = vec![];
        if let Some(attribute) = node.attribute_node("namelist") {
            let names = self.words(attribute).into_iter();
            params.extend(names.map(|(n, span)| (n.clone(), Expr::new(expr::Node::Name(n), span))));
        }
        let (mut finalize, mut chart) = (vec![], None);
        for child in self.children(node, false) {
            match child.tag_name().name() {
                "param" => {
                    self.attributes(child, &["name", "expr", "location"], &[]);
                    self.empty(child);
                    let value = child.attribute_node("expr").or(child.attribute_node("location"));
                    if self.missing(child, "name") || (value.is_none() && self.missing(child, "expr")) {
                        return;
                    }
                    let value = value.and_then(|attribute| self.expression(attribute));
                    params.extend(child.attribute("name").map(String::from).zip(value));
                }
                "finalize" => {
                    self.attributes(child, &[], &[]);
                    finalize = self.block(child);
                    if finalize.is_empty() {
                        let span = self.tag(child);
                        return self.error(span, "an empty <finalize> is not supported");
                    }
                }
                "content" => {
                    self.attributes(child, &["expr"], &[]);
                    let inside: Vec<Node> = child.children().filter(|c| c.is_element()).collect();
                    let [inner] = inside[..] else {
                        let span = self.tag(child);
                        return self.error(span, "only a chart that is written into <content> can be invoked");
                    };
                    chart = self.deeper(child, |r| r.inner(inner));
                }
                _ => self.unknown(child, "invoke", &["param", "finalize", "content"]),
            }
        }
        let Some(chart) = chart else { return self.error(span, "expected <content> with a chart in <invoke>") };
        let known = |t: &str| t.starts_with("http://www.w3.org/TR/scxml") || t == "scxml";
        let processor = match (node.attribute_node("type"), node.attribute_node("typeexpr")) {
            (Some(attribute), _) if !known(attribute.value()) => {
                let span = self.value_span(attribute);
                return self.error(span, "only charts can be invoked: type=\"scxml\"");
            }
            (None, Some(attribute)) => match self.expression(attribute) {
                Some(e) => Some(e),
                None => return,
            },
            _ => None,
        };
        let idlocation = match node.attribute_node("idlocation") {
            Some(attribute) => match self.expression(attribute) {
                Some(e) => Some(e),
                None => return,
            },
            None => None,
        };
        let number = self.raw.invokes.len() + 1;
        let made = || format!("{}.{number}", self.raw.tree.states[s].name);
        let id = node.attribute("id").map_or_else(made, String::from);
        let autoforward = node.attribute("autoforward") == Some("true");
        let chart = Box::new(chart);
        let invoke = RawInvoke { state: s, id, idlocation, processor, params, autoforward, finalize, chart, span };
        self.raw.invokes.push(invoke);
    }

    /// A chart within this one.
    fn inner(&mut self, node: Node) -> Raw {
        let raw = std::mem::take(&mut self.raw);
        self.root(node);
        std::mem::replace(&mut self.raw, raw)
    }
}
