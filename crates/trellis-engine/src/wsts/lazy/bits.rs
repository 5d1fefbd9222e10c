//! Sets of small numbers.

/// A set of small numbers. The last word is not zero.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Bits(Vec<u64>);

impl Bits {
    /// Adds a number.
    pub fn insert(&mut self, n: u32) {
        let word = n as usize / 64;
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (n % 64);
    }

    /// Is it in the set?
    pub fn contains(&self, n: u32) -> bool {
        self.0.get(n as usize / 64).is_some_and(|w| w >> (n % 64) & 1 == 1)
    }

    /// What is in both.
    pub fn and(&self, other: &Bits) -> Bits {
        Bits::trimmed(self.0.iter().zip(&other.0).map(|(a, b)| a & b).collect())
    }

    /// What is not in the other.
    pub fn without(&self, other: &Bits) -> Bits {
        let word = |(i, a): (usize, &u64)| a & !other.0.get(i).copied().unwrap_or(0);
        Bits::trimmed(self.0.iter().enumerate().map(word).collect())
    }

    fn trimmed(mut words: Vec<u64>) -> Bits {
        let len = words.iter().rposition(|w| *w != 0).map_or(0, |i| i + 1);
        words.truncate(len);
        Bits(words)
    }

    /// Is all of it in the other?
    pub fn within(&self, other: &Bits) -> bool {
        self.0.iter().enumerate().all(|(i, a)| a & !other.0.get(i).copied().unwrap_or(0) == 0)
    }

    /// The numbers.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        let word = |(i, w): (usize, &u64)| {
            let w = *w;
            (0..64).filter(move |b| w >> b & 1 == 1).map(move |b| i as u32 * 64 + b)
        };
        self.0.iter().enumerate().flat_map(word)
    }
}
