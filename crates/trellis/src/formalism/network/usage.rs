//! Options that make no sense for this model, though they do for others.

use super::load::Loaded;
use super::{shared, timed};
use crate::Error;
use crate::settings::{self, Settings};

/// What the command line alone cannot know to be wrong.
pub fn usage(args: &Settings, loaded: &Loaded) -> Result<(), Error> {
    let say = |text: &str| Err(Error::Usage(text.into()));
    if loaded.queries.is_empty() && loaded.unanswered.is_empty() && loaded.refused.is_empty() {
        let advice = match loaded.language {
            "tchecker" => no_question(&loaded.labels),
            _ => {
                "the model has no query; give one, for instance --property 'A[] not deadlock', or --queries FILE".into()
            }
        };
        return Err(Error::Nothing(loaded.language, advice));
    }
    if args.order == Some(settings::Order::Error) {
        return say("--order error: only for programs and automata");
    }
    if args.assume.is_some() && loaded.network.lattices.is_empty() {
        return say("--assume monotone: the model has no lattice variables");
    }
    let (clocks, lattices) = (!loaded.network.clocks.is_empty(), !loaded.network.lattices.is_empty());
    if args.join_zones.is_some() && !(clocks && lattices) {
        return say("--join-zones is for models with both clocks and lattice variables");
    }
    if clocks && !lattices {
        return Ok(());
    }
    if clocks && args.audit {
        return say("--audit: the model has clocks, and what is sampled has none");
    }
    if timed::lazily(args)
        || timed::by_zones(args)
        || args.non_zeno
        || args.trace_kind.is_some()
        || args.engine == settings::Engine::Lazy
        || args.order == Some(settings::Order::Largest)
    {
        if clocks {
            return say(
                "--engine lazy, --clocks, --data, --all-clocks, --extrapolation, --cover, --non-zeno, --trace-kind and --order largest are for models with clocks and no lattice variables",
            );
        }
        return say(
            "--engine lazy, --clocks, --data, --all-clocks, --extrapolation, --cover, --non-zeno, --trace-kind and --order largest are for models with clocks; this one has none",
        );
    }
    if args.symmetry && (lattices || args.priority.is_some()) {
        return say("--symmetry goes neither with lattice variables nor with --priority");
    }
    let join = args.join.as_deref();
    shared::usage(args)?;
    if join.is_some() && !lattices {
        return say("--join: the model has no lattice variables, so there is nothing to join");
    }
    if join.is_some_and(|j| j != "none") && args.update.is_some_and(|u| u != settings::Update::Join) {
        return say("--join goes with --update join");
    }
    if join.is_some() && loaded.brought.join.is_some() {
        return say("--join: the Python file has a joining strategy of its own, the function `join`");
    }
    if args.join_zones.is_some() && (join == Some("none") || args.update.is_some_and(|u| u != settings::Update::Join)) {
        return say("--join-zones goes with --update join");
    }
    if (args.order == Some(settings::Order::Priority)) != args.priority.is_some() {
        return say("--order priority and --priority EXPR go together");
    }
    Ok(())
}

/// What can be asked of a TChecker model.
fn no_question(labels: &[String]) -> String {
    let some = labels.iter().take(20).map(String::as_str).collect::<Vec<_>>().join(", ");
    match labels {
        [] => "the model has no labels; give a property, for instance --property 'A[] not deadlock'".into(),
        [first, ..] => format!(
            "the labels of the model are {some}{}; give some, for instance --labels {first}, or a property, for instance \
             --property 'A[] not deadlock'",
            if labels.len() > 20 { ", …" } else { "" }
        ),
    }
}
