//! A child process, its standard input fed and its output read by threads, so that neither can block us.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::{Meter, Reason};

/// How often cancellation is looked at.
const TICK: Duration = Duration::from_millis(20);
/// How much of what it says to standard error is kept.
const COMPLAINT: u64 = 4096;

/// A child process; dropping it ends it.
pub struct Pipe {
    child: Child,
    to: Sender<String>,
    from: Receiver<String>,
    complaint: Receiver<String>,
    asked: u64,
}

impl Pipe {
    pub fn start(path: &Path, arguments: &[String]) -> Result<Pipe, String> {
        let mut command = Command::new(path);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|e| e.to_string())?;
        let (Some(mut stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err("it has no standard streams".into());
        };
        let (to, commands) = channel::<String>();
        let (lines, from) = channel();
        let (complain, complaint) = channel();
        // Each ends when the child does, or when nobody listens any more.
        thread::spawn(move || {
            for text in commands {
                if stdin.write_all(text.as_bytes()).and_then(|()| stdin.flush()).is_err() {
                    break;
                }
            }
        });
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines() {
                let Ok(line) = line else { break };
                if lines.send(line).is_err() {
                    break;
                }
            }
        });
        thread::spawn(move || {
            let mut text = vec![];
            let mut stderr = stderr;
            let _ = stderr.by_ref().take(COMPLAINT).read_to_end(&mut text);
            let _ = complain.send(String::from_utf8_lossy(&text).trim().to_string());
            let _ = std::io::copy(&mut stderr, &mut std::io::sink());
        });
        Ok(Pipe { child, to, from, complaint, asked: 0 })
    }

    /// Sends commands that print nothing. If the child is gone, the next question finds out.
    pub fn tell(&mut self, text: String) {
        let _ = self.to.send(text);
    }

    /// Sends commands, and waits for all that they print.
    pub fn ask(&mut self, text: &str, limits: &Meter) -> Result<String, Reason> {
        self.asked += 1;
        let mark = format!("trellis!{}", self.asked);
        self.tell(format!("{text}(echo \"{mark}\")\n"));
        let mut said = String::new();
        loop {
            if let Some(reason) = limits.exceeded(0) {
                return Err(reason.into());
            }
            let wait = limits.remaining().map_or(TICK, |left| left.min(TICK));
            match self.from.recv_timeout(wait) {
                Ok(line) if line.trim().trim_matches('"') == mark => return Ok(said),
                Ok(line) => {
                    said.push_str(&line);
                    said.push('\n');
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    let complaint = self.complaint.recv_timeout(TICK).unwrap_or_default();
                    return Err(Reason::Process(format!("it ended: {}", format!("{said}{complaint}").trim())));
                }
            }
        }
    }

    /// All that it prints until it ends by itself.
    pub fn rest(&mut self, until: Instant) -> Result<String, String> {
        let mut said = String::new();
        loop {
            match self.from.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(line) => {
                    said.push_str(&line);
                    said.push('\n');
                }
                Err(RecvTimeoutError::Timeout) => return Err("it takes too long".into()),
                Err(RecvTimeoutError::Disconnected) => {
                    let complaint = self.complaint.recv_timeout(TICK).unwrap_or_default();
                    return Ok(if said.is_empty() { complaint } else { said });
                }
            }
        }
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
