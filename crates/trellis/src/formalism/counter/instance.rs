//! One instance of a counter system, with a fixed number of processes: written as an UPPAAL model, or stepped through.

use trellis_model::counter::System;
use trellis_report::counter::xta;
use trellis_syntax::diag::{self, Diagnostic, Sources};
use trellis_syntax::spec;

use super::load::{Asked, Loaded, load};
use crate::Error;
use crate::formalism::Language;
use crate::settings::Model;

/// The system, and how the instance starts.
pub fn start(
    model: &Model,
    language: &'static Language,
    instance: Option<&str>,
    color: bool,
) -> Result<(System, Vec<u64>), Error> {
    let Loaded { system, .. } = load(model, language, &Asked { color, ..Asked::default() })?;
    let initial = match instance {
        None => system.initial.iter().map(|i| i.low).collect(),
        Some(numbers) => {
            let mut sources = Sources::default();
            let id = sources.add("--instance", numbers);
            let broken = |d: Vec<Diagnostic>| Error::Input(diag::render(&d, &sources, color));
            spec::parse_instance(&sources, id, &system).map_err(broken)?
        }
    };
    Ok((system, initial))
}

/// The instance as an UPPAAL model.
pub fn written(
    model: &Model,
    language: &'static Language,
    instance: Option<&str>,
    color: bool,
) -> Result<String, Error> {
    let (system, initial) = start(model, language, instance, color)?;
    xta::instance(&system, &initial, &model.model.display().to_string()).map_err(Error::Usage)
}
