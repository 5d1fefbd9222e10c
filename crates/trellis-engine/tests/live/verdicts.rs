//! Small models whose answers are known.
