//! A finite lattice drawn by hand: named elements and which lies below which (000 Def. 1).
//!
//! `Hasse(low < mid, mid < high)` has the elements `low`, `mid`, `high`, numbered in the order in which they first
//! appear; `low < mid` says that `mid` is larger: it has more behaviour. The order is the reflexive transitive closure
//! of the pairs. The constructor refuses a diagram that goes round in a circle or in which two elements lack a join or
//! a meet. Initially the least element. It holds two tables of n² entries and is meant for lattices one can draw.
//!
//! | method | | |
//! |---|---|---|
//! | `set(e)` | becomes e | monotone |
//! | `raise(e)` | becomes the join with e | monotone |
//! | `lower(e)` | becomes the meet with e | monotone |
//! | `atLeast(e)` | is e below or equal to it? | monotone |
//! | `atMost(e)` | is it below or equal to e? | **antitone** |
//! | `is(e)` | is it e? | **neither** |

use std::fmt;

use super::method::{Body::*, Done, Op, Trend::*, Truth, from_method_table, index, op};
use super::{Lattice, Shape, Word, bits};
use crate::{Domain, Join, Meet};

/// A finite lattice given by its diagram; see the [module](self). An element is its number.
#[derive(Debug, Clone)]
pub struct Hasse {
    names: Vec<String>,
    /// The join of i and j, at `i * n + j`.
    joins: Vec<u16>,
    /// The meet of i and j, at `i * n + j`.
    meets: Vec<u16>,
    bottom: usize,
    top: usize,
    /// The pairs as a model writes them.
    drawn: String,
}

/// Why a diagram is not a lattice.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DiagramError {
    /// It has no elements.
    #[error("a Hasse diagram needs at least one element")]
    Empty,
    /// It has more elements than the tables are made for.
    #[error("a Hasse diagram may have at most {MAX_ELEMENTS} elements, not {0}")]
    TooLarge(usize),
    /// Some element lies below itself.
    #[error("the Hasse diagram goes round in a circle: {}", .0.join(" < "))]
    Circle(Vec<String>),
    /// Two elements have no join or no meet.
    #[error("the Hasse diagram is not a lattice: `{a}` and `{b}` have no {bound}{}", explain(.candidates))]
    NoBound {
        /// One of the two.
        a: String,
        /// The other.
        b: String,
        /// What they lack.
        bound: Bound,
        /// The bounds that are minimal (or maximal), none of which is least (or greatest); empty if there are none.
        candidates: Vec<String>,
    },
}

/// A join or a meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// A join.
    LeastUpper,
    /// A meet.
    GreatestLower,
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Bound::LeastUpper => "least upper bound",
            Bound::GreatestLower => "greatest lower bound",
        })
    }
}

fn explain(candidates: &[String]) -> String {
    if candidates.is_empty() {
        ": there is no common bound at all".to_owned()
    } else {
        format!(": `{}` are all bounds, and none is best", candidates.join("`, `"))
    }
}

const MAX_ELEMENTS: usize = 1024;

impl Hasse {
    /// The lattice of `names` (which must differ) in which, for every `(i, j)` of `below`, element i lies below
    /// element j. Pairs that follow from others do no harm.
    ///
    /// # Panics
    ///
    /// If a pair speaks of an element that has no name.
    pub fn new(names: Vec<String>, below: &[(usize, usize)]) -> Result<Self, DiagramError> {
        let n = names.len();
        if n == 0 {
            return Err(DiagramError::Empty);
        }
        if n > MAX_ELEMENTS {
            return Err(DiagramError::TooLarge(n));
        }
        let name = |i: &usize| names[*i].clone();
        let no_bound = |bound| {
            move |(a, b, candidates): NoBest| DiagramError::NoBound {
                a: name(&a),
                b: name(&b),
                bound,
                candidates: candidates.iter().map(name).collect(),
            }
        };

        let upwards = sort(n, below).map_err(|circle| DiagramError::Circle(circle.iter().map(name).collect()))?;
        let joins = best_bounds(&upwards, below).map_err(no_bound(Bound::LeastUpper))?;

        // Meets are joins in the diagram held upside down.
        let downwards: Vec<usize> = upwards.iter().rev().copied().collect();
        let above: Vec<(usize, usize)> = below.iter().map(|&(i, j)| (j, i)).collect();
        let meets = best_bounds(&downwards, &above).map_err(no_bound(Bound::GreatestLower))?;

        let pairs: Vec<String> = below.iter().map(|(i, j)| format!("{} < {}", names[*i], names[*j])).collect();
        let drawn = if pairs.is_empty() { names.join(", ") } else { pairs.join(", ") };
        Ok(Self { names, joins, meets, bottom: upwards[0], top: downwards[0], drawn })
    }

    fn join_of(&self, i: usize, j: usize) -> usize {
        self.joins[i * self.names.len() + j].into()
    }

    fn meet_of(&self, i: usize, j: usize) -> usize {
        self.meets[i * self.names.len() + j].into()
    }

    fn below(&self, i: usize, j: usize) -> bool {
        self.join_of(i, j) == j
    }

    fn element(&self, e: i64) -> Result<usize, super::MethodError> {
        index("element", e, self.names.len())
    }

    fn ask(&self, elem: &[Word], e: i64, test: fn(&Self, usize, usize) -> bool) -> Truth {
        Ok(test(self, read(elem), self.element(e)?))
    }

    fn put(&self, elem: &mut [Word], e: i64, f: fn(&Self, usize, usize) -> usize) -> Done {
        elem[0] = f(self, read(elem), self.element(e)?) as Word;
        Ok(())
    }

    #[rustfmt::skip]
    pub(super) const METHODS: &'static [Op<Self>] = &[
        op("set(e)", Monotone, "becomes e", Do1(|l, x, e| l.put(x, e, |_, _, e| e))),
        op("raise(e)", Monotone, "becomes the join with e", Do1(|l, x, e| l.put(x, e, Self::join_of))),
        op("lower(e)", Monotone, "becomes the meet with e", Do1(|l, x, e| l.put(x, e, Self::meet_of))),
        op("atLeast(e)", Monotone, "is e ⊑ it?", Is1(|l, x, e| l.ask(x, e, |l, x, e| l.below(e, x)))),
        op("atMost(e)", Antitone, "is it ⊑ e?", Is1(|l, x, e| l.ask(x, e, Self::below))),
        op("is(e)", Neither, "is it e?", Is1(|l, x, e| l.ask(x, e, |_, x, e| x == e))),
    ];
}

fn read(elem: &[Word]) -> usize {
    elem[0] as usize
}

/// The elements, each after everything below it; or a circle, its first element repeated at the end.
fn sort(n: usize, below: &[(usize, usize)]) -> Result<Vec<usize>, Vec<usize>> {
    let mut waits_for = vec![0; n];
    for &(_, j) in below {
        waits_for[j] += 1;
    }
    let mut sorted: Vec<usize> = (0..n).filter(|&i| waits_for[i] == 0).collect();
    let mut next = 0;
    while let Some(&lowest) = sorted.get(next) {
        for &(_, j) in below.iter().filter(|&&(i, _)| i == lowest) {
            waits_for[j] -= 1;
            if waits_for[j] == 0 {
                sorted.push(j);
            }
        }
        next += 1;
    }
    let Some(stuck) = (0..n).find(|&i| waits_for[i] > 0) else {
        return Ok(sorted);
    };
    // Whatever is stuck waits for something stuck: walking down from it must come round.
    let mut path = vec![stuck];
    loop {
        let here = path[path.len() - 1];
        let Some(&(lower, _)) = below.iter().find(|&&(i, j)| j == here && waits_for[i] > 0) else {
            unreachable!("a stuck element waits for a stuck one");
        };
        let seen = path.iter().position(|&i| i == lower);
        path.push(lower);
        if let Some(start) = seen {
            path.reverse();
            path.truncate(path.len() - start);
            return Err(path);
        }
    }
}

/// Two elements without a best common bound, and the bounds that are best but for each other.
type NoBest = (usize, usize, Vec<usize>);

/// The table of joins, given the elements in ascending order.
fn best_bounds(ascending: &[usize], below: &[(usize, usize)]) -> Result<Vec<u16>, NoBest> {
    let n = ascending.len();
    let mut rank = vec![0; n];
    for (r, &i) in ascending.iter().enumerate() {
        rank[i] = r;
    }
    // above[i]: the ranks of everything above or equal to i. Ranks, so that the least candidate is the first bit.
    let mut above = vec![vec![0; bits::words(n)]; n];
    for &i in ascending.iter().rev() {
        let mut set = std::mem::take(&mut above[i]);
        bits::put(&mut set, rank[i], true);
        for &(_, j) in below.iter().filter(|&&(lower, _)| lower == i) {
            bits::unite(&mut set, &above[j]);
        }
        above[i] = set;
    }

    let mut table = vec![0; n * n];
    for a in 0..n {
        for b in 0..=a {
            let mut common = above[a].clone();
            bits::intersect(&mut common, &above[b]);
            let bounds = || bits::members(&common).map(|r| ascending[r]);
            let best = bounds().next().filter(|&best| bits::subset(&common, &above[best]));
            let Some(best) = best else {
                let minimal = |c: &usize| bounds().all(|d| d == *c || !bits::get(&above[d], rank[*c]));
                return Err((b, a, bounds().filter(minimal).collect()));
            };
            table[a * n + b] = best as u16;
            table[b * n + a] = best as u16;
        }
    }
    Ok(table)
}

impl Domain for Hasse {
    type Elem = [Word];

    fn leq(&self, a: &[Word], b: &[Word]) -> bool {
        self.below(read(a), read(b))
    }

    fn is_bottom(&self, a: &[Word]) -> bool {
        read(a) == self.bottom
    }
}

impl Join for Hasse {
    fn join(&self, a: &mut [Word], b: &[Word]) -> bool {
        let old = read(a);
        let new = self.join_of(old, read(b));
        a[0] = new as Word;
        new != old
    }
}

impl Meet for Hasse {
    fn top(&self, a: &mut [Word]) {
        a[0] = self.top as Word;
    }

    fn meet(&self, a: &mut [Word], b: &[Word]) -> bool {
        let old = read(a);
        let new = self.meet_of(old, read(b));
        a[0] = new as Word;
        new != old
    }
}

impl Lattice for Hasse {
    from_method_table!(Hasse);

    fn name(&self) -> String {
        format!("Hasse({})", self.drawn)
    }

    fn width(&self) -> usize {
        1
    }

    fn is_element(&self, words: &[Word]) -> bool {
        (words[0] as usize) < self.names.len()
    }

    fn initial(&self, out: &mut [Word]) {
        self.bottom(out);
    }

    fn bottom(&self, out: &mut [Word]) {
        out[0] = self.bottom as Word;
    }

    fn shape(&self) -> Shape<'_> {
        Shape::Leaf
    }

    fn show(&self, elem: &[Word], f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.names[read(elem)])
    }

    fn sample(&self, random: &mut dyn FnMut() -> u64, out: &mut [Word]) {
        out[0] = random() % self.names.len() as u64;
    }

    fn names(&self) -> &[String] {
        &self.names
    }
}
