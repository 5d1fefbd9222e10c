//! What `--symmetry` says.

use trellis_model::network::{Network, Query, Symmetry};

/// Which processes count as the same.
pub(super) fn note(net: &Network, query: &Query) -> String {
    let symmetry = Symmetry::find(net, query);
    let name = |p: &u32| net.processes[*p as usize].name.clone();
    let groups: Vec<String> =
        symmetry.groups().iter().map(|g| g.iter().map(name).collect::<Vec<_>>().join(", ")).collect();
    match () {
        () if symmetry.is_empty() => match symmetry.refused() {
            [] => "no symmetry: no two processes look alike, or the question is none of A[] and E<>".into(),
            [r, ..] => format!("no symmetry: {} and {}: {}", name(&r.processes.0), name(&r.processes.1), r.why),
        },
        () if groups.is_empty() => "symmetric: members of scalar sets".into(),
        () => format!("symmetric: {}", groups.join("; ")),
    }
}
