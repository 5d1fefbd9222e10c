//! The law suite applied to a [`Lattice`]: draws elements, checks every law, watches the methods.

use super::{Law, Violation, absorption, antisymmetry, ensure, join, meet, order, same};
use crate::lattice::{Lattice, Method, MethodKind, Trend, Word};

/// What an audit that found no broken law has seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditReport {
    /// How many elements the laws were checked on.
    pub elements: usize,
    /// Whether the lattice has a meet (if not, its laws were not checked).
    pub has_meet: bool,
    /// For every method, how it was seen to move when the element grows. A method that is not monotone breaks no law
    /// of lattices, but a model whose guards or updates use it may not be checked by covering or joining.
    pub trends: Vec<(String, Trend)>,
}

type Elem = Vec<Word>;

/// How many elements are drawn for one pass of the (cubic) law suite.
const PER_ROUND: usize = 8;

/// Checks every law on `samples` elements of the lattice, and some derived from them, chosen by `seed`. Time is linear
/// in `samples`; a few dozen find most slips.
pub fn audit(lattice: &dyn Lattice, samples: usize, seed: u64) -> Result<AuditReport, Violation> {
    let mut random = Random(seed);
    let mut watched: Vec<Watched> = lattice.methods().iter().enumerate().map(Watched::new).collect();
    let mut elements = 0;
    for _ in 0..samples.div_ceil(PER_ROUND) {
        let pool = draw(lattice, &mut random);
        elements += pool.len();
        check_laws(lattice, &pool)?;
        for method in &mut watched {
            // The more arguments, the more calls: the interesting indices must be hit too.
            for _ in 0..=2 * method.method.args {
                let args: Vec<i64> = (0..method.method.args).map(|_| random.argument()).collect();
                method.watch(lattice, &pool, &args)?;
            }
        }
    }
    let trends = watched.iter().map(|watched| (watched.method.name.clone(), watched.trend())).collect();
    Ok(AuditReport { elements, has_meet: lattice.as_meet().is_some(), trends })
}

/// The extremes, some random elements, and joins and meets of those: unrelated elements alone would leave most laws,
/// which speak of comparable ones, without anything to say.
fn draw(lattice: &dyn Lattice, random: &mut Random) -> Vec<Elem> {
    let mut pool = vec![vec![0; lattice.width()]; PER_ROUND];
    for elem in &mut pool {
        lattice.sample(&mut || random.next(), elem);
    }
    for i in 0..PER_ROUND / 2 {
        let (a, b) = (pool[2 * i].clone(), pool[2 * i + 1].clone());
        let mut up = a.clone();
        lattice.join(&mut up, &b);
        pool.push(up);
        if let Some(meet) = lattice.as_meet() {
            let mut down = a;
            meet.meet(&mut down, &b);
            pool.push(down);
        }
    }
    let mut extreme = vec![0; lattice.width()];
    lattice.bottom(&mut extreme);
    pool.push(extreme.clone());
    lattice.initial(&mut extreme);
    pool.push(extreme.clone());
    if let Some(meet) = lattice.as_meet() {
        meet.top(&mut extreme);
        pool.push(extreme);
    }
    pool
}

fn check_laws(lattice: &dyn Lattice, pool: &[Elem]) -> Result<(), Violation> {
    order(lattice, pool)?;
    antisymmetry(lattice, pool)?;

    let mut bottom = vec![0; lattice.width()];
    lattice.bottom(&mut bottom);
    ensure(lattice.is_bottom(&bottom), Law::BottomRecognised, &[&bottom, &bottom])?;
    for elem in pool {
        ensure(lattice.leq(&bottom, elem), Law::BottomLeast, &[&bottom, elem])?;
        ensure(lattice.is_bottom(elem) == (*elem == bottom), Law::BottomRecognised, &[elem, &bottom])?;
    }

    join(lattice, pool)?;
    if let Some(meets) = lattice.as_meet() {
        meet(meets, pool)?;
        absorption(lattice, meets, pool)?;
    }
    Ok(())
}

/// A method, and what has been seen of it.
struct Watched<'a> {
    number: usize,
    method: &'a Method,
    monotone: bool,
    antitone: bool,
}

impl<'a> Watched<'a> {
    fn new((number, method): (usize, &'a Method)) -> Self {
        Self { number, method, monotone: true, antitone: true }
    }

    fn trend(&self) -> Trend {
        match (self.monotone, self.antitone) {
            (true, _) => Trend::Monotone,
            (false, true) => Trend::Antitone,
            (false, false) => Trend::Neither,
        }
    }

    /// Calls the method on the whole pool and compares what it does to smaller and larger elements. Calls that fail
    /// (arguments outside the method's domain) show nothing.
    fn watch(&mut self, lattice: &dyn Lattice, pool: &[Elem], args: &[i64]) -> Result<(), Violation> {
        match self.method.kind {
            MethodKind::Query => {
                let answers: Vec<_> = pool.iter().map(|elem| lattice.query(self.number, elem, args).ok()).collect();
                self.compare(lattice, pool, &answers, |x, y| x <= y)?;
            }
            MethodKind::Update => {
                let results: Vec<_> = pool.iter().map(|elem| self.updated(lattice, elem, args)).collect();
                for (before, after) in pool.iter().zip(&results) {
                    if let Some(after) = after {
                        self.check_result(lattice, pool, before, after, args)?;
                    }
                }
                self.compare(lattice, pool, &results, |x, y| lattice.leq(x, y))?;
            }
        }
        Ok(())
    }

    fn updated(&self, lattice: &dyn Lattice, elem: &Elem, args: &[i64]) -> Option<Elem> {
        let mut result = elem.clone();
        lattice.update(self.number, &mut result, args).ok()?;
        Some(result)
    }

    fn compare<R>(
        &mut self,
        lattice: &dyn Lattice,
        pool: &[Elem],
        results: &[Option<R>],
        leq: impl Fn(&R, &R) -> bool,
    ) -> Result<(), Violation> {
        let marked = self.method.trend != Trend::Neither;
        let law = || Law::Marked(self.method.name.clone());
        for (a, of_a) in pool.iter().zip(results) {
            for (b, of_b) in pool.iter().zip(results) {
                if !lattice.leq(a, b) {
                    continue;
                }
                match (of_a, of_b) {
                    (Some(of_a), Some(of_b)) => {
                        let (up, down) = (leq(of_a, of_b), leq(of_b, of_a));
                        let kept = match self.method.trend {
                            Trend::Monotone => up,
                            Trend::Antitone => down,
                            Trend::Neither => true,
                        };
                        ensure(kept, law(), &[a, b])?;
                        self.monotone &= up;
                        self.antitone &= down;
                    }
                    // The bottom that is added to a script's lattice stands for nothing, and cannot be asked.
                    (None, Some(_)) if marked && !lattice.is_bottom(a) => ensure(false, law(), &[a, b])?,
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// An update is a function of the element, and its result is canonical: the same words as any equal element, of
    /// which joining and meeting with neutral elements give some that the method did not make.
    fn check_result(
        &self,
        lattice: &dyn Lattice,
        pool: &[Elem],
        before: &Elem,
        after: &Elem,
        args: &[i64],
    ) -> Result<(), Violation> {
        let name = || self.method.name.clone();
        let again = self.updated(lattice, before, args).unwrap_or_default();
        ensure(again == *after, Law::Deterministic(name()), &[before, after, &again])?;

        let mut rejoined = vec![0; lattice.width()];
        lattice.bottom(&mut rejoined);
        lattice.join(&mut rejoined, after);
        let mut twins = vec![rejoined];
        if let Some(meet) = lattice.as_meet() {
            let mut remet = vec![0; lattice.width()];
            meet.top(&mut remet);
            meet.meet(&mut remet, after);
            twins.push(remet);
        }
        for twin in pool.iter().chain(&twins) {
            let fine = twin == after || !same(lattice, twin, after);
            ensure(fine, Law::Canonical(name()), &[before, after, twin])?;
        }
        Ok(())
    }
}

/// The SplitMix64 generator: an audit must not depend on anything, and gives the same answer for the same seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// An argument for a method: mostly small, as indices are; now and then absurd, for nothing may panic.
    fn argument(&mut self) -> i64 {
        match self.next() % 16 {
            0 => i64::MIN,
            1 => i64::MAX,
            2 => self.next() as i64,
            3 | 4 => -((self.next() % 8) as i64),
            5 => (self.next() % 256) as i64,
            _ => (self.next() % 8) as i64,
        }
    }
}
