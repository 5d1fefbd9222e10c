//! Files that are written: whole, or not at all. What is written goes to a temporary file in the same folder, which is synced and then
//! takes the name: whoever opens the name finds what was there before or all of what is there now, even if the disk is full or the
//! process is killed. What is no regular file (`/dev/stdout`, a pipe) is written as it is.

use std::fs::{self, File, Permissions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::Error;

/// Writes a file by way of a function.
pub fn write_with(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Error> {
    replace(path, write).map_err(|e| Error::Output(format!("cannot write {}: {e}", path.display())))
}

/// Writes a text to a file.
pub fn write_file(path: &Path, text: &str) -> Result<(), Error> {
    write_with(path, |out| out.write_all(text.as_bytes()))
}

/// Makes a folder, and those above it.
pub fn make_folder(folder: &Path) -> Result<(), Error> {
    fs::create_dir_all(folder).map_err(|e| Error::Output(format!("cannot make {}: {e}", folder.display())))
}

fn replace(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    // Through symbolic links, so that they stay what they are.
    let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let old = fs::metadata(path).ok();
    if old.as_ref().is_some_and(|m| !m.is_file()) {
        let mut out = BufWriter::new(File::options().write(true).open(path)?);
        return match write(&mut out).and_then(|()| out.flush()) {
            // As with the standard output: the reader has gone away.
            Err(e) if e.kind() == io::ErrorKind::BrokenPipe => {
                drop(out.into_parts());
                Ok(())
            }
            done => done,
        };
    }
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_path_buf(),
        _ => PathBuf::from("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".trellis-").suffix(".tmp");
    if let Some(permissions) = old.map(|m| m.permissions()).or_else(usual) {
        builder.permissions(permissions);
    }
    let mut out = BufWriter::new(builder.tempfile_in(&folder)?);
    write(&mut out)?;
    let file = out.into_inner().map_err(|e| e.into_error())?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|e| e.error)?;
    // The name is on the disk when the folder is; not every system can say so.
    let _ = File::open(&folder).and_then(|folder| folder.sync_all());
    Ok(())
}

/// What a new file may be used for, unless the user's mask says otherwise: temporary files are their owner's alone.
#[cfg(unix)]
fn usual() -> Option<Permissions> {
    use std::os::unix::fs::PermissionsExt;
    Some(Permissions::from_mode(0o666))
}

#[cfg(not(unix))]
fn usual() -> Option<Permissions> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(path: &Path) -> String {
        fs::read_to_string(path).expect("readable")
    }

    #[test]
    fn a_failed_write_leaves_the_old_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("evidence.json");
        assert!(write_file(&path, "old").is_ok());
        let failed = write_with(&path, |out| {
            out.write_all(&[b'x'; 100_000])?;
            Err(io::Error::other("the disk is full"))
        });
        assert!(matches!(failed, Err(Error::Output(why)) if why.contains("the disk is full")));
        assert_eq!(content(&path), "old");
        let left: Vec<_> = fs::read_dir(folder.path()).expect("a folder").collect();
        assert_eq!(left.len(), 1, "{left:?}");
        assert!(write_file(&path, "new").is_ok());
        assert_eq!(content(&path), "new");
    }

    #[cfg(unix)]
    #[test]
    fn links_and_permissions_stay() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a folder");
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        assert!(write_file(&file, "old").is_ok());
        fs::set_permissions(&file, Permissions::from_mode(0o640)).expect("permissions");
        std::os::unix::fs::symlink(&file, &link).expect("a link");
        assert!(write_file(&link, "new").is_ok());
        assert_eq!(content(&file), "new");
        assert!(fs::symlink_metadata(&link).expect("a link").is_symlink());
        assert_eq!(fs::metadata(&file).expect("a file").permissions().mode() & 0o777, 0o640);
        assert!(write_file(Path::new("/dev/null"), "nothing").is_ok());
    }
}
