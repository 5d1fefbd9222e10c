//! Cells: where the clock constraints of a question have one truth value each, and how time leads from one to the next.
//!
//! A cell gives every atom of a query a truth value; with the atoms' bounds in a key that is a convex set of valuations. While
//! time passes, `x ≺ c` can only become false and `x ≻ c` only true, and differences of clocks do not change. So a delay
//! crosses cells in a sequence, and leaves one for another directly if and only if all atoms that differ change *at the same
//! moment*: `x < c` and `x ≥ c` change when `x` is `c`, `x ≤ c` and `x > c` just after. For one atom any delay from one cell to the
//! other is such; for several, the clocks must also reach their constants together, which is a constraint on differences.
//!
//! What it deliberately does not do: judge conditions. A cell is a set of bits; what they mean is the query's affair.

use trellis_domain::zone::{Bound, Constraint, Zone, ZoneError};

use super::space::{ActiveClocks, invariant};

/// Truth values of the atoms, by number.
pub type Cell = u64;

/// How many atoms a cell can hold.
pub const MAX_ATOMS: usize = 63;

/// What an atom says, or its opposite, as a constraint. `None`: nothing (one that always holds), or nothing does.
fn side(c: Constraint, holds: bool) -> Result<Option<Constraint>, ()> {
    if c.left == c.right {
        return if (c.bound >= Bound::LE_ZERO) == holds { Ok(None) } else { Err(()) };
    }
    if holds {
        return Ok(Some(c));
    }
    c.bound.complement().map(|bound| Some(Constraint { left: c.right, right: c.left, bound })).ok_or(())
}

/// The constraints of a cell; `None` if it is empty for a reason that is no constraint.
pub fn constraints(atoms: &[Constraint], cell: Cell) -> Option<Vec<Constraint>> {
    let mut all = Vec::new();
    for (i, &c) in atoms.iter().enumerate() {
        all.extend(side(c, cell >> i & 1 == 1).ok()?);
    }
    Some(all)
}

/// The parts of a zone in the cells.
pub fn split(active: ActiveClocks<'_>, zone: &[Bound], atoms: &[Constraint]) -> Result<Vec<(Cell, Zone)>, ZoneError> {
    let mut parts = vec![(0, Zone::copied(active.domain(), zone))];
    for (i, &c) in atoms.iter().enumerate() {
        let mut finer = Vec::new();
        for (cell, zone) in parts {
            for holds in [true, false] {
                let Ok(side) = side(c, holds) else { continue };
                let mut part = zone.clone();
                if invariant(active, side.as_slice(), &mut part)? {
                    finer.push((cell | Cell::from(holds) << i, part));
                }
            }
        }
        parts = finer;
    }
    Ok(parts)
}

/// An atom that time can change.
#[derive(Clone, Copy)]
struct Flip {
    atom: usize,
    /// What holds when it has changed.
    after: Constraint,
    clock: u32,
    constant: i32,
    /// It changes just after the clock has reached the constant, rather than then.
    just_after: bool,
}

fn flip(atom: usize, c: Constraint, holds: bool) -> Option<Flip> {
    let constant = c.bound.constant()?;
    let (clock, constant, just_after) = match (c.left, c.right, holds) {
        (x, 0, true) if x != 0 => (x, constant, !c.bound.is_strict()),
        (0, x, false) if x != 0 => (x, -constant, c.bound.is_strict()),
        _ => return None,
    };
    let after = side(c, !holds).ok().flatten()?;
    Some(Flip { atom, after, clock, constant, just_after })
}

/// A way out of a cell by waiting.
#[derive(Debug, Clone)]
pub struct Exit {
    /// Where to.
    pub cell: Cell,
    /// What holds there: the constraints of that cell, and of the atoms having changed at one moment.
    pub constraints: Vec<Constraint>,
}

/// The cells that a delay reaches directly from `cell`. `later` is what the zone becomes when time passes (within the invariant):
/// only exits that lead into it are told.
pub fn exits(
    active: ActiveClocks<'_>,
    later: &[Bound],
    atoms: &[Constraint],
    cell: Cell,
) -> Result<Vec<Exit>, ZoneError> {
    let flips: Vec<Flip> = atoms.iter().enumerate().filter_map(|(i, &c)| flip(i, c, cell >> i & 1 == 1)).collect();
    let mut found = Vec::new();
    choose(active, &flips, &mut Vec::new(), Zone::copied(active.domain(), later), &mut |chosen, together, zone| {
        if chosen.is_empty() {
            return Ok(());
        }
        let to = chosen.iter().fold(cell, |cell, f| cell ^ 1 << f.atom);
        let Some(mut all) = constraints(atoms, to) else { return Ok(()) };
        let mut zone = zone.clone();
        if invariant(active, &all, &mut zone)? {
            all.extend_from_slice(together);
            found.push(Exit { cell: to, constraints: all });
        }
        Ok(())
    })?;
    Ok(found)
}

type Found<'f> = dyn FnMut(&[Flip], &[Constraint], &Zone) -> Result<(), ZoneError> + 'f;

/// All subsets of the flips that can happen together, one more at a time.
fn choose(
    active: ActiveClocks<'_>,
    rest: &[Flip],
    chosen: &mut Vec<Flip>,
    zone: Zone,
    found: &mut Found<'_>,
) -> Result<(), ZoneError> {
    let mut together: Vec<Constraint> = Vec::new();
    for w in chosen.windows(2) {
        together.extend(simultaneous(w[0], w[1])?);
    }
    found(chosen, &together, &zone)?;
    for (i, f) in rest.iter().enumerate() {
        let mut part = zone.clone();
        let mut new = vec![f.after];
        if let Some(last) = chosen.last() {
            if last.just_after != f.just_after {
                continue;
            }
            new.extend(simultaneous(*last, *f)?);
        }
        if chosen.iter().any(|c| c.clock == f.clock && c.constant != f.constant) || !invariant(active, &new, &mut part)?
        {
            continue;
        }
        chosen.push(*f);
        choose(active, &rest[i + 1..], chosen, part, found)?;
        chosen.pop();
    }
    Ok(())
}

/// Both clocks reach their constants at the same moment.
fn simultaneous(a: Flip, b: Flip) -> Result<Vec<Constraint>, ZoneError> {
    if a.clock == b.clock {
        return Ok(Vec::new());
    }
    let difference = i64::from(a.constant) - i64::from(b.constant);
    let bound = |n: i64| Bound::checked(n, false).ok_or(ZoneError::Overflow);
    Ok(vec![
        Constraint { left: a.clock, right: b.clock, bound: bound(difference)? },
        Constraint { left: b.clock, right: a.clock, bound: bound(-difference)? },
    ])
}
