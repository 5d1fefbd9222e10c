//! What cover and join update rest on: a proof that the model is monotone (000 Def. 2), or the user's word.

use trellis_engine::monotone::prove;
use trellis_model::network::{Network, Query};
use trellis_order::{Lattice, Shape};

/// A search that nobody limited, with simple update and infinitely many lattice values, ends after so many states.
pub const MOST_STATES: u64 = 1_000_000;

/// Why a larger element may stand for a smaller one.
pub enum Basis {
    /// Engine and checker have proved that it may.
    Proved,
    /// The user says so: what is assumed.
    Stated(String),
    /// It is not known to: why.
    Open(String),
}

/// What a search up to the order rests on. Both proofs are asked: what the checker will not accept is not begun.
pub fn basis(net: &Network, query: &Query, stated: bool) -> Basis {
    let proof = prove(net, query);
    let scripts = |names: &[String]| {
        let names = names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ");
        format!("the laws and marks that the script of {names} declares; they are sampled, not proved")
    };
    let (why, assumption) = match (proof.obstacles.first(), trellis_check::monotone(net, query)) {
        (None, Ok(_)) if proof.rests_on.is_empty() => return Basis::Proved,
        (None, Ok(_)) => (format!("that rests on {}", scripts(&proof.rests_on)), scripts(&proof.rests_on)),
        (Some(o), _) => (o.to_string(), not_proved(&o.to_string())),
        (None, Err(why)) => (why.clone(), not_proved(&why)),
    };
    if stated { Basis::Stated(assumption) } else { Basis::Open(why) }
}

fn not_proved(why: &str) -> String {
    format!("monotone transitions (--assume monotone), which are not proved: {why}")
}

/// What a result is worth that rests on nothing.
pub fn undecided(why: &str) -> String {
    format!("it holds if the model is monotone, which is not proved: {why}; --assume monotone states it")
}

/// May a search with simple update meet infinitely many lattice values?
pub fn may_go_on(net: &Network) -> bool {
    fn infinite(l: &dyn Lattice) -> bool {
        match l.shape() {
            Shape::Vector(_, entry) => infinite(&**entry),
            Shape::Fields(fields) => fields.iter().any(|(_, _, l)| infinite(&**l)),
            // The library's, and whatever a script does.
            Shape::Leaf | Shape::Bits(_) => !l.is_vouched_for() || matches!(l.name().as_str(), "Flat" | "Interval"),
        }
    }
    net.lattices.iter().any(|l| infinite(&*l.lattice))
}
