//! A lattice of one's own: how much charge a robot has left. More charge can do whatever less can, so the fullest way to a place stands in for
//! all others.

use std::convert::Infallible;

use trellis::lattice::{Answer, Batch, Domain, Join, JoinAll, Options, Order, Refine, State, System, Update, Word};
use trellis::lattice::{laws, reach};
use trellis::meter::Meter;

/// The most charge that is left: `a ⊑ b` if b has at least as much.
struct Charge;

impl Domain for Charge {
    type Elem = [Word];

    fn leq(&self, a: &[Word], b: &[Word]) -> bool {
        a[0] <= b[0]
    }

    fn is_bottom(&self, a: &[Word]) -> bool {
        a[0] == 0
    }
}

impl Join for Charge {
    fn join(&self, a: &mut [Word], b: &[Word]) -> bool {
        let grew = b[0] > a[0];
        a[0] = a[0].max(b[0]);
        grew
    }
}

/// A square of places, each with what it costs to enter. The key is a place, the element is the charge there.
struct Robot {
    side: Word,
    full: Word,
    lattice: Charge,
}

impl Robot {
    fn cost(&self, place: Word) -> Word {
        1 + place * 7 % 5
    }

    /// Where it can go, and what is left then.
    fn ways(&self, place: Word, charge: Word) -> Vec<(&'static str, Word, Word)> {
        let (x, y) = (place % self.side, place / self.side);
        let mut all = vec![];
        for (name, there, to) in [
            ("right", x + 1 < self.side, place + 1),
            ("down", y + 1 < self.side, place + self.side),
            ("left", x > 0, place.wrapping_sub(1)),
            ("up", y > 0, place.wrapping_sub(self.side)),
        ] {
            if there && self.cost(to) <= charge {
                all.push((name, to, charge - self.cost(to)));
            }
        }
        all
    }
}

impl System for Robot {
    type Domain = Charge;
    type Action = &'static str;
    type Error = Infallible;

    fn domain(&self) -> &Charge {
        &self.lattice
    }

    fn key_width(&self) -> usize {
        1
    }

    fn elem_width(&self) -> usize {
        1
    }

    fn initial(&mut self) -> Result<State, Infallible> {
        Ok((vec![0], vec![self.full]))
    }

    fn successors(&mut self, key: &[Word], elem: &[Word], out: &mut Batch) -> Result<(), Infallible> {
        let ways = self.ways(key[0], elem[0]);
        out.steps = ways.len() as u32;
        for (n, (_, place, left)) in ways.into_iter().enumerate() {
            out.push(n as u32, &[place], &[left]);
        }
        Ok(())
    }

    /// What is looked for: the far corner.
    fn is_target(&mut self, key: &[Word], _: &[Word]) -> Result<bool, Infallible> {
        Ok(key[0] == self.side * self.side - 1)
    }

    fn action(&mut self, key: &[Word], elem: &[Word], n: u32) -> Result<Option<&'static str>, Infallible> {
        Ok(self.ways(key[0], elem[0]).get(n as usize).map(|way| way.0))
    }

    fn take(&mut self, key: &[Word], elem: &[Word], way: &&'static str) -> Result<Option<State>, Infallible> {
        let to = self.ways(key[0], elem[0]).into_iter().find(|(name, ..)| name == way);
        Ok(to.map(|(_, place, left)| (vec![place], vec![left])))
    }
}

fn main() {
    let samples: Vec<Vec<Word>> = (0..12).map(|n| vec![n]).collect();
    laws::order(&Charge, &samples).expect("it is an order");
    laws::join(&Charge, &samples).expect("it has joins");

    for (full, expected) in [(18, false), (40, true)] {
        let mut counts = vec![];
        for update in [Update::Simple, Update::Cover, Update::Join] {
            let options = Options { update, order: Order::Bfs, refine: Refine::Split };
            let mut robot = Robot { side: 8, full, lattice: Charge };
            let found = reach(&mut robot, options, &mut JoinAll, &mut Meter::unlimited());
            let arrives = match found.answer {
                Answer::Unreachable => false,
                Answer::Reachable(path) => path.actions.len() >= 14,
                other => panic!("{other:?}"),
            };
            assert_eq!(arrives, expected);
            counts.push(found.stats.added);
        }
        println!("with {full} units it arrives: {expected}; states with simple, cover and join update: {counts:?}");
        assert!(counts[1] < counts[0], "fuller states cover others");
    }
}
