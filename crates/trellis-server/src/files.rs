//! The files that may be read: those that were named, models beside them, and the examples that come with the program. Requests say names of
//! this list; a path never comes from outside.
//!
//! A text that is being edited is a file, too: for as long as it is looked at, it lies in a folder of its own, with links to what stood beside
//! the file that it comes from.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tempfile::TempDir;
use trellis::registry;

use crate::examples::EXAMPLES;

/// Models of more than this are not read.
pub const MAX_MODEL: u64 = 16 << 20;
/// So many files are listed, in folders so deep.
const MAX_FILES: usize = 2000;
const MAX_DEPTH: usize = 5;

/// A model that somebody asks about: by name, perhaps with another text than on disk.
#[derive(Deserialize, Clone, Hash, PartialEq, Eq)]
pub struct Source {
    /// Its name in the list; of a text that is not in it, any name.
    pub name: String,
    /// The text, if it is not the file's.
    #[serde(default)]
    pub text: Option<String>,
}

/// A file in the list.
#[derive(Serialize)]
pub struct Listed {
    name: String,
    /// What an example is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    about: Option<&'static str>,
    /// What is asked of it beside its own questions, as options of `trellis check`.
    ask: Vec<String>,
    /// The language, in words.
    language: &'static str,
    /// Was it named on the command line?
    given: bool,
}

/// A file to be read; gone with its folder if it has one of its own.
pub struct Opened {
    pub path: PathBuf,
    /// What messages should say instead of the path.
    pub name: String,
    own: Option<TempDir>,
}

impl Opened {
    /// A text that speaks of the file, with the name that people know.
    pub fn plain(&self, text: &str) -> String {
        match &self.own {
            Some(_) => text.replace(&*self.path.to_string_lossy(), &self.name),
            None => text.into(),
        }
    }
}

/// All files.
pub struct Files {
    given: Vec<PathBuf>,
    ask: Vec<String>,
    examples: TempDir,
}

impl Files {
    /// These files and folders, with what is asked of them, and the examples.
    pub fn open(given: &[PathBuf], ask: &[String]) -> Result<Files, String> {
        for path in given {
            std::fs::metadata(path).map_err(|e| format!("{}: {e}", path.display()))?;
        }
        let examples = tempfile::tempdir().map_err(|e| format!("no folder for the examples: {e}"))?;
        for (name, text) in EXAMPLES.iter().flat_map(|e| e.files) {
            let path = examples.path().join(name);
            std::fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))?;
        }
        Ok(Files { given: given.to_vec(), ask: ask.to_vec(), examples })
    }

    /// Names and paths: first what was named, then what lies beside it, then the examples.
    fn all(&self) -> BTreeMap<(u8, String), PathBuf> {
        let mut all = BTreeMap::new();
        let name = |path: &Path| path.display().to_string();
        for path in self.given.iter().filter(|p| p.is_file()) {
            all.insert((0, name(path)), path.clone());
        }
        for path in &self.given {
            let folder = if path.is_dir() { Some(path.as_path()) } else { path.parent() };
            let depth = if path.is_dir() { MAX_DEPTH } else { 0 };
            let mut found = vec![];
            walk(folder.filter(|f| *f != Path::new("")).unwrap_or(Path::new(".")), depth, &mut found);
            for path in found {
                let path = path.strip_prefix("./").map(Path::to_path_buf).unwrap_or(path);
                let known = all.contains_key(&(0, name(&path)));
                if !known {
                    all.insert((1, name(&path)), path);
                }
            }
        }
        for example in EXAMPLES {
            let file = example.files[0].0;
            all.insert((2, format!("examples/{file}")), self.examples.path().join(file));
        }
        all
    }

    /// The list.
    pub fn list(&self) -> Vec<Listed> {
        let listed = |((rank, name), path): ((u8, String), PathBuf)| {
            let file = name.strip_prefix("examples/").filter(|_| rank == 2);
            let example = EXAMPLES.iter().find(|e| Some(e.files[0].0) == file);
            let ask = match rank {
                0 => self.ask.clone(),
                _ => example.iter().flat_map(|e| e.ask).map(|o| o.to_string()).collect(),
            };
            let language = registry::by_name(&path)?.title;
            Some(Listed { about: example.map(|e| e.about), ask, language, given: rank == 0, name })
        };
        self.all().into_iter().filter_map(listed).collect()
    }

    /// The path of a name.
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        let all = self.all();
        (0..3).find_map(|rank| all.get(&(rank, name.to_string())).cloned())
    }

    /// A model to be read.
    pub fn find(&self, source: &Source) -> Result<Opened, String> {
        let path = self.path(&source.name);
        let name = source.name.clone();
        let Some(text) = &source.text else {
            let path = path.ok_or_else(|| format!("there is no file `{name}` here"))?;
            let size = std::fs::metadata(&path).map_err(|e| format!("{name}: {e}"))?.len();
            if size > MAX_MODEL {
                return Err(format!("{name}: {size} bytes are too many"));
            }
            // Examples lie where nobody knows.
            return Ok(Opened { path, name, own: None });
        };
        let file = Path::new(&name).file_name().ok_or_else(|| format!("`{name}` names no file"))?;
        let failed = |e: std::io::Error| format!("{name}: {e}");
        let own = tempfile::tempdir().map_err(failed)?;
        if let Some(folder) = path.as_deref().and_then(Path::parent) {
            beside(folder, own.path());
        }
        let path = own.path().join(file);
        let _ = std::fs::remove_file(&path);
        std::fs::write(&path, text).map_err(failed)?;
        Ok(Opened { path, name, own: Some(own) })
    }

    /// Is a value of an option a file that it may not name?
    pub fn is_foreign(&self, value: &str) -> bool {
        let Ok(path) = Path::new(value).canonicalize() else { return false };
        let real = |p: &PathBuf| p.canonicalize().ok();
        let folders = self.given.iter().filter_map(real).filter_map(|p| match p.is_dir() {
            true => Some(p),
            false => p.parent().map(Path::to_path_buf),
        });
        !folders.chain(real(&self.examples.path().to_path_buf())).any(|folder| path.starts_with(folder))
    }
}

/// Models below a folder.
fn walk(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.filter_map(|e| e.ok()).map(|e| e.path()).collect();
    paths.sort();
    for path in paths {
        let hidden = path.file_name().is_some_and(|n| n.to_string_lossy().starts_with('.'));
        // A link could lead anywhere.
        let Ok(kind) = std::fs::symlink_metadata(&path).map(|m| m.file_type()) else { continue };
        if hidden || kind.is_symlink() || found.len() >= MAX_FILES {
            continue;
        }
        if kind.is_file() && registry::by_name(&path).is_some() {
            found.push(path);
        } else if kind.is_dir() && depth > 0 {
            walk(&path, depth - 1, found);
        }
    }
}

/// Makes the small files of a folder known in another, as far as that works.
fn beside(folder: &Path, own: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.filter_map(|e| e.ok()).take(500) {
        let is_file = entry.file_type().is_ok_and(|t| t.is_file());
        if is_file && let Ok(from) = entry.path().canonicalize() {
            let to = own.join(entry.file_name());
            #[cfg(unix)]
            let _ = std::os::unix::fs::symlink(from, to);
            #[cfg(not(unix))]
            let _ = std::fs::copy(from, to);
        }
    }
}
