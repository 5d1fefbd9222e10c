//! The program `trellis`: see the library beside it.

use std::process::ExitCode;

fn main() -> ExitCode {
    trellis_cli::run()
}
