//! Another start: the state that some moves of `trellis simulate` lead to. A model that begins there is a model like any other, so engines, checks
//! of evidence and walks need not know.
//!
//! It deliberately begins only where all clocks are 0: zones of engines and of the checker start there.

use std::borrow::Cow;

use trellis_domain::zone::Rational;
use trellis_model::counter::{Interval, System};
use trellis_model::network::Network;
use trellis_report::step::counter::CounterStepper;
use trellis_report::step::network::NetworkStepper;
use trellis_report::step::{self, Stepper};

use crate::Error;

fn refused(why: step::Error) -> Error {
    Error::Input(format!("error: --after: {why}"))
}

/// Makes moves, one after the other.
fn go(stepper: &mut dyn Stepper, moves: &str) -> Result<(), Error> {
    for (i, m) in moves.split(';').map(str::trim).filter(|m| !m.is_empty()).enumerate() {
        let wrong = |why: step::Error| Error::Input(format!("error: --after: move {} (`{m}`): {why}", i + 1));
        step::make(stepper, m).map_err(wrong)?;
    }
    Ok(())
}

/// A network that begins there.
pub fn network(net: &mut Network, moves: &str) -> Result<(), Error> {
    let mut stepper = NetworkStepper::new(Cow::Borrowed(&*net)).map_err(refused)?;
    go(&mut stepper, moves)?;
    let state = stepper.now().map_err(refused)?;
    drop(stepper);
    let mut clocks = net.clocks.iter().zip(&state.clocks);
    if let Some((name, value)) = clocks.find(|(_, value)| **value != Rational::ZERO) {
        return Err(Error::Input(format!(
            "error: --after: a check begins where all clocks are 0, and after these moves `{name}` is {value}"
        )));
    }
    net.processes.iter_mut().zip(&state.locations).for_each(|(p, l)| p.init = *l);
    let cells = net.vars.iter_mut().flat_map(|v| &mut v.init);
    cells.zip(&state.data).for_each(|(cell, value)| *cell = *value);
    let words = net.lattices.iter_mut().flat_map(|l| &mut l.init);
    words.zip(&state.element).for_each(|(word, value)| *word = *value);
    Ok(())
}

/// A counter system of which one instance begins there: the smallest that may start.
pub fn counters(system: &mut System, moves: &str) -> Result<(), Error> {
    let start = system.initial.iter().map(|i| i.low).collect();
    let mut stepper = CounterStepper::new(Cow::Borrowed(&*system), start).map_err(refused)?;
    go(&mut stepper, moves)?;
    let numbers: Vec<u64> = stepper.state().values().filter_map(serde_json::Value::as_u64).collect();
    drop(stepper);
    for (interval, n) in system.initial.iter_mut().zip(numbers) {
        *interval = Interval { low: n, high: Some(n) };
    }
    Ok(())
}
