//! Evidence on file, which nobody believes yet.
//!
//! Evidence is certified for what is asked, not for what it says: the model and the options give the questions, as for a check; the
//! evidence must be bound to the same files, options and tool, and to one of these questions; then its content is checked; and at last, whatever
//! else stands in it must be what a check writes there.

use std::io::Write;
use std::path::Path;

use trellis_report::json::{self, Binding, read_binding, rewritten};

use crate::Error;
use crate::binding::TOOL;
use crate::settings::Engine;

/// A piece of evidence as it stands in its file: nobody believes it yet.
pub struct Given<'a> {
    path: &'a Path,
    /// All of it.
    pub text: String,
    /// What it says that it is about.
    claimed: Binding,
}

impl<'a> Given<'a> {
    /// Reads it.
    pub fn read(path: &'a Path) -> Result<Given<'a>, Error> {
        let unreadable = |why: &dyn std::fmt::Display| Error::Input(format!("error: {}: {why}", path.display()));
        let text = std::fs::read_to_string(path).map_err(|e| unreadable(&e))?;
        let (_, claimed) = read_binding(&text).map_err(|e| unreadable(&e))?;
        if claimed.tool != TOOL {
            let by: String = claimed.tool.chars().take(60).flat_map(char::escape_debug).collect();
            return Err(unreadable(&format_args!("it was written by `{by}`, and this is {TOOL}; run check again")));
        }
        if claimed.property.is_empty() {
            return Err(unreadable(&"it does not say which property it is about"));
        }
        Ok(Given { path, text, claimed })
    }

    /// What it says that it is about, as it says it.
    pub fn property(&self) -> &str {
        &self.claimed.property
    }

    /// That it cannot be read.
    pub fn unreadable(&self, why: &dyn std::fmt::Display) -> Error {
        Error::Input(format!("error: {}: {why}", self.path.display()))
    }

    /// Which of the questions it is about, or why it is about none: the files, the options or the property differ.
    pub fn asked(&self, all: &[Binding]) -> Result<Result<usize, String>, Error> {
        let other = |b: &Binding| self.claimed.other_inputs(b).or_else(|| self.claimed.other_options(b));
        if let Some(why) = all.iter().map(other).reduce(|a, b| a.and(b)).flatten() {
            return Ok(Err(why));
        }
        if let Some(at) = all.iter().position(|b| self.claimed.difference(b).is_none()) {
            return Ok(Ok(at));
        }
        let claims = shown(&self.claimed.property);
        match all {
            [] => Err(Error::Usage(format!(
                "nothing is asked: the model has no property of its own; say which one the evidence must be about, for instance \
                 --property '{claims}'"
            ))),
            [one] => Ok(Err(format!("it is about `{claims}`, and what is asked is `{}`", shown(&one.property)))),
            [one, more @ ..] => Ok(Err(format!(
                "it is about `{claims}`, and what is asked is `{}` and {} more",
                shown(&one.property),
                more.len()
            ))),
        }
    }

    /// Is it accepted, its content being good? The rest of it must be what is written about such content.
    pub fn judged(
        &self,
        question: String,
        said: String,
        write: &dyn Fn(&mut dyn Write) -> std::io::Result<()>,
    ) -> Judged {
        match rewritten(&self.text, write) {
            Ok(()) => Judged::Valid(question, said),
            Err(why) => Judged::Rejected(question, format!("what it says beside is not so: {why}")),
        }
    }

    /// The engine whose proofs are of this kind, if only one makes them.
    pub fn engine(&self) -> Engine {
        let form = json::form(&self.text);
        if form.is_some_and(|form| form == "tree" || form == "partition") { Engine::Hierarchy } else { Engine::Auto }
    }
}

/// What became of evidence: about which question, and why.
pub enum Judged {
    /// It shows what it claims.
    Valid(String, String),
    /// It does not.
    Rejected(String, String),
    /// That is not known.
    Undecided(String, String),
}

/// The beginning of a property, fit for a terminal.
pub fn shown(property: &str) -> String {
    let mut short: String = property
        .chars()
        .take(200)
        .flat_map(|c| match c {
            '\'' | '"' => vec![c],
            c => c.escape_debug().collect(),
        })
        .collect();
    if property.chars().nth(200).is_some() {
        short.push('…');
    }
    short
}
