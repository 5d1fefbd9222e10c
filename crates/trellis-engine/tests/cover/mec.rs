//! Mec 5's relations: the session of the thesis, and quantifiers against sets that are computed otherwise.

use trellis_domain::relation::Memory;
use trellis_engine::mec::Session;
use trellis_model::hierarchy::Hierarchy;
use trellis_syntax::altarica::parse;
use trellis_syntax::diag::{Sources, render};
use trellis_syntax::mec::{Piece, World, only, pieces};

use crate::read;

/// Defines all relations of a script over the stack; the cardinals of those that are asked for.
fn cardinals(script: &str, names: &[&str]) -> Vec<String> {
    let (built, _) = read(include_str!("../../../../models/altarica/stack3.alt"), "true");
    let mut session = Session::new(Memory { nodes: 1 << 20, cache: 1 << 14 }).expect("small");
    session.add("Stack3", &built.hierarchy).expect("small");
    let mut world = World::default();
    world.know("Stack3", built).expect("the only one");
    let mut sources = Sources::default();
    for piece in pieces(script) {
        let Piece::Definition(start, end) = piece else { continue };
        let id = sources.add("script", only(script, start, end));
        let definition = world.define(&sources, id).unwrap_or_else(|d| panic!("{}", render(&d, &sources, false)));
        session.define(&definition, &mut || true).expect("small");
    }
    names.iter().map(|n| session.cardinal(&session.defined[*n]).expect("small").to_string()).collect()
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
    let mut session = Session::new(Memory { nodes: 1 << 20, cache: 1 << 14 }).expect("small");
    session.add("Stack3", &built.hierarchy).expect("small");
    let mut world = World::default();
    world.know("Stack3", built).expect("the only one");
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

const COUNTER: &str = "domain Colour = {red, green};
    const top = 3;
    node Counter state n : [0, top]; lamp : Colour; init n := 0, lamp := red; event up, reset;
      trans n < top |- up -> n := n + 1, lamp := green; n = top |- reset -> n := 0, lamp := red; edon";
const HALF: &str = "domain Colour = {green, blue};
    node Half state odd : bool; init odd := false; event up, reset;
      trans true |- up -> odd := not odd; odd |- reset -> odd := false; edon";

/// A node more, of a file of its own.
pub fn load(session: &mut Session, world: &mut World, sources: &mut Sources, name: &str, text: &str) -> Hierarchy {
    let id = sources.add(name, text);
    let (file, _) = parse(sources, id).unwrap_or_else(|d| panic!("{}", render(&d, sources, false)));
    world.load(&file);
    let built = file.build_beside(file.nodes()[0], world.literals());
    let (built, _) = built.unwrap_or_else(|d| panic!("{}", render(&d, sources, false)));
    let hierarchy = built.hierarchy.clone();
    session.add(name, &hierarchy).expect("small");
    world.know(name, built).expect("the same literals");
    hierarchy
}

/// The cardinals of relations over two nodes of different files.
fn two(script: &str, names: &[&str]) -> Vec<String> {
    let mut session = Session::new(Memory { nodes: 1 << 20, cache: 1 << 14 }).expect("small");
    let (mut world, mut sources) = (World::default(), Sources::default());
    for (name, text) in [("Counter", COUNTER), ("Half", HALF)] {
        load(&mut session, &mut world, &mut sources, name, text);
    }
    for piece in pieces(script) {
        let (start, end) = piece.place();
        let id = sources.add("script", only(script, start, end));
        let system = world.define(&sources, id).unwrap_or_else(|d| panic!("{}", render(&d, &sources, false)));
        session.define(&system, &mut || true).expect("small");
    }
    names.iter().map(|n| session.cardinal(&session.defined[*n]).expect("there").to_string()).collect()
}

#[test]
fn plain_values() {
    let script = "Less(n : [0, 3], m : [0, 3]) := n + 1 <= m;
        Even(n : [0, 7]) += n = 0 | <m : [0, 7]>(Even(m) & n = m + 2);
        At(s : Counter!c, n : [0, 3]) := s.n = n;
        Reached(n : [0, 7]) := <s : Counter!c>(Counter!c(s) & s.n = n);
        Evens(s : Counter!c) := Even(s.n);                 // An expression of another domain.
        Four(x : bool) := x & Even(4);
        Seldom(n : [0, 3]) := Even(n + 6);                 // 6 is there, 8 and 9 are not.
        Lamp(c : Colour, s : Counter!c) := s.lamp = c;     // The colours of the counter's file;
        Free(c : Colour) := c = green | c = blue;          // of the file that was read last.
        Some(c : {red, violet}) := c != violet;
        Both(b, c : bool) := b = c;
        Guessed(b) := b = true;
        Other(s : Counter!c) := <c>(c = s.lamp & c = red);
        Top(n : [0, 7]) := n = top;";
    let names = [
        "Less", "Even", "At", "Reached", "Evens", "Four", "Seldom", "Lamp", "Free", "Some", "Both", "Guessed", "Other",
        "Top",
    ];
    let expected = ["6", "4", "8", "4", "4", "1", "1", "8", "2", "1", "2", "1", "4", "1"];
    assert_eq!(two(script, &names), expected);
}

/// The classical use: a greatest fixpoint between two nodes. A counter to three and its last bit do the same until the reset.
#[test]
fn two_nodes() {
    let script = "Up(x : Counter!c, y : Half!c) -=
          [e, x2](Counter!t(x, e, x2) => <f, y2>(Half!t(y, f, y2) & e = f & Up(x2, y2)));
        Same(x : Counter!c, y : Half!c) -= Up(x, y) &
          [f, y2](Half!t(y, f, y2) => <e, x2>(Counter!t(x, e, x2) & e = f & Same(x2, y2)));
        Both(x : Counter!c, y : Half!c) += Counter!init(x) & Half!init(y) |
          <x2, y2>(Both(x2, y2) & <e, f>(Counter!t(x2, e, x) & Half!t(y2, f, y) & e = f));";
    // Where the counter is odd, so is the other; never the reverse, for it may go on counting. Colours do not matter.
    assert_eq!(two(script, &["Up", "Same", "Both"]), ["8", "0", "4"]);
}

/// Infinitely often at the top, with steps other than doing nothing; and what systems of one kind mean.
#[test]
fn systems_of_equations() {
    let script = "Step(x, y : Counter!c) := x != y & <e> Counter!t(x, e, y);
        begin
          Often(x : Counter!c) -= Soon(x);
          Soon(x : Counter!c) += <y>(Step(x, y) & (y.n = top & Often(y) | Soon(y)));
        end;
        // The other way round: at last for ever at the top.
        begin Last(x : Counter!c) += Ever(x); Ever(x : Counter!c) -= <y>(Step(x, y) & (y.n = top & Ever(y) | Last(y))); end
        begin
          Even(n : [0, 9]) += n = 0 | <m : [0, 9]>(Odd(m) & n = m + 1);
          Odd(n : [0, 9]) += <m : [0, 9]>(Even(m) & n = m + 1);
        end";
    assert_eq!(two(script, &["Often", "Soon", "Last", "Ever", "Even", "Odd"]), ["8", "8", "0", "0", "5", "5"]);
}
