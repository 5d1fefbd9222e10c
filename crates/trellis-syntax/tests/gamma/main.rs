//! Composed statecharts: the packages and traces of the framework's own tests, where they are at hand (`TRELLIS_GAMMA`, or a folder beside the
//! repository's).

use std::path::{Path, PathBuf};

use trellis_syntax::diag::{Sources, render};
use trellis_syntax::gamma::{self, Options, trace};

/// All files with an extension in the folder of models, if that is there.
fn files(extension: &str) -> Vec<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().map(|a| a.join("shared/models/gamma"));
    let given = std::env::var_os("TRELLIS_GAMMA").map(PathBuf::from);
    let Some(folder) = given.into_iter().chain(beside).find(|f| f.is_dir()) else { return vec![] };
    let (mut open, mut found) = (vec![folder], vec![]);
    while let Some(at) = open.pop() {
        for entry in std::fs::read_dir(at).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|e| e == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

#[test]
fn packages_are_read() {
    let all = files("gcd");
    let mut refused = vec![];
    for path in &all {
        let mut sources = Sources::default();
        let id = sources.read(path).unwrap_or_else(|d| panic!("{}", d.message));
        let constants = ["i", "bc", "a", "b"].map(|name| (name.to_string(), 1)).to_vec();
        let options = Options { constants, ..Options::default() };
        if let Err(why) = gamma::read(&mut sources, id, &options) {
            refused.push(render(&why, &sources, false));
        }
    }
    assert!(refused.is_empty(), "{} of {} are not read:\n{}", refused.len(), all.len(), refused.join("\n"));
}

#[test]
fn traces_are_replayed() {
    for path in files("get") {
        let mut sources = Sources::default();
        let id = sources.read(&path).unwrap_or_else(|d| panic!("{}", d.message));
        let replayed =
            trace::replay(&mut sources, id).unwrap_or_else(|why| panic!("{}", render(&why, &sources, false)));
        for r in replayed {
            println!("{}: {} steps, {} assertions", r.name, r.steps, r.asserted);
            assert_eq!(r.wrong, None, "{}", path.display());
        }
    }
}
