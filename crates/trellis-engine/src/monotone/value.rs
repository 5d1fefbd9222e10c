//! What is known of a value in two runs at once, one from a smaller and one from a larger element.

/// How the second run's value may differ from the first's. Of an array: how any entry may.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Directions(u8);

impl Directions {
    /// Not at all.
    pub const FIXED: Directions = Directions(0);
    /// It may be greater.
    pub const UP: Directions = Directions(1);
    /// It may be less.
    pub const DOWN: Directions = Directions(2);
    /// Either.
    pub const MIXED: Directions = Directions(3);

    pub fn may_grow(self) -> bool {
        self.0 & 1 != 0
    }

    pub fn may_shrink(self) -> bool {
        self.0 & 2 != 0
    }

    pub fn flipped(self) -> Directions {
        Directions((self.0 & 1) << 1 | self.0 >> 1)
    }

    pub fn or(self, other: Directions) -> Directions {
        Directions(self.0 | other.0)
    }
}

/// Beyond all numbers that matter.
pub(super) const FAR: i128 = 1 << 100;

/// What is known of a value. Truth values are 0 and 1; of an array it is said of every entry.
#[derive(Debug, Clone, Copy)]
pub(super) struct Value {
    pub moves: Directions,
    /// In either run it lies between these.
    pub lo: i128,
    pub hi: i128,
    /// May evaluating it fault? If it does in the first run, it does in the second.
    pub faults: bool,
    /// Which lattice read it depends on, one of them.
    pub by: Option<u16>,
}

impl Value {
    pub fn number(n: i128) -> Value {
        Value { moves: Directions::FIXED, lo: n, hi: n, faults: false, by: None }
    }

    pub fn between(lo: i128, hi: i128) -> Value {
        Value { moves: Directions::FIXED, lo, hi, faults: false, by: None }
    }

    pub fn same_as(self, other: Value) -> bool {
        (self.moves, self.lo, self.hi) == (other.moves, other.lo, other.hi)
    }

    /// Another range, but moves and faults of these.
    pub fn ranged(self, lo: i128, hi: i128) -> Value {
        Value { lo, hi, ..self }
    }

    /// What depends on both: moves as either does.
    pub fn with(self, other: Value) -> Value {
        Value {
            moves: self.moves.or(other.moves),
            faults: self.faults || other.faults,
            by: self.by.or(other.by),
            ..self
        }
    }

    pub fn flipped(self) -> Value {
        Value { moves: self.moves.flipped(), ..self }
    }

    /// Directions in any way if it moves at all.
    pub fn mixed(self) -> Value {
        let moves = if self.moves == Directions::FIXED { Directions::FIXED } else { Directions::MIXED };
        Value { moves, ..self }
    }

    /// `if c then a else b`, where at most one of them is evaluated.
    pub fn either(c: Value, a: Value, b: Value) -> Value {
        // A run that decides otherwise goes from a value of the one to a value of the other.
        let jump = match () {
            () if c.moves == Directions::FIXED => Directions::FIXED,
            () if a.lo >= b.hi => c.moves,
            () if a.hi <= b.lo => c.moves.flipped(),
            () => Directions::MIXED,
        };
        let moves = jump.or(a.moves).or(b.moves);
        let by = if jump == Directions::FIXED { a.by.or(b.by) } else { c.by };
        Value { moves, lo: a.lo.min(b.lo), hi: a.hi.max(b.hi), faults: c.faults || a.faults || b.faults, by }
    }

    /// Is it another number than 0?
    pub fn not_zero(v: Value) -> Value {
        match () {
            () if v.lo >= 0 => v.ranged(v.lo.min(1), v.hi.min(1)),
            () if v.hi <= 0 => v.flipped().ranged((-v.hi).min(1), (-v.lo).min(1)),
            () => v.mixed().ranged(0, 1),
        }
    }
}
