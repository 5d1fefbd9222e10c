//! What can be asked over HTTP. Every answer but the page itself is JSON, or a stream of events whose data are.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Query, Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::sse::{self, Sse};
use axum::response::{IntoResponse, Json, Response};
use axum::routing::{get, post};
use futures_util::stream::unfold;
use serde::Deserialize;
use serde_json::json;
use trellis::report::page::Page;
use trellis::settings::Settings;
use trellis::view;

use crate::files::{MAX_MODEL, Opened, Source};
use crate::{Server, check, guard, walk};

/// So much may be sent: a model, and what is said beside it.
const MAX_BODY: usize = 2 * MAX_MODEL as usize;

type Shared = State<Arc<Server>>;

/// Why something was not done, for a person.
struct Refused(StatusCode, String);

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        (self.0, Json(json!({"error": self.1}))).into_response()
    }
}

fn bad(why: impl ToString) -> Refused {
    Refused(StatusCode::BAD_REQUEST, why.to_string())
}

/// All of it.
pub fn routes(server: Arc<Server>) -> Router {
    let api = Router::new()
        .route("/models", get(models))
        .route("/model", post(model))
        .route("/check", post(check))
        .route("/walk", post(walk))
        .route("/watch", get(watch))
        .layer(from_fn_with_state(server.clone(), admitted))
        .layer(DefaultBodyLimit::max(MAX_BODY));
    Router::new().route("/", get(page)).nest("/api", api).with_state(server)
}

/// Only for those who show the token.
async fn admitted(State(server): Shared, request: Request, next: Next) -> Response {
    let length = request.headers().get(header::CONTENT_LENGTH).and_then(|l| l.to_str().ok()?.parse::<usize>().ok());
    match server.guard.admit(request.headers()) {
        // Said at once: nobody waits for so much.
        Ok(()) if length.is_some_and(|n| n > MAX_BODY) => {
            Refused(StatusCode::PAYLOAD_TOO_LARGE, format!("more than {MAX_BODY} bytes")).into_response()
        }
        Ok(()) => next.run(request).await,
        Err(code) => Refused(code, "this request does not come from the page of this server".into()).into_response(),
    }
}

#[derive(Deserialize)]
struct Token {
    #[serde(default)]
    token: String,
}

/// The page. Its script may run because it says a number that nobody else knows.
async fn page(State(server): Shared, Query(t): Query<Token>, request: Request) -> Result<Response, Refused> {
    let ours = server.guard.is_ours(request.headers());
    ours.map_err(|code| Refused(code, "this is not where that page is".into()))?;
    if !server.guard.knows(&t.token) {
        return Err(Refused(StatusCode::UNAUTHORIZED, "open the address that `trellis serve` has printed".into()));
    }
    let nonce = guard::random().map_err(bad)?;
    let tool = concat!("trellis ", env!("CARGO_PKG_VERSION")).into();
    let html = Page { live: true, tool, model: None, answers: vec![] }.html();
    let html = html.replace("<script", &format!("<script nonce=\"{nonce}\""));
    let policy = format!(
        "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'unsafe-inline'; img-src data:; connect-src 'self'; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8".to_string()),
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::REFERRER_POLICY, "no-referrer".into()),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff".into()),
        (header::CACHE_CONTROL, "no-store".into()),
    ];
    Ok((headers, html).into_response())
}

/// What there is to be opened.
async fn models(State(server): Shared) -> Response {
    Json(server.files.list()).into_response()
}

#[derive(Deserialize)]
struct Asked {
    model: Source,
    /// Options of `trellis check`.
    #[serde(default)]
    options: Vec<String>,
    /// Which question of those that the options ask.
    #[serde(default)]
    question: usize,
}

/// The options, as far as they may come from a page: none that names a file.
fn settings(server: &Server, opened: &Opened, options: &[String]) -> Result<Settings, Refused> {
    let limits = [format!("--timeout={}s", server.timeout.as_secs_f64()), format!("--memory={}", server.memory)];
    let is_given = |name: &str| options.iter().any(|o| o.split('=').next() == Some(name));
    let limits = limits.into_iter().filter(|l| !is_given(l.split('=').next().unwrap_or_default()));
    let value = |o: &String| o.split_once('=').map_or(o.clone(), |(_, v)| v.to_string());
    if let Some(foreign) = options.iter().map(value).find(|v| server.files.is_foreign(v)) {
        return Err(bad(format!("`{foreign}` is a file elsewhere")));
    }
    let settings = Settings::read(&opened.path, options.iter().cloned().chain(limits)).map_err(bad)?;
    match settings.name_files().first() {
        Some(option) => {
            Err(bad(format!("--{}: options that name files are for the command line", option.replace('_', "-"))))
        }
        None if !settings.more.is_empty() => Err(bad("one model at a time")),
        None => Ok(settings),
    }
}

/// A model: its text, its picture, its questions.
async fn model(State(server): Shared, Json(asked): Json<Asked>) -> Result<Response, Refused> {
    let opened = server.files.find(&asked.model).map_err(bad)?;
    let settings = Arc::new(settings(&server, &opened, &asked.options)?);
    let (send, done) = tokio::sync::oneshot::channel();
    let work = move || {
        let settings = Settings {
            reading: trellis::settings::Reading {
                deadline: settings.context.deadline(settings.timeout),
                ..settings.reading.clone()
            },
            ..(*settings).clone()
        };
        let mut model = view::model(&Arc::new(settings));
        model.error = model.error.map(|e| opened.plain(&e));
        model.name = opened.name.clone();
        let _ = send.send(serde_json::to_vec(&model));
    };
    std::thread::Builder::new().stack_size(check::STACK).spawn(work).map_err(bad)?;
    let text = done.await.map_err(|_| bad("the model could not be read"))?.map_err(bad)?;
    Ok(([(header::CONTENT_TYPE, "application/json")], text).into_response())
}

/// A check, as a stream of events. It waits for its turn if too many are running.
async fn check(State(server): Shared, Json(asked): Json<Asked>) -> Result<Response, Refused> {
    let opened = server.files.find(&asked.model).map_err(bad)?;
    let permit = server.runs.clone().acquire_owned().await.map_err(bad)?;
    let settings = settings(&server, &opened, &asked.options)?;
    let events = check::start(opened, settings, asked.question, permit);
    Ok(Sse::new(events).into_response())
}

/// A walk: where it has come to, and what can be done there.
async fn walk(State(server): Shared, Json(asked): Json<walk::Asked>) -> Result<Response, Refused> {
    let stamp = server.files.path(&asked.model.name).and_then(|p| p.metadata().ok()?.modified().ok());
    let key = (asked.model.clone(), asked.options.clone(), stamp, asked.symbolic);
    let open = || {
        let opened = server.files.find(&key.0)?;
        let settings = settings(&server, &opened, &key.1).map_err(|r| r.1)?;
        Ok((opened, settings))
    };
    server.walks.ask(key.clone(), asked, open).await.map(|v| Json(v).into_response()).map_err(bad)
}

#[derive(Deserialize)]
struct Watched {
    name: String,
}

/// An event whenever a file has changed.
async fn watch(State(server): Shared, Query(w): Query<Watched>) -> Result<Response, Refused> {
    let path = server.files.path(&w.name).ok_or_else(|| bad("there is no such file"))?;
    let stamp = |path: &std::path::Path| path.metadata().and_then(|m| m.modified()).ok();
    let first = stamp(&path);
    let events = unfold((path, first), move |(path, last)| async move {
        loop {
            tokio::time::sleep(Duration::from_millis(500)).await;
            let now = stamp(&path);
            if now != last {
                let event = sse::Event::default().event("changed").data("{}");
                return Some((Ok::<_, Infallible>(event), (path, now)));
            }
        }
    });
    Ok(Sse::new(events).keep_alive(sse::KeepAlive::new()).into_response())
}
