//! From a file in AltaRica to a hierarchy of nodes.

use std::path::Path;

use trellis_syntax::altarica::ast::Name;
use trellis_syntax::altarica::{Built, File, parse};
use trellis_syntax::diag::{Diagnostic, Sources, render};

use crate::Failure;
use crate::cli;

/// Diagnostics as a failure.
pub fn complain<'s>(sources: &'s Sources, color: bool) -> impl Fn(Vec<Diagnostic>) -> Failure + 's {
    move |d| Failure::Input(render(&d, sources, color))
}

/// Reads a file.
pub fn read(sources: &mut Sources, path: &Path, color: bool) -> Result<File, Failure> {
    let id = sources.read(path).map_err(|d| complain(sources, color)(vec![d]))?;
    let (file, warnings) = parse(sources, id).map_err(complain(sources, color))?;
    eprint!("{}", render(&warnings, sources, color));
    Ok(file)
}

/// Reads a file and builds the hierarchy below a node, or below the last one; with the node's name.
pub fn top(
    sources: &mut Sources,
    model: &cli::Model,
    node: Option<&str>,
    color: bool,
) -> Result<(Built, String), Failure> {
    let file = read(sources, &model.model, color)?;
    let Some(last) = file.nodes().last().map(|n| (*n).clone()) else {
        return Err(Failure::Input(format!("error: {}: there is no node", model.model.display())));
    };
    let top = Name { text: node.map_or(last.text, String::from), span: last.span };
    let built = build(sources, &file, &top, &model.constants, color)?;
    Ok((built, top.text))
}

/// Builds the hierarchy below a node.
pub fn build(
    sources: &Sources,
    file: &File,
    node: &Name,
    constants: &[(String, i64)],
    color: bool,
) -> Result<Built, Failure> {
    let (built, warnings) = file.build(node, constants).map_err(complain(sources, color))?;
    eprint!("{}", render(&warnings, sources, color));
    Ok(built)
}

/// The same, beside nodes whose literals have numbers already.
pub fn build_beside(
    sources: &Sources,
    file: &File,
    node: &Name,
    literals: &[String],
    color: bool,
) -> Result<Built, Failure> {
    let (built, warnings) = file.build_beside(node, literals).map_err(complain(sources, color))?;
    eprint!("{}", render(&warnings, sources, color));
    Ok(built)
}
