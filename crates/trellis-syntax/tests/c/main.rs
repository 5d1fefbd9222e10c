//! C programs: what they become, beside what gcc makes of them.

mod gcc;
mod models;
mod pointers;
mod programs;
mod random;
mod refused;
mod run;
mod sanitizers;
mod semantics;
mod undefined;
