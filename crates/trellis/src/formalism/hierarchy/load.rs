//! From a file in AltaRica to a hierarchy of nodes.

use std::path::Path;

use trellis_syntax::altarica::ast::Name;
use trellis_syntax::altarica::{Built, File, parse};
use trellis_syntax::diag::{Diagnostic, Sources, render};

use crate::Error;
use crate::context::Context;
use crate::settings;

/// Diagnostics as a failure.
pub fn complain<'s>(sources: &'s Sources, color: bool) -> impl Fn(Vec<Diagnostic>) -> Error + 's {
    move |d| Error::Input(render(&d, sources, color))
}

/// Reads a file.
pub fn read(sources: &mut Sources, path: &Path, context: &Context) -> Result<File, Error> {
    let id = sources.read(path).map_err(|d| complain(sources, context.color)(vec![d]))?;
    let (file, warnings) = parse(sources, id).map_err(complain(sources, context.color))?;
    context.note(render(&warnings, sources, context.color));
    Ok(file)
}

/// Reads a file and builds the hierarchy below a node, or below the last one; with the node's name.
pub fn top(
    sources: &mut Sources,
    model: &settings::Model,
    node: Option<&str>,
    context: &Context,
) -> Result<(Built, String), Error> {
    let file = read(sources, &model.model, context)?;
    let Some(last) = file.nodes().last().map(|n| (*n).clone()) else {
        return Err(Error::Input(format!("error: {}: there is no node", model.model.display())));
    };
    let top = Name { text: node.map_or(last.text, String::from), span: last.span };
    let built = build(sources, &file, &top, &model.constants, context)?;
    Ok((built, top.text))
}

/// Builds the hierarchy below a node.
pub fn build(
    sources: &Sources,
    file: &File,
    node: &Name,
    constants: &[(String, i64)],
    context: &Context,
) -> Result<Built, Error> {
    let (built, warnings) = file.build(node, constants).map_err(complain(sources, context.color))?;
    context.note(render(&warnings, sources, context.color));
    Ok(built)
}

/// The same, beside nodes whose literals have numbers already.
pub fn build_beside(
    sources: &Sources,
    file: &File,
    node: &Name,
    literals: &[String],
    context: &Context,
) -> Result<Built, Error> {
    let (built, warnings) = file.build_beside(node, literals).map_err(complain(sources, context.color))?;
    context.note(render(&warnings, sources, context.color));
    Ok(built)
}
