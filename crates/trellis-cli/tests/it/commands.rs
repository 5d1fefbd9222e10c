//! The commands themselves: what they print, what they exit with, what they refuse.

use crate::{reports, root, stderr, stdout, temporary, trellis};

#[test]
fn exit_codes_tell_the_verdict() {
    let code = |args: &[&str]| trellis(args).status.code();
    assert_eq!(code(&["check", "lattice/leader.xml"]), Some(0));
    assert_eq!(code(&["check", "data/philosophers.xta"]), Some(10));
    assert_eq!(code(&["check", "lattice/database-full.xml", "--join", "all"]), Some(20));
    assert_eq!(
        code(&["check", "lattice/leader.xml", "--const", "N=9", "--update", "simple", "--states", "100"]),
        Some(20)
    );
    assert_eq!(code(&["check", "nowhere.xml"]), Some(2));
    assert_eq!(code(&["check", "lattice/leader.xml", "--frobnicate"]), Some(2));
    // The lamp can be bright, and no clock is ever negative.
    assert_eq!(code(&["check", "timed/lamp.xml"]), Some(0));
    assert_eq!(code(&["check", "timed/lamp.xml", "-p", "A[] not Lamp.Bright"]), Some(10));
    assert_eq!(code(&["check", "timed/lamp.xml", "--states", "1", "-p", "A[] presses <= 100"]), Some(20));
    assert_eq!(code(&["check", "timed/lamp.xml", "--update", "join"]), Some(2));
}

#[test]
fn limits_give_unknown_with_the_reason() {
    let reason = |limit: &[&str]| {
        let mut args = vec!["check", "lattice/leader.xml", "--const", "N=9", "--update", "simple", "--json"];
        args.extend(limit);
        let found = reports(&trellis(&args));
        assert_eq!(found[0]["verdict"], "UNKNOWN");
        found[0]["reason"]["kind"].as_str().expect("a reason").to_string()
    };
    assert_eq!(reason(&["--states", "1000"]), "iterations");
    assert_eq!(reason(&["--timeout", "50ms"]), "time");
    assert_eq!(reason(&["--memory", "1MiB"]), "memory");
}

/// A file that nothing could be written to is named, and `-` is the standard output.
#[test]
fn files_that_are_asked_for_are_written_or_named() {
    let (gone, trace) = temporary("run.json");
    let out = trellis(&["check", "lattice/leader.xml", "-q", "--trace", &trace, "--msc", "-"]);
    let said = stderr(&out);
    assert!(out.status.success() && !gone.path().join("run.json").exists());
    assert!(said.contains("note: --trace") && said.contains("run.json: not written, no answer has a run"), "{said}");
    assert!(said.contains("note: --msc -: not written"), "{said}");
    let out = trellis(&["check", "data/philosophers.xta", "-q", "--trace", "-", "--dot", "-", "--svg", "-"]);
    let said = stdout(&out);
    assert!(said.contains("trellis-trace/2") && said.contains("digraph") && said.contains("<svg"), "{said}");
    assert!(!stderr(&out).contains("not written"), "{}", stderr(&out));
}

/// Whoever sets a constant where there are none is told where there are some, whatever is to be done with the model.
#[test]
fn constants_are_set_where_there_are_some() {
    for model in ["coverability/mesi.spec", "c/lock.c", "hierarchy/alarm4.hts.json", "scxml/traffic-light.scxml"] {
        for command in
            [&["check", model][..], &["convert", model, "--to", "svg"], &["simulate", model, "--random", "1"]]
        {
            let out = trellis(&[command, &["--const", "N=3"]].concat());
            let said = stderr(&out);
            assert_eq!(out.status.code(), Some(2), "{command:?}: {said}");
            assert!(said.contains("--const: no constants can be set in") && said.contains("AltaRica"), "{said}");
        }
    }
}

#[test]
fn an_inconclusive_join_shows_the_path_and_the_join() {
    let out = trellis(&["check", "lattice/database-full.xml", "--join", "all", "--const", "N_USERS=3"]);
    let said = stdout(&out);
    assert!(said.starts_with("UNKNOWN"), "{said}");
    assert!(said.contains('⊔') && said.contains("pivot"), "{said}");
}

#[test]
fn the_audit_flags_the_antitone_guard() {
    let out = trellis(&["check", "lattice/database-full.xml", "--audit", "-q"]);
    let said = stdout(&out);
    assert!(said.contains("NOT monotone") && said.contains("Idle -> Login"), "{said}");
    assert!(said.contains("audit: not proved monotone: the guard at ") && said.contains("`aLogin.num0s`"), "{said}");
    for model in ["lattice/leader.xml", "lattice/database-work.xml", "lattice/lossy.xta"] {
        let said = stdout(&trellis(&["check", model, "--audit", "-q"]));
        assert!(said.contains("audit: proved monotone") && said.contains("audit: monotone, as far"), "{model}: {said}");
    }
}

#[test]
fn a_model_error_comes_with_its_trace() {
    let (_gone, path) = temporary("m.xta");
    let model = "int[0, 3] x; int a[2]; process P() { state A, B; init A; trans A -> A { assign x++; }, \
                 A -> B { guard x == 2; assign a[x - 1] = 7 / (x - 2); }; } system P;";
    std::fs::write(&path, model).expect("writable");
    let out = trellis(&["check", &path, "-p", "A[] not P.B"]);
    assert_eq!(out.status.code(), Some(2));
    let said = stdout(&out);
    assert!(said.starts_with("ERROR") && said.contains("m.xta:1:"), "{said}{}", stderr(&out));
    assert!(said.contains("x = 2"), "{said}");
}

#[test]
fn covering_is_refused_where_it_would_be_wrong() {
    for update in ["cover", "join"] {
        let out = trellis(&["check", "lattice/leader.xml", "-p", "A[] not deadlock", "--update", update]);
        assert_eq!(out.status.code(), Some(2), "{}", stdout(&out));
        assert!(stderr(&out).contains("--update simple"), "{}", stderr(&out));
    }
}

#[test]
fn a_lattice_that_breaks_the_laws_is_refused_with_the_elements() {
    let (gone, path) = temporary("m.xta");
    let lua = "lattice = { state = { \"n\" }, initial = { n = 0 }, leq = function(a, b) return a.n <= b.n end,\n\
               join = function(a, b) return { n = math.min(a.n, b.n) } end,\n\
               updates = { add = function(a, v) a.n = a.n + v end } }";
    std::fs::write(gone.path().join("Broken.lua"), lua).expect("writable");
    let model =
        "extern Broken; Broken b; process P() { state A; init A; trans A -> A { assign b.add(1); }; } system P;";
    std::fs::write(&path, model).expect("writable");
    let out = trellis(&["check", &path, "-p", "A[] true"]);
    assert_eq!(out.status.code(), Some(2));
    let said = stderr(&out);
    assert!(said.contains("upper bound") && said.contains("m.xta:1:1"), "{said}");
}

#[test]
fn scripted_lattices_work_like_those_of_the_library() {
    let (gone, path) = temporary("m.xta");
    let script = root().join("models/lattice/CountSet.lua");
    std::fs::copy(script, gone.path().join("CountSet.lua")).expect("copied");
    let model = "extern CountSet; CountSet pool[3]; process P() { state A, B; init A; trans \
                 A -> A { select i : int[0, 2]; assign pool.add(i); }, \
                 A -> B { guard pool[1] == 1 && pool.count() >= 2; }; } system P;";
    std::fs::write(&path, model).expect("writable");
    for update in ["simple", "cover", "join"] {
        let found = reports(&trellis(&["check", &path, "--json", "--update", update, "-p", "A[] not P.B"]));
        assert_eq!(found[0]["verdict"], "UNSAFE", "{update}");
        assert_eq!(found[0]["trace"]["steps"].as_array().map(Vec::len), Some(3), "{update}");
    }
}

#[test]
fn help_teaches() {
    for topic in [
        "check",
        "certify",
        "simulate",
        "uppaal",
        "timed",
        "tchecker",
        "programs",
        "lattices",
        "join",
        "evidence",
        "exit-codes",
        // Extensions, and formalisms whose words stand with another's.
        "xml",
        "pnml",
        "lcs",
        "hts",
    ] {
        let out = trellis(&["help", topic]);
        assert_eq!(out.status.code(), Some(0), "{topic}");
        assert!(stdout(&out).lines().count() > 5, "{topic}");
    }
    let lattices = stdout(&trellis(&["help", "lattices"]));
    for name in ["UnionBitVector", "Hasse", "LruMust", "PresentAbsent", "Lexicographic", "num0s"] {
        assert!(lattices.contains(name), "{name}");
    }
    assert_eq!(trellis(&["help", "nonsense"]).status.code(), Some(2));
}

#[test]
fn runs_of_a_kind_are_shown() {
    let folder = std::env::temp_dir().join(format!("trellis-kinds-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("kinds.xta").to_string_lossy().into_owned();
    let text = "clock x; process P() { state A, B, C, D; init A; trans
        A -> D { guard x >= 10; }, A -> B { }, B -> C { guard x >= 2; }, C -> D { guard x >= 3; }; } system P;";
    std::fs::write(&file, text).expect("a file");
    let steps = |kind: &str| {
        let out = trellis(&["check", &file, "-p", "E<> P.D", "--json", "--trace-kind", kind]);
        reports(&out)[0]["trace"]["steps"].as_array().map(Vec::len)
    };
    assert_eq!((steps("shortest"), steps("fastest")), (Some(1), Some(3)));
    let out = trellis(&["check", &file, "-p", "E<> P.D", "--trace-kind", "shortest", "--engine", "lazy"]);
    assert_eq!(out.status.code(), Some(2));
    // No run is the fastest.
    std::fs::write(&file, text.replace("x >= 3", "x > 3")).expect("a file");
    let out = trellis(&["check", &file, "-p", "E<> P.D", "--trace-kind", "fastest"]);
    assert!(String::from_utf8_lossy(&out.stderr).contains("each takes more than 3"), "{out:?}");
    _ = std::fs::remove_dir_all(&folder);
}

#[test]
fn reports_say_what_was_done_with_zones() {
    let engine = |args: &[&str]| {
        let mut all = vec!["check", "timed/fischer-2-32-64.xta", "--json"];
        all.extend(args);
        reports(&trellis(&all))[0]["engine"].as_str().expect("an engine").to_string()
    };
    assert!(engine(&["--engine", "reach", "--cover", "alu"]).contains("a⊑LU"));
    assert!(engine(&["--extrapolation", "m"]).contains("Extra-M, inclusion"));
    assert!(engine(&["--cover", "inclusion"]).contains("Extra-LU+, inclusion"));
    // Simulation would overlook deadlocks.
    assert!(engine(&["--cover", "alu", "-p", "A[] not deadlock"]).contains("a⊑M"));
    let both = ["check", "timed/fischer-2-32-64.xta", "--cover", "alu", "--extrapolation", "m"];
    assert_eq!(trellis(&both).status.code(), Some(2));
}

/// The commands in a text: lines that start with `trellis`, up to two spaces or more.
fn commands(text: &str) -> Vec<Vec<String>> {
    let lines = text
        .lines()
        .map(str::trim_start)
        .filter(|l| l.starts_with("trellis check models/") || l.starts_with("trellis ltl2hoa "));
    lines.map(|l| words(l.split("   ").next().unwrap_or(l))).collect()
}

/// Words as a shell splits them, as far as our examples need it.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (i, part) in line.split('\'').enumerate() {
        match i % 2 {
            0 => words.extend(part.split_whitespace().map(str::to_string)),
            _ => words.push(part.to_string()),
        }
    }
    words
}

#[test]
fn the_examples_in_the_topics_run() {
    for topic in ["timed", "tchecker", "programs", "ltl"] {
        let text = stdout(&trellis(&["help", topic]));
        let all = commands(&text);
        assert!(all.len() > 2, "{topic}: {text}");
        for command in all {
            let args: Vec<&str> =
                command[1..].iter().map(|a| a.strip_prefix("models/").unwrap_or(a.as_str())).collect();
            let out = trellis(&args);
            assert!(matches!(out.status.code(), Some(0 | 10)), "{command:?}: {}", stderr(&out));
        }
    }
}

#[test]
fn completions_and_manual_pages_are_made() {
    for shell in ["bash", "zsh", "fish"] {
        assert!(stdout(&trellis(&["completions", shell])).contains("trellis"), "{shell}");
    }
    assert!(stdout(&trellis(&["man"])).contains(".TH"));
    let (gone, _) = temporary("x");
    assert!(trellis(&["man", &gone.path().display().to_string()]).status.success());
    assert!(gone.path().join("trellis-check.1").is_file());
}

#[test]
fn schemas_are_printed() {
    for name in ["report", "trace", "certificate", "hierarchy", "page"] {
        let text = stdout(&trellis(&["schema", name]));
        let schema: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        assert!(schema["$schema"].as_str().is_some_and(|s| s.contains("2020-12")), "{name}");
    }
    assert!(stderr(&trellis(&["schema", "program-trace"])).contains("trace, certificate, report, hierarchy, page"));
}

#[test]
fn models_are_drawn() {
    let dot = stdout(&trellis(&["convert", "lattice/leader.xml", "--to", "dot"]));
    assert!(dot.starts_with("digraph") && dot.contains("Leader"), "{dot}");
}

#[test]
fn simulation_takes_steps() {
    let out = trellis(&["simulate", "data/peterson.xta", "--random", "6", "--seed", "3"]);
    assert!(out.status.success());
    assert!(stdout(&out).lines().any(|l| l.trim_start().starts_with('6')), "{}", stdout(&out));
    let (_gone, path) = temporary("t.json");
    trellis(&["check", "data/philosophers.xta", "-p", "A[] not deadlock", "--trace", &path]);
    let out = trellis(&["simulate", "data/philosophers.xta", "--trace", &path]);
    assert!(stdout(&out).contains("replayed: 4 steps"), "{}{}", stdout(&out), stderr(&out));
}

#[test]
fn reports_become_pages_and_graphs() {
    let (_gone, html) = temporary("r.html");
    let dot = html.replace("r.html", "t.dot");
    trellis(&["check", "data/philosophers.xta", "-q", "-p", "A[] not deadlock", "--html", &html, "--dot", &dot]);
    assert!(std::fs::read_to_string(&html).expect("a page").contains("UNSAFE"));
    assert!(std::fs::read_to_string(&dot).expect("a graph").starts_with("digraph"));
}

#[test]
fn priority_order_needs_its_expression() {
    assert_eq!(trellis(&["check", "lattice/lossy.xta", "--order", "priority"]).status.code(), Some(2));
    let args = ["check", "lattice/lossy.xta", "--order", "priority", "--priority", "Receiver.expected", "--json"];
    assert_eq!(reports(&trellis(&args))[0]["verdict"], "SAFE");
}

#[test]
fn the_readme_has_its_two_commands() {
    let readme = std::fs::read_to_string(root().join("README.md")).expect("README.md");
    let block = readme.split("## Two commands").nth(1).expect("the section");
    let block = block.split("```").nth(1).expect("a block");
    assert_eq!(block.lines().filter(|l| l.starts_with("cargo ")).count(), 2, "{block}");
}

#[test]
fn the_readme_shows_verdicts_as_they_are_printed() {
    let readme = std::fs::read_to_string(root().join("README.md")).expect("README.md");
    let question = "A[] UseCase == 0 and SysTimer < 151 imply not GearControl.GearChanged";
    for args in [&["check", "timed/engine-classic.xta", "-p", question][..], &["check", "coverability/mesi_bug.spec"]] {
        let printed = stdout(&trellis(args));
        let first = printed.lines().next().expect("a line");
        let (start, end) = (first.split(" (").next().expect("a verdict"), first.rsplit("; ").next().expect("a check"));
        let shown = readme.lines().find(|l| l.trim_start().starts_with(start)).expect("the verdict in README.md");
        assert!(shown.ends_with(end), "in README.md: {shown}\nprinted: {first}");
    }
}

#[test]
fn questions_of_other_kinds_stay_unanswered_beside_ours() {
    let (_dir, path) = temporary("mixed.xta");
    std::fs::write(&path, "process P() { state A; init A; } system P;").expect("a file");
    let (_dir, queries) = temporary("mixed.q");
    std::fs::write(&queries, "A[] P.A\nPr[<=90](<> P.A)\n").expect("a file");
    let out = trellis(&["check", &path, "--queries", &queries]);
    assert_eq!(out.status.code(), Some(20), "{}", stderr(&out));
    let said = stdout(&out);
    assert!(said.starts_with("SAFE") && said.contains("UNKNOWN  Pr[<=90](<> P.A)"), "{said}");
    assert!(
        stderr(&out).contains("this question stays unanswered") && stderr(&out).contains("mixed.q:2:1"),
        "{}",
        stderr(&out)
    );
    // Alone, it is an error.
    std::fs::write(&queries, "Pr[<=90](<> P.A)\n").expect("a file");
    assert_eq!(trellis(&["check", &path, "--queries", &queries]).status.code(), Some(2));
}

#[test]
fn questions_may_call_functions_of_processes() {
    let (_dir, path) = temporary("function.xta");
    let model = "process P(const int[0,1] id) { int n = id; bool above(int k) { return n + id > k; }
        int twice() { int s = 0; for (i : int[0,1]) { s = s + n; } return s; }
        state A; init A; trans A -> A { guard n < 3; assign n = n + 1; }; } system P;";
    std::fs::write(&path, model).expect("a file");
    let ask = |q: &str| trellis(&["check", &path, "-q", "-p", q]).status.code();
    assert_eq!(ask("E<> P(1).above(3) && !P(0).above(3)"), Some(0));
    assert_eq!(ask("E<> P(0).above(3)"), Some(10));
    assert_eq!(ask("A[] forall (i : int[0,1]) P(i).twice() <= 6"), Some(0));
    assert_eq!(ask("A[] P(1).twice() <= 5"), Some(10));
    let out = trellis(&["check", &path, "-p", "A[] P(1).above"]);
    assert!(stderr(&out).contains("call it: `above(…)`"), "{}", stderr(&out));
}

#[test]
fn a_clock_runs_or_stands_still() {
    let (_dir, path) = temporary("rate.xta");
    let model = "clock x; process P() { state A { x <= 3 && x' == 1 }; init A; } system P;";
    let ask = |model: &str, query: &str| {
        std::fs::write(&path, model).expect("a file");
        trellis(&["check", &path, "-q", "-p", query])
    };
    assert_eq!(ask(model, "A[] x <= 3").status.code(), Some(0));
    assert_eq!(ask(model, "A[] x <= 2").status.code(), Some(10));
    let stands = model.replace("== 1", "== 0");
    assert_eq!(ask(&stands, "A[] x <= 0").status.code(), Some(0));
    assert_eq!(ask(&stands, "A<> x > 0").status.code(), Some(20));
    let out = ask(&model.replace("== 1", "== 2"), "A[] x <= 3");
    assert!(stderr(&out).contains("runs at rate 2"), "{}", stderr(&out));
}
