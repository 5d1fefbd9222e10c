//! Who watches over commands that do not end in time. Commands ask now and then whether they may go on; but a single operation on
//! diagrams can take long and cannot be interrupted. Then the whole process ends, and says why.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use trellis_model::evidence::Reason;

use crate::{exit, print};

/// How much later than asked a command may end by itself.
const GRACE: Duration = Duration::from_secs(2);

/// How often it is looked at.
const EVERY: Duration = Duration::from_millis(100);

/// What is running, and since when.
type Running = Option<(String, Instant)>;

/// The watch.
#[derive(Clone, Default)]
pub struct Watch(Arc<Mutex<Running>>);

impl Watch {
    /// Starts to watch: how long a command may take, and whether the user has had enough.
    pub fn new(timeout: Option<Duration>, cancelled: Arc<AtomicBool>) -> Watch {
        let watch = Watch::default();
        let seen = watch.clone();
        std::thread::spawn(move || {
            let mut since: Option<Instant> = None;
            loop {
                std::thread::sleep(EVERY);
                let running = seen.running().clone();
                since = if cancelled.load(Ordering::Relaxed) { since.or(Some(Instant::now())) } else { None };
                let Some((what, started)) = running else { continue };
                let late = timeout.is_some_and(|t| started.elapsed() > t.saturating_add(GRACE));
                let (why, code) = match since {
                    _ if late => (Reason::Time, exit::UNDECIDED),
                    Some(since) if since.max(started).elapsed() > GRACE => (Reason::Interrupted, exit::INTERRUPTED),
                    _ => continue,
                };
                let _ = print(&format!("{what}: UNKNOWN: {why}; what comes after it is not run"));
                std::process::exit(code.into());
            }
        });
        watch
    }

    fn running(&self) -> MutexGuard<'_, Running> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Something starts.
    pub fn begin(&self, what: &str) {
        *self.running() = Some((what.into(), Instant::now()));
    }

    /// It has ended.
    pub fn end(&self) {
        *self.running() = None;
    }
}
