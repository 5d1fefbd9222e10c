//! What the process holds of memory, watched by a thread of its own.
//!
//! There are two limits: what is resident must not be more than somebody has said; and where the system gives only so much address space
//! (`ulimit -v`), the process must stop before it asks for more than that, for then it would be ended without a word.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

/// How often the system is asked. At a gigabyte a second, which is fast, a process grows by 10 MB in between.
const EVERY: Duration = Duration::from_millis(10);

/// Bytes of the process that are resident, where the system says.
pub fn resident() -> Option<usize> {
    memory_stats::memory_stats().map(|m| m.physical_mem)
}

/// The address space that the system gives the process, if it is limited.
pub fn address_space() -> Option<usize> {
    static LIMIT: OnceLock<Option<usize>> = OnceLock::new();
    *LIMIT.get_or_init(|| soft_limit(&std::fs::read_to_string("/proc/self/limits").ok()?))
}

/// `Max address space         409600000            unlimited            bytes`
fn soft_limit(limits: &str) -> Option<usize> {
    let line = limits.lines().find_map(|l| l.strip_prefix("Max address space"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Does the process hold more than it may: of memory (if somebody has said how much), or nearly all of its address space?
pub fn is_over(limit: Option<usize>) -> bool {
    let space = address_space();
    if limit.is_none() && space.is_none() {
        return false;
    }
    // What those who stop still need, and tables that are about to grow.
    let nearly = |all: usize| all - (all / 8).max(16 << 20).min(all / 2);
    let over = |m: memory_stats::MemoryStats| {
        limit.is_some_and(|limit| m.physical_mem > limit) || space.is_some_and(|s| m.virtual_mem > nearly(s))
    };
    memory_stats::memory_stats().is_some_and(over)
}

/// Whether the process holds more than it may. The thread that looks ends when nobody asks any more.
#[derive(Clone)]
pub struct Watch(Arc<AtomicBool>);

impl Watch {
    /// Watches from now on; nothing if nothing is limited.
    pub fn start(limit: Option<usize>) -> Option<Watch> {
        if limit.is_none() && address_space().is_none() {
            return None;
        }
        let flag = Arc::new(AtomicBool::new(is_over(limit)));
        let asked: Weak<AtomicBool> = Arc::downgrade(&flag);
        let look = move || {
            while let Some(flag) = asked.upgrade() {
                flag.store(is_over(limit), Ordering::Relaxed);
                drop(flag);
                std::thread::sleep(EVERY);
            }
        };
        // It needs next to no stack. A system that starts no thread has no memory for one.
        match std::thread::Builder::new().name("memory".into()).stack_size(128 << 10).spawn(look) {
            Ok(_) => {}
            Err(_) => flag.store(true, Ordering::Relaxed),
        }
        Some(Watch(flag))
    }

    /// Is it more, now?
    pub fn is_over(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::soft_limit;

    #[test]
    fn limits_are_read_as_the_system_writes_them() {
        let limits = |value: &str| {
            format!(
                "Limit                     Soft Limit           Hard Limit           Units     \n\
                 Max cpu time              unlimited            unlimited            seconds   \n\
                 Max address space         {value}            unlimited            bytes     \n"
            )
        };
        assert_eq!(soft_limit(&limits("409600000")), Some(409_600_000));
        assert_eq!(soft_limit(&limits("unlimited")), None);
        assert_eq!(soft_limit(""), None);
    }
}
