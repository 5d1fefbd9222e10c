//! `trellis serve`: the page, live. A small server for one person on one machine: it shows models of a folder, runs checks, and walks through
//! models, and it is a client of the library like any other: the registry, the pipeline, `Stepper`, `Present`. It knows no formalism.
//!
//! It listens on 127.0.0.1. Who asks needs the token that is part of the address it prints; the headers `Host` and `Origin` must name this
//! server (`guard`). Files are known by the names in its list and by nothing else (`files`). A check runs in a thread of its own, under the
//! meter, and ends when the page that asked goes away (`check`); its progress comes as server-sent events. The API is described in the book.
//!
//! It deliberately has no accounts, no encryption and no state that is worth keeping: what a page shows is in its address.

mod api;
mod check;
mod examples;
mod files;
mod guard;
mod walk;

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use crate::files::Files;
use crate::guard::Guard;
use crate::walk::Walks;

/// What is served, and how much of the machine it may use.
pub struct Options {
    /// Models, or folders of them.
    pub files: Vec<PathBuf>,
    /// What is asked of them beside their own questions, as options of `trellis check`.
    pub ask: Vec<String>,
    /// The port; any that is free if it is 0.
    pub port: u16,
    /// How long a check may take.
    pub timeout: Duration,
    /// How much memory the process may need.
    pub memory: usize,
    /// How many checks run at once.
    pub runs: usize,
}

/// What all requests share.
struct Server {
    files: Files,
    guard: Guard,
    walks: Walks,
    runs: Arc<Semaphore>,
    timeout: Duration,
    memory: usize,
}

/// Serves until the process ends. `ready` is told the address to open.
pub fn serve(options: Options, ready: impl FnOnce(&str)) -> Result<(), String> {
    let files = Files::open(&options.files, &options.ask)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|e| format!("cannot start: {e}"))?;
    runtime.block_on(async move {
        let at = SocketAddr::from((Ipv4Addr::LOCALHOST, options.port));
        let listener = TcpListener::bind(at).await.map_err(|e| format!("cannot listen on {at}: {e}"))?;
        let port = listener.local_addr().map_err(|e| e.to_string())?.port();
        let guard = Guard::new(port)?;
        ready(&guard.address());
        let server = Server {
            files,
            guard,
            walks: Walks::default(),
            runs: Arc::new(Semaphore::new(options.runs.max(1))),
            timeout: options.timeout,
            memory: options.memory,
        };
        axum::serve(listener, api::routes(Arc::new(server))).await.map_err(|e| e.to_string())
    })
}
