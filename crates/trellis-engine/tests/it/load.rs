//! From text to network.

use trellis_model::network::{Network, Query};
use trellis_syntax::diag::{Sources, render};
use trellis_syntax::uppaal::build::{Options, Questions, build};
use trellis_syntax::uppaal::{parse_queries, parse_xta};

/// Builds a model and its queries, or says what is wrong with it.
pub fn load(model: &str, queries: &str) -> Result<(Network, Vec<Query>), String> {
    let mut sources = Sources::default();
    let id = sources.add("model.xta", model);
    let (nta, errors) = parse_xta(id, model);
    if !errors.is_empty() {
        return Err(render(&errors, &sources, false));
    }
    let id = sources.add("queries.q", queries);
    let (queries, errors) = parse_queries(id, queries);
    if !errors.is_empty() {
        return Err(render(&errors, &sources, false));
    }
    let questions = Questions { queries, ..Questions::default() };
    match build(&nta, &questions, &sources, &Options::default()) {
        Ok(built) => Ok((built.network, built.queries)),
        Err(errors) => Err(render(&errors, &sources, false)),
    }
}
