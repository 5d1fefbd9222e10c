//! The public models: all are read, and where exploration ends soon, it finds what the tables say.

use std::path::Path;

use crate::run::{bundled, read, safe, shared};

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

fn files(folder: &str) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(shared().join(folder)).into_iter().flatten();
    let mut all: Vec<_> = entries.filter_map(|e| e.ok().map(|e| e.path())).collect();
    all.retain(|p| p.extension().is_some_and(|e| e == "xsts"));
    all.sort();
    all
}

#[test]
fn all_are_read() {
    for folder in ["xsts/model", "xsts/valid-models", "statechart/models", "ltl/xsts"] {
        for path in files(folder) {
            let model = text(&path);
            let property = if model.contains("prop") { None } else { Some("true") };
            let name = path.file_name().unwrap_or_default().to_string_lossy().to_string();
            match read(&model, property) {
                Ok(xsts) => assert!(xsts.cfa.locations().len() <= 10, "{name}"),
                Err(said) => assert!(model.contains("ort {") && said.contains("`ort` is not supported"), "{said}"),
            }
        }
    }
}

#[test]
fn mistakes_are_found() {
    for (name, place, what) in [
        ("no-trans", "4:1", "expected `trans`, found `init`"),
        ("no-init", "7:1", "expected `init`, found `env`"),
        ("no-prop", "10:1", "there is no property"),
        ("choice-else", "10:3", "expected `init`, found `else`"),
        ("choice-else2", "14:7", "expected a statement, found `else`"),
        ("missingbracket", "23:1", "expected a statement, found `init`"),
        ("tripleequals", "5:20", "expected an expression, found `=`"),
        ("empty", "1:1", "expected `trans`, found the end of the text"),
    ] {
        let path = shared().join(format!("xsts/syntaxerror-models/{name}.xsts"));
        if path.is_file() {
            let said = read(&text(&path), None).expect_err(name);
            assert!(said.contains(what) && said.contains(&format!("model.xsts:{place}")), "{name}: {said}");
        }
    }
    let bad = text(&shared().join("xsts/model/literals_bad.xsts"));
    if !bad.is_empty() {
        let said = read(&bad, Some("prop { f == g }")).expect_err("two types");
        assert!(said.contains("of type second_alphabet, and alphabet is needed"), "{said}");
    }
}

/// Explores a model of a table; `None` if that takes too long.
fn explored(folder: &Path, model: &str, property: &str, limit: usize) -> Option<bool> {
    let xsts = read(&text(&folder.join(model)), Some(&text(&folder.join(property)))).unwrap_or_else(|e| panic!("{e}"));
    safe(&xsts, &[], limit, 200)
}

/// Of the rows of a table so many could be explored.
fn table(folder: &Path, columns: [usize; 3], limit: usize) -> usize {
    let mut count = 0;
    for line in text(&folder.join("EXPECTED.tsv")).lines().filter(|l| !l.starts_with('#')).skip(1) {
        let cells: Vec<&str> = line.split('\t').collect();
        let [model, property, expected] = columns.map(|c| cells[c]);
        // One property speaks of a variable of another model.
        if expected.contains("disabled") || property.ends_with("tran4.prop") {
            continue;
        }
        match explored(folder, model, property, limit) {
            Some(safe) => {
                assert_eq!(safe.to_string(), expected, "{model} {property}");
                count += 1;
            }
            None => println!("{model} {property}: not explored"),
        }
    }
    count
}

fn limit() -> usize {
    std::env::var("TRELLIS_RUNS").ok().and_then(|v| v.parse().ok()).unwrap_or(300)
}

#[test]
fn the_public_verdicts() {
    let small = table(&shared().join("xsts"), [0, 2, 4], limit());
    let charts = table(&shared().join("statechart"), [1, 2, 3], limit());
    println!("{small} and {charts} agree");
}

/// The longest of the public violations, found where the environment does less: what happens there also happens in the model.
#[test]
fn a_long_violation() {
    let folder = shared().join("statechart");
    let mut model = text(&folder.join("models/TrafficLightWrapper.xsts"));
    if model.is_empty() {
        return;
    }
    for never in ["Arrive", "Leave", "Toggle"] {
        let input = format!("in_default_{never}_In_TrafficLight := ");
        model = model.replace(&format!("{input}true"), &format!("{input}false"));
    }
    let property = text(&folder.join("properties/_transition_TrafficLight_10.prop"));
    let xsts = read(&model, Some(&property)).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(safe(&xsts, &[], 5000, 200), Some(false));
}

#[test]
fn the_bundled_verdicts() {
    assert_eq!(table(&bundled().join("xsts"), [0, 1, 2], 3000), 12);
}
