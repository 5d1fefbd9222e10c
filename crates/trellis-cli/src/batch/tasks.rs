//! What a batch checks: models by name or pattern, lists, suites in TOML.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use sha2::{Digest, Sha256};
use trellis::{Error, registry};

/// A model, and how it is checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    pub model: PathBuf,
    pub options: Vec<String>,
    /// The verdict that is expected of every property, if one is.
    pub expect: Option<String>,
}

/// A suite: `[[task]]` tables with `model` (a name or a pattern), `options` and `expect`, which are relative to the file, and options for all.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Suite {
    #[serde(default)]
    options: Vec<String>,
    task: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    model: String,
    #[serde(default)]
    options: Vec<String>,
    expect: Option<String>,
}

/// All tasks, in the order in which they are named.
pub fn list(what: &[String]) -> Result<Vec<Task>, Error> {
    let mut all = vec![];
    for word in what {
        let path = Path::new(word);
        let folder = path.parent().unwrap_or(Path::new(""));
        match () {
            () if word.ends_with(".toml") => all.extend(suite(path, folder)?),
            () if word.ends_with(".list") => all.extend(lines(path, folder)?),
            // TChecker's models are called .txt, too.
            () if word.ends_with(".txt") && path.is_file() && !is_model(path) => all.extend(lines(path, folder)?),
            () => all.extend(matching(word)?.into_iter().map(|model| Task { model, options: vec![], expect: None })),
        }
    }
    Ok(all)
}

fn is_model(path: &Path) -> bool {
    registry::of(path).is_ok()
}

fn read(path: &Path) -> Result<String, Error> {
    fs::read_to_string(path).map_err(|e| Error::Input(format!("error: {}: cannot be read: {e}", path.display())))
}

fn suite(path: &Path, folder: &Path) -> Result<Vec<Task>, Error> {
    let suite: Suite = toml::from_str(&read(path)?)
        .map_err(|e| Error::Input(format!("error: {}: this is no suite: {e}", path.display())))?;
    let mut all = vec![];
    for entry in suite.task {
        let options: Vec<String> = suite.options.iter().chain(&entry.options).cloned().collect();
        let models = matching(&folder.join(&entry.model).to_string_lossy())?;
        all.extend(models.into_iter().map(|model| Task {
            model,
            options: options.clone(),
            expect: entry.expect.clone(),
        }));
    }
    Ok(all)
}

/// A list: on each line a model and its options, as in a shell; `#` begins a comment.
fn lines(path: &Path, folder: &Path) -> Result<Vec<Task>, Error> {
    let mut all = vec![];
    for (n, line) in read(path)?.lines().enumerate() {
        let wrong = || Error::Input(format!("error: {}:{}: a quote is not closed", path.display(), n + 1));
        let mut words = shlex::split(line).ok_or_else(wrong)?.into_iter();
        let Some(model) = words.next() else { continue };
        let options: Vec<String> = words.collect();
        let models = matching(&folder.join(model).to_string_lossy())?;
        all.extend(models.into_iter().map(|model| Task { model, options: options.clone(), expect: None }));
    }
    Ok(all)
}

/// The files that a pattern means, in order; a plain name means itself. A pattern that means nothing is a mistake.
fn matching(pattern: &str) -> Result<Vec<PathBuf>, Error> {
    if Path::new(pattern).is_file() || !pattern.contains(['*', '?', '[']) {
        return Ok(vec![pattern.into()]);
    }
    let found = glob::glob(pattern).map_err(|e| Error::Usage(format!("`{pattern}`: {e}")))?;
    // A pattern such as models/** also means tables and notes; only models count.
    let models: Vec<PathBuf> = found.flatten().filter(|path| path.is_file() && is_model(path)).collect();
    if models.is_empty() {
        return Err(Error::Usage(format!("`{pattern}`: there is no such model")));
    }
    Ok(models)
}

impl Task {
    /// What a result depends on: this version, the options, the model, files that options name, and what the model may be made of: files beside it
    /// that have its stem (queries), and those that are named in it (`#include`, scripts, imports), and in these again.
    pub fn key(&self, common: &[String]) -> String {
        let mut hash = Sha256::new();
        let mut add = |bytes: &[u8]| {
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        };
        add(env!("CARGO_PKG_VERSION").as_bytes());
        self.options.iter().chain(common).for_each(|o| add(o.as_bytes()));
        for file in self.files() {
            add(&fs::read(file).unwrap_or_default());
        }
        hash.finalize().iter().map(|b| format!("{b:02x}")).collect()
    }

    fn files(&self) -> BTreeSet<PathBuf> {
        let folder = match self.model.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        let beside: Vec<PathBuf> =
            fs::read_dir(folder).map_or_else(|_| vec![], |all| all.flatten().map(|e| e.path()).collect());
        let mut all = BTreeSet::from([self.model.clone()]);
        all.extend(self.options.iter().map(PathBuf::from).filter(|p| p.is_file()));
        all.extend(beside.iter().filter(|p| p.is_file() && p.file_stem() == self.model.file_stem()).cloned());
        let mut todo: Vec<PathBuf> = all.iter().cloned().collect();
        while let Some(file) = todo.pop() {
            let text = fs::read(&file).unwrap_or_default();
            let text = String::from_utf8_lossy(&text);
            for other in &beside {
                let name = other.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
                if text.contains(&name) && other.is_file() && all.insert(other.clone()) {
                    todo.push(other.clone());
                }
            }
        }
        all
    }
}
