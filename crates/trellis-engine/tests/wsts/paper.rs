//! What the paper says.
