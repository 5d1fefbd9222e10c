//! What lowering makes of a model: built networks are run, by both interpreters, and the outcome is compared with what
//! one gets by hand.

mod arrays;
mod clocks;
mod damaged;
mod edges;
mod effects;
mod functions;
mod growth;
mod lattices;
mod processes;
mod refused;
mod resets;
mod timed_models;
mod values;

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use trellis_model::network::interpret::Interpreter;
use trellis_model::network::{ModelError, Network, Post, Query, QueryKind, Snapshot};
use trellis_order::Word;
use trellis_syntax::diag::{Diagnostic, Sources, render};
use trellis_syntax::uppaal::build::{Built, Options, Questions, build};
use trellis_syntax::uppaal::{parse_expr, parse_queries, parse_xta};

/// A model in the textual language with queries, built; or what is wrong with it, rendered.
pub fn built(model: &str, queries: &str) -> Result<Built, String> {
    with_strategy(model, queries, "")
}

/// The same with a joining strategy, unless that is empty.
pub fn with_strategy(model: &str, queries: &str, strategy: &str) -> Result<Built, String> {
    let mut sources = Sources::default();
    let id = sources.add("model.xta", model);
    let (nta, mut diags) = parse_xta(id, model);
    let id = sources.add("queries.q", queries);
    let (queries, more) = parse_queries(id, queries);
    diags.extend(more);
    let id = sources.add("--join", strategy);
    let strategy = (!strategy.is_empty()).then(|| parse_expr(id, strategy).0.expect("an expression"));
    assert!(diags.is_empty(), "{}", render(&diags, &sources, false));
    let questions = Questions { queries, strategy, ..Questions::default() };
    let located = |d: &Diagnostic| assert!(d.span.is_some(), "no place: {}", d.message);
    build(&nta, &questions, &sources, &Options::default()).map_err(|errors| {
        assert!((1..=20).contains(&errors.len()), "{} errors", errors.len());
        errors.iter().for_each(located);
        render(&errors, &sources, false)
    })
}

/// A model that is right.
pub fn network(model: &str) -> Network {
    built(model, "").unwrap_or_else(|e| panic!("{e}")).network
}

/// What is wrong with a model.
pub fn refused(model: &str) -> String {
    match built(model, "") {
        Ok(_) => panic!("nothing is wrong with {model}"),
        Err(errors) => errors,
    }
}

/// All steps from the initial state and where they lead, as both interpreters see it.
pub fn steps(net: &Network) -> Result<Vec<Snapshot>, ModelError> {
    let interpreter = Interpreter::new(net);
    let plain = interpreter.initial().and_then(|s| interpreter.steps(&s));
    let mut post = Post::new(net);
    let fast = post.initial().and_then(|(key, elem)| {
        let layout = post.layout.clone();
        let mut found = Vec::new();
        let mut visit = |_: u32, key: &[Word], elem: &[Word]| {
            found.push(layout.snapshot(net, key, elem));
            ControlFlow::Continue(())
        };
        post.successors(&key, &elem, &mut visit).map(|_| found)
    });
    match (plain, fast) {
        (Ok(plain), Ok(fast)) => {
            // A step back to the same state is not shown by the fast one.
            let moves = |s: &Snapshot| interpreter.initial().as_ref() != Ok(s);
            let plain: Vec<Snapshot> = plain.into_iter().map(|(_, s)| s).collect();
            assert_eq!(plain.iter().filter(|s| moves(s)).collect::<Vec<_>>(), fast.iter().collect::<Vec<_>>());
            Ok(plain)
        }
        (Err(a), Err(b)) => {
            assert_eq!(a.fault, b.fault);
            Err(a)
        }
        (a, b) => panic!("{:?} and {:?}", a.map(|s| s.len()), b.map(|s| s.len())),
    }
}

/// The data of a state by name.
pub fn data(net: &Network, state: &Snapshot) -> BTreeMap<String, i64> {
    net.cell_names().into_iter().zip(state.data.iter().copied()).collect()
}

/// A process with one edge, which does this.
fn one_step(declarations: &str, label: &str) -> String {
    format!("{declarations}\nprocess P() {{ state A, B; init A; trans A -> B {{ {label} }}; }}\nsystem P;")
}

/// What an update makes of the variables: each `name = value`, by hand.
#[track_caller]
pub fn becomes(declarations: &str, update: &str, expected: &[(&str, i64)]) {
    let net = network(&one_step(declarations, &format!("assign {update};")));
    let after = steps(&net).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(after.len(), 1);
    let data = data(&net, &after[0]);
    for (name, value) in expected {
        assert_eq!(data.get(*name), Some(value), "{name} in {data:?}");
    }
}

/// How an update goes wrong.
#[track_caller]
pub fn faults(declarations: &str, update: &str) -> String {
    let net = network(&one_step(declarations, &format!("assign {update};")));
    steps(&net).expect_err("a fault").fault.to_string()
}

/// What a number is, in a query, in a guard and in an update.
#[track_caller]
pub fn is(declarations: &str, expr: &str, expected: i64) {
    let with_result = format!("{declarations}\nint[-1000000000,1000000000] result;");
    let model = one_step(&with_result, &format!("guard ({expr}) == ({expected}); assign result = {expr};"));
    let Built { network: net, queries, .. } = built(&model, &format!("sup: {expr}")).unwrap_or_else(|e| panic!("{e}"));
    let after = steps(&net).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(after.len(), 1, "the guard does not hold");
    assert_eq!(data(&net, &after[0])["result"], expected, "in the update");
    assert_eq!(measured(&net, &queries[0]), expected, "in the query");
}

/// The value of `sup:` or the truth of another query in the initial state, as both interpreters see it.
pub fn judged(net: &Network, query: &Query) -> Result<i64, ModelError> {
    let condition = match query.kind {
        QueryKind::Always(c) | QueryKind::Possibly(c) | QueryKind::Eventually(c) | QueryKind::PotentiallyAlways(c) => c,
        QueryKind::Bound { of, .. } | QueryKind::ClockBound { when: of, .. } => of,
        QueryKind::LeadsTo(c, _) => c,
    };
    let interpreter = Interpreter::new(net);
    let plain = interpreter.number(&condition, query.deadlock, &interpreter.initial()?);
    let mut post = Post::new(net);
    let judge = post.compile(condition, query.deadlock);
    let (key, elem) = post.initial()?;
    let fast = post.judge(&judge, &key, &elem);
    assert_eq!(plain.as_ref().map_err(|e| &e.fault), fast.as_ref().map_err(|e| &e.fault));
    plain
}

/// The same where there is no fault.
pub fn measured(net: &Network, query: &Query) -> i64 {
    judged(net, query).unwrap_or_else(|e| panic!("{e}"))
}

/// A query about the initial state of a model.
pub fn asks(model: &str, query: &str) -> i64 {
    let Built { network, queries, .. } = built(model, query).unwrap_or_else(|e| panic!("{e}"));
    measured(&network, &queries[0])
}
