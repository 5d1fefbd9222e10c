//! What is resident of the process, watched by a thread of its own.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

/// How often the system is asked. At a gigabyte a second, which is fast, a process grows by 10 MB in between.
const EVERY: Duration = Duration::from_millis(10);

/// Bytes of the process that are resident, where the system says.
pub fn resident() -> Option<usize> {
    memory_stats::memory_stats().map(|m| m.physical_mem)
}

/// Whether the process holds more than it may. The thread that looks ends when nobody asks any more.
#[derive(Clone)]
pub struct Watch(Arc<AtomicBool>);

impl Watch {
    /// Watches from now on.
    pub fn start(limit: usize) -> Watch {
        let is_over = |limit: usize| resident().is_some_and(|now| now > limit);
        let flag = Arc::new(AtomicBool::new(is_over(limit)));
        let asked: Weak<AtomicBool> = Arc::downgrade(&flag);
        std::thread::spawn(move || {
            while let Some(flag) = asked.upgrade() {
                flag.store(is_over(limit), Ordering::Relaxed);
                drop(flag);
                std::thread::sleep(EVERY);
            }
        });
        Watch(flag)
    }

    /// Is it more, now?
    pub fn is_over(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
