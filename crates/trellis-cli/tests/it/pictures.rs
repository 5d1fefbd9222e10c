//! Pictures of models and runs, and runs in the forms of other tools.

use super::{stderr, stdout, temporary, trellis};

/// Every formalism draws its models, and its runs.
#[test]
fn models_and_runs_are_drawn() {
    let models = [
        ("timed/lamp.xml", "press[id]!</text>"),
        ("scxml/traffic-light.scxml", "walk</text>"),
        ("coverability/mesi.spec", "exclusive</text>"),
        ("altarica/wheels3.alt", "Low.High : Wheel</text>"),
        ("hierarchy/alarm4.hts.json", "breaks</text>"),
        ("cfa/locking.cfa", "ERR</text>"),
        ("xsts/choices.xsts", "<svg"),
    ];
    for (model, part) in models {
        let out = trellis(&["convert", model, "--to", "svg"]);
        assert!(
            out.status.code() == Some(0) && stdout(&out).contains(part),
            "{model}: {}{}",
            stdout(&out),
            stderr(&out)
        );
    }
    let (_gone, picture) = temporary("run.svg");
    assert_eq!(trellis(&["check", "coverability/mesi_bug.spec", "--svg", &picture]).status.code(), Some(10));
    let text = std::fs::read_to_string(&picture).expect("written");
    assert!(text.contains("UNSAFE") && text.contains("exclusive"), "{text}");
}

/// Who has drawn a template finds it as it was, with nails and labels, in their own words.
#[test]
fn templates_stay_where_their_author_has_put_them() {
    let (gone, model) = temporary("gate.xml");
    let text = "<nta><declaration>int n; void twice() { n = 2 * n; }</declaration><template><name>P</name>\
        <location id=\"a\" x=\"100\" y=\"50\"><name x=\"90\" y=\"20\">A</name></location>\
        <location id=\"b\" x=\"300\" y=\"50\"><committed/></location><init ref=\"a\"/>\
        <transition><source ref=\"a\"/><target ref=\"b\"/><label kind=\"assignment\" x=\"180\" y=\"70\">twice()</label>\
        <nail x=\"200\" y=\"150\"/></transition></template><system>system P;</system></nta>";
    std::fs::write(&model, text).expect("written");
    let out = trellis(&["convert", &model, "--to", "svg"]);
    let svg = stdout(&out);
    // Circles 200 apart, and a corner 100 below them in the middle.
    let number = |part: &str, name: &str| -> f64 {
        let rest = part.split(&format!("{name}=\"")).nth(1).expect("there");
        rest.split('"').next().and_then(|n| n.parse().ok()).expect("a number")
    };
    let circles: Vec<&str> = svg.lines().filter(|l| l.starts_with("<circle") && !l.contains("inner")).collect();
    let at: Vec<(f64, f64)> = circles.iter().map(|c| (number(c, "cx"), number(c, "cy"))).collect();
    assert!(at.len() == 2 && (at[1].0 - at[0].0, at[1].1 - at[0].1) == (200.0, 0.0), "{svg}");
    assert!(svg.contains(&format!("L{:.1} {:.1}L", at[0].0 + 100.0, at[0].1 + 100.0)), "{svg}");
    assert!(svg.contains(">twice()</text>") && svg.contains(">C</text>") && svg.contains("inner"), "{svg}");
    drop(gone);
}

/// A statechart's trace on file is events and states; it replays, and nothing in it can be changed unnoticed.
#[test]
fn traces_of_statecharts_are_events_and_states() {
    let (_gone, trace) = temporary("t.json");
    let model = "scxml/traffic-light.scxml";
    let asked = ["-p", "!In('walk')"];
    assert_eq!(trellis(&[&["check", model, "--trace", &trace][..], &asked].concat()).status.code(), Some(10));
    let text = std::fs::read_to_string(&trace).expect("written");
    assert!(text.contains("\"active\"") && text.contains("walk") && !text.contains("select"), "{text}");
    let out = trellis(&[&["certify", model, &trace][..], &asked].concat());
    assert_eq!(out.status.code(), Some(0), "{}{}", stdout(&out), stderr(&out));
    let out = trellis(&["simulate", model, "--trace", &trace]);
    assert!(out.status.code() == Some(0) && stdout(&out).contains("walk"), "{}{}", stdout(&out), stderr(&out));
    std::fs::write(&trace, text.replacen("walk", "red", 1)).expect("written");
    assert_ne!(trellis(&[&["certify", model, &trace][..], &asked].concat()).status.code(), Some(0));
}

/// A tiny reader of UPPAAL's symbolic traces, as its `tracer` does it: states (locations, bounds, variables) and the edges between them.
fn read_xtr(text: &str, processes: usize, variables: usize) -> (usize, Vec<Vec<[i64; 2]>>) {
    let mut lines = text.lines().peekable();
    let numbers = |line: Option<&str>| -> Vec<i64> {
        line.expect("a line").split_whitespace().map(|n| n.parse().expect("a number")).collect()
    };
    let (mut states, mut steps) = (0, vec![]);
    while lines.peek().is_some_and(|l| *l != ".") {
        assert_eq!(numbers(lines.next()).len(), processes);
        assert_eq!(lines.next(), Some("."));
        while lines.peek().is_some_and(|l| *l != ".") {
            assert_eq!(numbers(lines.next()).len(), 3);
            assert_eq!(lines.next(), Some("."));
        }
        assert_eq!(lines.next(), Some("."));
        assert_eq!(numbers(lines.next()).len(), variables);
        assert_eq!(lines.next(), Some("."));
        if states > 0 {
            let line = lines.next().expect("a step").strip_suffix("; .").expect("its end");
            let edge = |e: &str| {
                let n = numbers(Some(e));
                [n[0], n[1]]
            };
            steps.push(line.split(';').map(edge).collect());
        }
        states += 1;
    }
    assert_eq!((lines.next(), lines.next()), (Some("."), None));
    (states, steps)
}

#[test]
fn runs_of_uppaal_models_are_written_as_xtr() {
    let (_gone, trace) = temporary("run.xtr");
    let out = trellis(&["check", "timed/lamp.xml", "-p", "E<> Lamp.Bright", "--trace", &trace]);
    assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
    let text = std::fs::read_to_string(&trace).expect("written");
    let (states, steps) = read_xtr(&text, 4, 1);
    assert_eq!(states, steps.len() + 1);
    // First and Lamp move together, the sender first: by its only edge, and by Lamp's first and second.
    assert_eq!(steps, [vec![[1, 0], [0, 0]], vec![[1, 0], [0, 1]]], "{text}");
    let out = trellis(&["check", "coverability/mesi_bug.spec", "--trace", &trace]);
    assert!(stderr(&out).contains("only runs of UPPAAL models"), "{}", stderr(&out));
}

#[test]
fn numbers_of_evidence_stand_before_its_ending() {
    let (gone, trace) = temporary("t.itf.json");
    let ask = ["-p", "A[] not Lamp.Bright", "-p", "A[] not Lamp.Low"];
    trellis(&[&["check", "timed/lamp.xml", "--trace", &trace][..], &ask].concat());
    let text = std::fs::read_to_string(gone.path().join("t-1.itf.json")).expect("numbered");
    assert!(text.contains("#meta") && gone.path().join("t-2.itf.json").is_file());
}
