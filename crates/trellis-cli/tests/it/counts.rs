//! The counts of 000 Fig. 4–6, of 002 Table 6.1 and of TChecker, exactly. `trellis bench` has the larger ones.

use crate::{reports, stderr, stdout, temporary, trellis};

/// Verdict, states added, size of the passed set.
fn run(model: &str, size: &str, n: u64, more: &[&str]) -> (String, u64, u64) {
    let constant = format!("{size}={n}");
    let mut args = vec!["check", model, "--json", "--no-check", "--const", &constant];
    args.extend(more);
    let out = trellis(&args);
    let found = reports(&out);
    assert_eq!(found.len(), 1, "{}", stderr(&out));
    let r = &found[0];
    let count = |name: &str| r["statistics"][name].as_u64().expect("a count");
    (r["verdict"].as_str().expect("a verdict").to_string(), count("added"), count("stored"))
}

fn factorial(n: u64) -> u64 {
    (1..=n).product()
}

#[test]
fn leader_election() {
    let leader = |n, update: &[&str]| run("lattice/leader.xml", "N", n, update);
    for n in [5, 6, 7] {
        assert_eq!(leader(n, &["--update", "simple"]), ("SAFE".into(), (n + 2) * factorial(n), (n + 2) * factorial(n)));
    }
    for n in [5, 6, 7, 15, 25] {
        let (verdict, added, _) = leader(n, &["--update", "cover"]);
        assert_eq!((verdict.as_str(), added), ("SAFE", (n + 2) * (n + 1) * n / 6 + 2), "cover {n}");
    }
    for n in [5, 6, 7, 15, 25, 50, 100] {
        let (verdict, added, _) = leader(n, &["--update", "join"]);
        assert_eq!((verdict.as_str(), added), ("SAFE", n * (n + 1) / 2 + 2), "join {n}");
    }
}

#[test]
fn no_two_users_work_at_once() {
    let work = |n, update| run("lattice/database-work.xml", "N_USERS", n, &["--update", update]);
    for n in 2..=5 {
        let (verdict, added, _) = work(n, "simple");
        assert_eq!((verdict.as_str(), added), ("SAFE", 16 * n * 7u64.pow(n as u32 - 1)), "simple {n}");
    }
    for n in 2..=7 {
        let (verdict, added, _) = work(n, "cover");
        assert_eq!((verdict.as_str(), added), ("SAFE", 7 * n * 4u64.pow(n as u32 - 1)), "cover {n}");
    }
}

#[test]
fn the_database_cannot_become_full() {
    let full = |n, more: &[&str]| run("lattice/database-full.xml", "N_USERS", n, more);
    for n in 8..=11 {
        let (verdict, added, _) = full(n, &["--update", "simple"]);
        assert_eq!((verdict.as_str(), added), ("SAFE", (3 * n + 1) * 2u64.pow(n as u32) - n * (n + 3)), "simple {n}");
    }
    for n in 8..=17 {
        let (verdict, added, _) = full(n, &["--join", "all"]);
        assert_eq!((verdict.as_str(), added), ("UNKNOWN", 6 * n + 3), "join all {n}");
    }
    // The last sizes take seconds in a debug build; `trellis bench lattice` has them.
    let sizes = [787, 1238, 976, 1036, 1707, 3112, 6083, 12380, 25666];
    for (n, size) in (8..).zip(sizes) {
        let strategy = "x.aLogin.num0s() + y.aLogin.num0s() < N_USERS";
        let (verdict, _, stored) = full(n, &["--join", strategy, "--assume", "monotone"]);
        assert_eq!((verdict.as_str(), stored), ("SAFE", size), "join refined {n}");
    }
    // The same strategy as a script.
    let (verdict, _, stored) = full(8, &["--join", "lattice/database-full.strategy.lua", "--assume", "monotone"]);
    assert_eq!((verdict.as_str(), stored), ("SAFE", 787));
}

/// The named counts of a full exploration of a model with clocks.
fn explore(model: &str, question: &[&str], more: &str, names: [&str; 3]) -> [u64; 3] {
    let mut args = vec!["check", model, "--json", "--no-check", "--order", "bfs"];
    args.extend(question);
    args.extend(more.split(' '));
    let out = trellis(&args);
    let found = reports(&out);
    assert_eq!(found.len(), 1, "{}", stderr(&out));
    names.map(|n| found[0]["statistics"][n].as_u64().expect("a count"))
}

#[test]
fn lazy_abstraction_as_in_theta() {
    let art = |model: &str, clocks: &str| {
        let how = format!("--engine lazy --all-clocks --clocks {clocks}");
        explore(model, &["-p", "A[] true"], &how, ["added", "covered", "refinements"])
    };
    assert_eq!(art("timed/fddi-2.xta", "forward"), [40, 11, 22]);
    assert_eq!(art("timed/fddi-2.xta", "backward"), [40, 11, 22]);
    assert_eq!(art("timed/fddi-2.xta", "bounds"), [46, 20, 117]);
    assert_eq!(art("timed/fischer-diag-3-32-64.xta", "forward"), [193, 95, 72]);
    assert_eq!(art("timed/fischer-diag-3-32-64.xta", "backward"), [199, 103, 77]);
    assert_eq!(art("timed/engine-classic.xta", "forward"), [693, 75, 538]);
    assert_eq!(art("timed/engine-classic.xta", "backward"), [693, 75, 682]);
    assert_eq!(art("timed/engine-classic.xta", "bounds"), [765, 99, 805]);
}

#[test]
fn zones_as_in_tchecker() {
    let names = ["expanded", "stored", "joins"];
    let fischer = "timed/tchecker/fischer-5.txt";
    for cover in ["inclusion", "alu"] {
        let how = format!("--engine reach --cover {cover}");
        let [visited, stored, _] = explore(fischer, &["--labels", "cs1,cs2"], &how, names);
        assert_eq!((visited, stored), (977, 727), "{cover}");
    }
    let corsso = explore("timed/tchecker/corsso-3.txt", &["-p", "A[] true"], "--engine reach --cover alu", names);
    assert_eq!(corsso[0], 8746);
}

#[test]
fn depth_first_lazy_bounds_are_linear_on_fddi() {
    let args = ["check", "timed/fddi-10.xta", "--json", "-p", "A[] true", "--engine", "lazy", "--order", "dfs"];
    let found = reports(&trellis(&args));
    assert_eq!(found[0]["statistics"]["added"], 103);
}

#[test]
fn what_nobody_chooses_is_explored_up_to_symmetry() {
    let stored = |more: &[&str]| {
        let mut args = vec!["check", "timed/fischer-4-32-64.xta", "--json", "-p", "A[] not (P(1).cs && P(2).cs)"];
        args.extend(more);
        let found = reports(&trellis(&args));
        assert_eq!(found[0]["verdict"], "SAFE");
        found[0]["statistics"]["stored"].as_u64().expect("a count")
    };
    let plain = stored(&["--no-symmetry"]);
    assert_eq!(stored(&["--engine", "reach"]), plain);
    assert_eq!(stored(&["--engine", "reach", "--symmetry"]), stored(&[]));
    assert!(2 * stored(&[]) < plain);
}

#[test]
fn a_clock_without_limit_comes_with_a_run() {
    let (_dir, file) = temporary("run.json");
    let out = trellis(&["check", "timed/lynch-2-16.xta", "-p", "sup: P(1).c", "--trace", &file]);
    let said = stdout(&out);
    assert!(said.contains("∞") && said.contains("which can be made as long as one likes"), "{said}{}", stderr(&out));
    let said = stdout(&trellis(&["certify", "timed/lynch-2-16.xta", &file, "-p", "sup: P(1).c"]));
    assert!(said.starts_with("VALID") && said.contains("can be made as long as one likes"), "{said}");
}
