//! What properties and traces speak of: states, variables and events of instances, by names with dots.

use trellis_expr::{TermId, Type, VarId};
use trellis_model::gamma::{Kind, SignalId, System};

use super::ast::{Expr, ExprKind, Name};
use super::packages::unknown;
use crate::diag::{Diagnostic, Span};

/// The names of a system.
#[derive(Debug, Clone, Default)]
pub struct Vocabulary {
    /// `instance.Region.State`, with the condition that it is active.
    pub states: Vec<(String, TermId)>,
    /// `instance.variable`
    pub variables: Vec<(String, VarId)>,
    /// `instance.Port.event` as it goes out.
    pub events: Vec<(String, SignalId)>,
    /// What the whole is called.
    top: String,
}

/// What is found under a name.
enum Found<'v, T> {
    One(&'v T),
    None,
    Several,
}

impl Vocabulary {
    /// The names of a system.
    pub fn new(sys: &mut System) -> Vocabulary {
        let mut all = Vocabulary { top: sys.name.clone(), ..Vocabulary::default() };
        for chart in &sys.charts {
            let prefix = if chart.name.is_empty() { String::new() } else { format!("{}.", chart.name) };
            for node in chart.nodes.iter().filter(|n| n.kind == Kind::State) {
                let region = &chart.regions[node.region];
                let Type::Enum(e) = sys.terms.variable(region.active).ty else { continue };
                let (v, lit) = (sys.terms.var(region.active), sys.terms.enum_lit(e, node.value));
                let t = sys.terms.eq(v, lit);
                all.states.push((format!("{prefix}{}.{}", region.name, node.name), t));
            }
            all.variables.extend(chart.variables.iter().map(|(name, v, _)| (name.clone(), *v)));
        }
        let seen = sys.signals.iter().enumerate().filter(|(_, s)| !s.name.starts_with('@'));
        all.events.extend(seen.map(|(n, s)| (s.name.clone(), n)));
        all
    }

    /// By the whole name, without that of the top, or by a part that is clear.
    fn find<'v, T>(&self, list: &'v [(String, T)], name: &str) -> Found<'v, T> {
        let own = name.strip_prefix("self.").or_else(|| name.strip_prefix(self.top.as_str())?.strip_prefix('.'));
        for name in [Some(name), own].into_iter().flatten() {
            if let Some((_, t)) = list.iter().find(|(n, _)| n == name) {
                return Found::One(t);
            }
        }
        let name = own.unwrap_or(name);
        let ends = |n: &str| n.strip_suffix(name).is_some_and(|rest| rest.ends_with('.'));
        // Instances in one another may be joined by `_`, and a region need not be said.
        let flat = |n: &str| n.replace('.', "_") == name.replace('.', "_");
        let short = |n: &str| {
            let mut parts: Vec<&str> = n.split('.').collect();
            if parts.len() < 2 {
                return false;
            }
            parts.remove(parts.len() - 2);
            let rest = parts.join(".");
            rest == name || rest.strip_suffix(name).is_some_and(|r| r.ends_with('.'))
        };
        // Instances within others need not all be said: what is said comes in this order, and the last names in a row.
        let with_gap = |n: &str, last: usize| {
            let (all, said): (Vec<&str>, Vec<&str>) = (n.split('.').collect(), name.split('.').collect());
            let (Some(end), Some(first)) = (all.len().checked_sub(last), said.len().checked_sub(last)) else {
                return false;
            };
            let mut left = all[..end].iter();
            all[end..] == said[first..] && said[..first].iter().all(|s| left.any(|a| a == s))
        };
        let gap = |n: &str| with_gap(n, 2);
        let wide = |n: &str| with_gap(n, 1);
        for fits in [&ends as &dyn Fn(&str) -> bool, &flat, &short, &gap, &wide] {
            let mut found = list.iter().filter(|(n, _)| fits(n));
            match (found.next(), found.next()) {
                (Some((_, t)), None) => return Found::One(t),
                (Some(_), Some(_)) => return Found::Several,
                _ => {}
            }
        }
        Found::None
    }

    /// A state by its name.
    pub fn state(&self, name: &str) -> Option<TermId> {
        if let Found::One(t) = self.find(&self.states, name) { Some(*t) } else { None }
    }

    /// A variable, an event or a value of an event (`Port.event.value`).
    pub fn value(&self, sys: &System, name: &str) -> Option<VarId> {
        if let Found::One(v) = self.find(&self.variables, name) {
            return Some(*v);
        }
        if let Found::One(s) = self.find(&self.events, name) {
            return Some(sys.signals[*s].flag);
        }
        let (event, param) = name.rsplit_once('.')?;
        let Found::One(s) = self.find(&self.events, event) else { return None };
        sys.signals[*s].params.iter().find(|(p, _, _)| p == param).map(|(_, v, _)| *v)
    }

    /// Might a name be one of several things?
    pub fn is_ambiguous(&self, name: &str) -> bool {
        let several = |all: [bool; 3]| all.into_iter().any(|b| b);
        several([
            matches!(self.find(&self.states, name), Found::Several),
            matches!(self.find(&self.variables, name), Found::Several),
            matches!(self.find(&self.events, name), Found::Several),
        ])
    }

    /// `state i.R.S`, `variable i.x`, `event i.P.e`, `parameter i.P.e::p`.
    pub fn about(&self, sys: &mut System, word: &str, e: &Expr<'_>) -> Result<TermId, Diagnostic> {
        let (path, param) = match &e.kind {
            ExprKind::Path(path) => (path, None),
            ExprKind::Param(path, param) => (path, *param),
            _ => return Err(Diagnostic::error(e.span, "expected a name")),
        };
        let name = joined(path);
        let none = |list: Vec<&str>| unknown(word, (&name, e.span), list);
        let clear = |d| Diagnostic { message: format!("`{name}` may mean several things"), ..d };
        match word {
            "state" => match self.find(&self.states, &name) {
                Found::One(t) => Ok(*t),
                Found::None => Err(none(self.states.iter().map(|s| s.0.as_str()).collect())),
                Found::Several => Err(clear(none(vec![]))),
            },
            "variable" => match self.find(&self.variables, &name) {
                Found::One(v) => Ok(sys.terms.var(*v)),
                Found::None => Err(none(self.variables.iter().map(|s| s.0.as_str()).collect())),
                Found::Several => Err(clear(none(vec![]))),
            },
            _ => match (self.find(&self.events, &name), param) {
                (Found::One(s), None) => Ok(sys.terms.var(sys.signals[*s].flag)),
                (Found::One(s), Some(p)) => self.param(sys, *s, p),
                (Found::None, _) => Err(none(self.events.iter().map(|s| s.0.as_str()).collect())),
                (Found::Several, _) => Err(clear(none(vec![]))),
            },
        }
    }

    fn param(&self, sys: &mut System, s: SignalId, name: Name<'_>) -> Result<TermId, Diagnostic> {
        let params = &sys.signals[s].params;
        match params.iter().find(|(p, _, _)| p == name.0) {
            Some((_, v, _)) => {
                let v = *v;
                Ok(sys.terms.var(v))
            }
            None => Err(unknown("parameter", name, params.iter().map(|p| p.0.as_str()))),
        }
    }

    /// All names, for whoever mistypes one.
    pub fn all(&self) -> Vec<String> {
        let states = self.states.iter().map(|s| &s.0);
        states.chain(self.variables.iter().map(|v| &v.0)).chain(self.events.iter().map(|e| &e.0)).cloned().collect()
    }
}

/// `a.b.c`
pub fn joined(path: &[Name<'_>]) -> String {
    path.iter().map(|n| n.0).collect::<Vec<_>>().join(".")
}

/// Where a path stands.
pub fn place(path: &[Name<'_>]) -> Span {
    let first = path[0].1;
    path.last().map_or(first, |n| first.to(n.1))
}

/// How much of a text is one name: letters, digits, `_`, `.` and `::`.
pub fn whole(text: &str) -> &str {
    let mut end = 0;
    let bytes = text.as_bytes();
    while let Some(b) = bytes.get(end) {
        let next_is = |n: usize| bytes.get(n).is_some_and(|b| b.is_ascii_alphabetic() || *b == b'_');
        match b {
            b'.' if next_is(end + 1) => end += 1,
            b':' if bytes.get(end + 1) == Some(&b':') && next_is(end + 2) => end += 2,
            b if b.is_ascii_alphanumeric() || *b == b'_' => end += 1,
            _ => break,
        }
    }
    &text[..end]
}
