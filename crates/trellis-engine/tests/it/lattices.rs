//! Lattice variables in random models: how they are declared, what is asked of them, what is done to them.
//!
//! Guards are monotone (they keep holding when the element grows), and updates are too: see the method tables in
//! `trellis-order`. [`Lattice::number`] is for models that need not be monotone.

use crate::random::Random;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Union,
    Intersection,
    Powerset,
    PresentAbsent,
    Interval,
    Sign,
    Parity,
    Flat,
    Hasse,
    LruMust,
    LruMay,
    SignVector,
    Pair,
    /// Vectors of pairs whose bits go different ways.
    Nest,
    /// The dictionary's order.
    Word,
}

const KINDS: [Kind; 13] = [
    Kind::Union,
    Kind::Intersection,
    Kind::Powerset,
    Kind::PresentAbsent,
    Kind::Interval,
    Kind::Sign,
    Kind::Parity,
    Kind::Flat,
    Kind::Hasse,
    Kind::LruMust,
    Kind::LruMay,
    Kind::SignVector,
    Kind::Pair,
];

/// Members, bits or blocks of a lattice variable.
const SIZE: usize = 3;

/// A lattice variable.
#[derive(Debug, Clone)]
pub struct Lattice {
    pub name: String,
    kind: Kind,
}

impl Lattice {
    pub fn random(r: &mut Random, name: String) -> Lattice {
        Lattice { name, kind: *r.one(&KINDS) }
    }

    /// One of more kinds: those whose parts say less of the whole, too.
    pub fn any(r: &mut Random, name: String) -> Lattice {
        match r.below(8) {
            0 => Lattice { name, kind: Kind::Nest },
            1 => Lattice { name, kind: Kind::Word },
            _ => Lattice::random(r, name),
        }
    }

    /// Writes a truth value that only becomes true when elements grow, such that the vector grows with it.
    pub fn write_bit(&self, i: &str, grows: &str) -> Option<String> {
        let n = &self.name;
        match self.kind {
            Kind::Union => Some(format!("{n}[{i}] = {grows}")),
            Kind::Intersection => Some(format!("{n}.set({i}, !{grows})")),
            Kind::Nest => Some(format!("{n}[{i} % 2].a[1] = {grows}, {n}[1].b[0] = !{grows}")),
            _ => None,
        }
    }

    /// Another variable of the same type.
    pub fn twin(&self, name: &str) -> Lattice {
        Lattice { name: name.into(), kind: self.kind }
    }

    /// The `extern` line it needs, unless the text has it already.
    pub fn bring_in(&self, text: &str) -> String {
        let line = match self.kind {
            Kind::Union => "extern UnionBitVector;\n",
            Kind::Intersection => "extern IntersectionBitVector;\n",
            Kind::Powerset => "extern Powerset;\n",
            Kind::PresentAbsent => "extern PresentAbsent;\n",
            Kind::Interval => "extern Interval;\n",
            Kind::Sign | Kind::SignVector => "extern Sign;\n",
            Kind::Parity => "extern Parity;\n",
            Kind::Flat => "extern Flat;\n",
            Kind::Hasse => "extern Level = Hasse(low < left, low < right, left < high, right < high);\n",
            Kind::LruMust => "extern Must = LruMust(1, 2, 3);\n",
            Kind::LruMay => "extern May = LruMay(1, 2, 3);\n",
            Kind::Pair => "extern Pair = Product(UnionBitVector(2), Parity);\n",
            Kind::Nest => "extern Nest = Product(a, UnionBitVector(2), b, IntersectionBitVector(2));\n",
            Kind::Word => "extern Word = Lexicographic(Parity, UnionBitVector(2));\n",
        };
        if text.contains(line) { String::new() } else { line.into() }
    }

    pub fn declare(&self, r: &mut Random) -> String {
        let n = &self.name;
        match self.kind {
            Kind::Union | Kind::Intersection => {
                let ty = if self.kind == Kind::Union { "UnionBitVector" } else { "IntersectionBitVector" };
                match r.below(2) {
                    0 => format!("{ty} {n}[{SIZE}];"),
                    _ => format!("{ty} {n}[{SIZE}] = {{{}, {}, {}}};", r.below(2), r.below(2), r.below(2)),
                }
            }
            Kind::Powerset => format!("Powerset {n}[{SIZE}];"),
            Kind::PresentAbsent => format!("PresentAbsent {n}[{SIZE}];"),
            Kind::Interval => format!("Interval {n};"),
            Kind::Sign => format!("Sign {n};"),
            Kind::Parity => format!("Parity {n};"),
            Kind::Flat => format!("Flat {n};"),
            Kind::Hasse => format!("Level {n};"),
            Kind::LruMust => format!("Must {n};"),
            Kind::LruMay => format!("May {n};"),
            Kind::SignVector => format!("Sign {n}[2];"),
            Kind::Pair => format!("Pair {n};"),
            Kind::Nest => format!("Nest {n}[2];"),
            Kind::Word => format!("Word {n};"),
        }
    }

    /// A truth value that can only become true when the element grows. `index` makes expressions from 0 to n - 1.
    pub fn guard(&self, r: &mut Random, index: &mut dyn FnMut(&mut Random, usize) -> String) -> String {
        let n = &self.name;
        let v = r.range(-2, 2);
        let i = index(r, SIZE);
        let k = r.range(0, 3);
        match self.kind {
            Kind::Union => match r.below(4) {
                0 => format!("{n}[{i}] == 1"),
                1 => format!("{n}.get({i}) != 0"),
                2 => format!("{n}.num1s() >= {k}"),
                _ => format!("{n}.num0s() <= {k}"),
            },
            Kind::Intersection => match r.below(4) {
                0 => format!("{n}[{i}] == 0"),
                1 => format!("!{n}.get({i})"),
                2 => format!("{n}.num0s() > {k} - 1"),
                _ => format!("{n}.num1s() < {k}"),
            },
            Kind::Powerset => match r.below(2) {
                0 => format!("{n}.contains({i})"),
                _ => format!("{n}.size() >= {k}"),
            },
            Kind::PresentAbsent => match r.below(5) {
                0 => format!("{n}.mayBePresent({i})"),
                1 => format!("{n}.mayBeAbsent({i})"),
                2 => format!("!{n}.mustBePresent({i})"),
                3 => format!("{n}.numUnknown() >= {k}"),
                _ => format!("{n}.numMayBePresent() >= {k}"),
            },
            Kind::Interval => match r.below(5) {
                0 => format!("{n}.mayBe({v})"),
                1 => format!("{n}.mayBeLess({v})"),
                2 => format!("{n}.mayBeGreater({v})"),
                3 => format!("{n}.max() >= {v}"),
                _ => format!("{n}.min() <= {v}"),
            },
            Kind::Sign => match r.below(4) {
                0 => format!("{n}.mayBeNeg()"),
                1 => format!("{n}.mayBeZero()"),
                2 => format!("{n}.mayBePos()"),
                _ => format!("{n}.mayBe({v})"),
            },
            Kind::Parity => r.pick(&["{}.mayBeEven()", "{}.mayBeOdd()", "{}.mayBe(1)"]).replace("{}", n),
            Kind::Flat => match r.below(5) {
                0 => format!("{n}.mayBe({v})"),
                1 => format!("{n}.mayBeLess({v})"),
                2 => format!("{n}.mayBeGreater({v})"),
                3 => format!("!{n}.mustBe({v})"),
                _ => format!("{n}.isTop()"),
            },
            Kind::Hasse => {
                let e = element(r);
                match r.below(2) {
                    0 => format!("{n}.atLeast({e})"),
                    _ => format!("{n}.atMost({e}) == 0"),
                }
            }
            Kind::LruMust => match r.below(2) {
                0 => format!("{n}.mayMiss({i})"),
                _ => format!("!{n}.isHit({i})"),
            },
            Kind::LruMay => match r.below(2) {
                0 => format!("{n}.mayHit({i})"),
                _ => format!("{n}.isMiss({i}) == 0"),
            },
            Kind::SignVector => {
                let i = index(r, 2);
                format!("{n}[{i}].mayBe({v})")
            }
            Kind::Pair => {
                let i = index(r, 2);
                match r.below(3) {
                    0 => format!("{n}.fst[{i}] == 1"),
                    1 => format!("{n}.fst.num1s() >= {k}"),
                    _ => format!("{n}.snd.mayBeOdd()"),
                }
            }
            Kind::Nest => {
                let (i, j) = (index(r, 2), index(r, 2));
                match r.below(4) {
                    0 => format!("{n}[{i}].a[{j}] == 1"),
                    1 => format!("{n}[{i}].b[{j}] == 0"),
                    2 => format!("{n}[{i}].a.num1s() + {n}[0].b.num0s() >= {k}"),
                    _ => format!("!{n}[{i}].b.get({j})"),
                }
            }
            Kind::Word => match r.below(4) {
                0 => format!("{n}.snd[{}] == 1", index(r, 2)),
                1 => format!("{n}.fst.mayBeEven()"),
                _ => format!("{n}.fst.mayBeOdd()"),
            },
        }
    }

    /// One or more updates; larger elements stay larger. Numbers are kept small so that models stay finite.
    pub fn update(&self, r: &mut Random, index: &mut dyn FnMut(&mut Random, usize) -> String) -> String {
        let n = &self.name;
        let v = r.range(-2, 2);
        let i = index(r, SIZE);
        let bit = r.below(2);
        match self.kind {
            Kind::Union | Kind::Intersection => match r.below(2) {
                0 => format!("{n}[{i}] = {bit}"),
                _ => format!("{n}.set({i}, {bit})"),
            },
            Kind::Powerset => match r.below(5) {
                0 => format!("{n}.clear()"),
                1 => format!("{n}.remove({i})"),
                _ => format!("{n}.add({i})"),
            },
            Kind::PresentAbsent => {
                let m = r.pick(&["insert", "delete", "forget", "assumePresent", "assumeAbsent"]);
                match r.below(8) {
                    0 => format!("{n}.clear()"),
                    _ => format!("{n}.{m}({i})"),
                }
            }
            Kind::Interval => match r.below(9) {
                0 => format!("{n}.set({v})"),
                1 => format!("{n}.range({}, {})", r.range(-2, 0), r.range(0, 2)),
                2 => format!("{n}.neg()"),
                3 => format!("{n}.mul({})", r.range(-1, 1)),
                4 => format!("{n}.assume({v})"),
                5 => format!("{n}.assumeLess({v})"),
                6 => format!("{n}.assumeGreater({v})"),
                _ => format!("{n}.add({v}), {n}.assumeLess(3), {n}.assumeGreater(-3)"),
            },
            Kind::Sign => sign_update(r, n, v),
            Kind::SignVector => {
                let i = index(r, 2);
                sign_update(r, &format!("{n}[{i}]"), v)
            }
            Kind::Parity => parity_update(r, n, v),
            Kind::Flat => match r.below(6) {
                0 => format!("{n}.forget()"),
                1 => format!("{n}.assume({v})"),
                2 => format!("{n}.assumeNot({v})"),
                3 => format!("{n}.mul({})", r.range(-1, 1)),
                _ => format!("{n}.set({v})"),
            },
            Kind::Hasse => {
                let e = element(r);
                let m = r.pick(&["set", "raise", "lower"]);
                format!("{n}.{m}({e})")
            }
            Kind::LruMust | Kind::LruMay => match r.below(6) {
                0 => format!("{n}.flush()"),
                1 => format!("{n}.forget()"),
                _ => format!("{n}.access({i})"),
            },
            Kind::Pair => {
                let i = index(r, 2);
                match r.below(2) {
                    0 => format!("{n}.fst[{i}] = {bit}"),
                    _ => parity_update(r, &format!("{n}.snd"), v),
                }
            }
            Kind::Nest => {
                let (i, j) = (index(r, 2), index(r, 2));
                match r.below(5) {
                    0 => format!("{n}[{i}].a[{j}] = {bit}"),
                    1 => format!("{n}[{i}].b[{j}] = {bit}"),
                    2 => format!("{n}[{i}].a.set({j}, {bit})"),
                    3 => format!("{n}[0].b = {n}[{i}].b"),
                    _ => format!("{n}[{i}] = {n}[{j}]"),
                }
            }
            Kind::Word => match r.below(4) {
                0 => parity_update(r, &format!("{n}.fst"), v),
                _ => format!("{n}.snd[{}] = {bit}", index(r, 2)),
            },
        }
    }

    /// A number that depends on the element in any way.
    pub fn number(&self, r: &mut Random, index: &mut dyn FnMut(&mut Random, usize) -> String) -> String {
        match self.kind {
            Kind::Union | Kind::Intersection => match r.below(2) {
                0 => format!("{}.num1s()", self.name),
                _ => format!("{}[{}]", self.name, index(r, SIZE)),
            },
            Kind::Powerset => format!("{}.size()", self.name),
            Kind::Hasse => format!("{}.is({})", self.name, element(r)),
            _ => format!("({})", self.guard(r, index)),
        }
    }

    /// Can one be assigned to the other?
    pub fn same_type(&self, other: &Lattice) -> bool {
        self.kind == other.kind
    }
}

fn element(r: &mut Random) -> &'static str {
    r.pick(&["low", "left", "right", "high"])
}

fn sign_update(r: &mut Random, n: &str, v: i64) -> String {
    match r.below(8) {
        0 => format!("{n}.set({v})"),
        1 => format!("{n}.mul({v})"),
        2 => format!("{n}.neg()"),
        3 => format!("{n}.forget()"),
        4 => format!("{n}.assumeNeg()"),
        5 => format!("{n}.assumePos()"),
        _ => format!("{n}.add({v})"),
    }
}

fn parity_update(r: &mut Random, n: &str, v: i64) -> String {
    match r.below(6) {
        0 => format!("{n}.set({v})"),
        1 => format!("{n}.mul({v})"),
        2 => format!("{n}.forget()"),
        3 => format!("{n}.assumeOdd()"),
        _ => format!("{n}.add({v})"),
    }
}
