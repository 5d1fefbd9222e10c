//! Random formulas: what is accepted is what satisfies, by every kind of automaton.

use trellis_engine::ltl::translate::{Acceptance, degeneralise, state_based, translate, translate_to};
use trellis_model::ltl::{Buchi, Formula};

use crate::generator::{Class, Random, runs};

/// Words per formula.
const WORDS: u64 = 50;

fn automata(f: &Formula) -> Vec<Buchi> {
    let general = translate(f).expect("small");
    let transition = translate_to(f, Acceptance::Transition).expect("small");
    let state = translate_to(f, Acceptance::State).expect("small");
    assert!(transition.marks == 1 && state.marks == 1);
    assert!(state.is_state_based(), "{}", f.show(&[]));
    let (one, states) = (degeneralise(&general), state_based(&general));
    assert!(one.marks == 1 && states.marks == 1 && states.is_state_based(), "{}", f.show(&[]));
    vec![general, transition, state, one, states]
}

/// On 200 formulas of each class and 50 words each: 10,000 words per class.
#[test]
fn automata_accept_what_satisfies() {
    for class in Class::ALL {
        let mut holds = 0;
        let count = runs(200);
        for seed in 0..count {
            let mut random = Random(seed * 31 + class as u64);
            let size = 1 + random.below(9);
            let f = random.formula(class, size);
            let negation = f.clone().negate();
            let (yes, no) = (automata(&f), automata(&negation));
            for (a, b) in yes.iter().zip(&no) {
                let both = a.intersect(b).expect("few marks");
                assert!(both.is_empty(), "{class:?} {seed}: `{}` and its negation have a word in common", f.show(&[]));
            }
            for _ in 0..WORDS {
                let word = random.word(class.atoms());
                let satisfied = word.satisfies(&f);
                holds += u64::from(satisfied);
                for (kind, (a, b)) in yes.iter().zip(&no).enumerate() {
                    let shown = f.show(&[]);
                    assert_eq!(a.accepts(&word), satisfied, "{class:?} {seed}: `{shown}`, {word:?}, kind {kind}");
                    assert_eq!(b.accepts(&word), !satisfied, "{class:?} {seed}: !`{shown}`, {word:?}, kind {kind}");
                }
            }
        }
        let all = count * WORDS;
        assert!(holds > all / 10 && holds < all - all / 10, "{class:?}: {holds} of {all}");
    }
}
