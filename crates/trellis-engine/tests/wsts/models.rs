//! Protocols and nets.
