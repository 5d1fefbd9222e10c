//! The automaton of a formula of linear temporal logic, in words: for the command `ltl2hoa` and for programs.

use trellis_engine::ltl::translate::translate_to;
use trellis_syntax::diag::{self, Sources};
use trellis_syntax::hoa::{self, Hoa};
use trellis_syntax::ltl::parse_propositional;

pub use trellis_engine::ltl::translate::Acceptance;

use crate::Error;

/// The automaton of a formula: in the Hanoi format, or drawn in the dot language.
///
/// ```
/// use trellis::automaton::{Acceptance, ltl2hoa};
///
/// let text = ltl2hoa("G(a -> F b)", Acceptance::Generalised, false, false)?;
/// assert!(text.starts_with("HOA: v1"));
/// # Ok::<(), trellis::Error>(())
/// ```
pub fn ltl2hoa(formula: &str, acceptance: Acceptance, dot: bool, color: bool) -> Result<String, Error> {
    let mut sources = Sources::default();
    let id = sources.add("formula", formula);
    let (formula, atoms) = parse_propositional(&sources, id)
        .map_err(|complaints| Error::Input(diag::render(&complaints, &sources, color)))?;
    let automaton = translate_to(&formula, acceptance).map_err(|e| Error::Usage(e.to_string()))?;
    let name = formula.show(&atoms);
    if dot {
        return Ok(trellis_report::buchi::dot(&automaton, &atoms, &name));
    }
    Ok(hoa::write(&Hoa { automaton, atoms, name: Some(name) }))
}
