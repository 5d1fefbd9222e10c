//! Programs, automata and transition systems: reading them, and looking at them.

use std::path::Path;

use trellis_model::cfa::{Cfa, lbe};
use trellis_report::automaton;
use trellis_syntax::diag::{self, Diagnostic, SourceId, Sources};
use trellis_syntax::{c, cfa, sts, xsts};

use crate::cli::{Convert, DataModel, Format, Ints};
use crate::{Failure, Ran, check::write_file, exit, print};

/// Is it a C program, a control-flow automaton or a transition system, by its name?
pub fn is_one(path: &Path) -> bool {
    matches!(path.extension().and_then(|e| e.to_str()), Some("c" | "i" | "cfa" | "theta" | "xsts" | "sts" | "system"))
}

/// What to say where an engine would be needed.
pub fn no_engine(path: &Path) -> Failure {
    let path = path.display();
    Failure::Usage(format!(
        "{path} is a program, a control-flow automaton or a transition system, and there is no engine for these yet;\n\
         trellis convert {path} --to dot draws its automaton"
    ))
}

/// What to say where a property means nothing.
pub fn no_property() -> Failure {
    Failure::Usage("--property: only transition systems (.xsts, .sts) are drawn with a property".into())
}

/// Reads one; with warnings, rendered.
fn load(args: &Convert, color: bool) -> Result<(Cfa, String), Failure> {
    let path = &args.model.model;
    if !args.model.constants.is_empty() {
        return Err(Failure::Usage("--const: only UPPAAL models have constants that can be set".into()));
    }
    let extension = path.extension().and_then(|e| e.to_str());
    let is_system = matches!(extension, Some("xsts" | "sts" | "system"));
    if args.property.is_some() && !is_system {
        return Err(no_property());
    }
    let mut sources = Sources::default();
    let read = sources.read(path).map_err(|d| vec![d]).and_then(|id| {
        if is_system {
            system(args, &mut sources, id, extension == Some("xsts"))
        } else if matches!(extension, Some("c" | "i")) {
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
        } else {
            cfa::parse(&sources, id)
        }
    });
    match read {
        Ok((cfa, warnings)) => Ok((cfa, diag::render(&warnings, &sources, color))),
        Err(errors) => Err(Failure::Input(diag::render(&errors, &sources, color))),
    }
}

/// An automaton, with warnings; or what is wrong.
type Parsed = Result<(Cfa, Vec<Diagnostic>), Vec<Diagnostic>>;

/// A transition system, with the property that was asked for, or its own, or that of the `.prop` file beside it.
fn system(args: &Convert, sources: &mut Sources, id: SourceId, is_xsts: bool) -> Parsed {
    if !is_xsts {
        let (all, warnings) = sts::parse(sources, id)?;
        let chosen = match &args.property {
            Some(name) => all.iter().find(|s| s.name == *name),
            None => all.first().filter(|_| all.len() == 1),
        };
        return match chosen {
            Some(one) => Ok((one.cfa.clone(), warnings)),
            None => {
                let names: Vec<&str> = all.iter().map(|s| s.name.as_str()).collect();
                let message = match &args.property {
                    Some(name) => format!("there is no property `{name}`"),
                    None => "there are several properties".into(),
                };
                let help = format!("choose with --property: {}", names.join(", "));
                Err(all.last().map(|s| Diagnostic::error(s.span, message).help(help)).into_iter().collect())
            }
        };
    }
    let beside = args.model.model.with_extension("prop");
    let property = match args.property.as_deref() {
        Some(file) if file.ends_with(".prop") => Some(sources.read(Path::new(file)).map_err(|d| vec![d])?),
        Some(text) => Some(sources.add("--property", text)),
        None if beside.is_file() => Some(sources.read(&beside).map_err(|d| vec![d])?),
        None => None,
    };
    xsts::parse(sources, id, property).map(|(xsts, warnings)| (xsts.cfa, warnings))
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
