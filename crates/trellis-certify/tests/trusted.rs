//! The page of the book that says what must be trusted: its numbers are true.

use std::path::{Path, PathBuf};

/// The lines of a file, or of all sources in a folder but for its tests.
fn lines(path: &Path) -> usize {
    if path.is_dir() {
        let entries = std::fs::read_dir(path).expect("a folder").map(|e| e.expect("an entry").path());
        return entries.map(|p| lines(&p)).sum();
    }
    let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
    let counts = name.ends_with(".rs") && !["test.rs", "tests.rs"].contains(&name);
    if counts { std::fs::read_to_string(path).expect("readable").lines().count() } else { 0 }
}

#[test]
fn the_lines_of_the_parts() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("book/src/trust.md")).expect("the page");
    let mut rows = 0;
    for row in page.lines().filter(|l| l.contains("`crates/")) {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [part, places, most] = cells[..] else { panic!("{row}") };
        let paths = places.split('`').filter(|p| p.starts_with("crates/")).map(|p| root.join(p));
        let found: usize = paths.inspect(|p| assert!(p.exists(), "{part}: {}", p.display())).map(|p| lines(&p)).sum();
        let most: usize = most.replace(',', "").parse().expect("a number");
        assert!(found <= most, "{part}: {found} lines, and the page says at most {most}");
        assert!(found * 4 >= most * 3, "{part}: {found} lines, and the page says {most}: lower it");
        rows += 1;
    }
    assert_eq!(rows, 10);
}

#[test]
fn it_contains_no_search() {
    let own = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut waiting = vec!["trellis-certify".to_string()];
    let mut seen = Vec::new();
    while let Some(name) = waiting.pop() {
        let text = std::fs::read_to_string(own.join(&name).join("Cargo.toml")).expect("a manifest");
        let needs = text.split("[dev-dependencies]").next().unwrap_or_default();
        let all = needs.lines().filter_map(|l| l.split(['.', ' ']).next()).filter(|n| n.starts_with("trellis"));
        for need in all.filter(|n| own.join(n).is_dir()) {
            if !seen.contains(&need.to_string()) {
                seen.push(need.to_string());
                waiting.push(need.to_string());
            }
        }
    }
    assert!(seen.contains(&"trellis-check".to_string()) && !seen.contains(&"trellis-engine".to_string()), "{seen:?}");
}
