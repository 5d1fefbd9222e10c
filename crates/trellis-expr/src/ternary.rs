//! Three-valued evaluation: what a term is when only some variables are known.
//!
//! An answer is an answer for every way to know the rest: no completion gives another value, and none faults. It is
//! not complete: `x - x` is known only if `x` is, and no answer says nothing. Foreign functions are never known, arrays are
//! known entirely or not at all.

use crate::partial::{Judged, judge};
use crate::term::{TermId, Terms, VarId};
use crate::value::Value;

/// The term's value, if the known variables determine it and no completion faults.
pub fn eval_partial(terms: &Terms, t: TermId, env: impl Fn(VarId) -> Option<Value>) -> Option<Value> {
    let Judged { value, safe } = judge(terms, t, env);
    value.filter(|_| safe)
}
