//! Which events there are.
//!
//! A descriptor matches an event by its first tokens, so all events with the same longest matching descriptor are alike: the
//! descriptors themselves stand for all names, and one more event for the names that only `*` matches. Events that nothing matches
//! change nothing, and are left out.
//!
//! From outside comes what `trellis:events` says, which is an assumption about the environment. If it says nothing, everything that the
//! chart mentions may come, what it raises or sends itself included: W3C lets anybody send any event. Only `done.…` and `error.…` may
//! not come, which W3C reserves for the platform.

use super::expr::{Expr, Node, Op};
use super::tree::{Action, Kind, Tree};

/// The event of an expression without a value.
pub const ERROR: &str = "error.execution";

/// The events of a chart.
pub struct Events {
    /// The names. The first is `-`, for none; if some event stands for all those without a name here it is the last, `*`.
    pub names: Vec<String>,
    /// Those that may come from outside.
    pub outside: Vec<u32>,
    /// At how many places events are put into the internal queue.
    pub sites: usize,
}

/// The event that says that the state has come to its end.
pub fn done(tree: &Tree, s: usize) -> String {
    format!("done.state.{}", tree.states[s].name)
}

/// Collects the events.
pub fn collect(tree: &Tree) -> Events {
    let descriptors: Vec<&String> = tree.transitions.iter().filter_map(|t| t.events.as_ref()).flatten().collect();
    let heard = |name: &str| descriptors.iter().any(|d| Tree::matches(d, name));

    let mut inside = vec![];
    let mut sent = vec![];
    for action in tree.actions() {
        match action {
            Action::Raise(event) => inside.push(event.clone()),
            Action::Send { event, .. } => sent.push(event.clone()),
            _ => {}
        }
    }
    for s in 1..tree.states.len() {
        let ends = tree.states[s].children.iter().any(|&c| tree.states[c].kind == Kind::Final);
        if ends || tree.is_parallel(s) {
            inside.push(done(tree, s));
        }
    }
    let tried_again = |e: &Expr| {
        let mut found = false;
        e.visit(&mut |e| found |= may_fail(e));
        found
    };
    // A condition without a value on an eventless transition is tried again and again; then the error must be seen.
    let again = tree.transitions.iter().any(|t| t.events.is_none() && t.cond.as_ref().is_some_and(tried_again));
    inside.push(ERROR.into());
    inside.retain(|name| heard(name) || (again && name == ERROR));
    sent.retain(|name| heard(name));

    let platform = |name: &str| matches!(name.split('.').next(), Some("done" | "error"));
    let mut outside: Vec<String> = match &tree.events {
        Some(names) => names.clone(),
        None => {
            let names = descriptors.iter().map(|d| d.to_string());
            names.chain(inside.iter().chain(&sent).cloned()).filter(|name| !platform(name)).collect()
        }
    };
    outside.retain(|name| heard(name));

    let mut names = vec!["-".to_string()];
    for name in outside.iter().chain(&inside).chain(&sent) {
        if !name.is_empty() && !names.contains(name) {
            names.push(name.clone());
        }
    }
    let known = 1..names.len() as u32;
    let mut from_outside: Vec<u32> = known.filter(|&n| outside.contains(&names[n as usize])).collect();
    if outside.iter().any(String::is_empty) {
        from_outside.push(names.len() as u32);
        names.push("*".into());
    }
    Events { names, outside: from_outside, sites: inside.len() }
}

impl Events {
    /// Does one of the descriptors match the event?
    pub fn matches(&self, descriptors: &[String], n: u32) -> bool {
        let name = match self.names[n as usize].as_str() {
            // Nobody mentions it; only the empty descriptor matches.
            "*" => " ",
            name => name,
        };
        descriptors.iter().any(|d| Tree::matches(d, name))
    }
}

/// Is it a division, and not by a number? Nothing else in a condition can have no value.
fn may_fail(e: &Expr) -> bool {
    match &e.node {
        Node::Binary(Op::Rem | Op::Trunc | Op::Floor, _, by) => {
            !matches!(&by.node, Node::Int(n) if *n != dashu_int::IBig::ZERO)
        }
        _ => false,
    }
}
