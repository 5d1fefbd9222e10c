//! Lattices and joining strategies in Python: where they come from. The library itself runs no Python; the Python package does, and says here how
//! a file is loaded.

use std::path::Path;
use std::sync::OnceLock;

use trellis_domain::script::Brought;

use crate::Error;
use crate::settings::Model;

/// Loads a file.
pub type Loader = Box<dyn Fn(&Path) -> Result<Brought, Error> + Send + Sync>;

static LOADER: OnceLock<Loader> = OnceLock::new();

/// Whoever can run Python says so, once.
pub fn loaded_by(loader: Loader) {
    _ = LOADER.set(loader);
}

/// Can Python be run here?
pub fn is_here() -> bool {
    LOADER.get().is_some()
}

impl Model {
    /// What the user has brought along: from the file that `--python` names, and by way of the library.
    pub fn brought(&self) -> Result<Brought, Error> {
        let mut all = self.brought.clone();
        if let Some(file) = &self.python {
            let Some(loader) = LOADER.get() else {
                return Err(Error::Usage(
                    "--python needs the Python package: pip install trellis-mc, then python3 -m trellis_mc check …"
                        .into(),
                ));
            };
            let more = loader(file)?;
            all.classes.extend(more.classes);
            all.join = all.join.or(more.join);
        }
        Ok(all)
    }
}
