//! Trellis as a process: its exit code, what it says, and whether it ends.

use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Longer than anything here takes, on a machine that has other things to do as well.
const PATIENCE: Duration = Duration::from_secs(60);

/// What it answered.
#[derive(Debug, Clone)]
pub struct Answer {
    /// Nothing if it was killed, or did not end.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Answer {
    /// What no input may lead to: a panic, an internal error, no end.
    pub fn broken(&self) -> Option<String> {
        let said = self.stderr.contains("panicked") || self.stderr.contains("internal error");
        match self.code {
            Some(0 | 2 | 10 | 20) if !said => None,
            Some(code) => {
                Some(format!("exit code {code}: {}", self.stderr.lines().take(6).collect::<Vec<_>>().join("\n")))
            }
            None => Some(format!("no end within {PATIENCE:?}, or killed")),
        }
    }
}

/// Runs Trellis in a folder; `TRELLIS_BINARY` is another one than the one just built.
pub fn trellis<S: AsRef<str>>(folder: &Path, args: &[S]) -> Answer {
    let binary = std::env::var("TRELLIS_BINARY").unwrap_or(env!("CARGO_BIN_EXE_trellis").into());
    let mut child = Command::new(binary)
        .args(args.iter().map(S::as_ref))
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let (mut out, mut err) = (child.stdout.take().expect("a pipe"), child.stderr.take().expect("a pipe"));
    std::thread::scope(|scope| {
        let all = |pipe: &mut dyn Read| {
            let mut bytes = vec![];
            let _ = pipe.read_to_end(&mut bytes);
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let out = scope.spawn(move || all(&mut out));
        let err = scope.spawn(move || all(&mut err));
        let started = Instant::now();
        let mut pause = Duration::from_millis(1);
        let code = loop {
            match child.try_wait().expect("a child to wait for") {
                Some(status) => break status.code(),
                None if started.elapsed() > PATIENCE => {
                    let _ = child.kill();
                    let _ = child.wait();
                    break None;
                }
                None => std::thread::sleep(pause),
            }
            pause = (pause * 2).min(Duration::from_millis(20));
        };
        Answer { code, stdout: out.join().expect("a reader"), stderr: err.join().expect("a reader") }
    })
}
