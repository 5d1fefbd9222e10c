//! The page in a real browser. That needs Chromium, Node and two packages, which `.ci/run` installs; elsewhere the test says that it was skipped.

use std::process::Command;

use crate::root;

#[test]
fn the_page_works_in_a_browser() {
    if std::env::var_os("TRELLIS_BROWSER").is_none() {
        eprintln!("skipped: TRELLIS_BROWSER=1 runs the page in Chromium (tests/browser/README.md)");
        return;
    }
    let mut node = Command::new("node");
    node.arg("tests/browser/run.mjs").current_dir(root()).env("TRELLIS_BIN", env!("CARGO_BIN_EXE_trellis"));
    assert!(node.status().expect("node").success());
}

/// What is committed is what the sources make: with Node at hand, `.ci/run` builds it anew and compares. Here only its size is looked at.
#[test]
fn the_page_is_small() {
    let page = std::fs::read(root().join("crates/trellis-report/web/dist/page.html")).expect("dist/page.html");
    println!("dist/page.html: {} bytes, before it is compressed", page.len());
    assert!(page.len() <= 400_000, "{} bytes", page.len());
}
