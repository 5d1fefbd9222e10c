//! Results of a batch: a line of JSON for each model, read back by the next run.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use trellis::Error;

use super::tasks::Task;
use crate::exit;

/// The version of the format.
const SCHEMA: &str = "trellis-batch/1";

/// What was found out about a model.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Record {
    pub schema: String,
    /// What the result depends on, as a hash: version, options, files.
    pub key: String,
    pub tool: String,
    pub model: String,
    pub options: Vec<String>,
    /// The exit code of `trellis check`; 128 and more if it was killed.
    pub exit: i32,
    /// Seconds by the clock.
    pub wall: f64,
    /// Seconds of CPU.
    pub cpu: f64,
    /// Bytes that were resident at most.
    pub memory: u64,
    pub properties: Vec<Property>,
    /// What was said instead of an answer, if nothing else was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect: Option<String>,
}

/// What was found out about a property.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Property {
    pub query: String,
    pub verdict: String,
    pub seconds: f64,
    /// The evidence was found, and nobody has checked it.
    pub unchecked: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Where a violation is: a line of the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
}

impl Property {
    fn new(report: &Value) -> Property {
        let text = |v: &Value| v.as_str().unwrap_or_default().to_string();
        let last =
            report["trace"]["steps"].as_array().and_then(|steps| steps.iter().rev().find(|s| s["place"].is_object()));
        Property {
            query: text(&report["query"]),
            verdict: text(&report["verdict"]),
            seconds: report["seconds"].as_f64().unwrap_or_default(),
            unchecked: report["unchecked"].is_string(),
            reason: report["reason"]["text"].as_str().map(str::to_string),
            line: last.and_then(|step| step["place"]["line"].as_u64()),
        }
    }

    pub fn fails(&self) -> bool {
        ["UNSAFE", "FAILS"].contains(&self.verdict.as_str()) && !self.unchecked
    }

    pub fn is_open(&self) -> bool {
        self.unchecked || !["UNSAFE", "FAILS", "SAFE", "HOLDS", "BOUND"].contains(&self.verdict.as_str())
    }
}

impl Record {
    /// A result, from what the child printed.
    pub fn new(task: &Task, key: &str, code: Option<i32>, reports: &str, errors: &str) -> Record {
        let read = |line: &str| serde_json::from_str::<Value>(line).ok();
        let properties: Vec<Property> = reports.lines().filter_map(read).map(|r| Property::new(&r)).collect();
        let exit = code.unwrap_or(128);
        let broken = properties.is_empty() || ![0, 10, 20].contains(&exit);
        Record {
            schema: SCHEMA.into(),
            key: key.into(),
            tool: format!("trellis {}", env!("CARGO_PKG_VERSION")),
            model: task.model.display().to_string(),
            options: task.options.clone(),
            exit,
            error: (broken && !errors.trim().is_empty()).then(|| errors.trim().to_string()),
            properties,
            expect: task.expect.clone(),
            ..Record::default()
        }
    }

    /// Was it not read, or ended otherwise than by an answer?
    pub fn is_broken(&self) -> bool {
        ![0, 10, 20].contains(&self.exit)
    }

    /// The verdict that was not expected, if one was not.
    pub fn surprise(&self) -> Option<&str> {
        let expect = self.expect.as_ref()?;
        match self.properties.iter().find(|p| !p.verdict.eq_ignore_ascii_case(expect)) {
            Some(p) => Some(&p.verdict),
            None => self.properties.is_empty().then_some("nothing"),
        }
    }

    /// The exit code of a batch with this result. What is expected to fail may fail.
    pub fn code(&self) -> u8 {
        match (&self.expect, self.exit) {
            (Some(_), 0 | 10 | 20) if self.surprise().is_none() => exit::HOLDS,
            (Some(_), 0) => exit::FAILS,
            (_, code) => u8::try_from(code).ok().filter(|c| *c < 128).unwrap_or(exit::INTERNAL),
        }
    }

    /// What the summary says of it; nothing if all is well.
    pub fn line(&self) -> Option<String> {
        let said = match (self.surprise(), &self.expect) {
            (Some(found), Some(expected)) => format!("expected {expected}, found {found}"),
            (None, Some(_)) => return None,
            _ if self.is_broken() => {
                let first = self.error.as_deref().and_then(|e| e.lines().next()).unwrap_or("no answer");
                format!("exit code {}: {first}", self.exit)
            }
            _ => {
                let count = |f: fn(&Property) -> bool| self.properties.iter().filter(|p| f(p)).count();
                let (fails, open) = (count(Property::fails), count(Property::is_open));
                match (fails, open) {
                    (0, 0) => return None,
                    (n, 0) => format!("{n} of {} fail", self.properties.len()),
                    (0, n) => format!("{n} of {} undecided", self.properties.len()),
                    (n, m) => format!("{n} of {} fail, {m} undecided", self.properties.len()),
                }
            }
        };
        Some(format!("{}  {said}", [vec![self.model.clone()], self.options.clone()].concat().join(" ")))
    }
}

/// What a file of results has, by key; the last one counts. A line that a kill has cut off is none.
pub fn read(path: &Path) -> Result<HashMap<String, Record>, Error> {
    let text = match fs::read(path) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(HashMap::new()),
        Err(e) => return Err(Error::Input(format!("error: {}: cannot be read: {e}", path.display()))),
    };
    let mut all = HashMap::new();
    let count = text.lines().count();
    for (n, line) in text.lines().enumerate() {
        match serde_json::from_str::<Record>(line) {
            Ok(record) if record.schema == SCHEMA => _ = all.insert(record.key.clone(), record),
            Err(_) if n + 1 == count && !text.ends_with('\n') => {}
            _ => {
                let why = "is no result of a batch; choose another file by --out";
                return Err(Error::Input(format!("error: {}:{}: {why}", path.display(), n + 1)));
            }
        }
    }
    Ok(all)
}

/// Cuts off a line that was not written to its end.
pub fn mend(path: &Path) -> io::Result<()> {
    let text = fs::read(path)?;
    let end = text.iter().rposition(|b| *b == b'\n').map_or(0, |n| n + 1);
    if end < text.len() {
        fs::OpenOptions::new().write(true).open(path)?.set_len(end as u64)?;
    }
    Ok(())
}
