//! What stands behind a user's lattice: a language that runs its functions. Lua is one ([`super::vm`]); a program that embeds Trellis may bring
//! another (the Python package brings Python). Whatever it is, [`super::ScriptLattice`] makes a lattice of it, and audits it in the same way.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use trellis_order::{Method, Word};

use super::StateView;
use super::error::ScriptError;

/// What a user's lattice declares.
#[derive(Debug, Clone, Default)]
pub struct Declared {
    /// The value of a variable that the model does not set: as many words as every element has.
    pub initial: Box<[Word]>,
    /// The least element, if there is one; otherwise one is added below all others, which the functions never see.
    pub bottom: Option<Box<[Word]>>,
    /// The greatest element, if there is a meet.
    pub top: Option<Box<[Word]>>,
    /// How many bits `x[i]` can name; then the methods number 0 and 1 are `get` and `set`.
    pub bits: Option<usize>,
    /// The methods; whether a query answers truth values is found out by asking.
    pub methods: Vec<Method>,
    /// Names for integers.
    pub names: Vec<String>,
}

/// Runs the functions of one user's lattice, of one size. Its functions depend on nothing but their arguments.
pub trait Engine: Send + Sync {
    /// What it declares.
    fn declared(&self) -> Declared;
    /// `a ⊑ b`
    fn leq(&self, a: &[Word], b: &[Word]) -> Result<bool, ScriptError>;
    /// `a := a ⊔ b`
    fn join(&self, a: &mut [Word], b: &[Word]) -> Result<(), ScriptError>;
    /// `a := a ⊓ b`, for a lattice that has a top.
    fn meet(&self, a: &mut [Word], b: &[Word]) -> Result<(), ScriptError>;
    /// The answer of a query, and whether it was a truth value.
    fn query(&self, method: usize, elem: &[Word], args: &[i64]) -> Result<(i64, bool), ScriptError>;
    /// Changes an element; if that fails, it is as it was.
    fn update(&self, method: usize, elem: &mut [Word], args: &[i64]) -> Result<(), ScriptError>;
    /// The user's own way of writing an element, if there is one.
    fn show(&self, elem: &[Word]) -> Result<Option<String>, ScriptError>;
    /// An element, part by part.
    fn show_parts(&self, elem: &[Word], f: &mut fmt::Formatter<'_>) -> fmt::Result;
    /// An element drawn by the user's own sampler; answers whether there is one.
    fn sample(&self, seed: u64, out: &mut [Word]) -> Result<bool, ScriptError>;
}

/// A user's lattice in another language than Lua: what a model means by its name.
pub trait Class: Send + Sync + fmt::Debug {
    /// Where it is written, for messages.
    fn file(&self) -> &str;
    /// The text that it is written in: evidence is bound to it.
    fn text(&self) -> &str;
    /// The lattice of a size.
    fn engine(&self, size: usize) -> Result<Box<dyn Engine>, ScriptError>;
}

/// A joining strategy in another language than Lua.
pub trait JoinRule: Send + Sync + fmt::Debug {
    /// Where it is written: evidence is bound to it.
    fn file(&self) -> &str;
    /// The text that it is written in.
    fn text(&self) -> &str;
    /// May these two states be joined?
    fn accepts(&self, x: &dyn StateView, y: &dyn StateView) -> Result<bool, ScriptError>;
}

/// What a user brings along in another language than Lua.
#[derive(Clone, Debug, Default)]
pub struct Brought {
    /// Lattices, by the names that models have for them. They go before those of the library, and before Lua's.
    pub classes: Vec<(String, Arc<dyn Class>)>,
    /// When to join.
    pub join: Option<Arc<dyn JoinRule>>,
}

impl Brought {
    /// The lattice of that name.
    pub fn class(&self, name: &str) -> Option<&Arc<dyn Class>> {
        self.classes.iter().find(|(n, _)| n == name).map(|(_, class)| class)
    }
}

/// The name of a lattice that is written in a file.
pub(super) fn name_of(file: &str, size: usize) -> String {
    let mut name = Path::new(file).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    if size != 1 {
        name += &format!("({size})");
    }
    name
}
