//! One instance of a counter system, with a fixed number of processes: how it starts, and the same as an UPPAAL model.

use trellis_model::counter::System;
use trellis_report::counter::xta;
use trellis_syntax::diag::{self, Diagnostic, Sources};
use trellis_syntax::spec;

use super::load::{Asked, Loaded, load};
use crate::cli::{Convert, Format, Model};
use crate::files::write_file;
use crate::{Failure, Ran, automaton, exit, print};

/// The system, and how the instance starts.
pub fn start(model: &Model, instance: Option<&str>, color: bool) -> Result<(System, Vec<u64>), Failure> {
    let Loaded { system, warnings, .. } = load(model, &Asked { color, ..Asked::default() })?;
    eprint!("{warnings}");
    let initial = match instance {
        None => system.initial.iter().map(|i| i.low).collect(),
        Some(numbers) => {
            let mut sources = Sources::default();
            let id = sources.add("--instance", numbers);
            let broken = |d: Vec<Diagnostic>| Failure::Input(diag::render(&d, &sources, color));
            spec::parse_instance(&sources, id, &system).map_err(broken)?
        }
    };
    Ok((system, initial))
}

fn written(model: &Model, instance: Option<&str>, color: bool) -> Result<String, Failure> {
    let (system, initial) = start(model, instance, color)?;
    xta::instance(&system, &initial, &model.model.display().to_string()).map_err(Failure::Usage)
}

/// What is said to other models.
pub fn no_instance() -> Failure {
    Failure::Usage("--instance and --to xta: only for counter systems (.spec, .pnml, .lola, .tts)".into())
}

/// `trellis convert` for counter systems.
pub fn convert(args: &Convert, color: bool) -> Ran {
    automaton::not_c(&args.reading)?;
    if args.to != Format::Xta || args.property.is_some() || !args.model.constants.is_empty() {
        return Err(Failure::Usage("a counter system is written as an instance: --to xta --instance 'x = 3'".into()));
    }
    let text = written(&args.model, args.instance.as_deref(), color)?;
    match &args.output {
        Some(path) => write_file(path, &text).map(|()| exit::HOLDS),
        None => print(&text),
    }
}
