//! Reports in every form, on networks built from text.

mod counters;
mod documents;
mod junk;
mod ltl;
mod nodes;
mod pictures;
mod programs;
mod round_trip;
mod steps;
mod texts;
mod timed;
mod validate;
mod world;
