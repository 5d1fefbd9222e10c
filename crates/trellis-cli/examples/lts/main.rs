//! A formalism of one's own, whole: labelled transition systems, `.lts`. With it, the program is `trellis` in everything else.
//!
//! `cargo run -p trellis-cli --example lts -- check models/lts/coffee.lts`

mod formalism;
mod model;
mod parse;

fn main() -> std::process::ExitCode {
    trellis::registry::add(&formalism::Systems);
    trellis_cli::run()
}
