//! A check as a stream of events: progress, answers, the end. It runs in a thread of its own, because tasks and answers of the pipeline never
//! leave the one they were made in; what leaves it is text. When the stream is dropped, because the page has gone or has pressed Stop, the check
//! is cancelled.

use std::any::Any;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use axum::response::sse;
use futures_util::stream::{Stream, unfold};
use serde_json::{Value, json};
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use trellis::context::{Context, Listener};
use trellis::meter::{Board, resident};
use trellis::pipeline::{Answer, Sink, Summary, statistics};
use trellis::report::{Style, page};
use trellis::settings::{Reading, Settings};
use trellis::{Error, registry};

use crate::files::Opened;

/// How often progress is told.
const EVERY: Duration = Duration::from_millis(150);
/// As the command line has it: deeply nested input is refused long before this much is needed.
pub const STACK: usize = 256 << 20;

/// What comes out of the thread.
enum Event {
    Working(Board),
    Note(String),
    Answer(String),
    Failed(String),
}

type Events = mpsc::UnboundedSender<Event>;

/// Raises the flag when the stream is dropped.
struct Cancel(Arc<AtomicBool>);

impl Drop for Cancel {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Passes on what happens on the way.
struct Tell(Events);

impl Listener for Tell {
    fn note(&self, text: &str) {
        let _ = self.0.send(Event::Note(text.into()));
    }

    fn working(&self, _: &str, board: &Board) -> Option<Box<dyn Any>> {
        board.record();
        let _ = self.0.send(Event::Working(board.clone()));
        None
    }
}

/// Passes on answers.
struct Pass(Events);

impl Pass {
    fn pass(&self, answer: std::io::Result<page::Answer>) -> Result<(), Error> {
        let text = answer.and_then(|a| serde_json::to_string(&a).map_err(Into::into));
        let event = text.map_or_else(|e| Event::Failed(e.to_string()), Event::Answer);
        let _ = self.0.send(event);
        Ok(())
    }
}

impl Sink for Pass {
    fn answer(&mut self, answer: Rc<dyn Answer>, _: Style, _: [Option<usize>; 2]) -> Result<(), Error> {
        self.pass(answer.page())
    }

    fn unanswered(&mut self, report: &Summary, _: Style) -> Result<(), Error> {
        self.pass(page::Answer::plain(report))
    }

    fn table(&mut self, text: &str, _: Option<bool>) -> Result<(), Error> {
        let _ = self.0.send(Event::Note(text.into()));
        Ok(())
    }

    fn page(&mut self, _: Vec<page::Answer>) -> Result<(), Error> {
        Ok(())
    }
}

/// Answers the question with this number, of all that the options ask.
fn answer(settings: Settings, mut n: usize, events: &Events) -> Result<(), Error> {
    for case in registry::tasks(Arc::new(settings))? {
        let asked = case.questions().len();
        if n < asked {
            return case.check_only(Some(n), &mut Pass(events.clone()));
        }
        n -= asked;
    }
    Err(Error::Usage("this is not asked of the model".into()))
}

/// Where a stream is.
struct Running {
    events: mpsc::UnboundedReceiver<Event>,
    board: Option<Board>,
    started: Instant,
    over: bool,
    _cancel: Cancel,
}

/// Starts a check. The permit is kept for as long as the thread lives, which may be longer than anybody listens.
pub fn start(
    model: Opened,
    mut settings: Settings,
    n: usize,
    permit: OwnedSemaphorePermit,
) -> impl Stream<Item = Result<sse::Event, std::convert::Infallible>> {
    let (send, events) = mpsc::unbounded_channel();
    let cancelled = Arc::new(AtomicBool::new(false));
    let context =
        Context { listener: Arc::new(Tell(send.clone())), cancelled: cancelled.clone(), ..Context::default() };
    settings.reading = Reading { deadline: context.deadline(settings.timeout), ..settings.reading };
    settings.context = context;
    let failed = send.clone();
    let work = move || {
        let _permit = permit;
        if let Err(error) = answer(settings, n, &send) {
            let _ = send.send(Event::Failed(model.plain(&error.to_string())));
        }
    };
    if let Err(e) = std::thread::Builder::new().stack_size(STACK).spawn(work) {
        let _ = failed.send(Event::Failed(format!("cannot start a thread: {e}")));
    }
    drop(failed);
    let running = Running { events, board: None, started: Instant::now(), over: false, _cancel: Cancel(cancelled) };
    unfold(running, |mut running| async move {
        let event = running.next().await?;
        Some((Ok(event), running))
    })
}

impl Running {
    async fn next(&mut self) -> Option<sse::Event> {
        if self.over {
            return None;
        }
        let named = |name: &str, data: String| Some(sse::Event::default().event(name).data(data));
        loop {
            match tokio::time::timeout(EVERY, self.events.recv()).await {
                Ok(Some(Event::Working(board))) => self.board = Some(board),
                Ok(Some(Event::Note(text))) => return named("note", json!(text).to_string()),
                Ok(Some(Event::Answer(text))) => return named("answer", text),
                Ok(Some(Event::Failed(text))) => return named("failed", json!(text).to_string()),
                Ok(None) => {
                    self.over = true;
                    return named("done", json!({"seconds": self.started.elapsed().as_secs_f64()}).to_string());
                }
                Err(_) => return named("progress", self.progress().to_string()),
            }
        }
    }

    /// What every runner has counted so far.
    fn progress(&self) -> Value {
        let lines = self.board.as_ref().map_or_else(Vec::new, Board::lines);
        let runners = lines.iter().filter_map(|line| {
            let progress = line.progress()?;
            let counts = statistics(&progress.stats).into_iter().filter(|(_, n)| *n > 0);
            let counts: serde_json::Map<_, _> = counts.map(|(name, n)| (name, Value::from(n))).collect();
            Some(json!({"name": line.name(), "waiting": progress.waiting, "counts": counts}))
        });
        let runners: Vec<Value> = runners.collect();
        json!({"seconds": self.started.elapsed().as_secs_f64(), "memory": resident(), "runners": runners})
    }
}
