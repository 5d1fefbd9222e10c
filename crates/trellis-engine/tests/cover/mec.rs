//! Mec 5's relations: the session of the thesis, and quantifiers against sets that are computed otherwise.

use trellis_domain::relation::Memory;
use trellis_engine::mec::Session;
use trellis_syntax::diag::{Sources, render};
use trellis_syntax::mec::{Piece, World, only, pieces};

use crate::read;

/// Defines all relations of a script over the stack; the cardinals of those that are asked for.
fn cardinals(script: &str, names: &[&str]) -> Vec<String> {
    let (built, _) = read(include_str!("../../../../models/altarica/stack3.alt"), "true");
    let mut session = Session::new(&built.hierarchy, Memory { nodes: 1 << 20, cache: 1 << 14 }).expect("small");
    let mut world = World::default();
    world.nodes.insert("Stack3".into(), built);
    let mut sources = Sources::default();
    for piece in pieces(script) {
        let Piece::Definition(start, end) = piece else { continue };
        let id = sources.add("script", only(script, start, end));
        let definition = world.define(&sources, id).unwrap_or_else(|d| panic!("{}", render(&d, &sources, false)));
        session.define(&definition, &mut || true).expect("small");
    }
    names.iter().map(|n| session.cardinal(&session.defined[*n]).to_string()).collect()
}

#[test]
fn the_session_of_the_thesis() {
    let script = include_str!("../../../../models/altarica/thesis.mec5");
    let names = ["configurations", "PostStarOfInit", "Err", "ReachErr"];
    assert_eq!(cardinals(script, &names), ["27", "15", "2", "0"]);
}

#[test]
fn quantifiers_and_greatest_fixpoints() {
    let script = "T(s : Stack3!c, e : Stack3!ev, t : Stack3!c) := Stack3!t(s, e, t);
        // Everything has a step (ε); some have another.
        Some(s : Stack3!c) := <t> <e> Stack3!t(s, e, t);
        Moves(s : Stack3!c) := <t>(<e>(Stack3!t(s, e, t)) & t != s);
        Loop(s : Stack3!c) := <e> Stack3!t(s, e, s);
        // For ever without an object on top: doing nothing will do.
        Never(s : Stack3!c) -= s.Top.object = no & <t>(Never(t) & <e> Stack3!t(s, e, t));
        All(s : Stack3!c) := [t](t = s | ~(t = s));
        None(s : Stack3!c) := [t](t = s);
        Twice(s, t : Stack3!c) := s = t;
        Two(e, f : Stack3!ev) := e != f & <s, t>(Stack3!t(s, e, t) & Stack3!t(s, f, t));";
    let names = ["T", "Some", "Moves", "Loop", "Never", "All", "None", "Twice", "Two"];
    let found = cardinals(script, &names);
    assert_eq!(found[..8], ["91", "27", "27", "27", "9", "27", "0", "27"].map(String::from), "{found:?}");
}

/// A fixpoint that was stopped in the middle is no relation, and neither is what was known by its name before.
#[test]
fn what_was_stopped_is_forgotten() {
    let (built, _) = read(include_str!("../../../../models/altarica/stack3.alt"), "true");
    let mut session = Session::new(&built.hierarchy, Memory { nodes: 1 << 20, cache: 1 << 14 }).expect("small");
    let mut world = World::default();
    world.nodes.insert("Stack3".into(), built);
    let mut sources = Sources::default();
    let script = "R(s : Stack3!c) += Stack3!init(s) | <x>(R(x) & <e> Stack3!t(x, e, s));";
    for (patience, known) in [(1000, true), (10, false)] {
        let id = sources.add("script", script);
        let definition = world.define(&sources, id).unwrap_or_else(|d| panic!("{}", render(&d, &sources, false)));
        let mut left = patience;
        let mut go_on = || {
            left -= 1;
            left > 0
        };
        assert_eq!(session.define(&definition, &mut go_on).is_ok(), known);
        assert_eq!(session.defined.contains_key("R"), known);
    }
}
