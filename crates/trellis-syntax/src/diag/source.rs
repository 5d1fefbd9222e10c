//! Reads files as text, and says what is wrong when they are none.

use std::path::{Path, PathBuf};

use super::{Diagnostic, Severity, SourceId, Sources, Span};

/// Larger files are refused: spans count in 32 bits, and no model is that large.
pub const MAX_FILE: u64 = 1 << 30;

/// Where a model's files may lie.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Folders {
    /// The folder of the model, which paths in it start from.
    pub folder: PathBuf,
    /// All that it reads must lie below; nothing: the same.
    pub root: Option<PathBuf>,
}

impl Folders {
    /// What models in a folder may read.
    pub fn of(folder: impl Into<PathBuf>) -> Folders {
        Folders { folder: folder.into(), root: None }
    }

    /// The folder of the model; `.` if it has no name.
    pub fn folder(&self) -> &Path {
        if self.folder.as_os_str().is_empty() { Path::new(".") } else { &self.folder }
    }

    /// May the model read this file? What does not exist need not be asked about. Links count for where they lead.
    pub fn has(&self, file: &Path) -> bool {
        let root = self.root.as_deref().unwrap_or(self.folder());
        match (root.canonicalize(), file.canonicalize()) {
            (Ok(root), Ok(file)) => file.starts_with(root),
            (_, file) => file.is_err(),
        }
    }

    /// What is said of a file that the model may not read.
    pub fn refusal(&self, file: &str, at: Span) -> Diagnostic {
        let what = format!("`{}` is not below the folder that the model may read from", super::shorten(file));
        Diagnostic::error(at, what).help("--root DIR names another folder")
    }
}

/// Reads a file as UTF-8.
pub fn read_source(path: &Path) -> Result<String, Diagnostic> {
    decode_source(&path.display().to_string(), read_bytes(path)?)
}

/// Takes bytes as UTF-8; the complaint names the first byte that is not, by offset, line and column.
pub fn decode_source(name: &str, bytes: Vec<u8>) -> Result<String, Diagnostic> {
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let mut diagnostic = not_utf8(error.as_bytes(), at);
        let (line, column) = line_col(&error.as_bytes()[..at]);
        diagnostic.message = format!("{name}:{line}:{column}: {}", diagnostic.message);
        diagnostic
    })
}

/// Reads a file into `sources`; see [`Sources::read`].
pub fn read_into(sources: &mut Sources, path: &Path) -> Result<SourceId, Diagnostic> {
    let name = path.display().to_string();
    match String::from_utf8(read_bytes(path)?) {
        Ok(text) => Ok(sources.add(name, text)),
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            let mut diagnostic = not_utf8(error.as_bytes(), at);
            // What comes before the odd byte keeps its place.
            let source = sources.add(name, String::from_utf8_lossy(error.as_bytes()));
            diagnostic.span = Some(Span { source, start: at as u32, end: at as u32 + 1 });
            Err(diagnostic)
        }
    }
}

fn read_bytes(path: &Path) -> Result<Vec<u8>, Diagnostic> {
    let name = path.display();
    let whole = |message: String| Diagnostic {
        severity: Severity::Error,
        message,
        span: None,
        label: String::new(),
        help: None,
    };
    let size = std::fs::metadata(path).map(|m| m.len());
    if let Ok(size) = size
        && size > MAX_FILE
    {
        return Err(whole(format!("{name}: expected at most {MAX_FILE} bytes, found {size}")));
    }
    std::fs::read(path).map_err(|error| whole(format!("{name}: cannot be read: {error}")))
}

/// Line and column, from 1, of what comes after these bytes, which are UTF-8.
fn line_col(before: &[u8]) -> (usize, usize) {
    let line = before.iter().filter(|b| **b == b'\n').count() + 1;
    let start = before.iter().rposition(|b| *b == b'\n').map_or(0, |i| i + 1);
    // There are as many characters as bytes that do not continue one.
    (line, before[start..].iter().filter(|b| **b & 0xc0 != 0x80).count() + 1)
}

fn not_utf8(bytes: &[u8], at: usize) -> Diagnostic {
    let byte = bytes.get(at).copied().unwrap_or_default();
    let help = match bytes {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => "this looks like UTF-16; save the file as UTF-8",
        _ => "save the file as UTF-8 (is it Latin-1?)",
    };
    Diagnostic {
        severity: Severity::Error,
        message: format!("expected UTF-8 text, found the byte 0x{byte:02x} at offset {at}"),
        span: None,
        label: "not UTF-8".to_string(),
        help: Some(help.to_string()),
    }
}
