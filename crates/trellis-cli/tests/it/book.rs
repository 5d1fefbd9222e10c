//! The book is true: what it shows of commands, files and other pages is what there is.
//!
//! Blocks of `book/src/*.md` are marked by what they are:
//!
//! - `console`: lines with `$ trellis …` are run, in a folder of the chapter's own that has a copy of `models`. What follows must be what
//!   is printed, to both outputs, where times may differ. `…` stands for any text in a line, and alone for any lines. `$ echo $?` prints
//!   how the last command ended, `$ cat FILE` shows a file that it wrote.
//! - `…,file=PATH`: lines of that file of the repository, up to white space, with `…` as above.
//! - `…,save=NAME`: becomes a file for the commands that follow.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};

use super::root;

/// What is between two fences, and how it is marked.
struct Fenced<'b> {
    line: usize,
    kind: &'b str,
    marks: Vec<(&'b str, &'b str)>,
    body: Vec<&'b str>,
}

fn blocks(text: &str) -> Vec<Fenced<'_>> {
    let mut all = vec![];
    let mut lines = text.lines().enumerate();
    while let Some((line, fence)) = lines.next() {
        let Some(info) = fence.strip_prefix("```") else { continue };
        let mut info = info.split(',');
        let kind = info.next().unwrap_or("");
        let marks = info.filter_map(|m| m.split_once('=')).collect();
        let body = lines.by_ref().map(|(_, l)| l).take_while(|l| *l != "```").collect();
        all.push(Fenced { line: line + 1, kind, marks, body });
    }
    all
}

/// The chapters, by the names of their files.
fn chapters() -> Vec<(String, String)> {
    let mut all: Vec<_> = fs::read_dir(root().join("book/src"))
        .expect("the book")
        .map(|entry| entry.expect("a chapter").path())
        .filter(|path| path.extension().is_some_and(|e| e == "md"))
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read_to_string(&path).unwrap()))
        .collect();
    all.sort();
    all
}

/// A line without its times: `0.03 s` and `12.5 s` are the same.
fn timeless(line: &str) -> String {
    let number = |word: &str| word.trim_start_matches('(').parse::<f64>().is_ok() && word.contains('.');
    let words: Vec<&str> = line.trim_end().split(' ').collect();
    let is_time =
        |at: usize| number(words[at]) && words.get(at + 1).is_some_and(|w| w.trim_end_matches([';', ')', ',']) == "s");
    let without = |at: usize| {
        if is_time(at) {
            words[at].replace(|c: char| c.is_ascii_digit(), "").replace('.', "_")
        } else {
            words[at].into()
        }
    };
    (0..words.len()).map(without).collect::<Vec<String>>().join(" ")
}

/// Is a line what is expected, where `…` stands for any text?
fn is_line(expected: &str, line: &str) -> bool {
    let mut parts = expected.split('…');
    let Some(mut rest) = line.strip_prefix(parts.next().unwrap_or("")) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

/// Are lines what is expected, where a line `…` stands for any lines?
fn are_lines(expected: &[String], lines: &[String]) -> bool {
    match expected.split_first() {
        None => lines.is_empty(),
        Some((first, rest)) if first.trim() == "…" => (0..=lines.len()).any(|skip| are_lines(rest, &lines[skip..])),
        Some((first, rest)) => {
            lines.split_first().is_some_and(|(line, more)| is_line(first, line) && are_lines(rest, more))
        }
    }
}

/// Words as a shell has them, as far as the book needs it.
fn words(command: &str) -> Vec<String> {
    let mut all = vec![];
    let (mut word, mut quoted, mut begun) = (String::new(), false, false);
    for c in command.chars() {
        match c {
            '\'' => (quoted, begun) = (!quoted, true),
            ' ' if !quoted => {
                if begun {
                    all.push(std::mem::take(&mut word));
                }
                begun = false;
            }
            c => {
                word.push(c);
                begun = true;
            }
        }
    }
    if begun {
        all.push(word);
    }
    assert!(!quoted, "a quote is open: {command}");
    all
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() {
            copy(&from, &to);
        } else {
            fs::copy(from, to).unwrap();
        }
    }
}

/// A folder in which the commands of a chapter run, one after the other.
struct Session {
    folder: tempfile::TempDir,
    outputs: tempfile::TempDir,
    code: i32,
}

impl Session {
    fn new() -> Session {
        let folder = tempfile::tempdir().unwrap();
        copy(&root().join("models"), &folder.path().join("models"));
        Session { folder, outputs: tempfile::tempdir().unwrap(), code: 0 }
    }

    fn run(&mut self, command: &str) -> String {
        let words = words(command);
        match (words[0].as_str(), &words[1..]) {
            ("echo", [what]) if what == "$?" => self.code.to_string(),
            ("cat", [file]) => fs::read_to_string(self.folder.path().join(file)).unwrap(),
            ("trellis", args) => {
                // Both outputs into one file, so that their order is kept.
                let path = self.outputs.path().join("output");
                let output = File::create(&path).unwrap();
                let status = Command::new(env!("CARGO_BIN_EXE_trellis"))
                    .args(args)
                    .current_dir(self.folder.path())
                    .env("NO_COLOR", "1")
                    .stdin(Stdio::null())
                    .stdout(output.try_clone().unwrap())
                    .stderr(output)
                    .status()
                    .expect("the binary runs");
                self.code = status.code().expect("an exit code");
                fs::read_to_string(path).unwrap()
            }
            _ => panic!("the book has commands that are not known here: {command}"),
        }
    }
}

fn lines(text: &str) -> Vec<String> {
    text.trim_end().lines().map(timeless).collect()
}

/// What is wrong with the sessions of a chapter.
fn sessions(name: &str, text: &str, wrong: &mut Vec<String>) {
    let blocks = blocks(text);
    if blocks.iter().all(|b| b.kind != "console") {
        return;
    }
    let mut session = Session::new();
    for block in blocks {
        for (mark, file) in &block.marks {
            if *mark == "save" {
                fs::write(session.folder.path().join(file), block.body.join("\n") + "\n").unwrap();
            }
        }
        if block.kind != "console" {
            continue;
        }
        let body = block.body.join("\n");
        let (nothing, commands) = body.split_once("$ ").expect("a command");
        assert!(nothing.is_empty(), "{name}:{}: a session begins with a command", block.line);
        for part in commands.split("\n$ ") {
            let (command, expected) = part.split_once('\n').unwrap_or((part, ""));
            let printed = session.run(command);
            if !are_lines(&lines(expected), &lines(&printed)) {
                wrong.push(format!(
                    "{name}:{}: $ {command}\nthe book has\n{expected}\nprinted is\n{printed}",
                    block.line
                ));
            }
        }
    }
}

#[test]
fn commands_print_what_the_book_shows() {
    let mut wrong = vec![];
    for (name, text) in chapters() {
        sessions(&name, &text, &mut wrong);
    }
    assert!(wrong.is_empty(), "{} commands\n\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn files_are_what_the_book_shows() {
    let plain =
        |lines: Vec<&str>| lines.iter().map(|l| l.split_whitespace().collect::<Vec<_>>().join(" ")).collect::<Vec<_>>();
    for (name, text) in chapters() {
        for block in blocks(&text) {
            for (mark, path) in &block.marks {
                assert!(["file", "save"].contains(mark), "{name}:{}: what is `{mark}`?", block.line);
                if *mark == "file" {
                    let file = fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{name}: {path}: {e}"));
                    let same = are_lines(&plain(block.body.clone()), &plain(file.trim_end().lines().collect()));
                    assert!(same, "{name}:{}: {path} has other lines", block.line);
                }
            }
        }
    }
}

#[test]
fn pages_are_in_the_summary_and_links_lead_somewhere() {
    let chapters = chapters();
    let summary = &chapters.iter().find(|(name, _)| name == "SUMMARY.md").expect("a summary").1;
    for (name, text) in &chapters {
        assert!(name == "SUMMARY.md" || summary.contains(&format!("({name})")), "{name} is not in the summary");
        for link in text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(link, _)| link) {
            let page = link.split('#').next().unwrap_or("");
            let leads = link.starts_with("https://")
                || chapters.iter().any(|(name, _)| name == page)
                || (page.ends_with(".webp") && root().join("book/src").join(page).is_file());
            assert!(leads, "{name}: {link} leads nowhere");
        }
    }
}

#[test]
fn what_is_expected_is_compared() {
    let same = |expected: &str, printed: &str| are_lines(&lines(expected), &lines(printed));
    assert!(same("SAFE  p  (2 states, 0.00 s; checked)", "SAFE  p  (2 states, 12.34 s; checked)\n"));
    assert!(!same("SAFE  p  (2 states, 0.00 s; checked)", "SAFE  p  (3 states, 0.00 s; checked)"));
    assert!(same("SAFE  (0.00 s; set)", "SAFE  (0.10 s; set)"));
    assert!(same("(…; checked)", "(2 states; checked)") && !same("(…; checked)", "(2 states; replayed)"));
    assert!(same("a\n…\nc", "a\nb\nb\nc") && same("a\n…", "a") && !same("a\n…\nd", "a\nb\nc"));
    assert!(!same("a\nb", "a") && !same("a", "a\nb") && !same("wait 1.5 t", "wait 2.5 t"));
    assert_eq!(words("trellis check 'a b'  -p ''"), ["trellis", "check", "a b", "-p", ""]);
}
