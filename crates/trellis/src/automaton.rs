//! Programs and automata: reading them, and looking at them.

use std::path::Path;

use trellis_model::cfa::{Cfa, lbe};
use trellis_report::automaton;
use trellis_syntax::diag::{self, Sources};
use trellis_syntax::{c, cfa, scxml};

use crate::cli::{Convert, DataModel, Format, Ints};
use crate::{Failure, Ran, check::write_file, exit, print};

/// Is it a C program, a control-flow automaton or a statechart, by its name?
pub fn is_one(path: &Path) -> bool {
    matches!(path.extension().and_then(|e| e.to_str()), Some("c" | "i" | "cfa" | "theta" | "scxml"))
}

/// What to say where an engine would be needed.
pub fn no_engine(path: &Path) -> Failure {
    let path = path.display();
    Failure::Usage(format!(
        "{path} is a program or a control-flow automaton, and there is no engine for these yet;\n\
         trellis convert {path} --to dot draws its automaton"
    ))
}

/// Reads one; with warnings, rendered.
fn load(args: &Convert, color: bool) -> Result<(Cfa, String), Failure> {
    let path = &args.model.model;
    if !args.model.constants.is_empty() {
        return Err(Failure::Usage("--const: only UPPAAL models have constants that can be set".into()));
    }
    let mut sources = Sources::default();
    let read = sources.read(path).map_err(|d| vec![d]).and_then(|id| {
        if path.extension().is_some_and(|e| e == "c" || e == "i") {
            let ints = match args.ints {
                Ints::Wrap => c::Ints::Wrap,
                Ints::Math => c::Ints::Math,
            };
            let data_model = match args.data_model {
                DataModel::Lp64 => c::DataModel::Lp64,
                DataModel::Ilp32 => c::DataModel::Ilp32,
            };
            let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
            c::parse(&mut sources, id, &c::Options { ints, data_model, folder }).map(|b| (b.cfa, b.warnings))
        } else if path.extension().is_some_and(|e| e == "scxml") {
            // Charts that differ only in their properties: the first one is drawn.
            let first = |(charts, warnings): (Vec<scxml::Chart>, _)| Some((charts.into_iter().next()?.cfa, warnings));
            scxml::parse(&sources, id, &[]).and_then(|read| first(read).ok_or_else(Vec::new))
        } else {
            cfa::parse(&sources, id)
        }
    });
    match read {
        Ok((cfa, warnings)) => Ok((cfa, diag::render(&warnings, &sources, color))),
        Err(errors) => Err(Failure::Input(diag::render(&errors, &sources, color))),
    }
}

/// `trellis convert FILE.c --to dot`
pub fn convert(args: &Convert, color: bool) -> Ran {
    let (mut cfa, warnings) = load(args, color)?;
    eprint!("{warnings}");
    if args.blocks {
        cfa = lbe::encode(&cfa).cfa;
    }
    let text = match args.to {
        Format::Dot => automaton::dot(&cfa, &args.model.model.display().to_string()),
    };
    match &args.output {
        Some(path) => {
            write_file(path, &text)?;
            Ok(exit::HOLDS)
        }
        None => print(&text),
    }
}
