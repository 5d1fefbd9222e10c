//! Large numbers, large targets.
