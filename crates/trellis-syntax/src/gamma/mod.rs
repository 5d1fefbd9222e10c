//! Composed statecharts in the language of the Gamma Statechart Composition Framework: packages (`.gcd`) with interfaces, statecharts,
//! synchronous and asynchronous compositions.
//!
//! A package and what it imports are parsed (`parser`, `expr`), the component that is asked about is instantiated (`build`, `chart`,
//! `adapter`) into a [`System`], which says what is connected to what; what that means is said by its interpreter
//! ([`trellis_model::gamma::interpret`]) and, independently, by the automaton that `encode` makes of it.
//!
//! Deliberately not read, and refused by name: decimals and rationals, arrays of records in events, `full-step`, regions in parallel, division by
//! what is no constant, loops without constant bounds.

mod actions;
mod adapter;
mod ast;
mod build;
mod chart;
pub mod encode;
mod expr;
mod functions;
pub mod generated;
mod lexer;
pub mod names;
mod packages;
mod parser;
pub mod properties;
mod shape;
mod terms;
pub mod trace;

use trellis_model::gamma::System;

use crate::diag::{Diagnostic, SourceId, Sources, Span};

/// How a package is to be understood.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The component; without it, the last one that no other component of the file contains.
    pub component: Option<String>,
    /// Values for its parameters.
    pub constants: Vec<(String, i64)>,
    /// The least and the greatest time, in milliseconds, that passes before a step; any time, without it.
    pub period: Option<(i64, Option<i64>)>,
    /// What the environment raises again and again, as far as runs count: `Port.event`; all of its inputs, if the list is empty.
    pub fair: Option<Vec<String>>,
    /// Do only runs count in which time passes again and again, as long as timers run?
    pub timely: bool,
}

/// A formula about runs in which the environment raises these inputs again and again, and time passes, if that is asked for.
pub fn of_fair_runs(inputs: &[usize], timely: bool, formula: &str) -> String {
    let mut each: Vec<String> = inputs.iter().map(|n| format!("(G F {})", encode::raised_name(*n))).collect();
    each.extend(timely.then(|| format!("(G F {})", encode::TIMELY)));
    if each.is_empty() { formula.to_string() } else { format!("({}) -> ({formula})", each.join(" and ")) }
}

/// Reads a package with all that it imports, and instantiates a component of it; none if it has none. With warnings, or complaints.
pub fn read(
    sources: &mut Sources,
    id: SourceId,
    options: &Options,
) -> Result<(Option<System>, Vec<Diagnostic>), Vec<Diagnostic>> {
    let read = packages::read(sources, id)?;
    let files = packages::parse(sources, &read, 0)?;
    let Some((file, component)) = main(&files, options, id)? else { return Ok((None, vec![])) };
    let (system, _, warnings) =
        build::build(&files, file, component, &options.constants, options.period.unwrap_or((0, None)))?;
    Ok((Some(system), warnings))
}

/// The same, as an automaton; a package without a component is a complaint.
pub fn read_encoded(
    sources: &mut Sources,
    id: SourceId,
    options: &Options,
) -> Result<(encode::Encoded, Vec<Diagnostic>), Vec<Diagnostic>> {
    match read(sources, id, options)? {
        (Some(system), warnings) => {
            let file = sources.get(id).name.clone();
            let mut fair = vec![];
            for name in options.fair.iter().flatten() {
                let Some(n) = system.inputs.iter().position(|i| i.name == *name) else {
                    let span = Span { source: id, start: 0, end: 0 };
                    let all = system.inputs.iter().map(|i| i.name.as_str());
                    return Err(vec![packages::unknown("input", (name, span), all)]);
                };
                fair.push(n);
            }
            if options.fair.as_ref().is_some_and(Vec::is_empty) {
                fair = (0..system.inputs.len()).collect();
            }
            let mut encoded = encode::encode_for(
                system,
                &encode::Watch { inputs: fair, time: options.timely, ..encode::Watch::default() },
            );
            encoded.file = file;
            Ok((encoded, warnings))
        }
        (None, _) => {
            let span = Span { source: id, start: 0, end: 0 };
            Err(vec![Diagnostic::error(span, "this package has no component to be checked")])
        }
    }
}

type Main<'f, 'a> = Option<(usize, &'f ast::Component<'a>)>;

/// The component that is asked about.
fn main<'f, 'a>(
    files: &'f [packages::File<'a>],
    options: &Options,
    id: SourceId,
) -> Result<Main<'f, 'a>, Vec<Diagnostic>> {
    if let Some(name) = &options.component {
        let found = packages::lookup(files, 0, |p| p.components.iter().find(|c| c.name.0 == name));
        let span = Span { source: id, start: 0, end: 0 };
        return found.map(Some).ok_or_else(|| vec![Diagnostic::error(span, format!("there is no component `{name}`"))]);
    }
    let all = &files[0].package.components;
    let inside = |c: &ast::Component<'a>| {
        let parts: Vec<&str> = match &c.body {
            ast::Body::Composite(c) => c.parts.iter().map(|p| p.ty.0).collect(),
            ast::Body::Adapter(a) => vec![a.inner.ty.0],
            ast::Body::Chart(_) => vec![],
        };
        parts
    };
    let contained: Vec<&str> = all.iter().flat_map(inside).collect();
    Ok(all.iter().rfind(|c| !contained.contains(&c.name.0)).or(all.last()).map(|c| (0, c)))
}
