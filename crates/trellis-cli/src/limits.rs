//! The limits of the command line, and progress on the terminal.
//!
//! There is one deadline, counted from the start of the process: reading, translating, searching, checking and writing all come out of it. Whoever
//! loops asks a [`Meter`]; some phases cannot (a parser, a preprocessor, an operation on decision diagrams), so a *watch* stands behind them: it
//! waits a little longer than the limit, says UNKNOWN with the reason for the question that is being worked on, and ends the process.

use std::any::Any;
use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use trellis::context::{Context, Listener};
use trellis_meter::{Board, Progress, StopReason, is_over, resident};

use crate::exit;

/// How long the watch leaves those that stop by themselves to do so.
const GRACE: Duration = Duration::from_millis(600);
/// How often the watch looks.
const LOOK: Duration = Duration::from_millis(20);
/// How often progress is shown.
const SHOW: Duration = Duration::from_millis(200);

static STARTED: OnceLock<Instant> = OnceLock::new();

/// The process starts now.
pub fn start() {
    started();
}

fn started() -> Instant {
    *STARTED.get_or_init(Instant::now)
}

/// A flag that an interrupt raises: Ctrl-C, or the request to end that `timeout`, batch systems and containers send (SIGTERM).
pub fn interrupts() -> Arc<AtomicBool> {
    static CANCELLED: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    let cancelled = CANCELLED.get_or_init(|| {
        let cancelled = Arc::new(AtomicBool::new(false));
        let flag = cancelled.clone();
        // Without a handler an interrupt simply ends the process; that is bearable.
        let _ = ctrlc::set_handler(move || flag.store(true, Ordering::Relaxed));
        cancelled
    });
    cancelled.clone()
}

/// The command line as the one who asks; with progress, if that is wanted and the standard error is a terminal; and
/// with nothing but reports on the standard output, if these are JSON.
pub fn context(progress: bool, json: bool) -> Context {
    let listener = Arc::new(Console { progress: progress && std::io::stderr().is_terminal(), json });
    Context { started: started(), cancelled: interrupts(), listener, ..Context::default() }
}

/// The same, with coloured diagnostics or without.
pub fn colored(color: bool) -> Context {
    Context { color, ..context(false, false) }
}

/// Notes go to the standard error.
struct Console {
    progress: bool,
    json: bool,
}

impl Listener for Console {
    fn note(&self, text: &str) {
        eprint!("{text}");
    }

    fn found(&self, text: &str) {
        match self.json {
            true => eprint!("{text}"),
            // What cannot be printed is remembered ([`crate::streams`]).
            false => _ = crate::print(text),
        }
    }

    fn working(&self, question: &str, board: &Board) -> Option<Box<dyn Any>> {
        at_work(Some(question.into()));
        self.progress.then(|| Box::new(Shown::start(question, board.clone())) as Box<dyn Any>)
    }
}

/// The question that is being worked on.
static AT_WORK: Mutex<Option<String>> = Mutex::new(None);

fn at_work(query: Option<String>) {
    *AT_WORK.lock().unwrap_or_else(PoisonError::into_inner) = query;
}

/// Progress on the terminal: a line for each runner, until it is dropped.
struct Shown {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Shown {
    fn start(query: &str, board: Board) -> Shown {
        let stop = Arc::new(AtomicBool::new(false));
        let (flag, query, began) = (stop.clone(), query.chars().take(40).collect::<String>(), Instant::now());
        let thread = std::thread::spawn(move || {
            let all = MultiProgress::new();
            let style = ProgressStyle::with_template("{wide_msg}").unwrap_or_else(|_| ProgressStyle::default_bar());
            let mut bars: Vec<ProgressBar> = vec![];
            while !flag.load(Ordering::Relaxed) {
                std::thread::park_timeout(SHOW);
                for (n, line) in board.lines().iter().enumerate() {
                    if n == bars.len() {
                        bars.push(all.add(ProgressBar::new_spinner().with_style(style.clone())));
                    }
                    let name = if line.name().is_empty() { &query } else { line.name() };
                    if let Some(p) = line.progress() {
                        bars[n].set_message(format!("{name}: {}, {:.1} s", words(&p), began.elapsed().as_secs_f64()));
                    }
                }
            }
            bars.iter().for_each(ProgressBar::finish_and_clear);
        });
        Shown { stop, thread: Some(thread) }
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            _ = thread.join();
        }
    }
}

/// What an engine has, of what it counts.
fn words(p: &Progress) -> String {
    let s = &p.stats;
    let counts = [
        (s.added, "states"),
        (p.waiting as u64, "waiting"),
        (s.expanded, "expanded"),
        (s.steps, "steps"),
        (s.refinements, "refinements"),
    ];
    let said: Vec<String> = counts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
    if said.is_empty() { "working".into() } else { said.join(", ") }
}

/// The worst exit code of what was said so far.
static CODE: AtomicU8 = AtomicU8::new(exit::HOLDS);
/// Who says how it ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    Open,
    Command,
    Watch,
}

static ENDING: Mutex<Ending> = Mutex::new(Ending::Open);

fn ending() -> MutexGuard<'static, Ending> {
    ENDING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A failure is worse than indecision; a broken model is worse than both.
pub fn worst(a: u8, b: u8) -> u8 {
    let rank = |c| [exit::HOLDS, exit::UNDECIDED, exit::FAILS, exit::INPUT].iter().position(|&x| x == c);
    let code = if rank(a) >= rank(b) { a } else { b };
    so_far(code);
    code
}

/// What the thread of the watch is called.
const WATCH: &str = "watch";

/// The exit code, as far as it is known.
pub fn so_far(code: u8) {
    CODE.store(code, Ordering::Relaxed);
}

/// Prints what is known of the question at work: the watch must not cut it off, nor say something else about the same question.
pub fn said<T>(say: impl FnOnce() -> T) -> T {
    let is_watch = std::thread::current().name() == Some(WATCH);
    if is_watch {
        return say();
    }
    let held = ending();
    if *held == Ending::Watch {
        // The process is about to end; what comes now is too late.
        drop(held);
        loop {
            std::thread::park();
        }
    }
    at_work(None);
    say()
}

/// From here on it is known how it ends: the watch says nothing any more.
pub fn finish() {
    *ending() = Ending::Command;
}

/// What a watch looks at.
pub struct Watched {
    pub timeout: Option<Duration>,
    pub memory: Option<usize>,
    /// Is there no meter beside it? Then it ends the process at once, also when interrupted.
    pub alone: bool,
}

/// Watches over the limits. `say` gets the question at work, if there is one, and says why there is no answer.
pub fn watch(watched: Watched, say: impl FnOnce(Option<&str>, StopReason) -> u8 + Send + 'static) {
    let cancelled = interrupts();
    // Meters stop at the limit; what cannot stop may have a little more.
    let (grace, more) = if watched.alone { (Duration::ZERO, 0) } else { (GRACE, 12 << 20) };
    let end = watched.timeout.and_then(|t| started().checked_add(t)).and_then(|d| d.checked_add(grace));
    let most = watched.memory.map(|m| if more == 0 { m } else { m + m / 5 + more });
    let look = move || {
        let (mut interrupted, mut since_over): (Option<Instant>, Option<Instant>) = (None, None);
        let why = loop {
            if cancelled.load(Ordering::Relaxed) {
                let since = interrupted.get_or_insert_with(Instant::now).elapsed();
                if watched.alone || since > GRACE {
                    break StopReason::Cancelled;
                }
            }
            if end.is_some_and(|end| Instant::now() > end) {
                break StopReason::Time;
            }
            if most.is_some_and(|most| resident().is_some_and(|now| now > most)) {
                break StopReason::Memory;
            }
            // Of address space nobody can take more than there is.
            if is_over(None) && *since_over.get_or_insert_with(Instant::now) + grace <= Instant::now() {
                break StopReason::Memory;
            }
            std::thread::sleep(LOOK);
        };
        let mut held = ending();
        if *held == Ending::Command {
            return;
        }
        *held = Ending::Watch;
        drop(held);
        let query = AT_WORK.lock().unwrap_or_else(PoisonError::into_inner).take();
        let said = say(query.as_deref(), why);
        let code = if said == exit::UNDECIDED { worst(CODE.load(Ordering::Relaxed), said) } else { said };
        std::process::exit(code.into());
    };
    // Without a thread there is no watch; meters stop at their limits all the same.
    _ = std::thread::Builder::new().name(WATCH.into()).spawn(look);
}
