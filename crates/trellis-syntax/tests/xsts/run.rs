//! Reading models, and running them one set of states after the other.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use trellis_expr::eval::Valuation;
use trellis_expr::value::ArrayValue;
use trellis_expr::{Terms, Type, Value};
use trellis_model::cfa::interpret::{State, outcomes, successors, zero};
use trellis_model::cfa::{Cfa, LocationId};
use trellis_syntax::diag::{Sources, render};
use trellis_syntax::xsts::{Xsts, parse};

pub fn shared() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/models")
}

pub fn bundled() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models")
}

pub fn read(model: &str, property: Option<&str>) -> Result<Xsts, String> {
    let mut sources = Sources::default();
    let id = sources.add("model.xsts", model);
    let property = property.map(|p| sources.add("model.prop", p));
    parse(&sources, id, property).map(|(xsts, _)| xsts).map_err(|d| render(&d, &sources, false))
}

/// The value as text; an array with all its entries, if they can be counted.
pub fn show(terms: &Terms, ty: Type, value: &Value) -> String {
    match (ty, value) {
        (Type::Array(index, entry), Value::Array(array)) => {
            let entry = terms.type_of_id(entry);
            let at = |i: Value| show(terms, entry, array.get(&i));
            match Value::all(terms, terms.type_of_id(index), 100) {
                Some(all) => format!("[{}]", all.into_iter().map(at).collect::<Vec<_>>().join(" ")),
                None => normal(terms, entry, array),
            }
        }
        _ => terms.show_value(value),
    }
}

fn normal(terms: &Terms, entry: Type, array: &ArrayValue) -> String {
    let default = show(terms, entry, array.default());
    let mut text = format!("[{default}");
    for (i, v) in array.entries() {
        let v = show(terms, entry, v);
        if v != default {
            text += &format!(" {i}: {v}");
        }
    }
    text + "]"
}

/// The global variables as text, in the order of their declarations.
pub fn key(xsts: &Xsts, env: &Valuation) -> String {
    let terms = &xsts.cfa.terms;
    let value = |v| show(terms, terms.variable(v).ty, &env[&v]);
    xsts.variables.iter().map(|&v| value(v)).collect::<Vec<_>>().join(", ")
}

/// States by their text.
pub type States = BTreeMap<String, Valuation>;

/// From states in one place to those in the next where the property counts: everything that `init`, `env` or `trans` can do.
/// Nothing, if there are too many.
pub fn phase(xsts: &Xsts, from: LocationId, states: &States, limit: usize) -> Option<States> {
    let mut after = States::new();
    let mut seen = std::collections::BTreeSet::new();
    let mut todo: Vec<State> = states.values().map(|env| State { location: from, env: env.clone() }).collect();
    while let Some(state) = todo.pop() {
        for (_, next) in successors(&xsts.cfa, &state, limit).ok()? {
            if xsts.is_letter(next.location) {
                after.insert(key(xsts, &next.env), next.env);
            } else if !xsts.cfa.is_error(next.location) {
                let all: Vec<String> = next.env.values().map(|v| xsts.cfa.terms.show_value(v)).collect();
                if seen.insert((next.location, all)) {
                    todo.push(next);
                }
            }
            if after.len() + todo.len() > limit {
                return None;
            }
        }
    }
    Some(after)
}

/// Can the property fail here?
pub fn fails(xsts: &Xsts, at: LocationId, env: &Valuation) -> bool {
    let error = |e: &trellis_model::cfa::EdgeId| {
        let edge = xsts.cfa.edge(*e);
        xsts.cfa.is_error(edge.to) && !outcomes(&xsts.cfa.terms, edge.stmt, env, 10).expect("one").is_empty()
    };
    xsts.cfa.outgoing(at).iter().any(error)
}

/// The states at the start: variables without a value have any, if these can be counted, and are zero otherwise.
pub fn start(xsts: &Xsts, free: &[&str]) -> States {
    let terms = &xsts.cfa.terms;
    let mut all = vec![zero(&xsts.cfa)];
    for &v in &xsts.variables {
        if free.contains(&&*terms.variable(v).name)
            && let Some(values) = Value::all(terms, terms.variable(v).ty, 1000)
        {
            let with = |env: &Valuation, value: &Value| {
                let mut env = env.clone();
                env.insert(v, value.clone());
                env
            };
            all = all.iter().flat_map(|env| values.iter().map(move |value| with(env, value))).collect();
        }
    }
    all.into_iter().map(|env| (key(xsts, &env), env)).collect()
}

/// What exploration finds: is the property safe? Nothing, if it does not end within the limits.
pub fn safe(xsts: &Xsts, free: &[&str], limit: usize, rounds: usize) -> Option<bool> {
    let (a, b) = (xsts.before_env, xsts.before_trans);
    let mut seen = [States::new(), States::new()];
    let mut now = phase(xsts, xsts.cfa.initial, &start(xsts, free), limit)?;
    let mut at = a;
    for _ in 0..rounds {
        if now.values().any(|env| fails(xsts, at, env)) {
            return Some(false);
        }
        let known = &mut seen[usize::from(at == b)];
        now.retain(|k, _| !known.contains_key(k));
        known.extend(now.clone());
        if now.is_empty() {
            return Some(true);
        }
        if known.len() > limit {
            return None;
        }
        now = phase(xsts, at, &now, limit)?;
        at = if at == a { b } else { a };
    }
    None
}

/// The edges of an automaton that are not there twice: for counting.
pub fn statements(cfa: &Cfa) -> usize {
    fn count(terms: &Terms, s: trellis_expr::StmtId) -> usize {
        use trellis_expr::Stmt;
        1 + match terms.stmt(s) {
            Stmt::Seq(parts) | Stmt::Choice(parts) => parts.iter().map(|&p| count(terms, p)).sum(),
            Stmt::If(_, a, b) => count(terms, *a) + count(terms, *b),
            _ => 0,
        }
    }
    cfa.edges().map(|e| count(&cfa.terms, cfa.edge(e).stmt)).sum()
}
