//! What random models found, by name.
