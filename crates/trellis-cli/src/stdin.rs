//! A model on the standard input: `trellis check -`. Its language is told by a look at it.

use std::io::Read;
use std::path::PathBuf;

use trellis::{Error, registry};

/// A model that was read from the standard input, kept as long as it is needed.
pub struct Kept {
    /// Where it is.
    pub path: PathBuf,
    _folder: tempfile::TempDir,
}

/// Reads it.
pub fn read() -> Result<Kept, Error> {
    let unreadable = |e: std::io::Error| Error::Input(format!("error: standard input: {e}"));
    let mut text = Vec::new();
    std::io::stdin().lock().read_to_end(&mut text).map_err(unreadable)?;
    let language = registry::sniffed(&String::from_utf8_lossy(&text)).ok_or_else(|| {
        Error::Usage("cannot tell the language of the standard input; write it to a file whose name says it".into())
    })?;
    let folder = tempfile::tempdir().map_err(unreadable)?;
    let path = folder.path().join(format!("stdin.{}", language.extensions[0]));
    std::fs::write(&path, &text).map_err(unreadable)?;
    Ok(Kept { path, _folder: folder })
}
