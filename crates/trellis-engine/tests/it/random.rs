//! Random numbers, the same everywhere; and how to run something for many seeds.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// xorshift64*.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        let mut r = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        // Neighbouring seeds begin alike.
        (0..8).for_each(|_| _ = r.next());
        r
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 16
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub fn range(&mut self, lo: i64, hi: i64) -> i64 {
        lo + (self.next() % (hi - lo + 1) as u64) as i64
    }

    pub fn percent(&mut self, p: usize) -> bool {
        self.below(100) < p
    }

    pub fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }

    pub fn one<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

/// Runs `check` for every seed; a failure says which seed it was and shows its subject.
pub fn for_seeds(
    first: u64,
    count: u64,
    subject: impl Fn(u64) -> String,
    mut check: impl FnMut(u64) -> Result<(), String>,
) {
    let number = |name: &str| std::env::var(name).ok().and_then(|v| v.parse::<u64>().ok());
    let seeds = match number("TRELLIS_SEED") {
        Some(seed) => seed..seed + 1,
        None => first..first + number("TRELLIS_RUNS").unwrap_or(count),
    };
    for seed in seeds {
        match catch_unwind(AssertUnwindSafe(|| check(seed))) {
            Ok(Ok(())) => {}
            Ok(Err(why)) => panic!("seed {seed}: {why}\n{}", subject(seed)),
            Err(panic) => {
                eprintln!("seed {seed} panicked\n{}", subject(seed));
                std::panic::resume_unwind(panic);
            }
        }
    }
}
