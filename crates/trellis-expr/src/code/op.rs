//! The instructions.

use crate::term::FnId;

/// A register: a position in the frame of temporaries.
pub(super) type Reg = u32;

/// Comparisons.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cmp {
    Eq,
    Lt,
    Le,
    /// On unsigned words.
    LtU,
    LeU,
}

impl Cmp {
    #[inline(always)]
    pub(super) fn holds(self, a: i64, b: i64) -> bool {
        match self {
            Cmp::Eq => a == b,
            Cmp::Lt => a < b,
            Cmp::Le => a <= b,
            Cmp::LtU => (a as u64) < b as u64,
            Cmp::LeU => a as u64 <= b as u64,
        }
    }
}

/// Binary operations that are not worth an instruction of their own. `I`: integers, checked; `S`: signed words,
/// wrapping; `U`: unsigned words, wrapping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bin {
    IMul,
    IDivT,
    IDivE,
    IRemT,
    IRemE,
    And,
    Or,
    Xor,
    /// Shifts name the width.
    IShl,
    IShr,
    WAdd,
    WSub,
    WMul,
    SDivT,
    SDivE,
    SRemT,
    SRemE,
    UDiv,
    URem,
    WShl(u8),
    SShr(u8),
    UShr(u8),
}

/// An array in memory, or in the frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Mem(u32),
    Frame(Reg),
}

/// A foreign call with constant arguments: `pool[start .. start + len]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) f: FnId,
    pub(super) start: u32,
    pub(super) len: u32,
}

/// The integers `lo ..= lo + span`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Interval {
    pub(super) lo: i64,
    pub(super) span: u64,
}

impl Interval {
    pub(super) fn new(lo: i64, hi: i64) -> Interval {
        debug_assert!(lo <= hi);
        Interval { lo, span: hi.wrapping_sub(lo) as u64 }
    }

    /// The integers `n` with `n + k` in the interval. An end at the end of the machine words means no bound there;
    /// the answer is none if it might mean that very integer, or if machine words do not suffice.
    pub(super) fn minus(self, k: i64) -> Option<Interval> {
        let hi = self.lo.wrapping_add(self.span as i64);
        let (lo, hi) = match (self.lo, hi) {
            (i64::MIN | i64::MAX, i64::MIN | i64::MAX) => return None,
            (i64::MIN, hi) => (i64::MIN, hi.checked_sub(k)?),
            (lo, i64::MAX) => (lo.checked_sub(k)?, i64::MAX),
            (lo, hi) => (lo.checked_sub(k)?, hi.checked_sub(k)?),
        };
        Some(Interval::new(lo, hi))
    }

    #[inline(always)]
    pub(super) fn holds(self, n: i64) -> bool {
        n.wrapping_sub(self.lo) as u64 <= self.span
    }
}

/// A test of one cell at the very beginning of the code; if it comes out as `on`, that decides the result.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cell {
    pub(super) within: Interval,
    pub(super) m: u32,
    pub(super) on: bool,
    pub(super) result: bool,
}

/// A test after the [`Cell`]s that may decide the result, too.
#[derive(Debug, Clone, Copy)]
pub(super) struct Atom {
    pub(super) test: Test,
    pub(super) on: bool,
    pub(super) result: bool,
}

/// The common shapes of conditions.
#[derive(Debug, Clone, Copy)]
pub(super) enum Test {
    /// One cell.
    In { m: u32, within: Interval },
    /// `mem[a] + add` against `mem[b]`.
    Mem { cmp: Cmp, a: u32, b: u32, add: i64 },
    /// The sum or difference of two cells.
    Sum { a: u32, b: u32, minus: bool, within: Interval },
    /// An array entry whose index is in a cell.
    Entry { entry: u32, within: Interval },
    /// A foreign function of constants.
    Call { call: u32, within: Interval },
}

/// An array entry whose index is in the cell `i`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub(super) base: u32,
    pub(super) i: u32,
    pub(super) lo: i64,
    pub(super) len: u32,
}

/// One instruction. `d` is where the result goes, `to` an instruction, `m` a memory offset; a jump is taken if the
/// condition is as `on` says.
#[derive(Debug, Clone, Copy)]
pub(super) enum Op {
    // Conditions.
    JumpTest {
        test: Test,
        on: bool,
        to: u32,
    },
    JumpReg {
        r: Reg,
        within: Interval,
        on: bool,
        to: u32,
    },
    JumpCmp {
        cmp: Cmp,
        a: Reg,
        b: Reg,
        on: bool,
        to: u32,
    },
    JumpSame {
        a: Place,
        b: Place,
        len: u32,
        on: bool,
        to: u32,
    },
    Jump {
        to: u32,
    },
    /// A jump back at the end of a loop's body.
    Loop {
        to: u32,
    },
    Return {
        r: Reg,
    },
    ReturnConst {
        value: i64,
    },

    // Values.
    Const {
        d: Reg,
        value: i64,
    },
    Load {
        d: Reg,
        m: u32,
    },
    Add {
        d: Reg,
        b: Reg,
    },
    Sub {
        d: Reg,
        b: Reg,
    },
    AddConst {
        d: Reg,
        value: i64,
    },
    Neg {
        d: Reg,
    },
    WNeg {
        d: Reg,
    },
    Bin {
        bin: Bin,
        d: Reg,
        b: Reg,
    },
    /// Cuts to a width and extends again.
    Extend {
        d: Reg,
        width: u8,
        signed: bool,
    },
    /// Reads an unsigned word as an integer.
    Unsigned {
        d: Reg,
    },
    /// Reads an unsigned word as a distance: what does not fit becomes the greatest integer.
    Clamp {
        d: Reg,
    },
    Check {
        d: Reg,
        lo: i64,
        hi: i64,
    },
    /// Checks an index and makes it a position.
    CheckIndex {
        d: Reg,
        lo: i64,
        len: u32,
    },
    /// Reads entry `d` of an array in memory.
    Index {
        d: Reg,
        base: u32,
        lo: i64,
        len: u32,
    },
    /// Reads a checked position of an array in the frame.
    At {
        d: Reg,
        i: Reg,
        base: Reg,
    },
    Call {
        d: Reg,
        f: FnId,
        a: Reg,
        n: u32,
    },
    CallConst {
        d: Reg,
        call: u32,
    },

    // Effects.
    SetConst {
        m: u32,
        value: i64,
    },
    Move {
        m: u32,
        from: u32,
    },
    Set {
        m: u32,
        r: Reg,
    },
    /// `m := from + add`, checked to lie within the bounds.
    Bump {
        m: u32,
        from: u32,
        add: i32,
        lo: i32,
        hi: i32,
    },
    /// Writes a checked position of an array.
    Put {
        base: Place,
        i: Reg,
        r: Reg,
    },
    Copy {
        d: Place,
        s: Place,
        len: u32,
    },
    Fill {
        d: Place,
        r: Reg,
        len: u32,
    },
    Update {
        f: FnId,
        a: Reg,
        n: u32,
    },
    UpdateConst {
        call: u32,
    },
}
