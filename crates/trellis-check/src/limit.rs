//! The limits around a check of a network's certificate. Its loops ask for them, element by element; so they need not be handed down
//! to everybody. Without limits a check takes as long as it takes.

use std::cell::RefCell;

use trellis_meter::{Meter, StopReason};

use crate::{Cause, Rejection};

thread_local! {
    static METER: RefCell<Option<Meter>> = const { RefCell::new(None) };
}

/// Runs a check that is to stay within these limits: if it does not, it rejects, and says why ([`Cause::Stopped`]).
pub fn within<T>(meter: &Meter, check: impl FnOnce() -> T) -> T {
    let before = METER.replace(Some(meter.clone()));
    let result = check();
    METER.set(before);
    result
}

/// May it go on?
pub(crate) fn ask() -> Result<(), Rejection> {
    let stop = METER.with_borrow(|m| m.as_ref().and_then(|m| m.go_on().err()));
    stop.map_or(Ok(()), |why| Err(Rejection::new(Cause::Stopped(why))))
}

/// Reserves memory for a table, or rejects.
pub(crate) fn reserve<E>(reserved: Result<(), E>) -> Result<(), Rejection> {
    reserved.map_err(|_| Rejection::new(Cause::Stopped(StopReason::Memory)))
}
