//! A limit of time around a check of a network's certificate. Its loops ask for it, element by element; so it need not be handed down
//! to everybody. Without a limit a check takes as long as it takes.

use std::cell::Cell;
use std::time::Instant;

use crate::{Cause, Rejection};

thread_local! {
    static UNTIL: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Runs a check that is to end by then: if it does not, it rejects, for want of time ([`Cause::Time`]).
pub fn within<T>(until: Option<Instant>, check: impl FnOnce() -> T) -> T {
    let before = UNTIL.replace(until);
    let result = check();
    UNTIL.set(before);
    result
}

/// Is there any time left?
pub(crate) fn ask() -> Result<(), Rejection> {
    match UNTIL.get() {
        Some(until) if Instant::now() >= until => Err(Rejection::new(Cause::Time)),
        _ => Ok(()),
    }
}
