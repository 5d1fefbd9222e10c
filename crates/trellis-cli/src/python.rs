//! `--python FILE`: this program runs no Python itself. Where the Python package is installed, that is asked to do the same: it is this program
//! again, in a process that can.

use std::ffi::OsString;
use std::process::{Command, ExitCode};

use crate::exit;

/// Runs the same command line by way of the Python package, if it needs Python and this process has none.
pub fn instead(args: &[OsString]) -> Option<ExitCode> {
    let given = |a: &OsString| a.to_string_lossy() == "--python" || a.to_string_lossy().starts_with("--python=");
    let options = args.iter().skip(1).take_while(|a| *a != "--");
    if trellis::python::is_here() || !options.into_iter().any(given) {
        return None;
    }
    let python = std::env::var_os("TRELLIS_PYTHON").unwrap_or_else(|| "python3".into());
    let mut there = Command::new(&python);
    if !there.args(["-c", "import trellis_mc"]).output().is_ok_and(|o| o.status.success()) {
        eprintln!(
            "error: --python needs the Python package: pip install trellis-mc\n  ({} cannot import it; \
             TRELLIS_PYTHON names another interpreter)",
            python.to_string_lossy()
        );
        return Some(ExitCode::from(exit::INPUT));
    }
    let ran = Command::new(&python).args(["-m", "trellis_mc"]).args(&args[1..]).status();
    Some(match ran.map(|status| status.code()) {
        Ok(code) => ExitCode::from(code.and_then(|c| u8::try_from(c).ok()).unwrap_or(exit::INTERNAL)),
        Err(e) => {
            eprintln!("error: cannot start {}: {e}", python.to_string_lossy());
            ExitCode::from(exit::INTERNAL)
        }
    })
}
