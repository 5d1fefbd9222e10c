//! Every bundled model under every configuration that applies: all verdicts agree with `models/EXPECTED.tsv`, and all
//! evidence is certified again from its file.

use crate::{asking, reports, root, stderr, stdout, temporary, trellis};

struct Row {
    model: String,
    options: Vec<String>,
    verdicts: Vec<String>,
}

impl Row {
    fn is_program(&self) -> bool {
        self.model.starts_with("c/") || self.model.starts_with("cfa/")
    }
}

fn expected() -> Vec<Row> {
    let text = std::fs::read_to_string(root().join("models/EXPECTED.tsv")).expect("models/EXPECTED.tsv");
    text.lines()
        .filter(|l| !l.starts_with('#') && !l.is_empty())
        .map(|line| {
            let f: Vec<&str> = line.split('\t').collect();
            assert_eq!(f.len(), 3, "{line}");
            let words = |s: &str| s.split_whitespace().map(str::to_string).collect();
            Row { model: f[0].into(), options: words(f[1]), verdicts: words(f[2]) }
        })
        .collect()
}

fn verdicts(row: &Row, more: &[&str]) -> Vec<String> {
    let mut args = vec!["check", &row.model, "--json"];
    args.extend(row.options.iter().map(String::as_str));
    args.extend(more);
    let out = trellis(&args);
    let found = reports(&out);
    assert_eq!(found.len(), row.verdicts.len(), "{args:?}\n{}", stderr(&out));
    found.iter().map(|r| r["verdict"].as_str().expect("a verdict").to_string()).collect()
}

#[test]
fn every_model_answers_as_expected_in_every_order() {
    for row in expected() {
        let last = if row.is_program() { "error" } else { "random" };
        for order in ["bfs", "dfs", last] {
            assert_eq!(verdicts(&row, &["--order", order]), row.verdicts, "{} {order}", row.model);
        }
    }
}

/// Ways to check a program; beside the default.
const PROGRAMS: [&str; 12] = [
    "--domain explicit",
    "--domain product --max-values 8",
    "--domain product --predicates split",
    "--predicates boolean",
    "--predicates split",
    "--refinement newton-backward --precision global",
    "--refinement sequence --split whole",
    "--refinement core --split atoms",
    "--refinement binary --pruning full",
    "--refinement binary-backward --order dfs",
    "--initial property --order error",
    "--initial assumes --engine cegar",
];

#[test]
fn every_program_answers_as_expected_or_not_at_all_in_every_configuration() {
    for row in expected().iter().filter(|r| r.is_program()) {
        for config in PROGRAMS {
            let mut more: Vec<&str> = config.split(' ').collect();
            more.extend(["--timeout", "1s"]);
            for (found, right) in verdicts(row, &more).iter().zip(&row.verdicts) {
                assert!(found == right || found == "UNKNOWN", "{} {config}: {found} is not {right}", row.model);
            }
        }
    }
}

#[test]
fn every_lattice_model_answers_as_expected_under_every_update() {
    for row in expected().iter().filter(|r| r.model.starts_with("lattice/")) {
        for update in ["simple", "cover", "join"] {
            for order in ["bfs", "dfs", "random"] {
                let mut more = vec!["--update", update, "--order", order];
                // Its login guard is antitone; what the paper does with it must be stated.
                if row.model.ends_with("database-full.xml") {
                    more.extend(["--assume", "monotone"]);
                }
                let found = verdicts(row, &more);
                assert_eq!(found, row.verdicts, "{} {:?} {update} {order}", row.model, row.options);
            }
        }
        // A naive strategy may be too coarse, but never wrong.
        for (found, right) in verdicts(row, &["--join", "all"]).iter().zip(&row.verdicts) {
            assert!(found == right || found == "UNKNOWN", "{}: {found} is not {right}", row.model);
        }
    }
}

#[test]
fn a_loop_over_intervals_ends_by_widening_however_long_it_is() {
    let out = trellis(&["check", "lattice/interval-loop.xta", "--const", "N=1000000000", "--json", "--update", "join"]);
    let found = reports(&out);
    assert_eq!(found.len(), 2, "{}", stderr(&out));
    for r in found {
        assert_eq!(r["verdict"], "SAFE", "{r}");
        assert!(r["statistics"]["expanded"].as_u64().is_some_and(|n| n < 50), "{}", r["statistics"]);
    }
}

#[test]
fn zones_beside_elements_are_joined_to_their_hull() {
    let labels = |more: &[&str]| {
        let all = [&["check", "lattice/leader-timeouts.xta", "--json", "--update", "join"], more].concat();
        let found = reports(&trellis(&all));
        let verdicts: Vec<String> = found.iter().map(|r| r["verdict"].as_str().expect("a verdict").into()).collect();
        assert_eq!(verdicts, ["SAFE", "SAFE", "HOLDS"], "{more:?}");
        found[0]["statistics"]["stored"].as_u64().unwrap_or_else(|| panic!("{}", found[0]["statistics"]))
    };
    let (plain, hull) = (labels(&[]), labels(&["--join-zones", "hull"]));
    assert!(hull <= plain, "{hull} labels with hulls, {plain} without");
    let out = trellis(&["check", "lattice/leader.xml", "--join-zones", "hull"]);
    assert_eq!(out.status.code(), Some(2));
    assert!(stderr(&out).contains("models with both clocks and lattice variables"), "{}", stderr(&out));
}

/// Has evidence of a row checked again: what is asked of what is said again.
fn certify(row: &Row, path: &str) {
    let mut args = vec!["certify", &row.model, path];
    let options: Vec<&str> = row.options.iter().map(String::as_str).collect();
    args.extend(asking(&options));
    // A proof that leaves out the checks that fail is not what the program asks: it must be asked for.
    let text = std::fs::read_to_string(path).expect("evidence");
    let evidence: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let property = evidence["property"].as_str().expect("a property");
    if property.contains(", but for: ") {
        args.extend(["--property", property]);
    }
    let out = trellis(&args);
    assert_eq!(out.status.code(), Some(0), "{args:?}: {}{}", stdout(&out), stderr(&out));
    assert!(stdout(&out).starts_with("VALID"), "{args:?}: {}", stdout(&out));
}

/// Ways to explore a model with clocks. (The tests above have the default engine in three orders.)
const TIMED: [&str; 7] = [
    "--engine reach --cover inclusion --order bfs",
    "--engine reach --cover inclusion --order largest",
    "--engine reach --cover alu --order bfs",
    "--engine reach --cover inclusion --order dfs",
    "--engine lazy --clocks forward",
    "--engine lazy --clocks backward",
    "--engine lazy --clocks bounds --order dfs",
];

/// May this row be refused under this configuration, with these words?
fn refusal(row: &Row, config: &str) -> Option<&'static str> {
    if config.contains("lazy") && row.options.iter().any(|o| o.contains("deadlock")) {
        return Some("lazy abstraction cannot see deadlocks");
    }
    (config.contains("bounds") && row.model.contains("diag")).then_some("differences of clocks")
}

#[test]
fn every_timed_model_answers_as_expected_in_every_configuration_with_evidence_on_file() {
    let timed = |r: &Row| r.model.starts_with("timed/") && !r.model.contains("broadcast");
    for row in expected().into_iter().filter(timed) {
        for config in TIMED {
            let (_gone, certificate) = temporary("c.json");
            let trace = certificate.replace("c.json", "t.json");
            let mut args = vec!["check", &row.model, "--json", "--certificate", &certificate, "--trace", &trace];
            args.extend(row.options.iter().map(String::as_str));
            args.extend(config.split(' '));
            let out = trellis(&args);
            if let Some(words) = refusal(&row, config) {
                assert_eq!(out.status.code(), Some(2), "{args:?}");
                assert!(stderr(&out).contains(words), "{args:?}: {}", stderr(&out));
                continue;
            }
            let found: Vec<String> =
                reports(&out).iter().map(|r| r["verdict"].as_str().expect("a verdict").to_string()).collect();
            assert_eq!(found, row.verdicts, "{args:?}\n{}", stderr(&out));
            let folder = std::path::Path::new(&certificate).parent().expect("a folder");
            let files: Vec<_> = std::fs::read_dir(folder).expect("readable").flatten().collect();
            assert_eq!(files.len(), row.verdicts.len(), "{args:?}");
            for file in files {
                certify(&row, &file.path().display().to_string());
            }
        }
    }
}

#[test]
fn all_evidence_is_certified_again_from_its_file() {
    for row in expected() {
        let mut certified = 0;
        let (_gone, certificate) = temporary("c.json");
        let trace = certificate.replace("c.json", "t.json");
        let mut args = vec!["check", &row.model, "-q", "--certificate", &certificate, "--trace", &trace];
        args.extend(row.options.iter().map(String::as_str));
        trellis(&args);
        let folder = std::path::Path::new(&certificate).parent().expect("a folder");
        for file in std::fs::read_dir(folder).expect("readable").flatten() {
            let path = file.path().display().to_string();
            certify(&row, &path);
            certified += 1;
        }
        // A bound has a certificate and a trace.
        let bounds = row.verdicts.iter().filter(|v| *v == "BOUND").count();
        // What holds in a C program has one certificate, for all of it.
        let safe = row.verdicts.iter().filter(|v| *v == "SAFE").count();
        let shared = if row.model.ends_with(".c") { safe.saturating_sub(1) } else { 0 };
        assert_eq!(certified, row.verdicts.len() + bounds - shared, "{}", row.model);
    }
}
