//! Nets of LoLA, thread transition systems, and invariants from a file.

use std::collections::HashMap;

use trellis_model::counter::interpret::step;
use trellis_model::counter::{Interval, System, Vector};
use trellis_syntax::diag::{Diagnostic, Sources};
use trellis_syntax::{lola, spec, tts};

fn net(text: &str) -> System {
    let mut sources = Sources::default();
    let id = sources.add("net.lola", text);
    lola::parse(&sources, id).expect("a net")
}

fn threads(text: &str) -> (System, tts::Size) {
    let mut sources = Sources::default();
    let id = sources.add("test.tts", text);
    tts::parse(&sources, id).expect("a system")
}

fn target(text: &str, size: tts::Size) -> Result<Vector, Vec<Diagnostic>> {
    let mut sources = Sources::default();
    let id = sources.add("--error", text);
    tts::parse_target(&sources, id, size)
}

#[test]
fn a_net_of_lola() {
    let system = net("{ two
        lines } PLACE SAFE 1: free, p.1; SAFE : busy; others;
        MARKING free: 3, p.1; // the rest is empty
        TRANSITION t.1 STRONG FAIR CONSUME free: 2, p.1; PRODUCE p.1, busy: 1;
        TRANSITION u CONSUME ; PRODUCE busy;
        TRANSITION v CONSUME busy, busy: 2; PRODUCE ;");
    assert_eq!(system.names, ["free", "p.1", "busy", "others"]);
    let fixed: Vec<u64> = system.initial.iter().map(|i| i.low).collect();
    assert!(fixed == [3, 1, 0, 0] && system.initial.iter().all(|i| i.high == Some(i.low)));
    assert_eq!(system.describe(0), "t.1: free >= 2, p.1 >= 1 -> free' = free - 2, busy' = busy + 1");
    assert_eq!(system.describe(1), "u: true -> busy' = busy + 1");
    assert_eq!(system.describe(2), "v: busy >= 3 -> busy' = busy - 3");
    assert_eq!(system.rules[1].line, Some(5));
}

#[test]
fn what_a_transition_asks_for_is_a_target() {
    let system = net(
        "PLACE p, q; MARKING p: 2; TRANSITION t CONSUME p: 2, q: 1; PRODUCE q: 1; TRANSITION u CONSUME ; PRODUCE p: 1;",
    );
    let mut sources = Sources::default();
    let mut ask = |text: &str| {
        let id = sources.add("--error", text);
        spec::parse_targets(&sources, id, &system).map(|t| t.0).map_err(|d| d[0].message.clone())
    };
    assert_eq!(ask("fireable t").unwrap(), ask("p >= 2, q >= 1").unwrap());
    assert_eq!(ask("fireable t, p >= 3").unwrap(), ask("p >= 3, q >= 1").unwrap());
    assert_eq!(ask("fireable v").unwrap_err(), "there is no rule and no transition `v`");
}

#[test]
fn a_dot_in_a_name_of_lola_is_no_underscore() {
    let system = net("PLACE a.b, a_b; MARKING a.b; TRANSITION t CONSUME a.b; PRODUCE a.b, a_b;");
    assert_eq!(system.names, ["a.b", "a_b"]);
    let ask = |text: &str| {
        let mut sources = Sources::default();
        let id = sources.add("--error", text);
        spec::parse_targets(&sources, id, &system).map(|t| t.0)
    };
    assert_eq!(ask("a.b >= 2").unwrap(), [Vector::new(vec![(0, 2)])]);
    assert_eq!(ask("\"a.b\" >= 2, a_b >= 1").unwrap(), [Vector::new(vec![(0, 2), (1, 1)])]);
}

#[test]
fn threads_that_step_spawn_and_listen() {
    let (system, size) = threads(
        "# shared, local\n2 4\n0 1 -> 1 2\n\n0 1 -> 0 1\n0 1 -> 1 2 3 ~> 0 0 ~> 0  # others\n0 1 +> 0 2\n1 1 ~> 1 2\n",
    );
    assert_eq!(system.names, ["s0", "s1", "l0", "l1", "l2", "l3"]);
    assert_eq!(system.initial[0], Interval::exactly(1));
    assert_eq!(system.initial[2], Interval::ANY);
    // What changes nothing is left out.
    assert_eq!(system.rules.len(), 4);
    assert_eq!(system.meaning(0), "s0 >= 1, l1 >= 1 -> s0' = s0 - 1, s1' = s1 + 1, l1' = l1 - 1, l2' = l2 + 1");
    assert_eq!(
        system.meaning(1),
        "s0 >= 1, l1 >= 1 -> s0' = s0 - 1, s1' = s1 + 1, l0' = l0 + l3, l1' = l1 - 1, l2' = l2 + 1, l3' = 0"
    );
    assert_eq!(system.meaning(2), "s0 >= 1, l1 >= 1 -> l2' = l2 + 1");
    assert_eq!(system.meaning(3), "s1 >= 1 -> l1' = 0, l2' = l1 + l2");
    assert_eq!(system.rules[1].line, Some(6));
    assert_eq!(system.rules[1].name.as_deref(), Some("0 1 -> 1 2 3 ~> 0 0 ~> 0"));
    assert_eq!(system.changes(&system.claimed[0]), None);
    assert_eq!(target("1|2,0,2", size).unwrap(), Vector::new(vec![(1, 1), (4, 2), (2, 1)]));
    assert_eq!(target(" 1 | \n", size).unwrap(), Vector::new(vec![(1, 1)]));
    for (text, said) in [
        ("", "expected a shared state and local states"),
        ("2|0", "expected a shared state, a number below 2, found `2`"),
        ("1|0,", "expected a local state, found the end of the line"),
        ("1,0", "expected `|`, found `,`"),
        ("1|0 0", "expected the end of the line, found `0`"),
    ] {
        assert!(target(text, size).unwrap_err()[0].message.starts_with(said), "{text}");
    }
    let mut sources = Sources::default();
    let id = sources.add("--start", "1|0,0,3/2,3");
    let mut system = system;
    tts::parse_start(&sources, id, size, &mut system).unwrap();
    let any = Interval::at_least;
    assert_eq!(system.initial[..3], [Interval::exactly(0), Interval::exactly(1), Interval::exactly(2)]);
    assert_eq!(system.initial[3..], [Interval::exactly(0), any(0), any(1)]);
}

/// One thread after the other, as the language says it.
#[test]
fn threads_mean_what_they_say_thread_by_thread() {
    let mut seed = 7_u64;
    let mut roll = |n: u32| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) as u32 % n
    };
    for _ in 0..2000 {
        let (s1, l1, s2, l2) = (roll(2), roll(4), roll(2), roll(4));
        let arrow = ["->", "+>", "~>"][roll(3) as usize];
        let mut text = format!("2 4\n{s1} {l1} {arrow} {s2} {l2}");
        let mut moves = HashMap::new();
        while arrow == "->" && roll(2) == 0 {
            let (from, to) = (roll(4), roll(4));
            if moves.insert(from, to).is_none() {
                text += &format!(" {from} ~> {to}");
            } else {
                break;
            }
        }
        // Only the first way out of a state was written.
        let moves: HashMap<u32, u32> = {
            let words: Vec<&str> = text.split_whitespace().collect();
            words[7..].chunks(3).map(|c| (c[0].parse().unwrap(), c[2].parse().unwrap())).collect()
        };
        let (system, _) = threads(&text);
        let locals: Vec<u32> = (0..roll(5)).map(|_| roll(4)).collect();
        let shared = roll(2);
        let counted = |shared: u32, locals: &[u32]| {
            let mut state = vec![0; 6];
            state[shared as usize] += 1;
            locals.iter().for_each(|l| state[2 + *l as usize] += 1);
            state
        };
        let active = locals.iter().position(|l| *l == l1);
        let expected = match (shared == s1, arrow, active) {
            (true, "->", Some(a)) => {
                let went = |(i, l): (usize, &u32)| if i == a { l2 } else { *moves.get(l).unwrap_or(l) };
                Some(counted(s2, &locals.iter().enumerate().map(went).collect::<Vec<_>>()))
            }
            (true, "+>", Some(_)) => Some(counted(s2, &[&locals[..], &[l2]].concat())),
            (true, "~>", _) => {
                Some(counted(s2, &locals.iter().map(|l| if *l == l1 { l2 } else { *l }).collect::<Vec<_>>()))
            }
            _ => None,
        };
        let before = counted(shared, &locals);
        match system.rules[..] {
            [] => assert!(expected.is_none_or(|e| e == before), "{text}"),
            _ => assert_eq!(step(&system, 0, &before).unwrap(), expected, "{text} from {before:?}"),
        }
    }
}

#[test]
fn invariants_are_checked_before_they_are_believed() {
    let system = net(
        "PLACE a, b, c; MARKING a; TRANSITION t CONSUME a; PRODUCE b: 2;\nTRANSITION u CONSUME b: 2; PRODUCE a, c;",
    );
    let read = |text: &str| {
        let mut sources = Sources::default();
        let id = sources.add("invariants", text);
        spec::parse_invariants(&sources, id, &system).map_err(|d| d.into_iter().map(|d| d.message).collect::<Vec<_>>())
    };
    assert_eq!(read("a = 2, b = 1"), Ok(vec![vec![(0, 2), (1, 1)]]));
    assert_eq!(read("invariants a = 2, b = 1, c = 0\na = 4, b = 2").map(|all| all.len()), Ok(2));
    assert_eq!(read("a = 1, b = 1"), Err(vec!["this is no invariant: the rule in line 1 changes the sum".into()]));
    assert_eq!(
        read("a = 2, b = 1 a = 2, b = 1, c = 1"),
        Err(vec!["this is no invariant: the rule in line 2 changes the sum".into()])
    );
    assert_eq!(read(""), Err(vec!["expected a variable, found the end of the file".into()]));
    assert_eq!(read("d = 1"), Err(vec!["there is no variable `d`".into()]));
}
