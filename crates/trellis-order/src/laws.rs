//! The law suite.
