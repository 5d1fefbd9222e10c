//! Acheck's drawings of a node: its quotient and its automaton of modes, as graphs in the words of the tool that has these commands; and
//! sets of configurations as conditions, for what `project` writes.
//!
//! Sets of configurations are written as products of values (`rate in [0, 1], open = true`), one in a line.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use trellis_expr::VarId;
use trellis_model::hierarchy::{Domain, Hierarchy, Levels};

use crate::hierarchy::quoted;

/// How many products are written of one set.
const MOST: usize = 12;

/// Values of some variables, in order.
pub type Rows = BTreeSet<Vec<i64>>;

/// A class of configurations.
#[derive(Debug, Clone)]
pub struct Class {
    /// They, with the values of all variables by number.
    pub configurations: Vec<Vec<i64>>,
    /// The sets that they lie in.
    pub sets: Vec<String>,
}

/// The event of a step. Doing nothing has no name here, and an event that happens alone needs no brackets.
fn event(hierarchy: &Hierarchy, levels: &Levels, event: usize) -> String {
    if event == 0 {
        return String::new();
    }
    let name = levels.show(hierarchy, hierarchy.top, event);
    let alone = name.strip_prefix('<').and_then(|n| n.strip_suffix('>')).filter(|n| !n.contains(','));
    alone.map(String::from).unwrap_or(name)
}

/// A quotient: classes, and from which class, by which flat event, to which.
pub fn quotient(
    hierarchy: &Hierarchy,
    levels: &Levels,
    node: &str,
    classes: &[Class],
    steps: &BTreeSet<(usize, usize, usize)>,
) -> String {
    let title = quoted(&[format!("{node}/Q")]);
    let label = quoted(&[format!("{node}/Q ({} classes)", classes.len())]);
    let mut out = format!("digraph {title} {{\n  label={label};\n  node [shape=box];\n");
    let all: Vec<VarId> = (0..hierarchy.variables.len()).map(|n| VarId(n as u32)).collect();
    for (n, class) in classes.iter().enumerate() {
        let rows: Rows = class.configurations.iter().cloned().collect();
        let sets = [&["any_s".to_string()][..], &class.sets].concat().join(", ");
        let lines = products(hierarchy, &all, &rows, ", ");
        let _ = writeln!(out, "  C{n} [label={}, tooltip={}];", quoted(&lines), quoted(&[sets]));
    }
    for &(from, e, to) in steps {
        let _ = writeln!(out, "  C{from} -> C{to} [label={}];", quoted(&[event(hierarchy, levels, e)]));
    }
    out.push_str("}\n");
    out
}

/// An automaton of modes: from which mode, by which flat event, to which, and for which flows if not for all.
pub fn modes(
    hierarchy: &Hierarchy,
    levels: &Levels,
    node: &str,
    modes: &[Vec<i64>],
    steps: &BTreeMap<(usize, usize, usize), Option<Rows>>,
) -> String {
    let title = quoted(&[format!("{node} (mode automaton)")]);
    let mut out = format!("digraph {title} {{\n  label={};\n  node [shape=box];\n", quoted(&[node.to_string()]));
    let of_kind = |flow: bool| -> Vec<VarId> {
        let all = (0..hierarchy.variables.len()).map(|n| VarId(n as u32));
        all.filter(|&v| hierarchy.variable(v).flow == flow).collect()
    };
    let (states, flows) = (of_kind(false), of_kind(true));
    for (n, values) in modes.iter().enumerate() {
        let one = |(&v, &value): (&VarId, &i64)| {
            format!("({} = {})", hierarchy.variable(v).name, hierarchy.show_value(v, value))
        };
        let parts: Vec<String> = states.iter().zip(values).map(one).collect();
        let _ = writeln!(out, "  N{n} [label={}];", quoted(&[parts.join(" and ")]));
    }
    for (&(from, e, to), when) in steps {
        let name = event(hierarchy, levels, e);
        let lines = match when {
            None => vec![name],
            Some(rows) => {
                let parts: Vec<String> =
                    products(hierarchy, &flows, rows, " and ").iter().map(|p| format!("({p})")).collect();
                vec![format!("flow = {}", parts.join(" or ")), format!("event = {name}")]
            }
        };
        let _ = writeln!(out, "  N{from} -> N{to} [label={}];", quoted(&lines));
    }
    out.push_str("}\n");
    out
}

/// A set of rows as a condition in AltaRica, with names as they are seen from a component.
pub fn condition(hierarchy: &Hierarchy, path: &str, variables: &[VarId], rows: &Rows) -> String {
    let name = |v: VarId| {
        let name = &hierarchy.variable(v).name;
        name.strip_prefix(path).and_then(|n| n.strip_prefix('.')).unwrap_or(name).to_string()
    };
    let part = |(&v, values): (&VarId, &BTreeSet<i64>)| {
        let (domain, name) = (&hierarchy.variable(v).domain, name(v));
        let numbers = matches!(domain, Domain::Integer | Domain::Range(..));
        match (values.first(), values.last()) {
            _ if domain.size() == Some(values.len() as u64) => None,
            (Some(first), Some(last)) if numbers && values.len() > 1 && run(values) => {
                Some(format!("{first} <= {name} and {name} <= {last}"))
            }
            _ => {
                let each: Vec<String> =
                    values.iter().map(|&n| format!("{name} = {}", hierarchy.show_value(v, n))).collect();
                Some(if each.len() == 1 { each.concat() } else { format!("({})", each.join(" or ")) })
            }
        }
    };
    let product = |product: &Vec<BTreeSet<i64>>| {
        let parts: Vec<String> = variables.iter().zip(product).filter_map(part).collect();
        if parts.is_empty() { "true".into() } else { parts.join(" and ") }
    };
    let all: Vec<String> = together(variables.len(), rows).iter().map(product).collect();
    if all.is_empty() { "false".into() } else { all.join(" or ") }
}

/// Are these numbers that follow each other?
fn run(values: &BTreeSet<i64>) -> bool {
    matches!((values.first(), values.last()), (Some(a), Some(b)) if b.abs_diff(*a) + 1 == values.len() as u64)
}

/// Rows as products: first each is one, then those that differ in one variable only are put together, variable by variable.
fn together(variables: usize, rows: &Rows) -> BTreeSet<Vec<BTreeSet<i64>>> {
    let mut all: BTreeSet<Vec<BTreeSet<i64>>> =
        rows.iter().map(|row| row.iter().map(|&n| BTreeSet::from([n])).collect()).collect();
    for at in 0..variables {
        let mut together: BTreeMap<Vec<BTreeSet<i64>>, BTreeSet<i64>> = BTreeMap::new();
        for mut product in all {
            let values = std::mem::take(&mut product[at]);
            together.entry(product).or_default().extend(values);
        }
        let back = |(mut product, values): (Vec<BTreeSet<i64>>, _)| {
            product[at] = values;
            product
        };
        all = together.into_iter().map(back).collect();
    }
    all
}

/// Products, one in a line.
fn products(hierarchy: &Hierarchy, variables: &[VarId], rows: &Rows, and: &str) -> Vec<String> {
    let all = together(variables.len(), rows);
    let shown = |product: &Vec<BTreeSet<i64>>| {
        let parts = variables.iter().zip(product).map(|(&v, values)| values_of(hierarchy, v, values));
        parts.collect::<Vec<_>>().join(and)
    };
    let mut lines: Vec<String> = all.iter().take(MOST).map(shown).collect();
    if all.len() > MOST {
        lines.push(format!("… {} configurations in all", rows.len()));
    }
    lines
}

/// `v = 1`, `v in [0, 2]`, `v in {a, c}`.
fn values_of(hierarchy: &Hierarchy, v: VarId, values: &BTreeSet<i64>) -> String {
    let variable = hierarchy.variable(v);
    let (name, show) = (&variable.name, |&n: &i64| hierarchy.show_value(v, n));
    let numbers = matches!(variable.domain, Domain::Integer | Domain::Range(..));
    match (values.first(), values.last()) {
        (Some(first), Some(_)) if values.len() == 1 => format!("{name} = {}", show(first)),
        (Some(first), Some(last)) if numbers && run(values) => {
            format!("{name} in [{first}, {last}]")
        }
        _ => format!("{name} in {{{}}}", values.iter().map(show).collect::<Vec<_>>().join(", ")),
    }
}
