//! Models with known counts.

use std::path::{Path, PathBuf};

use trellis_engine::cover::Question;
use trellis_engine::cover::cegar::{Options, cegar, control_locations};
use trellis_engine::cover::reach::{Direction, reach};
use trellis_meter::Meter;
use trellis_model::evidence::Verdict;
use trellis_model::hierarchy::explicit::Meaning;

use crate::{read, symbolic};

fn shared() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/models/altarica")
}

/// The condition of a `.spe` file that says what is bad.
fn bad_of(spe: &str) -> String {
    let start = spe.find('[').expect("a condition");
    let end = spe.rfind("];").expect("its end");
    spe[start + 1..end].to_string()
}

fn model(name: &str) -> Option<(String, String)> {
    let read = |ext: &str| std::fs::read_to_string(shared().join("own").join(format!("{name}.{ext}"))).ok();
    let spe = read("spe")?;
    let line = spe.lines().find(|l| l.contains("bad :="))?.to_string();
    Some((read("alt")?, bad_of(&line)))
}

#[test]
fn counts_of_the_thesis() {
    let text = include_str!("../../../../models/altarica/stack3.alt");
    let (built, bad) = read(text, "Top.object != no and (Stack.Top.object = no and Stack.Stack.object = no)");
    let (h, m) = (&built.hierarchy, symbolic(&built));
    let all = m.configurations().unwrap();
    assert_eq!(m.count(&all).to_string(), "27");
    let both: Vec<(usize, usize)> = (0..h.variables.len()).flat_map(|c| [(c, 0), (c, 1)]).collect();
    let count = |e| m.space.count(&m.transitions(e, &all).unwrap(), &both);
    let transitions = m.events.iter().map(count).fold(0_u32.into(), |a: trellis_domain::relation::Natural, b| a + b);
    assert_eq!(transitions.to_string(), "91");
    let bad = m.satisfying(h, bad).unwrap();
    assert_eq!(m.count(&bad).to_string(), "2");
    let question = Question { hierarchy: h, symbolic: &m, initial: m.initial(h).unwrap(), bad };
    let found = reach(&question, Direction::Forward, &mut Meter::unlimited());
    assert!(matches!(found.verdict, Verdict::Safe(_)));
    assert_eq!(found.configurations.unwrap().to_string(), "15");
}

#[test]
fn reachable_configurations_of_shared_models() {
    for (name, expected) in [("peterson2", "20"), ("peterson3", "417"), ("lift6", ""), ("fifo3", ""), ("bakery2", "")] {
        let Some((text, condition)) = model(name) else { return };
        let (built, bad) = read(&text, &condition);
        let (h, m) = (&built.hierarchy, symbolic(&built));
        let question =
            Question { hierarchy: h, symbolic: &m, initial: m.initial(h).unwrap(), bad: m.satisfying(h, bad).unwrap() };
        for direction in [Direction::Forward, Direction::Backward] {
            let found = reach(&question, direction, &mut Meter::unlimited());
            match found.verdict {
                Verdict::Safe(certificate) => {
                    assert!(!name.starts_with("fifo"));
                    trellis_check::hierarchy::certify(&question.initial, &question.bad, &m, &certificate).unwrap();
                    if direction == Direction::Forward && !expected.is_empty() {
                        assert_eq!(found.configurations.unwrap().to_string(), expected, "{name}");
                    }
                }
                Verdict::Unsafe(trace) => {
                    assert!(name.starts_with("fifo"), "{name}");
                    trellis_check::hierarchy::replay(h, Some(&m), bad, &trace).unwrap();
                }
                Verdict::Unknown(why) => panic!("{why}"),
            }
        }
    }
}

#[test]
fn refinements_of_the_thesis() {
    for (name, loops, steps) in [("peterson2", 19, 104), ("peterson3", 416, 4916)] {
        let Some((text, condition)) = model(name) else { return };
        let (built, bad) = read(&text, &condition);
        let (h, m) = (&built.hierarchy, symbolic(&built));
        let question =
            Question { hierarchy: h, symbolic: &m, initial: m.initial(h).unwrap(), bad: m.satisfying(h, bad).unwrap() };
        let locations = control_locations(&question).unwrap();
        for pruning in [false, true] {
            let options = Options { pruning, ..Options::default() };
            let found = cegar(&question, &locations, &options, &mut Meter::unlimited());
            let Verdict::Safe(certificate) = found.verdict else { panic!("{name}: {:?}", found.verdict) };
            trellis_check::hierarchy::certify(&question.initial, &question.bad, &m, &certificate).unwrap();
            assert!(trellis_check::hierarchy::compare(h, &m, bad, &certificate).unwrap() > 100);
            let images: u64 = found.iterations.iter().map(|i| i.analysis).sum();
            eprintln!("{name} pruning {pruning}: {} loops, {images} images", found.iterations.len());
            if pruning {
                assert!(found.iterations.len() <= loops, "{name}");
            } else {
                assert_eq!((found.iterations.len(), images), (loops, steps), "{name}");
            }
        }
    }
}

#[test]
fn the_interpreter_agrees_on_a_lift() {
    let Some((text, _)) = model("lift3") else { return };
    let (built, _) = read(&text, "true");
    let (h, m) = (&built.hierarchy, symbolic(&built));
    let meaning = Meaning::of(h, 3_000_000);
    let question = Question { hierarchy: h, symbolic: &m, initial: m.initial(h).unwrap(), bad: m.space.none() };
    let found = reach(&question, Direction::Forward, &mut Meter::unlimited());
    if let Ok(meaning) = meaning {
        let reachable = meaning.reachable(h.top, &meaning.initial(h, h.top));
        assert_eq!(found.configurations.unwrap().to_string(), reachable.len().to_string());
    }
}

/// More values than saturation takes: then events are chained.
#[test]
fn a_variable_with_many_values() {
    let text = "node N state n : [0, 1500]; flag : bool; init n := 0, flag := false; event up, set;
        trans n < 1400 |- up -> n := n + 2; n > 90 |- set -> flag := true; edon";
    for (condition, reached) in [("n = 1401", false), ("n = 1402", false), ("n = 1400 and flag", true)] {
        let (built, bad) = read(text, condition);
        let (h, m) = (&built.hierarchy, symbolic(&built));
        let bad = m.satisfying(h, bad).unwrap();
        let question = Question { hierarchy: h, symbolic: &m, initial: m.initial(h).unwrap(), bad };
        for direction in [Direction::Forward, Direction::Backward] {
            let found = reach(&question, direction, &mut Meter::unlimited());
            match found.verdict {
                Verdict::Safe(_) => assert!(!reached, "{condition}"),
                Verdict::Unsafe(trace) => assert!(reached && trace.events.len() == 701, "{condition}"),
                Verdict::Unknown(why) => panic!("{why}"),
            }
        }
    }
}
