//! Lines of a conversation: with history and completion at a terminal, plainly from a pipe.

use std::io::{BufRead, IsTerminal};

use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::MemHistory;
use rustyline::validate::Validator;
use rustyline::{Config, Context, Editor, Helper};

use trellis::Error;

/// All commands.
const COMMANDS: [&str; 14] = [
    ":ar-load",
    ":ar-cegar-init",
    ":ar-cegar-verify",
    ":ctl",
    ":exit",
    ":help",
    ":quit",
    ":rel-cardinal",
    ":rel-dot",
    ":rel-list",
    ":rel-print",
    ":set",
    ":unset",
    ":options",
];

/// Completes commands, options, names of nodes and relations, and files.
pub struct Words {
    /// Options of `:set`.
    pub options: Vec<&'static str>,
    /// Names of nodes and relations.
    pub names: Vec<String>,
}

/// Where the last word of a line starts, and what it may become.
pub fn completions(words: &Words, line: &str) -> (usize, Vec<String>) {
    let start = line.rfind(|c: char| c.is_whitespace() || "(,&|~=<>".contains(c)).map_or(0, |n| n + 1);
    let word = &line[start..];
    let first = line.split_whitespace().next().unwrap_or_default();
    let begins = |all: &mut dyn Iterator<Item = &str>| -> Vec<String> {
        let mut found: Vec<String> = all.filter(|w| w.starts_with(word)).map(String::from).collect();
        found.sort();
        found.dedup();
        found
    };
    let found = match first {
        _ if start == 0 && word.starts_with(':') => begins(&mut COMMANDS.into_iter()),
        ":set" | ":unset" => begins(&mut words.options.iter().copied()),
        ":ar-load" => files(word),
        _ => begins(&mut words.names.iter().map(String::as_str)),
    };
    (start, found)
}

/// Folders and AltaRica files whose path begins so.
fn files(start: &str) -> Vec<String> {
    let (folder, name) = start.rfind('/').map_or(("", start), |n| start.split_at(n + 1));
    let Ok(entries) = std::fs::read_dir(if folder.is_empty() { "." } else { folder }) else { return vec![] };
    let mut found: Vec<String> = entries
        .filter_map(Result::ok)
        .filter_map(|e| {
            let name = e.file_name().to_str()?.to_string();
            match e.path().is_dir() {
                true => Some(format!("{name}/")),
                false => (name.ends_with(".alt") || name.ends_with(".altarica")).then_some(name),
            }
        })
        .filter(|n| n.starts_with(name) && !n.starts_with('.'))
        .map(|n| format!("{folder}{n}"))
        .collect();
    found.sort();
    found
}

impl Completer for Words {
    type Candidate = String;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        Ok(completions(self, line.get(..at).unwrap_or(line)))
    }
}

impl Hinter for Words {
    type Hint = String;
}

impl Highlighter for Words {}
impl Validator for Words {}
impl Helper for Words {}

/// What comes next.
pub enum Line {
    /// A line.
    Text(String),
    /// What was begun does not count.
    TakenBack,
    /// Nothing.
    End,
}

/// Where lines come from.
pub enum Lines {
    /// A person.
    Terminal(Box<Editor<Words, MemHistory>>),
    /// A pipe.
    Plain,
}

impl Lines {
    /// Standard input.
    pub fn new(options: Vec<&'static str>) -> Lines {
        let terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
        match Editor::with_history(Config::default(), MemHistory::new()) {
            Ok(mut editor) if terminal => {
                editor.set_helper(Some(Words { options, names: vec![] }));
                Lines::Terminal(Box::new(editor))
            }
            _ => Lines::Plain,
        }
    }

    /// Names that may be completed from now on.
    pub fn know(&mut self, names: Vec<String>) {
        if let Lines::Terminal(editor) = self
            && let Some(words) = editor.helper_mut()
        {
            words.names = names;
        }
    }

    /// The next line.
    pub fn next(&mut self, prompt: &str) -> Result<Line, Error> {
        let unreadable = |e: &dyn std::fmt::Display| Error::Usage(format!("cannot read: {e}"));
        match self {
            Lines::Terminal(editor) => match editor.readline(prompt) {
                Ok(line) => {
                    let _ = editor.add_history_entry(line.as_str());
                    Ok(Line::Text(line))
                }
                // Ctrl-C takes back the line, Ctrl-D ends the conversation.
                Err(ReadlineError::Interrupted) => Ok(Line::TakenBack),
                Err(ReadlineError::Eof) => Ok(Line::End),
                Err(e) => Err(unreadable(&e)),
            },
            Lines::Plain => {
                let mut line = String::new();
                let read = std::io::stdin().lock().read_line(&mut line).map_err(|e| unreadable(&e))?;
                Ok(if read > 0 { Line::Text(line) } else { Line::End })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_completed_where_they_stand() {
        let names = ["Stack3", "Stack3!init", "Reach"].map(String::from).to_vec();
        let words = Words { options: vec!["split-certification", "initial-certification"], names };
        let complete = |line: &str| completions(&words, line);
        assert_eq!(complete(":ar-c").1, [":ar-cegar-init", ":ar-cegar-verify"]);
        assert_eq!(complete(":set sp"), (5, vec!["split-certification".to_string()]));
        assert_eq!(complete(":rel-cardinal Re"), (14, vec!["Reach".to_string()]));
        assert_eq!(complete("E(s : Stack3!c) := Re"), (19, vec!["Reach".to_string()]));
        assert_eq!(complete("E(s : Sta").1, ["Stack3", "Stack3!init"]);
        assert_eq!(complete("").1.len(), 3);
    }
}
