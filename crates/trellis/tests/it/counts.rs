//! The state counts of 000 Fig. 4–6, exactly.

use crate::{reports, stderr, trellis};

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
        let (verdict, _, stored) = full(n, &["--join", "x.aLogin.num0s() + y.aLogin.num0s() < N_USERS"]);
        assert_eq!((verdict.as_str(), stored), ("SAFE", size), "join refined {n}");
    }
    // The same strategy as a script.
    let (verdict, _, stored) = full(8, &["--join", "lattice/database-full.strategy.lua"]);
    assert_eq!((verdict.as_str(), stored), ("SAFE", 787));
}
