//! `--audit`: is the model monotone, as cover and join need? What is proved, what is sampled, and what breaks it, in words.

use trellis_engine::audit::{Audit, Unmatched, audit};
use trellis_model::network::{Network, Query};
use trellis_report::network::state;

use super::monotone::{self, Basis};

/// Pairs of states compared.
const LONG_AUDIT: usize = 20_000;

/// What an audit finds, in words.
pub fn found(net: &Network, query: &Query, seed: u64) -> String {
    let Audit { pairs, violations } = audit(net, Some(query), LONG_AUDIT, seed);
    if net.lattices.is_empty() {
        return "audit: the model has no lattice variables; nothing to compare\n".into();
    }
    let mut out = match monotone::basis(net, query, false) {
        Basis::Open(why) => format!("audit: not proved monotone: {why}\n"),
        Basis::Proved | Basis::Stated(_) => "audit: proved monotone\n".to_string(),
    };
    if violations.is_empty() {
        out.push_str(&format!("audit: monotone, as far as {pairs} pairs of states show\n"));
    }
    for v in &violations {
        let small = state(net, &v.smaller);
        let large = state(net, &v.larger);
        let what = match &v.what {
            Unmatched::Step(action, _) => {
                let places: Vec<String> = action
                    .0
                    .iter()
                    .map(|e| net.processes[e.process as usize].edges[e.edge as usize].place.to_string())
                    .collect();
                format!("can take the step {} ({})", trellis_check::describe_action(net, action), places.join(", "))
            }
            Unmatched::Target => format!("is what `{}` looks for", query.text),
        };
        out.push_str(&format!(
            "audit: NOT monotone. The state\n{}  {what}, but the larger state\n{}  {}.\n",
            indent(&small),
            indent(&large),
            if matches!(v.what, Unmatched::Target) { "is not" } else { "has no step that ends as high" }
        ));
    }
    out
}

fn indent(text: &str) -> String {
    text.lines().map(|l| format!("      {l}\n")).collect()
}
