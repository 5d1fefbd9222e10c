//! A model that is a Rust type: the ferryman who takes a wolf, a goat and a cabbage across a river, one at a time.

use trellis::{Found, System, reach};

/// Who is on the far side: ferryman, wolf, goat, cabbage.
type Banks = [bool; 4];
const NAMES: [&str; 4] = ["alone", "with the wolf", "with the goat", "with the cabbage"];

struct River;

impl System for River {
    type State = Banks;
    type Action = &'static str;

    fn initial(&self) -> Vec<Banks> {
        vec![[false; 4]]
    }

    fn steps(&self, banks: &Banks) -> Vec<(&'static str, Banks)> {
        let here = (0..4).filter(|&who| banks[who] == banks[0]);
        let crossed = here.map(|who| {
            let mut next = *banks;
            next[0] = !banks[0];
            next[who] = !banks[0];
            (NAMES[who], next)
        });
        // Nobody is eaten: the goat is alone neither with the wolf nor with the cabbage.
        crossed.filter(|(_, [man, wolf, goat, cabbage])| goat == man || (goat != wolf && goat != cabbage)).collect()
    }

    /// What is looked for: all are across.
    fn is_bad(&self, banks: &Banks) -> bool {
        banks.iter().all(|across| *across)
    }
}

fn main() {
    let Found::Unsafe(run) = reach(&River).run() else { panic!("they can cross") };
    run.iter().for_each(|(how, _)| println!("the ferryman crosses {how}"));
    assert_eq!(run.len(), 7, "a shortest way");
}
