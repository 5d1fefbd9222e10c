//! Executable content of the reference.

use std::collections::BTreeMap;

use roxmltree::Node;

use crate::expression::{Fault, V, Val, evaluate};
use crate::reference::{Delayed, Doc, Id, See, State, milliseconds};

/// An error of a `<send>` says which that was.
fn blamed(state: &mut State, fault: Fault, id: Option<String>) -> Result<(), Fault> {
    state.blame = id.filter(|_| fault == Fault::Error);
    Err(fault)
}

impl Doc<'_> {
    /// `<param>`, `namelist` and `<content>`
    pub(crate) fn payload(&self, state: &State, node: Node) -> V {
        let mut fields = BTreeMap::new();
        for name in node.attribute("namelist").unwrap_or("").split_whitespace() {
            fields.insert(name.to_string(), evaluate(name, &See(self, state))?);
        }
        for child in node.children().filter(Node::is_element) {
            let e = child.attribute("expr").or(child.attribute("location")).expect("a value");
            let value = evaluate(e, &See(self, state))?;
            if child.tag_name().name() == "content" {
                return Ok(value);
            }
            fields.insert(child.attribute("name").expect("a name").into(), value);
        }
        Ok(if fields.is_empty() { Val::Undefined } else { Val::Object(fields) })
    }

    /// Runs the content of an element; stops at the first error in it.
    pub(crate) fn execute(&self, state: &mut State, block: Option<Id>) {
        if let Some(n) = block {
            let inside: Vec<Node> = self.nodes[n].children().filter(Node::is_element).collect();
            let result = self.execute_block(state, &inside);
            self.caught(state, &result);
        }
    }

    /// Puts a value into a location: `x`, `x.y` or `x[n]`.
    pub(crate) fn assign(&self, state: &mut State, location: &str, value: Val) -> Result<(), Fault> {
        let end = location.find(['.', '[']).unwrap_or(location.len());
        let (name, part) = location.split_at(end);
        let data = self.nodes.iter().find(|n| n.tag_name().name() == "data" && n.attribute("id") == Some(name));
        let ty = data.and_then(|n| n.attribute(("urn:trellis", "type"))).unwrap_or("");
        if let (Some((lo, hi)), &Val::Int(n)) = (ty.split_once(".."), &value) {
            let (lo, hi): (i64, i64) = (lo.parse().expect("a bound"), hi.parse().expect("a bound"));
            if n < lo || n > hi {
                return Err(Fault::Error);
            }
        }
        let at = part.strip_prefix('[').map(|p| evaluate(&p[..p.len() - 1], &See(self, state)));
        let whole = state.data.get_mut(name).ok_or(Fault::Error)?;
        match (&mut *whole, at) {
            (_, None) if part.is_empty() => *whole = value,
            (Val::Undefined | Val::Null, _) => return Err(Fault::Error),
            (Val::Object(fields), None) => {
                fields.insert(part[1..].into(), value);
            }
            (Val::Array(all), Some(Ok(Val::Int(n)))) if n >= 0 && n <= all.len() as i64 && n < 8 => {
                all.truncate(all.len());
                if n == all.len() as i64 { all.push(value) } else { all[n as usize] = value }
            }
            _ => return Err(Fault::Beyond),
        }
        Ok(())
    }

    pub(crate) fn execute_block(&self, state: &mut State, block: &[Node]) -> Result<(), Fault> {
        for node in block {
            match node.tag_name().name() {
                "raise" => {
                    self.enqueue(state, node.attribute("event").expect("an event"), "internal", None, Val::Undefined)
                }
                "assign" => {
                    let (name, e) =
                        (node.attribute("location").expect("a name"), node.attribute("expr").expect("a value"));
                    let value = evaluate(e, &See(self, state));
                    match value {
                        Err(Fault::Error) if !name.contains('[') => return Err(Fault::Error),
                        value => self.assign(state, name, value?)?,
                    }
                }
                // Statements of the form `x = e;` only.
                "script" => {
                    for statement in node.text().unwrap_or("").split(';').filter(|s| !s.trim().is_empty()) {
                        let (to, e) = statement.split_once('=').expect("an assignment");
                        let value = evaluate(e, &See(self, state))?;
                        let to = to.trim().trim_start_matches("var ");
                        state.data.entry(to.to_string()).or_insert(Val::Undefined);
                        self.assign(state, to, value)?;
                    }
                }
                "foreach" => {
                    let Val::Array(all) = evaluate(node.attribute("array").expect("an array"), &See(self, state))?
                    else {
                        return Err(Fault::Error);
                    };
                    let inside: Vec<Node> = node.children().filter(Node::is_element).collect();
                    for (n, value) in all.into_iter().enumerate() {
                        let names = [node.attribute("item"), node.attribute("index")];
                        for (name, value) in names.into_iter().zip([value, Val::Int(n as i64)]) {
                            if let Some(name) = name {
                                state.data.entry(name.to_string()).or_insert(Val::Undefined);
                                self.assign(state, name, value)?;
                            }
                        }
                        self.execute_block(state, &inside)?;
                    }
                }
                "if" => {
                    let inside: Vec<Node> = node.children().filter(Node::is_element).collect();
                    let mark = |n: &Node| matches!(n.tag_name().name(), "elseif" | "else");
                    let mut head = *node;
                    let mut rest = &inside[..];
                    loop {
                        let end = rest.iter().position(mark).unwrap_or(rest.len());
                        if self.holds(state, head) {
                            self.execute_block(state, &rest[..end])?;
                            break;
                        }
                        if end == rest.len() {
                            break;
                        }
                        head = rest[end];
                        rest = &rest[end + 1..];
                    }
                }
                "send" => {
                    let computed = |name: &str| node.attribute(name).map(|e| evaluate(e, &See(self, state)));
                    let id = node.attribute("id").map(String::from);
                    let values = [computed("eventexpr"), computed("delayexpr"), Some(self.payload(state, *node))];
                    for fault in [Fault::Beyond, Fault::Error] {
                        if values.iter().flatten().any(|v| *v == Err(fault)) {
                            return blamed(state, fault, id);
                        }
                    }
                    let [name, delay, data] = values.map(|v| v.transpose().ok().flatten());
                    let name = match (node.attribute("event"), name) {
                        (Some(name), _) => name.to_string(),
                        (None, Some(Val::Symbol(name))) => name,
                        _ => return blamed(state, Fault::Error, id),
                    };
                    let data = data.expect("a value");
                    match node.attribute("target") {
                        Some("#_internal") => {
                            self.enqueue(state, &name, "internal", id, data);
                            continue;
                        }
                        Some(target) if target.starts_with("#_") => {
                            self.enqueue(state, "error.communication", "platform", id, Val::Undefined);
                            continue;
                        }
                        Some(_) => return blamed(state, Fault::Error, id),
                        None => {}
                    }
                    let delay = match (node.attribute("delay"), delay) {
                        (Some(time), _) => milliseconds(time).expect("a time"),
                        (None, None) => 0,
                        (None, Some(Val::Symbol(text))) => match milliseconds(&text) {
                            Some(time) => time,
                            None => return blamed(state, Fault::Error, id),
                        },
                        (None, Some(v)) => panic!("a delay of {v:?}"),
                    };
                    let heard = self.heard(&name);
                    let event = self.event(&name, "external", id.clone(), data);
                    if heard && delay == 0 {
                        state.external.push_back(event);
                    } else if heard {
                        let id = id.unwrap_or_default();
                        state.delayed.push(Delayed { event, id, left: delay, age: 0 });
                    }
                    state.most.0 = state.most.0.max(state.external.len());
                    state.most.1 = state.most.1.max(state.delayed.len());
                }
                "cancel" => {
                    let id = match (node.attribute("sendid"), node.attribute("sendidexpr")) {
                        (Some(id), _) => Val::Symbol(id.into()),
                        (None, e) => evaluate(e.expect("an id"), &See(self, state))?,
                    };
                    state.delayed.retain(|d| Val::Symbol(d.id.clone()) != id);
                }
                "log" => {}
                tag => panic!("<{tag}>"),
            }
        }
        Ok(())
    }
}
