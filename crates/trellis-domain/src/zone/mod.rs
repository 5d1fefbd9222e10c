//! Zones: convex sets of clock valuations, as difference bound matrices (002 §3.2.4, Def. 11–13; 002 §4.3.2).
//!
//! A zone over clocks `x₁ … xₙ` is a conjunction of constraints `xᵢ - xⱼ ≺ c` with `≺` one of `<`, `≤`, where `x₀` is the
//! clock that is always zero. Clocks are never negative, so neither is any point of a zone. A zone is a flat row-major
//! slice of `(n+1)²` [`Bound`]s, entry `[i][j]` bounding `xᵢ - xⱼ`; an engine may keep millions of them in one arena, and
//! [`ZoneDomain`], a number in disguise, knows how to work on such slices. [`Zone`] is one that owns its memory.
//!
//! **Canonical form.** All functions expect and leave matrices that are closed (every entry is the tightest that the
//! others imply), or *the* empty zone, which has one representation too; so equal zones are equal slices. Only
//! [`ZoneDomain::close`] and [`ZoneDomain::close_after_tightening`] accept anything else.
//!
//! **Numbers.** Constants are less than 2²⁸ in magnitude. What would leave that range is a [`ZoneError::Overflow`],
//! after which the contents of the slice mean nothing; no result is ever silently wrong.
//!
//! | file | what |
//! |---|---|
//! | `bound` | one bound in one `i32` |
//! | `dbm` | closure, intersection, order, hull |
//! | `many` | many constraints at once |
//! | `ops` | delay, reset, copy, shift, free, and their inverse images |
//! | `extrapolate` | Extra-M, Extra-LU, Extra-LU+, and the test for `Z ⊆ a⊑LU(Z')` |
//! | `minimal` | fewest constraints, for storage and for people |
//! | `separate` | complement, difference, interpolant |
//! | `point` | exact rational points and delays in a zone |
//!
//! ```
//! use trellis_domain::zone::{Bound, Zone, ZoneDomain, ZoneError};
//!
//! let d = ZoneDomain::new(2);
//! let mut z = Zone::zero(2);
//! d.up(&mut z); // time passes
//! assert!(d.constrain(&mut z, 0, 1, Bound::le(-2))?); // x₀ - x₁ ≤ -2, that is, x₁ ≥ 2
//! d.reset(&mut z, 2, 0)?;
//! d.up(&mut z);
//! assert_eq!(d.show(&z, &["x", "y"]).to_string(), "y - x ≤ -2");
//! assert_eq!(d.point_in(&z).unwrap().to_string(), "(2, 0)");
//! # Ok::<(), ZoneError>(())
//! ```
//!
//! Extrapolation is sound only for models without diagonal constraints; nothing here can know, so the engine must.

mod bound;
mod dbm;
mod extrapolate;
mod many;
mod minimal;
mod ops;
mod owned;
mod point;
mod separate;

pub use bound::{Bound, MAX_CONSTANT};
pub use dbm::{Relation, ZoneDomain};
pub use minimal::{Constraint, Shown};
pub use owned::Zone;
pub use point::{DelayInterval, Point, Rational, solve};

/// Why an operation on a zone has no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ZoneError {
    /// A constant would leave the range that a [`Bound`] can hold.
    #[error("a clock constant is out of range: its magnitude must be less than 2^28")]
    Overflow,
    /// A clock would be given a negative value.
    #[error("a clock would become negative")]
    Negative,
}
