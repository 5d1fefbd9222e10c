//! Integration tests.

mod smtlib;
