//! Programs as control-flow automata, under an abstract domain of one's own.
//!
//! [`AbstractDomain`] says what a label is and what follows it along an edge; [`cegar`] explores labels, and where a path that is no run reaches an
//! error, asks the domain what to follow in order to see that. The example `own_domain` has a domain of parities.
//!
//! ```
//! let cfa = trellis::program::parse(
//!     "main process cfa {
//!         var x : int
//!         init loc START
//!         loc LOOP
//!         error loc ERROR
//!         START -> LOOP { x := 0 }
//!         LOOP -> LOOP { x := x + 2 }
//!         LOOP -> ERROR { assume x = 7 }
//!     }",
//! )?;
//! assert_eq!((cfa.locations().len(), cfa.edges().len(), cfa.errors().count()), (3, 3, 1));
//! # Ok::<(), trellis::Error>(())
//! ```

use trellis_check::program as checker;
pub use trellis_engine::program::cegar::Options;
pub use trellis_engine::program::domain::{AbstractDomain, Followed};
pub use trellis_engine::program::edges::{Edges, Step};
use trellis_meter::{Meter, Stats};
pub use trellis_model::cfa::evidence::{Certificate, Trace, Verdict};
pub use trellis_model::cfa::{Cfa, EdgeId, LocationId};
pub use trellis_model::evidence::Reason;
use trellis_syntax::diag::{self, Sources};

use crate::Error;

/// Reads a control-flow automaton, as `.cfa` files have them.
///
/// ```
/// let wrong = trellis::program::parse("main process cfa { init loc L0 L0 -> L1 { } }").unwrap_err();
/// assert!(wrong.to_string().contains("L1"), "{wrong}");
/// ```
pub fn parse(text: &str) -> Result<Cfa, Error> {
    let mut sources = Sources::default();
    let id = sources.add("text", text);
    let (cfa, _) = trellis_syntax::cfa::parse(&sources, id)
        .map_err(|errors| Error::Input(diag::render(&errors, &sources, false)))?;
    Ok(cfa)
}

/// Can an error location be reached? Abstraction refinement over a domain; its evidence is checked again, by the interpreter and a solver.
pub fn cegar<D: AbstractDomain>(
    cfa: &Cfa,
    domain: D,
    options: &Options,
    meter: &mut Meter,
) -> Result<(Verdict, Stats), Error> {
    let mut program = trellis_engine::program::Program::new(cfa);
    let found = trellis_engine::program::cegar::check_with(&mut program, Box::new(domain), options, meter);
    let checked = match &found.verdict {
        Verdict::Safe(proof) => checker::certify(cfa, proof, meter).map(|_| ()),
        Verdict::Unsafe(trace) => checker::replay(cfa, trace),
        Verdict::Unknown(_) => Ok(()),
    };
    match checked {
        Ok(()) => Ok((found.verdict, found.stats)),
        Err(checker::Rejection::Undecided(why)) => {
            Ok((Verdict::Unknown(Reason::Solver(format!("the proof was not checked: {why}"))), found.stats))
        }
        // The domain has lost something that can happen.
        Err(wrong) => Err(Error::Internal(format!("the evidence is wrong, so the domain is: {wrong}"))),
    }
}
