//! What is printed. `println!` and its kin panic when they cannot print; the macros of the same names here, which all of this crate
//! sees, do not. A reader that has gone away (`| head`) is no mistake. Results that are lost for any other reason (a full disk) are:
//! [`lost`] knows, and the process ends with another exit code. What goes to the standard error is notes; nobody depends on it.

use std::fmt::Arguments;
use std::io::{self, ErrorKind, Write};
use std::sync::atomic::{AtomicBool, Ordering};

static LOST: AtomicBool = AtomicBool::new(false);

/// Has something that should be on the standard output been lost?
pub fn lost() -> bool {
    LOST.load(Ordering::Relaxed)
}

/// Writes to the standard output, at once.
pub fn out(text: Arguments<'_>) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_fmt(text).and_then(|()| out.flush()) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => {
            LOST.store(true, Ordering::Relaxed);
            Err(e)
        }
        _ => Ok(()),
    }
}

/// Writes to the standard error.
pub fn err(text: Arguments<'_>) {
    let mut err = io::stderr().lock();
    let _ = err.write_fmt(text).and_then(|()| err.flush());
}

macro_rules! print {
    ($($part:tt)*) => { drop($crate::streams::out(format_args!($($part)*))) };
}

macro_rules! println {
    () => { print!("\n") };
    ($($part:tt)*) => { drop($crate::streams::out(format_args!("{}\n", format_args!($($part)*)))) };
}

macro_rules! eprint {
    ($($part:tt)*) => { $crate::streams::err(format_args!($($part)*)) };
}

macro_rules! eprintln {
    () => { eprint!("\n") };
    ($($part:tt)*) => { $crate::streams::err(format_args!("{}\n", format_args!($($part)*))) };
}
