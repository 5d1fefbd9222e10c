//! What is not an answer does not look like one: nothing asked, questions that say nothing, questions that make no sense.

use crate::{reports, stderr, stdout, temporary, trellis};

fn file(name: &str, text: &str) -> (tempfile::TempDir, String) {
    let (folder, path) = temporary(name);
    std::fs::write(&path, text).expect("written");
    (folder, path)
}

const NETWORK: &str = "int[0,3] s; process P() { state A, B; init A; trans A -> B { assign s = 2; }; } system P;";
const NODE: &str = "node N state s : [0, 3]; c : {red, green}; d : {green, blue}; event e; init s := 0, c := red, d := green; \
                    trans s < 3 |- e -> s := s + 1; edon";
const CFA: &str = "main process p { var x : int init loc L0 final loc END L0 -> END { x := 1 } }";
const XSTS: &str = "var x : integer = 0 trans { x := 1 - x; } init {} env {}";
const CHART: &str = "<scxml xmlns=\"http://www.w3.org/2005/07/scxml\" version=\"1.0\" initial=\"a\" datamodel=\"ecmascript\">\
                     <state id=\"a\"><transition event=\"e\" target=\"b\"/></state><state id=\"b\"/></scxml>";
const TCHECKER: &str = "system:s\nprocess:P\nlocation:P:l{initial:}\n";

const NET: &str = "<pnml xmlns=\"http://www.pnml.org/version-2009/grammar/pnml\"><net id=\"n\" \
                   type=\"http://www.pnml.org/version-2009/grammar/ptnet\"><page id=\"p\"><place id=\"a\"><initialMarking><text>1</text>\
                   </initialMarking></place><place id=\"b\"/><transition id=\"t\"/><arc id=\"x\" source=\"a\" target=\"t\"/>\
                   <arc id=\"y\" source=\"t\" target=\"b\"/></page></net></pnml>";
const LOLA: &str = "PLACE a, b; MARKING a : 1; TRANSITION t CONSUME a : 1; PRODUCE b : 1;";
const THREADS: &str = "1 2\n0 0 -> 0 1\n";
const TYPED: &str = "<scxml xmlns=\"http://www.w3.org/2005/07/scxml\" xmlns:trellis=\"urn:trellis\" version=\"1.0\" initial=\"a\" \
                     datamodel=\"ecmascript\"><datamodel><data id=\"x\" expr=\"0\" trellis:type=\"0..3\"/></datamodel>\
                     <state id=\"a\"><transition event=\"e\" target=\"b\"/></state><state id=\"b\"/></scxml>";

#[test]
fn nothing_asked_is_no_answer() {
    let models = [
        ("m.xta", NETWORK),
        ("m.alt", NODE),
        ("m.cfa", CFA),
        ("m.xsts", XSTS),
        ("m.scxml", CHART),
        ("m.tck", TCHECKER),
        ("m.pnml", NET),
        ("m.lola", LOLA),
        ("m.tts", THREADS),
    ];
    for (name, text) in models {
        let (_gone, path) = file(name, text);
        let out = trellis(&["check", &path]);
        assert_eq!(out.status.code(), Some(20), "{name}: {}{}", stdout(&out), stderr(&out));
        assert!(stdout(&out).contains("nothing was asked: "), "{name}: {}", stdout(&out));
        assert!(!stdout(&out).contains("SAFE"), "{name}");
        let out = trellis(&["check", &path, "--json"]);
        assert_eq!(out.status.code(), Some(20), "{name}");
        let report = &reports(&out)[0];
        assert_eq!(report["verdict"], "UNKNOWN", "{name}: {report}");
        assert_eq!(report["reason"]["kind"], "nothing-asked", "{name}: {report}");
    }
}

#[test]
fn a_tree_that_asks_nothing() {
    let text = std::fs::read_to_string(crate::root().join("models/hierarchy/client.hts.json"))
        .or_else(|_| first_tree())
        .expect("a model");
    let mut json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    json.as_object_mut().expect("an object").remove("never");
    let (_gone, path) = file("m.hts.json", &json.to_string());
    let out = trellis(&["check", &path]);
    assert_eq!(out.status.code(), Some(20), "{}{}", stdout(&out), stderr(&out));
    assert!(stdout(&out).contains("nothing was asked"), "{}", stdout(&out));
}

fn first_tree() -> std::io::Result<String> {
    let folder = crate::root().join("models/hierarchy");
    let mut all: Vec<_> = std::fs::read_dir(folder)?.filter_map(|e| e.ok().map(|e| e.path())).collect();
    all.sort();
    let found = all.into_iter().find(|p| p.display().to_string().ends_with(".hts.json"));
    std::fs::read_to_string(found.ok_or(std::io::ErrorKind::NotFound)?)
}

/// The warnings on the standard error and in the report; and the exit code.
fn warned(args: &[&str]) -> (String, Vec<String>, Option<i32>) {
    let out = trellis(args);
    let json: Vec<&str> = args.iter().copied().chain(["--json"]).collect();
    let all = reports(&trellis(&json));
    let list = all[0]["warnings"].as_array().expect("a list").iter();
    (stderr(&out), list.map(|w| w.as_str().expect("a text").to_string()).collect(), out.status.code())
}

#[test]
fn a_question_that_says_nothing_is_warned_of() {
    let (_gone1, node) = file("m.alt", NODE);
    let (_gone2, network) = file("m.xta", NETWORK);
    let (_gone3, xsts) = file("m.xsts", XSTS);
    let (_gone4, chart) = file("m.scxml", TYPED);
    let (_gone5, net) = file("m.pnml", NET);
    let (_gone6, c) = file("m.c", "void assert(int); int main() { int x = 0; assert(x == x); return 0; }");
    let cases: [(&[&str], &str); 23] = [
        (&[&c], "cannot fail"),
        (&[&chart, "-p", "x <= 3"], "always true"),
        (&[&chart, "-p", "x < 0 || In('a')"], "`x < 0` is never true"),
        (&[&chart, "-p", "In('a') && In('b')"], "never true"),
        (&[&node, "--error", "s = 4", "--engine", "hierarchy"], "never true"),
        (&[&node, "-p", "s <= 3", "--engine", "hierarchy"], "always true"),
        (&[&network, "-p", "A[] s <= 3", "--engine", "hierarchy"], "always true"),
        (&[&network, "-p", "E<> s == 4", "--engine", "hierarchy"], "never true"),
        (&[&net, "--error", "a >= 0"], "every state covers"),
        (&[&node, "--error", "s = 4"], "never true"),
        (&[&node, "--error", "s < 0 or s = 1"], "`s < 0` is never true"),
        (&[&node, "--error", "s = 1 and s = 2"], "never true"),
        (&[&node, "-p", "s <= 3"], "always true"),
        (&[&node, "--error", "c = d and d = blue"], "never true"),
        (&[&node, "--ctl", "EF s = 4"], "never true"),
        (&[&node, "--ctl", "AG s <= 3"], "always true"),
        (&[&node, "--ltl", "F (s = 1) or G (s != 1)"], "holds on every run"),
        (&[&network, "-p", "E<> s == 4"], "never true"),
        (&[&network, "-p", "A[] s <= 3"], "always true"),
        (&[&network, "-p", "E<> P.A and P.B"], "never true"),
        (&[&network, "--ltl", "G (s <= 3)"], "holds on every run"),
        (&[&network, "--ltl", "F P.B and G !P.B"], "holds on no run"),
        (&[&xsts, "-p", "x == 0 || x != 0"], "always true"),
    ];
    for (args, expected) in cases {
        let args: Vec<&str> = ["check"].iter().chain(args).copied().collect();
        let (said, list, code) = warned(&args);
        assert!(said.contains("warning: ") && said.contains(expected), "{args:?}: {said}");
        assert!(list.iter().any(|w| w.contains(expected)), "{args:?}: {list:?}");
        assert!(matches!(code, Some(0 | 10)), "{args:?}: {code:?}\n{said}");
    }
    for args in [[&node, "--error", "s = 3"], [&network, "-p", "E<> s == 2"], [&node, "--ltl", "F (s = 3)"]] {
        let args: Vec<&str> = ["check"].iter().chain(&args).copied().collect();
        let (said, list, _) = warned(&args);
        assert!(list.is_empty() && !said.contains("whatever the model does"), "{args:?}: {said}");
    }
}

#[test]
fn a_place_that_does_not_exist_is_refused() {
    let (_gone1, node) = file("m.alt", NODE);
    let (_gone2, network) = file("m.xta", NETWORK);
    let (_gone3, chart) = file("m.scxml", CHART);
    let cases: [&[&str]; 4] = [
        &[&network, "-p", "E<> P.Nowhere"],
        &[&network, "--ltl", "F P.Nowhere"],
        &[&node, "--error", "c = purple"],
        &[&chart, "-p", "!In('nowhere')"],
    ];
    for args in cases {
        let args: Vec<&str> = ["check"].iter().chain(args).copied().collect();
        let out = trellis(&args);
        assert_eq!(out.status.code(), Some(2), "{args:?}: {}{}", stdout(&out), stderr(&out));
    }
}

#[test]
fn one_bad_query_leaves_the_others_answered() {
    let (_gone, path) = file("m.xta", NETWORK);
    let queries = "E<> P.B\nA[] s )\nE<> P.C\nA[] s <= 2\nPr[<=5](<> P.B)\n";
    std::fs::write(path.replace(".xta", ".q"), queries).expect("written");
    let out = trellis(&["check", &path, "--json"]);
    assert_eq!(out.status.code(), Some(2), "{}", stderr(&out));
    let found: Vec<(String, String)> = reports(&out)
        .iter()
        .map(|r| (r["query"].as_str().expect("text").into(), r["verdict"].as_str().expect("text").into()))
        .collect();
    let of = |query: &str| found.iter().find(|(q, _)| q == query).map(|(_, v)| v.as_str());
    assert_eq!(of("E<> P.B"), Some("HOLDS"), "{found:?}");
    assert_eq!(of("A[] s <= 2"), Some("SAFE"), "{found:?}");
    assert_eq!(of("E<> P.C"), Some("ERROR"), "{found:?}");
    assert_eq!(found.iter().filter(|(_, v)| v == "ERROR").count(), 2, "{found:?}");
    assert_eq!(found.iter().filter(|(_, v)| v == "UNKNOWN").count(), 1, "{found:?}");
    // On the command line too, and in other languages.
    let out = trellis(&["check", &path, "-p", "E<> P.B", "-p", "E<> (", "--quiet"]);
    assert_eq!(out.status.code(), Some(2), "{}", stderr(&out));
    assert!(stdout(&out).contains("HOLDS") && stdout(&out).contains("ERROR"), "{}", stdout(&out));
    let (_gone, node) = file("m.alt", NODE);
    let out = trellis(&["check", &node, "--error", "s =", "--error", "s = 3"]);
    assert_eq!(out.status.code(), Some(2), "{}", stderr(&out));
    assert!(stdout(&out).contains("UNSAFE") && stdout(&out).contains("ERROR"), "{}", stdout(&out));
    let (_gone1, chart) = file("m.scxml", TYPED);
    let (_gone2, xsts) = file("m.xsts", XSTS);
    let (_gone3, net) = file("m.pnml", NET);
    let (_gone4, lola) = file("m.lola", LOLA);
    let (_gone5, threads) = file("m.tts", THREADS);
    let (_gone6, cfa) = file("m.cfa", CFA);
    for args in [
        [&*chart, "-p", "In(", "-p", "!In('b')"],
        [&chart, "-p", "!In('nowhere')", "-p", "!In('b')"],
        [&chart, "--ltl", "G (", "--ltl", "G !In(b)"],
        [&xsts, "-p", "x <=", "-p", "x == 0"],
        [&xsts, "-p", "y == 0", "-p", "x == 0"],
        [&xsts, "--ltl", "G (", "--ltl", "G x = 0"],
        [&net, "--error", "c >= 1", "--error", "b >= 1"],
        [&lola, "--error", "b >=", "--error", "b >= 1"],
        [&threads, "--error", "x|", "--error", "0|1"],
        [&node, "--ctl", "AG (", "--ctl", "AG s = 0"],
        [&node, "--ltl", "G (", "--ltl", "G s = 0"],
        [&path, "--ltl", "G (", "--ltl", "G P.A"],
        [&cfa, "--ltl", "G (", "--ltl", "G x = 0"],
    ] {
        let args: Vec<&str> = ["check"].iter().chain(&args).copied().collect();
        let out = trellis(&args);
        assert_eq!(out.status.code(), Some(2), "{args:?}: {}{}", stdout(&out), stderr(&out));
        assert!(stdout(&out).contains("UNSAFE") && stdout(&out).contains("ERROR"), "{args:?}: {}", stdout(&out));
    }
    // Where nothing else is asked it is an error, as ever.
    let out = trellis(&["check", &path, "-p", "E<> ("]);
    assert_eq!((out.status.code(), stdout(&out)), (Some(2), String::new()));
}

#[test]
fn branching_time_is_checked_or_unknown() {
    let out = trellis(&["check", "altarica/lift3.alt", "--ctl", "AG EF F[1].door = open"]);
    assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
    assert!(stdout(&out).contains("evaluated again") && !stdout(&out).contains("assuming"), "{}", stdout(&out));
    let out = trellis(&["check", "altarica/lift3.alt", "--ctl", "AG AF F[1].door = open", "--json"]);
    assert_eq!(out.status.code(), Some(10), "{}", stderr(&out));
    let report = &reports(&out)[0];
    assert!(report["checked"].as_str().is_some_and(|c| c.contains("evaluated again")), "{report}");
    // 2^24 configurations, all of them reached: too many to list.
    let bits: Vec<String> = (0..24).map(|n| format!("b{n}")).collect();
    let list = |f: &dyn Fn(&String) -> String, sep: &str| bits.iter().map(f).collect::<Vec<_>>().join(sep);
    let text = format!(
        "node N state {} : bool; event {}; init {}; trans {} edon",
        bits.join(", "),
        list(&|b| format!("e{b}"), ", "),
        list(&|b| format!("{b} := false"), ", "),
        list(&|b| format!("true |- e{b} -> {b} := not {b};"), " ")
    );
    let (_gone, path) = file("m.alt", &text);
    let out = trellis(&["check", &path, "--ctl", "AG EF (b0 and b1)", "--timeout", "120s"]);
    assert_eq!(out.status.code(), Some(20), "{}{}", stdout(&out), stderr(&out));
    assert!(stdout(&out).contains("UNKNOWN") && stdout(&out).contains("could not be checked"), "{}", stdout(&out));
    let out = trellis(&["check", &path, "--ctl", "AG EF (b0 and b1)", "--no-check"]);
    assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
    assert!(stdout(&out).contains("assuming fixpoints on relations"), "{}", stdout(&out));
}

#[test]
fn what_is_assumed_is_said() {
    let model = "clock x; process P() { state A; init A; trans A -> A { guard x >= 1; assign x = 0; }; } system P;";
    let (_gone, path) = file("m.xta", model);
    for args in [["-p", "A<> x > 5"], ["--ltl", "F false"]] {
        let args = ["check", &path, args[0], args[1], "--non-zeno"];
        let out = trellis(&args);
        assert!(
            stdout(&out).contains("no run takes infinitely many steps in finite time"),
            "{args:?}: {}{}",
            stdout(&out),
            stderr(&out)
        );
        let json: Vec<&str> = args.iter().copied().chain(["--json"]).collect();
        let all = reports(&trellis(&json));
        assert!(all[0]["assumes"].to_string().contains("--non-zeno"), "{}", all[0]);
    }
}

/// A chart whose environment is restricted is proven under that assumption; anybody may send what the chart sends itself otherwise.
#[test]
fn what_comes_from_outside_is_assumed() {
    let chart = |attributes: &str| {
        format!(
            "<scxml xmlns=\"http://www.w3.org/2005/07/scxml\" xmlns:trellis=\"urn:trellis\" version=\"1.0\" initial=\"a\" {attributes}>\
             <state id=\"a\"><onentry><send event=\"go\"/></onentry><transition event=\"go\" target=\"b\"/>\
             <transition event=\"open\" target=\"bad\"/></state><state id=\"b\"><onentry><send event=\"open\"/></onentry>\
             <transition event=\"open\" target=\"c\"/></state><state id=\"c\"/><state id=\"bad\"/></scxml>"
        )
    };
    for (attributes, verdict) in
        [("", "UNSAFE"), ("trellis:events=\"\"", "SAFE"), ("trellis:events=\"open\"", "UNSAFE")]
    {
        let (_gone, path) = file("m.scxml", &chart(attributes));
        for args in [["-p", "!In('bad')"], ["--ltl", "G !In(bad)"]] {
            let report = &reports(&trellis(&["check", &path, args[0], args[1], "--json"]))[0];
            assert_eq!(report["verdict"], verdict, "{attributes} {args:?}: {report}");
            let assumes = report["assumes"].to_string().contains("from outside (trellis:events)");
            assert_eq!(assumes, verdict == "SAFE", "{attributes} {args:?}: {report}");
        }
    }
}

/// A queue that is too short keeps a proof away, and not a run in which everything fits.
#[test]
fn a_violation_is_one_beside_an_overflow() {
    let text = "<scxml xmlns=\"http://www.w3.org/2005/07/scxml\" xmlns:trellis=\"urn:trellis\" version=\"1.0\" initial=\"a\" \
                trellis:external=\"2\" trellis:events=\"e f\"><state id=\"a\">\
                <transition event=\"e\"><send event=\"x\"/><send event=\"x\"/><send event=\"x\"/></transition>\
                <transition event=\"x\"/><transition event=\"f\" target=\"b\"/></state>\
                <state id=\"b\"><transition event=\"f\" target=\"c\"/></state>\
                <state id=\"c\"><transition event=\"f\" target=\"d\"/></state><state id=\"d\"/></scxml>";
    let (_gone, path) = file("m.scxml", text);
    let out = trellis(&["check", &path, "-p", "!In('d')"]);
    assert_eq!(out.status.code(), Some(10), "{}{}", stdout(&out), stderr(&out));
    let out = trellis(&["check", &path, "-p", "!In('d') || In('d')"]);
    assert_eq!(out.status.code(), Some(20), "{}{}", stdout(&out), stderr(&out));
    assert!(stdout(&out).contains("trellis:external"), "{}", stdout(&out));
}

/// Relations of Mec 5 are evaluated again, or said not to be.
#[test]
fn relations_are_checked_or_unknown() {
    let bits: Vec<String> = (0..20).map(|n| format!("b{n}")).collect();
    let model = format!("node N state {} : bool; edon node M state x : [0, 3]; edon", bits.join(", "));
    let (_gone1, model) = file("m.alt", &model);
    let text = format!(
        ":ar-load {model}\nS(s : M!c) := s.x > 1;\n:rel-cardinal S\n:ctl E M EF x = 1\n:rel-cardinal E\n\
         R(s : N!c) := s.b0;\n:rel-cardinal R\n:rel-print R 1\n"
    );
    let (_gone2, script) = file("m.mec5", &text);
    let out = trellis(&["mec", &script]);
    let said = stdout(&out);
    assert_eq!(out.status.code(), Some(20), "{said}{}", stderr(&out));
    assert!(said.contains("cardinal of S : 2\n") && said.contains("cardinal of E : 1\n"), "{said}");
    assert!(
        said.contains("cardinal of R : 524288 (UNKNOWN: computed on relations and not evaluated again: "),
        "{said}"
    );
    assert!(said.contains("rows of R (UNKNOWN: "), "{said}");
    assert_eq!(trellis(&["mec", &script, "--no-check"]).status.code(), Some(0));
}
