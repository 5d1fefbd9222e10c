//! The rules of the code base that no compiler knows: which crate may depend on which, no cycles between modules, short files, one
//! place that knows file names, plain words. ARCHITECTURE.md states the rules; this test enforces them.
//!
//! Sources are read as text, with comments and strings taken apart: no parser of Rust, no dependencies. All violations are reported at
//! once, each with file and line. [`PENDING`] lists violations that are known and have an owner; an entry that is no longer needed is a
//! violation, too.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The packages; a package may depend only on those before it.
const ORDER: [&str; 15] = [
    "trellis-meter",
    "trellis-order",
    "trellis-expr",
    "trellis-smt",
    "trellis-domain",
    "trellis-model",
    "trellis-syntax",
    "trellis-engine",
    "trellis-check",
    "trellis-report",
    "trellis-certify",
    "trellis-mc",
    "trellis-server",
    "trellis-cli",
    "trellis-python",
];

/// Dependencies that the order alone would allow.
const FORBIDDEN: [(&str, &str, &str); 6] = [
    ("trellis-check", "trellis-engine", "evidence is checked without the code that found it"),
    ("trellis-check", "trellis-syntax", "the checker knows no file formats"),
    ("trellis-certify", "trellis-engine", "who trusts no search need not have one"),
    ("trellis-engine", "trellis-syntax", "engines know no file formats"),
    ("trellis-report", "trellis-engine", "reports know nothing of engines"),
    ("trellis-report", "trellis-check", "reports know nothing of the checker"),
];

/// The packages that may know JSON.
const KNOW_JSON: [&str; 4] = ["trellis-report", "trellis-mc", "trellis-server", "trellis-cli"];

const MAX_LINES: usize = 620;
const MAX_README_WORDS: usize = 600;

/// Files that look at a file's extension, and why that is no ladder over languages.
const EXTENSIONS: [(&str, &str); 6] = [
    ("crates/trellis/src/pipeline.rs", "numbers an output file before its extension"),
    ("crates/trellis-cli/src/check.rs", "an output format: a chart as SVG or as text"),
    ("crates/trellis-cli/src/mec/prompt.rs", "completes names of AltaRica files at Mec's prompt"),
    ("crates/trellis-cli/src/bench/", "suites pick their files from a folder"),
    ("crates/trellis/src/registry.rs", "says which extension it was that no language has"),
    (
        "crates/trellis-syntax/src/gamma/packages.rs",
        "imports name packages: their files are looked for beside the importing one",
    ),
];

/// Functions that are named `is_one` and are no test of a language.
const IS_ONE: [(&str, &str); 1] =
    [("crates/trellis-check/src/timed/says.rs", "asks whether an entry of a certificate is a single state")];

/// Words that DESIGN §7 replaces; no type and no module is called so.
const HOME_MADE: [&str; 8] = ["trouble", "mistake", "refusal", "beyond", "twins", "rooms", "picks", "teller"];

/// Known violations (how the message begins), and who mends them.
const PENDING: &[(&str, &str)] = &[
    ("crates/trellis-check/src/monotone/two.rs:621: ", "the checker"),
    ("crates/trellis-smt/src/embedded/sat.rs:621: ", "the solver"),
];

// --- Sources ---------------------------------------------------------------------------------------------------------------------

/// A source file, taken apart; in each part everything else is blank, so that lines stay.
struct Source {
    /// Relative to the root.
    path: String,
    /// The package's folder: `trellis-expr`.
    folder: String,
    /// Below `src`: `timed/says.rs`.
    inside: String,
    lines: usize,
    /// Without comments, strings and test modules.
    code: String,
    /// Strings, with their first lines.
    strings: Vec<(usize, String)>,
    /// Comments that `clap` may show as help.
    docs: Vec<(usize, String)>,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace")
}

fn files(folder: &Path, into: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.map(|e| e.expect("an entry").path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            files(&path, into);
        } else if path.extension().is_some_and(|e| e == "rs") {
            into.push(path);
        }
    }
}

fn sources() -> Vec<Source> {
    let root = root();
    let mut all = vec![];
    for krate in fs::read_dir(root.join("crates")).expect("crates").map(|e| e.expect("a crate").path()) {
        let mut paths = vec![];
        files(&krate.join("src"), &mut paths);
        for path in paths {
            let text = fs::read_to_string(&path).expect("a source file");
            let folder = krate.file_name().expect("a name").to_string_lossy().into_owned();
            let inside = path.strip_prefix(krate.join("src")).expect("below src").to_string_lossy().into_owned();
            let path = path.strip_prefix(&root).expect("below the root").to_string_lossy().into_owned();
            let (code, strings, docs) = take_apart(&text);
            let code = without_tests(code);
            all.push(Source { path, folder, inside, lines: text.lines().count(), code, strings, docs });
        }
    }
    all.sort_by(|a, b| a.path.cmp(&b.path));
    assert!(all.len() > 100, "where are the sources?");
    all
}

type Texts = Vec<(usize, String)>;

/// Code with comments and strings blanked, the strings, and the doc comments.
fn take_apart(text: &str) -> (String, Texts, Texts) {
    let chars: Vec<char> = text.chars().collect();
    let (mut code, mut strings, mut docs) = (String::new(), vec![], vec![]);
    let (mut i, mut line) = (0, 1);
    let at = |i: usize| chars.get(i).copied().unwrap_or('\0');
    while i < chars.len() {
        let from = i;
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let starts = i == 0 || !is_word(chars[i - 1]);
        // How many hashes a raw string has that begins here.
        let raw = if starts && (at(i) == 'r' || (at(i) == 'b' && at(i + 1) == 'r')) {
            let q = i + if at(i) == 'b' { 2 } else { 1 };
            let hashes = (q..).take_while(|&k| at(k) == '#').count();
            (at(q + hashes) == '"').then_some((q + hashes + 1, hashes))
        } else {
            None
        };
        if at(i) == '/' && at(i + 1) == '/' {
            while i < chars.len() && chars[i] != '\n' {
                i += 1;
            }
            let comment: String = chars[from..i].iter().collect();
            if comment.starts_with("///") {
                docs.push((line, comment));
            }
        } else if at(i) == '/' && at(i + 1) == '*' {
            let mut depth = 0;
            while i < chars.len() {
                match (at(i), at(i + 1)) {
                    ('/', '*') => (depth, i) = (depth + 1, i + 2),
                    ('*', '/') => (depth, i) = (depth - 1, i + 2),
                    _ => i += 1,
                }
                if depth == 0 {
                    break;
                }
            }
        } else if let Some((begin, hashes)) = raw {
            i = begin;
            while i < chars.len() && !(at(i) == '"' && (1..=hashes).all(|k| at(i + k) == '#')) {
                i += 1;
            }
            strings.push((line, chars[begin..i.min(chars.len())].iter().collect()));
            i += 1 + hashes;
        } else if at(i) == '"' {
            i += 1;
            while i < chars.len() && at(i) != '"' {
                i += if at(i) == '\\' { 2 } else { 1 };
            }
            strings.push((line, chars[from + 1..i.min(chars.len())].iter().collect()));
            i += 1;
        } else if at(i) == '\'' && (at(i + 1) == '\\' || at(i + 2) == '\'') {
            i += if at(i + 1) == '\\' { 3 } else { 2 };
            while i < chars.len() && at(i) != '\'' {
                i += 1;
            }
            i += 1;
        } else {
            code.push(chars[i]);
            line += usize::from(chars[i] == '\n');
            i += 1;
            continue;
        }
        i = i.min(chars.len());
        for &c in &chars[from..i] {
            code.push(if c == '\n' { '\n' } else { ' ' });
            line += usize::from(c == '\n');
        }
    }
    (code, strings, docs)
}

/// Blanks what stands behind `#[cfg(test)]`.
fn without_tests(code: String) -> String {
    let mut bytes = code.into_bytes();
    let mut from = 0;
    while let Some(at) = find(&bytes, b"#[cfg(test)]", from) {
        let mut depth = 0;
        let mut end = at;
        while end < bytes.len() {
            match bytes[end] {
                b'{' => depth += 1,
                b'}' => depth -= 1,
                _ => {}
            }
            end += 1;
            if depth == 0 && matches!(bytes[end - 1], b'}' | b';') {
                break;
            }
        }
        bytes[at..end].iter_mut().filter(|b| **b != b'\n').for_each(|b| *b = b' ');
        from = end;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn find(bytes: &[u8], what: &[u8], from: usize) -> Option<usize> {
    bytes[from..].windows(what.len()).position(|w| w == what).map(|at| from + at)
}

fn line_of(text: &str, at: usize) -> usize {
    1 + text[..at].matches('\n').count()
}

/// The word that a text begins with.
fn word(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}

/// Where a word occurs as a whole.
fn occurrences<'a>(text: &'a str, what: &'a str) -> impl Iterator<Item = usize> + 'a {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(what).map(|(at, _)| at).filter(move |&at| !text[..at].ends_with(is_word))
}

// --- Rules -----------------------------------------------------------------------------------------------------------------------

/// The packages, by folder: name, and dependencies with their lines.
fn packages() -> BTreeMap<String, (String, Vec<(usize, String)>)> {
    let mut all = BTreeMap::new();
    for krate in fs::read_dir(root().join("crates")).expect("crates").map(|e| e.expect("a crate").path()) {
        let Ok(text) = fs::read_to_string(krate.join("Cargo.toml")) else { continue };
        let (mut section, mut name, mut needs) = (String::new(), String::new(), vec![]);
        for (n, line) in text.lines().enumerate() {
            let key = line.split(['=', '.', ' ']).next().unwrap_or_default();
            if line.starts_with('[') {
                section = line.trim_matches(['[', ']']).to_string();
            } else if section == "package" && key == "name" {
                name = line.split('"').nth(1).expect("a name").to_string();
            } else if matches!(section.as_str(), "dependencies" | "build-dependencies") && !key.is_empty() {
                let package = if key == "trellis" { "trellis-mc" } else { key };
                needs.push((n + 1, package.to_string()));
            }
        }
        all.insert(krate.file_name().expect("a name").to_string_lossy().into_owned(), (name, needs));
    }
    all
}

/// (a) Arrows between crates.
fn arrows(found: &mut Vec<String>) {
    let rank = |name: &str| ORDER.iter().position(|n| *n == name);
    for (folder, (name, needs)) in packages() {
        let Some(own) = rank(&name) else {
            found.push(format!(
                "crates/{folder}/Cargo.toml:1: `{name}` has no place in the order of crates (tidy.rs, ORDER)"
            ));
            continue;
        };
        for (line, need) in needs {
            let at = format!("crates/{folder}/Cargo.toml:{line}");
            if need.starts_with("trellis") && rank(&need).is_none_or(|r| r >= own) {
                found.push(format!("{at}: `{name}` must not depend on `{need}`, which stands above it"));
            }
            if let Some((.., why)) = FORBIDDEN.iter().find(|(a, b, _)| *a == name && *b == need) {
                found.push(format!("{at}: `{name}` must not depend on `{need}`: {why}"));
            }
            if need == "serde_json" && !KNOW_JSON.contains(&name.as_str()) {
                found.push(format!("{at}: `{name}` must not know JSON"));
            }
        }
    }
}

/// Names that the root of a crate re-exports, with the modules they come from.
fn exported(root: &str, modules: &BTreeSet<String>) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for at in occurrences(root, "use ") {
        let Some(end) = root[at..].find(';') else { continue };
        let path = &root[at + 4..at + end];
        let path = path.trim_start_matches("crate::").trim_start_matches("self::");
        let module = word(path);
        if modules.contains(module) {
            let names = path[module.len()..].split(|c: char| !c.is_alphanumeric() && c != '_');
            names.filter(|n| !n.is_empty()).for_each(|n| _ = all.insert(n.to_string(), module.to_string()));
        }
    }
    all
}

/// The first names behind `crate::` or enough `super::`: one, or those in braces.
fn heads(rest: &str) -> Vec<(usize, &str)> {
    let Some(inner) = rest.strip_prefix('{') else { return vec![(0, word(rest))] };
    let (mut depth, mut fresh, mut all) = (0, true, vec![]);
    for (i, c) in inner.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => fresh = true,
            c if depth == 0 && fresh && !c.is_whitespace() => {
                all.push((1 + i, word(&inner[i..])));
                fresh = false;
            }
            _ => {}
        }
    }
    all
}

/// (b) Cycles between the top-level modules of a crate.
fn cycles(sources: &[Source], found: &mut Vec<String>) {
    let mut crates: BTreeMap<&str, Vec<&Source>> = BTreeMap::new();
    sources.iter().for_each(|s| crates.entry(&s.folder).or_default().push(s));
    for (folder, files) in crates {
        let top = |s: &Source| word(&s.inside).to_string();
        let is_root = |s: &Source| matches!(s.inside.as_str(), "lib.rs" | "main.rs");
        let modules: BTreeSet<String> = files.iter().filter(|s| !is_root(s)).map(|s| top(s)).collect();
        let exports: BTreeMap<String, String> =
            files.iter().filter(|s| is_root(s)).flat_map(|s| exported(&s.code, &modules)).collect();
        // From whom to whom, and where that is said first.
        let mut edges: BTreeMap<(String, String), String> = BTreeMap::new();
        for s in files.iter().filter(|s| !is_root(s)) {
            let own = top(s);
            // `timed/says.rs` is two modules deep, `timed.rs` and `timed/mod.rs` one.
            let depth = s.inside.trim_end_matches("/mod.rs").split('/').count();
            let ups = "super::".repeat(depth);
            for prefix in ["crate::", ups.as_str()] {
                for at in occurrences(&s.code, prefix) {
                    if s.code[..at].ends_with("::") {
                        continue;
                    }
                    let rest = &s.code[at + prefix.len()..];
                    for (offset, name) in heads(rest) {
                        let to = modules.get(name).or_else(|| exports.get(name));
                        if let Some(to) = to.filter(|to| **to != own) {
                            let line = line_of(&s.code, at + prefix.len() + offset);
                            let place = || format!("{}:{line}", s.path);
                            edges.entry((own.clone(), to.clone())).or_insert_with(place);
                        }
                    }
                }
            }
        }
        // Who is reached from whom; two that reach each other are on a cycle.
        let mut reach: BTreeSet<(String, String)> = edges.keys().cloned().collect();
        for k in &modules {
            let into: Vec<String> = reach.iter().filter(|(_, b)| b == k).map(|(a, _)| a.clone()).collect();
            let out: Vec<String> = reach.iter().filter(|(a, _)| a == k).map(|(_, b)| b.clone()).collect();
            into.iter().for_each(|a| out.iter().for_each(|b| _ = reach.insert((a.clone(), b.clone()))));
        }
        for ((a, b), place) in &edges {
            if reach.contains(&(b.clone(), a.clone())) {
                found.push(format!("crates/{folder}: module cycle: `{a}` uses `{b}` ({place})"));
            }
        }
    }
}

/// (c) Long files.
fn lengths(sources: &[Source], found: &mut Vec<String>) {
    for s in sources.iter().filter(|s| s.lines > MAX_LINES) {
        found.push(format!("{}:{}: {} lines; at most {MAX_LINES}", s.path, MAX_LINES + 1, s.lines));
    }
}

/// (d) Who looks at file names, beside the tables of languages.
fn ladders(sources: &[Source], found: &mut Vec<String>) {
    for s in sources {
        let named = |at: &usize| word(&s.code[at + 3..]) == "is_one" && !IS_ONE.iter().any(|(path, _)| s.path == *path);
        for at in occurrences(&s.code, "fn is_one").filter(named) {
            found.push(format!("{}:{}: a function named `is_one`: ask the registry", s.path, line_of(&s.code, at)));
        }
        let allowed = EXTENSIONS.iter().any(|(path, _)| s.path.starts_with(path));
        if s.path.starts_with("crates/trellis/src/formalism") || allowed {
            continue;
        }
        for (at, _) in s.code.match_indices(".extension()") {
            let line = line_of(&s.code, at);
            found.push(format!("{}:{line}: looks at a file's extension; only a `Language` does", s.path));
        }
    }
    for (path, _) in EXTENSIONS {
        let looks = |s: &Source| s.code.contains("xtension()") || s.code.contains("ends_with(");
        if !sources.iter().any(|s| s.path.starts_with(path) && looks(s)) {
            found.push(format!("{path}:1: looks at no extension any more; remove it from EXTENSIONS in tidy.rs"));
        }
    }
}

/// Is there a paper's number (`000` to `004`) in a text, as a word?
fn paper(text: &str) -> Option<usize> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    ["000", "001", "002", "003", "004"].iter().find_map(|n| {
        occurrences(text, n).find(|&at| {
            // `0.001` and `12,000` are numbers.
            let before = text[..at].trim_end_matches(['.', ',']);
            let number = before.len() < at && before.ends_with(|c: char| c.is_ascii_digit());
            !number && !text[at + 3..].starts_with(is_word)
        })
    })
}

/// (e) and (f) README is short; papers are named.
fn words(sources: &[Source], found: &mut Vec<String>) {
    let readme = fs::read_to_string(root().join("README.md")).expect("README.md");
    let count = readme.split_whitespace().count();
    if count > MAX_README_WORDS {
        found.push(format!("README.md:1: {count} words; at most {MAX_README_WORDS}"));
    }
    let topics = fs::read_dir(root().join("crates/trellis-cli/src/topics")).expect("the help's topics");
    let topics = topics.map(|e| e.expect("an entry").path()).map(|path| {
        let name = format!("topics/{}", path.file_name().expect("a name").to_string_lossy());
        (name, fs::read_to_string(path).expect("a topic"))
    });
    for (name, text) in topics.chain([("README.md".to_string(), readme)]) {
        for (n, line) in text.lines().enumerate().filter(|(_, l)| paper(l).is_some()) {
            found.push(format!("{name}:{}: names a paper by a number: {}", n + 1, line.trim()));
        }
    }
    for s in sources {
        // Doc comments of options are help texts: those in the settings, and those right before `#[arg(`.
        let lines: Vec<&str> = s.code.lines().collect();
        let is_help = |line: usize| {
            let next = lines[line..].iter().find(|l| !l.trim().is_empty());
            s.path.starts_with("crates/trellis/src/settings") || next.is_some_and(|l| l.trim().starts_with("#[arg("))
        };
        let docs = s.docs.iter().filter(|(line, _)| is_help(*line));
        for (line, text) in s.strings.iter().chain(docs) {
            if let Some(at) = paper(text) {
                let line = line + text[..at].matches('\n').count();
                found.push(format!("{}:{line}: names a paper by a number in a text for users", s.path));
            }
        }
    }
}

/// (g) Home-made words.
fn names(sources: &[Source], found: &mut Vec<String>) {
    for s in sources {
        for keyword in ["struct ", "enum ", "trait ", "type ", "mod "] {
            for at in occurrences(&s.code, keyword) {
                let name = word(s.code[at + keyword.len()..].trim_start());
                if HOME_MADE.contains(&name.to_lowercase().as_str()) {
                    let line = line_of(&s.code, at);
                    found.push(format!("{}:{line}: `{name}` is a home-made word (DESIGN §7)", s.path));
                }
            }
        }
    }
}

#[test]
fn the_code_base_is_tidy() {
    let sources = sources();
    let mut found = vec![];
    arrows(&mut found);
    cycles(&sources, &mut found);
    lengths(&sources, &mut found);
    ladders(&sources, &mut found);
    words(&sources, &mut found);
    names(&sources, &mut found);
    for (known, who) in PENDING {
        let before = found.len();
        found.retain(|f| !f.starts_with(known));
        if found.len() == before {
            found.push(format!("tidy.rs: PENDING: `{known}` ({who}) is mended: remove the entry"));
        }
    }
    assert!(found.is_empty(), "{} violations:\n{}\n", found.len(), found.join("\n"));
}

/// The eyes of this test see what they should.
#[test]
fn comments_strings_and_tests_are_told_apart() {
    let text = "let a = \"crate::x\"; // crate::y\n/* crate::z\n */ let c = '\"'; let r = r#\"002 §\"#;\n#[cfg(test)]\nmod tests { use crate::q; }\nuse crate::{a::B, c};\n";
    let (code, strings, _) = take_apart(text);
    let code = without_tests(code);
    assert_eq!(code.matches("crate::").count(), 1);
    assert_eq!(strings, [(1, "crate::x".to_string()), (3, "002 §".to_string())]);
    let at = code.find("crate::").expect("a use");
    assert_eq!(line_of(&code, at), 6);
    assert_eq!(heads(&code[at + 7..]).iter().map(|h| h.1).collect::<Vec<_>>(), ["a", "c"]);
    assert!(paper("as in 002 §4").is_some() && paper("(003)").is_some());
    assert!(paper("0.001 s").is_none() && paper("300,000").is_none() && paper("1,000,000").is_none());
}
