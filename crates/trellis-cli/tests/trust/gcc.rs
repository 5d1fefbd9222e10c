//! What gcc makes of a C program. Of C there is another reader to ask: whatever Trellis reads, gcc must read too, and a change
//! after which Trellis reads the same program must be one after which gcc makes the same code of it.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// Is it installed?
pub fn is_here() -> bool {
    static HERE: OnceLock<bool> = OnceLock::new();
    *HERE.get_or_init(|| Command::new("gcc").arg("--version").stdout(Stdio::null()).status().is_ok_and(|s| s.success()))
}

/// The code of a program, without any optimisation; or the first complaint.
pub fn assembly(path: &Path, text: &str) -> Result<String, String> {
    let mut child = Command::new("gcc")
        .args(["-std=gnu11", "-w", "-O0", "-S", "-x", "c", "-o", "-", "-I"])
        .arg(path.parent().unwrap_or(Path::new(".")))
        .arg("-")
        .env("LC_ALL", "C")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("gcc runs");
    // It reads everything before it writes anything; and what it does not read is not missed.
    let _ = child.stdin.take().expect("a pipe").write_all(text.as_bytes());
    let output = child.wait_with_output().expect("gcc ends");
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => {
            let said = String::from_utf8_lossy(&output.stderr);
            Err(said.lines().find(|l| l.contains("error")).unwrap_or("an error").to_string())
        }
    }
}
