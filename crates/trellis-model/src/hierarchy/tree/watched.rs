//! Which events a cover must not blur.
//!
//! 001 asks for *neat* covers: states in one block have the same events. That is more than is needed. Whether a vector is suppressed
//! depends on whether higher ones are possible; so only what decides whether some *higher* vector is possible must be exact:
//!
//! - a vector is watched if it is higher than some vector, or if its own event is watched from above;
//! - if a vector is watched, the node's own event in it is watched in the node's behaviour, and its sub-nodes' events are watched from
//!   above.
//!
//! Let states in one block agree on the watched events of the node's behaviour. By induction from below, a watched vector is possible in
//! an abstract state exactly if it is possible in all states of it; so what is suppressed in one of them is suppressed in the
//! abstract state, and the other way round. Then both claims that the algorithm rests on hold as they do for neat covers (001 Prop. 5.6
//! and Cor. 5.3): every step is a step of the abstraction, and an abstract step whose projections are steps of all nodes is a step.
//! Without priorities nothing is watched, and any cover will do; neat covers always will.

use super::Tree;

impl Tree {
    /// For each node and each of its events, whether states in one block must agree on whether it is possible.
    pub fn watched(&self) -> Vec<Vec<bool>> {
        let nothing = || self.nodes().iter().map(|n| vec![false; n.events.len()]).collect::<Vec<_>>();
        // From above, and in the behaviour.
        let (mut above, mut inside) = (nothing(), nothing());
        for (number, node) in self.nodes().iter().enumerate().rev() {
            let mut higher = vec![false; node.vectors.len()];
            node.higher.iter().flatten().for_each(|&h| higher[h] = true);
            for (vector, higher) in node.vectors.iter().zip(higher) {
                if higher || above[number][vector[0] as usize] {
                    inside[number][vector[0] as usize] = true;
                    for (&sub, &event) in node.subs.iter().zip(&vector[1..]) {
                        above[sub][event as usize] = true;
                    }
                }
            }
        }
        inside
    }
}
