//! Transition systems, XSTS and STS: the public models and their verdicts, random models beside a reference of their own, what is
//! refused, and how large things become.

mod damaged;
mod generator;
mod growth;
mod models;
mod random;
mod reference;
mod refused;
mod run;
mod sts;
mod sts_random;
