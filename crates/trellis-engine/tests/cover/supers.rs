//! Super transitions (001 §6.2.1): other relations, the same steps between configurations; and why not with priorities.

use trellis_engine::cover::Question;
use trellis_engine::cover::cegar::{Options, cegar};
use trellis_meter::Meter;
use trellis_model::evidence::{Reason, Verdict};

use crate::{read, symbolic};

const COUNTER: &str = "node Counter
  state x : [0, 5];
  event up, jump;
  init x := 0;
  trans x < 5 |- up -> x := x + 1;
        x < 4 |- jump -> x := x + 2;
  assert x != 3;
edon";

#[test]
fn what_the_assertion_forbids_is_only_cut_away_later() {
    let (built, bad) = read(COUNTER, "x = 5");
    let (h, m) = (&built.hierarchy, symbolic(&built));
    let all = m.configurations().unwrap();
    let supers = m.super_events(h).unwrap();
    let image = |events: &[trellis_model::hierarchy::symbolic::Event]| {
        events.iter().fold(m.space.none(), |sum, e| m.space.or(&sum, &m.post_from(e, &all).unwrap()).unwrap())
    };
    // 3 is reached from 1 and 2, and is no configuration.
    assert_eq!(m.count_states(&image(&m.events)).to_string(), "5");
    assert_eq!(m.count_states(&image(&supers)).to_string(), "6");
    assert!(m.space.and(&image(&supers), m.admissible()).unwrap() == image(&m.events));
    let initial = m.initial(h).unwrap();
    let question = Question { hierarchy: h, symbolic: &m, initial, bad: m.satisfying(h, bad).unwrap() };
    let run = |super_transitions: bool| {
        cegar(&question, &[], &Options { super_transitions, ..Options::default() }, &mut Meter::unlimited())
    };
    let (without, with) = (run(false), run(true));
    assert!(matches!((&without.verdict, &with.verdict), (Verdict::Unsafe(_), Verdict::Unsafe(_))));
    assert_eq!(without.iterations, with.iterations);
}

/// `jump` goes first, but from 1 it leads to no configuration, so `up` may happen. Without the assertion, `jump` would be possible there, `up`
/// would not, and the steps that are left would end at 1.
#[test]
fn not_with_priorities() {
    let text = COUNTER.replace("up, jump", "up < jump").replace("x < 4", "x = 1");
    let (built, bad) = read(&text, "x = 2");
    let (h, m) = (&built.hierarchy, symbolic(&built));
    let initial = m.initial(h).unwrap();
    let question = Question { hierarchy: h, symbolic: &m, initial, bad: m.satisfying(h, bad).unwrap() };
    let found = cegar(&question, &[], &Options::default(), &mut Meter::unlimited());
    assert!(matches!(found.verdict, Verdict::Unsafe(_)));
    let supers = Options { super_transitions: true, ..Options::default() };
    let found = cegar(&question, &[], &supers, &mut Meter::unlimited());
    assert!(matches!(found.verdict, Verdict::Unknown(Reason::Unsupported(_))));
}
