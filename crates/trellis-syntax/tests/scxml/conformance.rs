//! W3C's own conformance tests, where they are at hand: a test is right if its state `pass` is reached and its state `fail` is not.
//! `cargo test -p trellis-syntax --test scxml conformance -- --nocapture` prints a table of all of them.

use std::collections::BTreeMap;
use std::path::Path;

use crate::sends::active;

/// The fewest that must be right.
const RIGHT: usize = 105;

#[test]
fn conformance() {
    let above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let Some(folder) = above.map(|a| a.join("shared/models/scxml-irp")).find(|f| f.is_dir()) else {
        println!("skipped: W3C's tests are not here");
        return;
    };
    let mut files: Vec<_> = std::fs::read_dir(folder).expect("a folder").map(|f| f.expect("a file").path()).collect();
    files.sort();
    let mut table: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in files.iter().filter(|f| f.extension().is_some_and(|e| e == "scxml")) {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().replace("test", "");
        let text = std::fs::read_to_string(file).expect("text");
        if !text.contains("id=\"pass\"") || !text.contains("id=\"fail\"") {
            continue;
        }
        // Nobody sends anything to a test.
        let closed = "<scxml xmlns:trellis=\"urn:trellis\" trellis:events=\"\" ";
        let verdict = match active(&text.replacen("<scxml ", closed, 1), 5_000) {
            Err(said) => {
                let why = said.lines().find(|l| l.starts_with("error")).unwrap_or("no reason").to_string();
                format!("refused: {why}")
            }
            Ok(None) => "unknown".into(),
            Ok(Some(found)) => match (found.contains("pass"), found.contains("fail")) {
                (true, false) => "right".into(),
                (pass, fail) => format!("wrong: pass {pass}, fail {fail}"),
            },
        };
        table.entry(verdict).or_default().push(name);
    }
    for (verdict, names) in &table {
        println!("{:4}  {verdict}: {}", names.len(), names.join(" "));
    }
    assert!(!table.keys().any(|v| v.starts_with("wrong")), "some are wrong");
    assert!(table.get("right").map_or(0, Vec::len) >= RIGHT, "too few are right");
}
