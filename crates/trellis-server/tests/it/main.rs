//! The server as a client sees it, over plain sockets: who may ask, what can be read, what is refused, and that checks end with their clients.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::path::Path;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use trellis_server::{Options, serve};

/// A server that runs until the tests end.
struct Live {
    host: String,
    token: String,
}

/// An answer: its code, and its text.
type Answer = (u16, String);

impl Live {
    fn start(files: &[&Path], runs: usize) -> Live {
        let options = Options {
            files: files.iter().map(|f| f.to_path_buf()).collect(),
            ask: vec![],
            port: 0,
            timeout: Duration::from_secs(60),
            memory: 1 << 30,
            runs,
        };
        let (send, ready) = mpsc::channel();
        std::thread::spawn(move || serve(options, |address| send.send(address.to_string()).unwrap()));
        let address = ready.recv_timeout(Duration::from_secs(20)).unwrap();
        let (host, token) = address.strip_prefix("http://").unwrap().split_once("/?token=").unwrap();
        Live { host: host.into(), token: token.into() }
    }

    fn send(&self, request: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        stream
    }

    /// A request with its body, and what is in its headers beside that.
    fn request(&self, what: &str, headers: &[(&str, &str)], body: &str) -> String {
        let mut all = vec![("Host", &*self.host), ("X-Trellis-Token", &self.token), ("Connection", "close")];
        all.retain(|(name, _)| !headers.iter().any(|(given, _)| given.eq_ignore_ascii_case(name)));
        all.extend(headers);
        let lines: String = all.iter().filter(|(_, v)| !v.is_empty()).map(|(n, v)| format!("{n}: {v}\r\n")).collect();
        let kind = if body.is_empty() { "" } else { "Content-Type: application/json\r\n" };
        format!("{what} HTTP/1.1\r\n{lines}{kind}Content-Length: {}\r\n\r\n{body}", body.len())
    }

    fn ask(&self, what: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut text = Vec::new();
        let _ = self.send(&self.request(what, headers, body)).read_to_end(&mut text);
        parts(&String::from_utf8_lossy(&text))
    }

    fn post(&self, what: &str, body: &Value) -> (u16, Value) {
        let (code, text) = self.ask(&format!("POST /api/{what}"), &[], &body.to_string());
        (code, serde_json::from_str(&text).unwrap_or_else(|_| Value::from(text)))
    }

    /// The events of a check: names and data.
    fn check(&self, body: &Value) -> Vec<(String, Value)> {
        let (code, text) = self.ask("POST /api/check", &[], &body.to_string());
        assert_eq!(code, 200, "{text}");
        let field = |event: &str, name: &str| {
            // Data of several lines come as several fields.
            event.lines().filter_map(|l| l.strip_prefix(name)).map(str::trim).collect::<Vec<_>>().join("\n")
        };
        let read = |e: &str| (field(e, "event:"), serde_json::from_str(&field(e, "data:")).unwrap());
        text.split("\n\n").filter(|e| e.contains("data:")).map(read).collect()
    }
}

/// The code and the body of an answer; chunks are put together.
fn parts(text: &str) -> Answer {
    let code = text.split(' ').nth(1).and_then(|c| c.parse().ok()).unwrap_or_default();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
    if !head.to_lowercase().contains("transfer-encoding: chunked") {
        return (code, body.into());
    }
    let (mut rest, mut all) = (body, String::new());
    while let Some((size, after)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size.trim(), 16).unwrap_or_default();
        if size == 0 || after.len() < size {
            break;
        }
        all.push_str(&after[..size]);
        rest = after[size..].trim_start_matches("\r\n");
    }
    (code, all)
}

const SMALL: &str =
    "int[0, 5] n = 0;\nprocess P() { state a; init a; trans a -> a { guard n < 5; assign n = n + 1; }; }\nsystem P;\n";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let names = ["a", "b", "c", "d", "e", "f"];
    let declared: Vec<String> = names.iter().map(|v| format!("int[0, 60] {v} = 0;")).collect();
    let steps: Vec<String> =
        names.iter().map(|v| format!("here -> here {{ guard {v} < 60; assign {v} = {v} + 1; }}")).collect();
    let endless = format!(
        "{}\nprocess P() {{ state here; init here; trans {}; }}\nsystem P;\n",
        declared.join(" "),
        steps.join(", ")
    );
    std::fs::write(folder.path().join("small.xta"), SMALL).unwrap();
    std::fs::write(folder.path().join("small.q"), "A[] n < 5\nA[] n <= 5\n").unwrap();
    std::fs::write(folder.path().join("endless.xta"), endless).unwrap();
    std::fs::write(folder.path().join("endless.q"), "A[] a + b + c + d + e + f < 1000\n").unwrap();
    folder
}

fn name(folder: &tempfile::TempDir, file: &str) -> String {
    folder.path().join(file).display().to_string()
}

#[test]
fn only_its_own_page_may_ask() {
    let folder = folder();
    let (one, other) = (Live::start(&[folder.path()], 1), Live::start(&[folder.path()], 1));
    let get = |headers: &[(&str, &str)]| one.ask("GET /api/models", headers, "").0;
    assert_eq!(get(&[]), 200);
    assert_eq!(get(&[("X-Trellis-Token", "")]), 401);
    assert_eq!(get(&[("X-Trellis-Token", &other.token)]), 401, "each server has a token of its own");
    assert_eq!(get(&[("Host", "evil.example")]), 421, "a name that was made to mean 127.0.0.1");
    assert_eq!(get(&[("Origin", "http://evil.example")]), 403);
    assert_eq!(get(&[("Origin", "null")]), 403);
    assert_eq!(get(&[("Origin", &format!("http://{}", one.host))]), 200);
    assert_eq!(one.ask("GET /", &[], "").0, 401, "the page needs the token in its address");
    let (code, page) = one.ask(&format!("GET /?token={}", one.token), &[], "");
    assert_eq!((code, page.contains("<title>Trellis</title>")), (200, true));
    assert_eq!(one.ask(&format!("GET /?token={}", one.token), &[("Host", "evil.example")], "").0, 421);
    assert!(one.host.starts_with("127.0.0.1:"));
}

#[test]
fn the_page_says_where_its_script_comes_from() {
    let live = Live::start(&[], 1);
    let mut text = String::new();
    let request = live.request(&format!("GET /?token={}", live.token), &[], "");
    live.send(&request).read_to_string(&mut text).unwrap();
    let head = text.split("\r\n\r\n").next().unwrap().to_lowercase();
    assert!(head.contains("content-security-policy: default-src 'none'; script-src 'nonce-"), "{head}");
    assert!(head.contains("referrer-policy: no-referrer") && head.contains("cache-control: no-store"), "{head}");
}

#[test]
fn no_file_outside_the_folder_can_be_read() {
    let (inside, outside) = (folder(), folder());
    #[cfg(unix)]
    std::os::unix::fs::symlink(outside.path().join("small.xta"), inside.path().join("link.xta")).unwrap();
    let live = Live::start(&[inside.path()], 1);
    let (_, list) = live.ask("GET /api/models", &[], "");
    assert!(list.contains("small.xta") && !list.contains("link.xta"), "{list}");
    let up = format!("{}/../{}/small.xta", inside.path().display(), name(&outside, "").trim_matches('/'));
    let names =
        ["/etc/passwd".into(), "../../etc/passwd".into(), name(&outside, "small.xta"), name(&inside, "link.xta"), up];
    for name in names {
        let (code, answer) = live.post("model", &json!({"model": {"name": name}}));
        assert_eq!(code, 400, "{name}: {answer}");
    }
    let small = name(&inside, "small.xta");
    for option in ["--trace=/tmp/x", "--html=/tmp/x", "--queries=/etc/passwd", "/etc/passwd", "--property=/etc/passwd"]
    {
        let (code, answer) = live.post("model", &json!({"model": {"name": small}, "options": [option]}));
        assert_eq!(code, 400, "{option}: {answer}");
    }
    let (code, answer) = live.post("model", &json!({"model": {"name": small}}));
    assert_eq!((code, &answer["source"]), (200, &Value::from(SMALL)));
}

#[test]
fn what_is_malformed_is_refused() {
    let folder = folder();
    let live = Live::start(&[folder.path()], 1);
    let mut text = String::new();
    let _ = live.send("nonsense\r\n\r\n").read_to_string(&mut text);
    assert!(text.starts_with("HTTP/1.1 400"), "{text}");
    for body in ["{", "[]", "{\"model\": 7}", "{\"model\": {\"name\": \"x\"}, \"options\": 1}"] {
        let (code, _) = live.ask("POST /api/model", &[], body);
        assert!((400..500).contains(&code), "{body}: {code}");
    }
    assert_eq!(live.ask("GET /api/nonsense", &[], "").0, 404);
    assert_eq!(live.ask("GET /../../etc/passwd", &[], "").0, 404);
    let large = format!(
        "POST /api/model HTTP/1.1\r\nHost: {}\r\nX-Trellis-Token: {}\r\nContent-Type: application/json\r\nContent-Length: 99999999\r\nConnection: close\r\n\r\n{{",
        live.host, live.token
    );
    let mut text = String::new();
    let _ = live.send(&large).read_to_string(&mut text);
    assert!(text.starts_with("HTTP/1.1 413"), "{text}");
    let (code, answer) = live.post("model", &json!({"model": {"name": "mine.xta", "text": "process"}}));
    let error = answer["error"].as_str().unwrap_or_default();
    assert!(code == 200 && error.contains("mine.xta:1:") && !error.contains("/tmp"), "{answer}");
}

#[test]
fn a_check_is_a_stream_that_ends() {
    let folder = folder();
    let live = Live::start(&[folder.path()], 2);
    let small = name(&folder, "small.xta");
    for (question, verdict) in [(0, "UNSAFE"), (1, "SAFE")] {
        let events = live.check(&json!({"model": {"name": small}, "question": question}));
        assert_eq!(events.last().unwrap().0, "done", "{events:?}");
        let (_, answer) = events.iter().find(|(n, _)| n == "answer").unwrap();
        assert_eq!(answer["report"]["verdict"], verdict);
        assert_eq!(answer["report"]["trace"].is_object(), question == 0);
        assert_eq!(answer["proof"].is_object(), question == 1);
    }
    let events = live.check(&json!({"model": {"name": small}, "question": 7}));
    assert!(events.iter().any(|(n, _)| n == "failed"), "{events:?}");
}

/// One run at a time: if a check went on after its client has gone, the next would wait until its time is up.
#[test]
fn a_check_ends_with_its_client() {
    let folder = folder();
    let live = Live::start(&[folder.path()], 1);
    let body = json!({"model": {"name": name(&folder, "endless.xta")}}).to_string();
    for _ in 0..2 {
        let mut stream = live.send(&live.request("POST /api/check", &[], &body));
        let (mut seen, mut some) = (String::new(), [0; 4096]);
        while !seen.contains("event: progress") {
            let n = stream.read(&mut some).unwrap();
            assert!(n > 0, "{seen}");
            seen.push_str(&String::from_utf8_lossy(&some[..n]));
        }
        stream.shutdown(Shutdown::Both).unwrap();
    }
    let started = Instant::now();
    let events = live.check(&json!({"model": {"name": name(&folder, "small.xta")}}));
    assert!(events.iter().any(|(n, _)| n == "answer"), "{events:?}");
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
}

#[test]
fn a_walk_is_a_list_of_moves() {
    let folder = folder();
    let live = Live::start(&[folder.path()], 1);
    let walk = |more: Value| {
        let mut asked = json!({"model": {"name": name(&folder, "small.xta")}});
        asked.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        live.post("walk", &asked)
    };
    let (code, two) = walk(json!({"moves": ["0", "0"]}));
    assert_eq!((code, &two["state"]["n"]), (200, &json!(2)), "{two}");
    let (_, there) = walk(json!({"moves": ["0"], "expand": true}));
    assert_eq!((&there["state"]["n"], &there["next"][0]["state"]["n"]), (&json!(1), &json!(2)), "{there}");
    assert_eq!(there["next"][0]["move"], "0");
    let (_, random) = walk(json!({"random": 3, "seed": 7}));
    assert_eq!(random["state"]["n"], 3, "{random}");
    let (_, end) = walk(json!({"moves": ["0", "0", "0", "0", "0"], "expand": true}));
    assert_eq!((&end["choices"]["offers"], &end["next"]), (&json!([]), &json!([])));
    let (code, wrong) = walk(json!({"moves": ["7"]}));
    assert!(code == 400 && wrong["error"].as_str().is_some_and(|e| e.contains("move 1")), "{wrong}");
}

/// A file that has changed is told of.
#[test]
fn files_are_watched() {
    let folder = folder();
    let live = Live::start(&[folder.path()], 1);
    let small = name(&folder, "small.xta");
    let mut stream = live.send(&live.request(&format!("GET /api/watch?name={small}"), &[], ""));
    std::thread::sleep(Duration::from_millis(700));
    std::fs::write(&small, SMALL.replace('5', "6")).unwrap();
    let (mut seen, mut some) = (String::new(), [0; 4096]);
    while !seen.contains("event: changed") {
        let n = stream.read(&mut some).unwrap();
        assert!(n > 0, "{seen}");
        seen.push_str(&String::from_utf8_lossy(&some[..n]));
    }
    assert_eq!(live.ask("GET /api/watch?name=/etc/passwd", &[], "").0, 400);
}

/// Every bundled model is listed, read, and has something to be asked.
#[test]
fn examples_are_whole() {
    let live = Live::start(&[], 2);
    let (_, list) = live.ask("GET /api/models", &[], "");
    let list: Value = serde_json::from_str(&list).unwrap();
    let examples: Vec<&Value> = list.as_array().unwrap().iter().filter(|m| m["about"].is_string()).collect();
    assert!(examples.len() >= 15, "{list}");
    for example in examples {
        let (code, model) = live.post("model", &json!({"model": {"name": example["name"]}}));
        assert_eq!((code, &model["error"]), (200, &Value::Null), "{example}");
        let asked = model["questions"].as_array().unwrap().len() + example["ask"].as_array().unwrap().len();
        assert!(asked > 0 && !model["drawing"]["nodes"].as_array().unwrap().is_empty(), "{example}");
    }
}
