//! One instance of a counter system as an UPPAAL model (.xta), with a fixed number of processes: to be simulated, or searched state by
//! state.
//!
//! Variables become bounded integers, rules become edges of one process. A rule that would make a number larger than `MAX` is not
//! taken: if the sum of all numbers never changes, `MAX` is that sum and nothing is lost.

use std::fmt::Write;

use rustc_hash::FxHashSet;
use trellis_model::counter::{RuleId, System, Update, Var};

/// What no variable may be called there.
const RESERVED: [&str; 44] = [
    "chan",
    "clock",
    "bool",
    "int",
    "commit",
    "const",
    "urgent",
    "broadcast",
    "init",
    "process",
    "state",
    "guard",
    "sync",
    "assign",
    "system",
    "trans",
    "deadlock",
    "and",
    "or",
    "not",
    "imply",
    "true",
    "false",
    "for",
    "forall",
    "exists",
    "while",
    "do",
    "if",
    "else",
    "return",
    "typedef",
    "struct",
    "rate",
    "before_update",
    "after_update",
    "meta",
    "priority",
    "progress",
    "scalar",
    "select",
    "void",
    "default",
    "sum",
];

/// The instance that starts like this, or why there is none.
pub fn instance(system: &System, initial: &[u64], name: &str) -> Result<String, String> {
    let fits = |n: u64| n < 1 << 30;
    let all = initial.iter().try_fold(0_u64, |s, n| s.checked_add(*n)).filter(|n| fits(*n));
    let constants = system.rules.iter().flat_map(|r| &r.updates).all(|u| fits(u.1.constant.unsigned_abs()));
    let guards = system.rules.iter().flat_map(|r| &r.guards).all(|g| fits(g.1.low) && fits(g.1.high.unwrap_or(0)));
    let (Some(total), true, true) = (all, constants, guards) else {
        return Err("numbers as large as these do not fit into an UPPAAL model".into());
    };
    let ones: Vec<(Var, i64)> = (0..system.names.len() as Var).map(|v| (v, 1)).collect();
    let kept = system.changes(&ones).is_none();
    let most = if kept { total.max(1) } else { total + 10 };
    let names = rename(&system.names);
    let mut out = format!("// An instance of {name}, written by trellis convert.\n");
    out.push_str(if kept {
        "// No rule changes how many there are.\n"
    } else {
        "// Rules may change how many there are; no number grows beyond MAX (trellis … --const MAX=n).\n"
    });
    for t in system.target.iter().take(10) {
        let parts: Vec<String> = t.iter().map(|(v, n)| format!("{} >= {n}", names[v as usize])).collect();
        let _ = writeln!(out, "// trellis check FILE --error '{}'", parts.join(" && "));
    }
    let _ = writeln!(out, "const int MAX = {most};");
    for (name, n) in names.iter().zip(initial) {
        let _ = writeln!(out, "int[0, MAX] {name} = {n};");
    }
    let mut edges = vec![];
    for r in 0..system.rules.len() as RuleId {
        edges.push(edge(system, r, &names, &mut out));
    }
    out.push_str("\nprocess System() {\n  state at;\n  init at;\n");
    if !edges.is_empty() {
        let _ = writeln!(out, "  trans\n{};", edges.join(",\n"));
    }
    out.push_str("}\n\nsystem System;\n");
    Ok(out)
}

/// Names that the language allows, each of its own: what is odd becomes `_`.
fn rename(all: &[String]) -> Vec<String> {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' };
    let taken = |n: &str| RESERVED.contains(&n) || n == "MAX" || n == "System" || n.starts_with("rule_");
    let mut used: FxHashSet<String> = FxHashSet::default();
    let mut new = vec![];
    for name in all {
        let mut free: String = name.chars().map(plain).collect();
        if !free.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
            free.insert(0, '_');
        }
        // Whoever can keep its name does.
        while taken(&free) || used.contains(&free) || (free != *name && all.contains(&free)) {
            free.push('_');
        }
        used.insert(free.clone());
        new.push(free);
    }
    new
}

/// The edge of a rule; where variables are read after they are set, a function for it.
fn edge(system: &System, r: RuleId, names: &[String], out: &mut String) -> String {
    let rule = &system.rules[r as usize];
    let name = |v: Var| names[v as usize].as_str();
    let sum = |u: &Update, name: &dyn Fn(Var) -> String| {
        let sources: Vec<String> = u.sources.iter().map(|x| name(*x)).collect();
        match (sources.is_empty(), u.constant) {
            (true, n) => n.to_string(),
            (false, 0) => sources.join(" + "),
            (false, n) if n < 0 => format!("{} - {}", sources.join(" + "), n.unsigned_abs()),
            (false, n) => format!("{} + {n}", sources.join(" + ")),
        }
    };
    let plainly = |v: Var| name(v).to_string();
    let mut guards = vec![];
    for (v, g) in &rule.guards {
        if g.low > 0 {
            guards.push(format!("{} >= {}", name(*v), g.low));
        }
        guards.extend(g.high.map(|h| format!("{} <= {h}", name(*v))));
    }
    for (v, u) in &rule.updates {
        if u.constant < 0 && rule.least().get(*v) < u.constant.unsigned_abs() {
            guards.push(format!("{} >= 0", sum(u, &plainly)));
        }
        if rule.may_raise(*v) {
            guards.push(format!("{} <= MAX", sum(u, &plainly)));
        }
    }
    let alone = rule.updates.iter().all(|(v, u)| u.sources.iter().all(|x| x == v));
    let assign = if alone {
        let all: Vec<String> =
            rule.updates.iter().map(|(v, u)| format!("{} = {}", name(*v), sum(u, &plainly))).collect();
        all.join(", ")
    } else {
        // All at once: what is read is what was there before.
        let mut read: Vec<Var> = rule.updates.iter().flat_map(|u| u.1.sources.iter().copied()).collect();
        read.sort_unstable();
        read.dedup();
        let before = |v: Var| format!("old_{}", name(v));
        let _ = writeln!(out, "void rule_{r}() {{");
        for v in read {
            let _ = writeln!(out, "  int {} = {};", before(v), name(v));
        }
        for (v, u) in &rule.updates {
            let _ = writeln!(out, "  {} = {};", name(*v), sum(u, &before));
        }
        out.push_str("}\n");
        format!("rule_{r}()")
    };
    let guard = if guards.is_empty() { String::new() } else { format!(" guard {};", guards.join(" && ")) };
    let assign = if assign.is_empty() { String::new() } else { format!(" assign {assign};") };
    format!("    at -> at {{{guard}{assign} }}")
}
