//! The machine.

use super::op::{Bin, Op, Place, Test};
use super::{Code, Host, MAX_ITERATIONS, Then};
use crate::fault::Fault;

/// Memory that can be read, and perhaps written.
pub(super) trait Memory {
    fn get(&self, m: u32) -> i64;
    fn range(&self, m: u32, len: u32) -> &[i64];
    fn set(&mut self, m: u32, value: i64);
    fn range_mut(&mut self, m: u32, len: u32) -> &mut [i64];
    fn copy(&mut self, d: u32, s: u32, len: u32);
}

/// Memory that is only read: terms have no effects.
#[derive(Clone, Copy)]
pub(super) struct Fixed<'a>(pub(super) &'a [i64]);

impl Memory for Fixed<'_> {
    #[inline(always)]
    fn get(&self, m: u32) -> i64 {
        self.0[m as usize]
    }

    #[inline(always)]
    fn range(&self, m: u32, len: u32) -> &[i64] {
        &self.0[m as usize..][..len as usize]
    }

    #[inline(always)]
    fn set(&mut self, _: u32, _: i64) {
        unreachable!("a term is evaluated with `eval`, a statement run with `exec`")
    }

    #[inline(always)]
    fn range_mut(&mut self, _: u32, _: u32) -> &mut [i64] {
        unreachable!("a term is evaluated with `eval`, a statement run with `exec`")
    }

    #[inline(always)]
    fn copy(&mut self, _: u32, _: u32, _: u32) {
        unreachable!("a term is evaluated with `eval`, a statement run with `exec`")
    }
}

impl Memory for &mut [i64] {
    #[inline(always)]
    fn get(&self, m: u32) -> i64 {
        self[m as usize]
    }

    #[inline(always)]
    fn range(&self, m: u32, len: u32) -> &[i64] {
        &self[m as usize..][..len as usize]
    }

    #[inline(always)]
    fn set(&mut self, m: u32, value: i64) {
        self[m as usize] = value;
    }

    #[inline(always)]
    fn range_mut(&mut self, m: u32, len: u32) -> &mut [i64] {
        &mut self[m as usize..][..len as usize]
    }

    #[inline(always)]
    fn copy(&mut self, d: u32, s: u32, len: u32) {
        self.copy_within(s as usize..s as usize + len as usize, d as usize);
    }
}

/// Memory of which some cells have no value yet. Reading one of them is noted; the rest of that run means nothing.
pub(super) struct Partial<'a> {
    pub(super) cells: &'a mut [i64],
    pub(super) missing: &'a mut [bool],
    pub(super) read: &'a std::cell::Cell<bool>,
}

impl Memory for Partial<'_> {
    fn get(&self, m: u32) -> i64 {
        self.range(m, 1)[0]
    }

    fn range(&self, m: u32, len: u32) -> &[i64] {
        let range = m as usize..m as usize + len as usize;
        if self.missing[range.clone()].contains(&true) {
            self.read.set(true);
        }
        &self.cells[range]
    }

    fn set(&mut self, m: u32, value: i64) {
        self.range_mut(m, 1)[0] = value;
    }

    fn range_mut(&mut self, m: u32, len: u32) -> &mut [i64] {
        let range = m as usize..m as usize + len as usize;
        self.missing[range.clone()].fill(false);
        &mut self.cells[range]
    }

    /// What has no value may be copied.
    fn copy(&mut self, d: u32, s: u32, len: u32) {
        let source = s as usize..s as usize + len as usize;
        self.cells.copy_within(source.clone(), d as usize);
        self.missing.copy_within(source, d as usize);
    }
}

/// Tests the cells; if they do not decide, goes on.
#[inline]
pub(super) fn start<M: Memory, H: Host>(code: &Code, mem: M, host: &mut H) -> Result<i64, Fault> {
    for cell in &*code.cells {
        if cell.within.holds(mem.get(cell.m)) == cell.on {
            return Ok(i64::from(cell.result));
        }
    }
    match code.then {
        Then::Return(value) => Ok(value),
        Then::TestAtoms => test_atoms(code, mem, host),
        Then::Run => machine(code, mem, host),
    }
}

/// Tests the atoms; if they do not decide, goes on.
#[inline(never)]
fn test_atoms<M: Memory, H: Host>(code: &Code, mem: M, host: &mut H) -> Result<i64, Fault> {
    for atom in &*code.atoms {
        if test(code, &atom.test, &mem, host)? == atom.on {
            return Ok(i64::from(atom.result));
        }
    }
    match code.otherwise {
        Some(value) => Ok(value),
        None => machine(code, mem, host),
    }
}

/// Starts the machine on a frame of the right size.
#[inline(never)]
fn machine<M: Memory, H: Host>(code: &Code, mem: M, host: &mut H) -> Result<i64, Fault> {
    if code.frame <= 8 { run(code, mem, host, &mut [0; 8]) } else { large_machine(code, mem, host) }
}

#[inline(never)]
fn large_machine<M: Memory, H: Host>(code: &Code, mem: M, host: &mut H) -> Result<i64, Fault> {
    let (mut small, mut large);
    let frame = if code.frame <= 32 {
        small = [0; 32];
        &mut small[..]
    } else {
        large = vec![0; code.frame as usize];
        &mut large[..]
    };
    run(code, mem, host, frame)
}

#[inline(always)]
fn test<M: Memory, H: Host>(code: &Code, test: &Test, mem: &M, host: &mut H) -> Result<bool, Fault> {
    Ok(match *test {
        Test::In { m, within } => within.holds(mem.get(m)),
        Test::Mem { cmp, a, b, add } => cmp.holds(mem.get(a).checked_add(add).ok_or(Fault::Overflow)?, mem.get(b)),
        Test::Sum { a, b, minus, within } => {
            let (a, b) = (mem.get(a), mem.get(b));
            let n = if minus { a.checked_sub(b) } else { a.checked_add(b) };
            within.holds(n.ok_or(Fault::Overflow)?)
        }
        Test::Entry { entry, within } => {
            let entry = &code.entries[entry as usize];
            let at = position(mem.get(entry.i), entry.lo, entry.len)?;
            within.holds(mem.get(entry.base + at))
        }
        Test::Call { call, within } => within.holds(constant_call(code, call, host)?),
    })
}

#[inline]
fn constant_call<H: Host>(code: &Code, call: u32, host: &mut H) -> Result<i64, Fault> {
    let call = code.calls[call as usize];
    host.query(call.f, &code.pool[call.start as usize..][..call.len as usize])
}

#[inline(always)]
fn run<M: Memory, H: Host>(code: &Code, mut mem: M, host: &mut H, frame: &mut [i64]) -> Result<i64, Fault> {
    macro_rules! reg {
        ($r:expr) => {
            frame[$r as usize]
        };
    }
    let ops = &*code.ops;
    let mut fuel = MAX_ITERATIONS;
    let mut pc = code.cells.len() + code.atoms.len();
    loop {
        let op = &ops[pc];
        pc += 1;
        match *op {
            Op::JumpTest { test: ref condition, on, to } => {
                if test(code, condition, &mem, host)? == on {
                    pc = to as usize;
                }
            }
            Op::JumpReg { r, within, on, to } => {
                if within.holds(reg!(r)) == on {
                    pc = to as usize;
                }
            }
            Op::JumpCmp { cmp, a, b, on, to } => {
                if cmp.holds(reg!(a), reg!(b)) == on {
                    pc = to as usize;
                }
            }
            Op::JumpSame { a, b, len, on, to } => {
                let slice = |p: Place| match p {
                    Place::Mem(m) => mem.range(m, len),
                    Place::Frame(r) => &frame[r as usize..][..len as usize],
                };
                if (slice(a) == slice(b)) == on {
                    pc = to as usize;
                }
            }
            Op::Jump { to } => pc = to as usize,
            Op::Loop { to } => {
                if fuel == 0 {
                    return Err(Fault::Diverges);
                }
                fuel -= 1;
                pc = to as usize;
            }
            Op::Return { r } => return Ok(reg!(r)),
            Op::ReturnConst { value } => return Ok(value),

            Op::Const { d, value } => reg!(d) = value,
            Op::Load { d, m } => reg!(d) = mem.get(m),
            Op::Add { d, b } => reg!(d) = reg!(d).checked_add(reg!(b)).ok_or(Fault::Overflow)?,
            Op::Sub { d, b } => reg!(d) = reg!(d).checked_sub(reg!(b)).ok_or(Fault::Overflow)?,
            Op::AddConst { d, value } => reg!(d) = reg!(d).checked_add(value).ok_or(Fault::Overflow)?,
            Op::Bin { bin, d, b } => reg!(d) = binary(bin, reg!(d), reg!(b))?,
            Op::Extend { d, width, signed } => reg!(d) = extend(reg!(d), width, signed),
            Op::Check { d, lo, hi } => check(reg!(d), lo, hi)?,
            Op::CheckIndex { d, lo, len } => reg!(d) = i64::from(position(reg!(d), lo, len)?),
            Op::Index { d, base, lo, len } => reg!(d) = mem.get(base + position(reg!(d), lo, len)?),
            Op::Call { d, f, a, n } => reg!(d) = host.query(f, &frame[a as usize..][..n as usize])?,
            Op::CallConst { d, call } => reg!(d) = constant_call(code, call, host)?,

            Op::SetConst { m, value } => mem.set(m, value),
            Op::Move { m, from } => {
                let value = mem.get(from);
                mem.set(m, value);
            }
            Op::Set { m, r } => mem.set(m, reg!(r)),
            Op::Bump { m, from, add, lo, hi } => {
                let value = mem.get(from).checked_add(i64::from(add)).ok_or(Fault::Overflow)?;
                check(value, i64::from(lo), i64::from(hi))?;
                mem.set(m, value);
            }
            Op::Put { base, i, r } => match base {
                Place::Mem(m) => mem.set(m + reg!(i) as u32, reg!(r)),
                Place::Frame(b) => reg!(u64::from(b) + reg!(i) as u64) = reg!(r),
            },
            _ => rare(code, op, &mut mem, host, frame)?,
        }
    }
}

/// The instructions that are rare or slow anyway; apart from the others, so that the loop above stays lean.
#[inline(never)]
fn rare<M: Memory, H: Host>(code: &Code, op: &Op, mem: &mut M, host: &mut H, frame: &mut [i64]) -> Result<(), Fault> {
    macro_rules! reg {
        ($r:expr) => {
            frame[$r as usize]
        };
    }
    match *op {
        Op::Neg { d } => reg!(d) = reg!(d).checked_neg().ok_or(Fault::Overflow)?,
        Op::WNeg { d } => reg!(d) = reg!(d).wrapping_neg(),
        Op::Unsigned { d } => {
            if reg!(d) < 0 {
                return Err(Fault::Overflow);
            }
        }
        Op::Clamp { d } => {
            if reg!(d) < 0 {
                reg!(d) = i64::MAX;
            }
        }
        Op::At { d, i, base } => reg!(d) = reg!(u64::from(base) + reg!(i) as u64),
        Op::Copy { d, s, len } => match (d, s) {
            (Place::Mem(d), Place::Mem(s)) => mem.copy(d, s, len),
            (Place::Mem(d), Place::Frame(s)) => {
                mem.range_mut(d, len).copy_from_slice(&frame[s as usize..][..len as usize]);
            }
            (Place::Frame(d), Place::Mem(s)) => {
                frame[d as usize..][..len as usize].copy_from_slice(mem.range(s, len));
            }
            (Place::Frame(d), Place::Frame(s)) => {
                frame.copy_within(s as usize..s as usize + len as usize, d as usize);
            }
        },
        Op::Fill { d, r, len } => {
            let value = reg!(r);
            match d {
                Place::Mem(m) => mem.range_mut(m, len).fill(value),
                Place::Frame(d) => frame[d as usize..][..len as usize].fill(value),
            }
        }
        Op::Update { f, a, n } => host.update(f, &frame[a as usize..][..n as usize])?,
        Op::UpdateConst { call } => {
            let call = code.calls[call as usize];
            host.update(call.f, &code.pool[call.start as usize..][..call.len as usize])?;
        }
        _ => unreachable!("the loop knows the other instructions"),
    }
    Ok(())
}

#[inline(always)]
fn check(value: i64, lo: i64, hi: i64) -> Result<(), Fault> {
    if lo <= value && value <= hi { Ok(()) } else { Err(Fault::OutOfRange { value, lo, hi }) }
}

#[inline(always)]
fn position(index: i64, lo: i64, len: u32) -> Result<u32, Fault> {
    let at = index.wrapping_sub(lo) as u64;
    if at < u64::from(len) {
        Ok(at as u32)
    } else {
        Err(Fault::Index { index, lo, hi: lo.wrapping_add(i64::from(len) - 1) })
    }
}

#[inline(always)]
pub(super) fn extend(n: i64, width: u8, signed: bool) -> i64 {
    let by = 64 - u32::from(width);
    if signed { (n << by) >> by } else { (((n as u64) << by) >> by) as i64 }
}

#[inline(always)]
fn distance(by: i64, width: u8) -> Result<u32, Fault> {
    if (0..i64::from(width)).contains(&by) { Ok(by as u32) } else { Err(Fault::Shift { by }) }
}

#[inline]
fn binary(bin: Bin, a: i64, b: i64) -> Result<i64, Fault> {
    use Fault::{DivisionByZero, Overflow};
    let zero = || if b == 0 { Err(DivisionByZero) } else { Ok(()) };
    Ok(match bin {
        Bin::IMul => a.checked_mul(b).ok_or(Overflow)?,
        Bin::IDivT => {
            zero()?;
            a.checked_div(b).ok_or(Overflow)?
        }
        Bin::IDivE => {
            zero()?;
            a.checked_div_euclid(b).ok_or(Overflow)?
        }
        Bin::IRemT | Bin::SRemT => {
            zero()?;
            a.wrapping_rem(b)
        }
        Bin::IRemE | Bin::SRemE => {
            zero()?;
            a.wrapping_rem_euclid(b)
        }
        Bin::And => a & b,
        Bin::Or => a | b,
        Bin::Xor => a ^ b,
        Bin::IShl => {
            let by = distance(b, 64)?;
            let n = a << by;
            if n >> by != a {
                return Err(Overflow);
            }
            n
        }
        Bin::IShr => a >> distance(b, 64)?,
        Bin::WAdd => a.wrapping_add(b),
        Bin::WSub => a.wrapping_sub(b),
        Bin::WMul => a.wrapping_mul(b),
        Bin::SDivT => {
            zero()?;
            a.wrapping_div(b)
        }
        Bin::SDivE => {
            zero()?;
            a.wrapping_div_euclid(b)
        }
        Bin::UDiv => {
            zero()?;
            (a as u64 / b as u64) as i64
        }
        Bin::URem => {
            zero()?;
            (a as u64 % b as u64) as i64
        }
        Bin::WShl(width) => a << distance(b, width)?,
        Bin::SShr(width) => a >> distance(b, width)?,
        Bin::UShr(width) => (a as u64 >> distance(b, width)?) as i64,
    })
}
