//! Random formulas and words.

use trellis_model::ltl::{Formula, Word};

/// A small generator of pseudo-random numbers (splitmix64): the same seed, the same test.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % n
    }

    /// Letters of a word come from few different ones, so that something holds for a while.
    pub fn word(&mut self, atoms: u64) -> Word {
        let kinds: Vec<u64> = (0..1 + self.below(4)).map(|_| self.below(1 << atoms)).collect();
        let mut letters = |least: u64, most: u64| -> Vec<u64> {
            let length = least + self.below(most);
            (0..length).map(|_| kinds[self.below(kinds.len() as u64) as usize]).collect()
        };
        let prefix = letters(0, 5);
        Word::new(prefix, letters(1, 5))
    }

    /// A formula with so many operators.
    pub fn formula(&mut self, class: Class, size: u64) -> Formula {
        use Formula as F;
        if size == 0 {
            return match self.below(20) {
                0 => F::True,
                1 => F::False,
                n => {
                    let atom = F::Atom(self.below(class.atoms()) as u32);
                    if n % 3 == 0 { atom.negate() } else { atom }
                }
            };
        }
        let kinds = class.operators();
        let kind = kinds[self.below(kinds.len() as u64) as usize];
        if matches!(kind, '!' | 'X' | 'F' | 'G') {
            let a = Box::new(self.formula(class, size - 1));
            return match kind {
                '!' => F::Not(a),
                'X' => F::Next(a),
                'F' => F::Finally(a),
                _ => F::Globally(a),
            };
        }
        let left = self.below(size);
        let (a, b) = (Box::new(self.formula(class, left)), Box::new(self.formula(class, size - 1 - left)));
        match kind {
            '&' => F::And(a, b),
            '|' => F::Or(a, b),
            '>' => F::Implies(a, b),
            '=' => F::Iff(a, b),
            'U' => F::Until(a, b),
            'W' => F::WeakUntil(a, b),
            'R' => F::Release(a, b),
            _ => F::StrongRelease(a, b),
        }
    }
}

/// Which operators formulas have.
#[derive(Debug, Clone, Copy)]
pub enum Class {
    /// All.
    Any,
    /// `F`, `G`, `X` and connectives.
    Simple,
    /// Much of infinitely often and almost always.
    Fairness,
    /// `U`, `R`, `W`, `M`, deeply.
    Untils,
    /// `X` and `W` and `R`: safety.
    Safety,
}

impl Class {
    pub const ALL: [Class; 5] = [Class::Any, Class::Simple, Class::Fairness, Class::Untils, Class::Safety];

    pub fn atoms(self) -> u64 {
        match self {
            Class::Untils | Class::Fairness => 3,
            _ => 2,
        }
    }

    fn operators(self) -> Vec<char> {
        match self {
            Class::Any => "!&|>=XFGUWRM",
            Class::Simple => "!&|>XFG",
            Class::Fairness => "&|>FGFGFG",
            Class::Untils => "&|UURWM",
            Class::Safety => "&|XXWRG",
        }
        .chars()
        .collect()
    }
}

/// How many: what the environment says, or few.
pub fn runs(few: u64) -> u64 {
    std::env::var("TRELLIS_RUNS").map_or(few, |n| n.parse().expect("a number"))
}
