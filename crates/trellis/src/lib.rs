//! Trellis, a model checker, as a library.

#[doc(hidden)]
pub mod binding;
#[doc(hidden)]
pub mod certify;
#[doc(hidden)]
pub mod context;
mod error;
#[doc(hidden)]
pub mod files;
#[doc(hidden)]
pub mod formalism;
#[doc(hidden)]
pub mod options;
#[doc(hidden)]
pub mod pipeline;
#[doc(hidden)]
pub mod settings;
#[doc(hidden)]
pub mod task;
#[doc(hidden)]
pub mod warnings;

pub use error::Error;
