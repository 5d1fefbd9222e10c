//! From a source file to text that the parser can read, and from places in that text back to the file.
//!
//! A file with directives goes through `gcc -E`; one without (or preprocessed already) is taken as it is. Comments are blanked
//! out, so that lines without macros keep their columns.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

use trellis_model::cfa::Place;

use super::scan::{Scan, Unread, scan};
use super::{DataModel, Options, TIME_LIMIT};
use crate::diag::{Diagnostic, Folders, SourceId, Sources, Span};

/// How long the preprocessor may take at most.
const TIME: Duration = Duration::from_secs(60);
/// How much memory it may take, in KiB.
const MEMORY: u64 = 4 << 20;
/// The largest output that is read, in bytes.
const OUTPUT: u64 = 256 << 20;

/// The deepest nesting that is read, of brackets, operators and statements together.
const MAX_NESTING: usize = 10_000;
/// The deepest nesting of brackets: what is inside one is read again by each rule that is tried outside it, so the parser takes
/// quadratic time. (Compilers read a few hundred.)
const MAX_BRACKETS: usize = 1_000;
/// So many operators may stand in a row: what each of them is applied to is looked at again by the next.
const MAX_OPERATORS: usize = 1_000;

/// Text without directives and comments.
pub struct Text {
    /// What the parser reads.
    pub code: String,
    /// The way back.
    pub map: Map,
}

/// Where the text came from.
pub struct Map {
    main: SourceId,
    /// For text that went through the preprocessor: its own source, and its lines.
    lines: Option<Preprocessed>,
    /// The lines of the file itself: where they start, and their text without comments.
    original: Vec<(u32, String)>,
    /// Where the text has [`IMPLICIT`] that the file does not have.
    inserted: Vec<usize>,
    /// The names of the files that text came from; the first is the file itself.
    pub files: Vec<String>,
    /// What the parser does not see.
    pub scan: Scan,
}

/// Text that went through the preprocessor.
struct Preprocessed {
    source: SourceId,
    code: String,
    lines: Vec<Line>,
}

/// A line of preprocessed text.
struct Line {
    start: u32,
    file: u32,
    /// From 1.
    line: u32,
}

/// Prepares a file for the parser.
pub fn prepare(
    sources: &mut Sources,
    id: SourceId,
    options: &Options,
    warnings: &mut Vec<Diagnostic>,
) -> Result<Text, Diagnostic> {
    let source = sources.get(id);
    let (name, text) = (source.name.clone(), source.text.clone());
    let blanked = blank_comments(&text);
    let whole = Span { source: id, start: 0, end: text.len() as u32 };
    let original = lines_of(&blanked);
    let mut map =
        Map { main: id, lines: None, original, inserted: vec![], files: vec![name.clone()], scan: Scan::default() };
    let code = match first_directive(&blanked) {
        None => blanked,
        Some(at) => {
            let place = Span { start: at.0 as u32, end: at.1 as u32, ..whole };
            includes(&blanked, id, &options.folders)?;
            let gcc = Preprocessor { text: &text, options, place };
            let output = match options.data_model {
                DataModel::Lp64 => gcc.run(&[])?,
                // The headers for 32 bits are often not there.
                DataModel::Ilp32 => gcc.run(&["-m32"]).or_else(|_| {
                    let said = "the headers of this machine are used: their types may be those of 64 bits";
                    let limits = ["-U__LONG_MAX__", "-D__LONG_MAX__=0x7fffffffL"];
                    let output = gcc.run(&limits)?;
                    warnings.extend(blanked.contains("#include").then(|| Diagnostic::warning(place, said)));
                    Ok(output)
                })?,
            };
            let code = blank_comments(&output);
            let preprocessed = sources.add(format!("{name} (preprocessed)"), output);
            map.number(preprocessed, &code);
            code
        }
    };
    let mut code = map.explicit(code);
    if let Some(at) = too_deep(&code) {
        let span = map.span(at, at + 1);
        return Err(Diagnostic::error(span, "this is nested too deeply").help("split the expression or the statement"));
    }
    match scan(&mut code) {
        Ok(scan) => map.scan = scan,
        Err(Unread { at, message, help }) => {
            let d = Diagnostic::error(map.span(at.start, at.end), message);
            return Err(match help {
                Some(help) => d.help(help),
                None => d,
            });
        }
    }
    Ok(Text { code, map })
}

/// The first line that only a preprocessor understands, or a line that goes on in the next one.
fn first_directive(text: &str) -> Option<(usize, usize)> {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim();
        if let Some(directive) = trimmed.strip_prefix('#') {
            let word = directive.trim_start();
            let marker = word.starts_with(|c: char| c.is_ascii_digit());
            if !marker && !word.starts_with("line") && !word.starts_with("pragma") && !word.is_empty() {
                let at = start + (line.len() - line.trim_start().len());
                return Some((at, at + trimmed.len()));
            }
        } else if trimmed.ends_with('\\') || trimmed.contains("_Pragma") {
            return Some((start, start + line.trim_end().len()));
        }
        start += line.len();
    }
    None
}

/// Refuses what the file itself includes and may not read, before anybody opens it: it may be a device. What comes from macros and
/// other headers is seen in the output.
fn includes(text: &str, id: SourceId, folders: &Folders) -> Result<(), Diagnostic> {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let directive = line.trim().strip_prefix('#').and_then(|l| l.trim_start().strip_prefix("include"));
        let named = directive.map(str::trim).and_then(|l| l.strip_prefix(['"', '<'])?.split(['"', '>']).next());
        if let Some(file) = named.filter(|f| !folders.has(&folders.folder.join(f))) {
            let at = start + line.find(file).unwrap_or(0) as u32;
            return Err(folders.refusal(file, Span { source: id, start: at, end: at + file.len() as u32 }));
        }
        start += line.len() as u32;
    }
    Ok(())
}

/// A run of `gcc -E`.
struct Preprocessor<'t> {
    text: &'t str,
    options: &'t Options,
    /// The directive that makes it necessary.
    place: Span,
}

impl Preprocessor<'_> {
    fn run(&self, options: &[&str]) -> Result<String, Diagnostic> {
        let failed = |why: String| Diagnostic::error(self.place, format!("`gcc -E` failed: {why}"));
        let missing = |why: String| {
            Diagnostic::error(self.place, format!("this needs a preprocessor, and `gcc` cannot be run: {why}"))
                .help("install gcc, or preprocess the file elsewhere: gcc -E FILE.c > FILE.i")
        };
        let folder = self.options.folders.folder();
        let limit = self.options.at_most(TIME);
        // A header may be a device, and a macro may grow without end: the shell limits time and memory.
        let limits = format!(
            "ulimit -v {MEMORY} 2>/dev/null; ulimit -t {} 2>/dev/null; exec gcc \"$@\"",
            limit.as_secs().saturating_add(2)
        );
        let start = |mut command: Command| {
            command.args(options).args(["-E", "-std=gnu11", "-x", "c", "-iquote"]).arg(folder).arg("-");
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
        };
        let mut shell = Command::new("sh");
        shell.args(["-c", &limits, "sh"]);
        let child = start(shell).or_else(|_| start(Command::new("gcc")));
        let mut child = child.map_err(|e| missing(e.to_string()))?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let text = self.text.to_string();
        // From threads of their own: gcc writes while it reads.
        let writer = std::thread::spawn(move || stdin.map(|mut stdin| stdin.write_all(text.as_bytes())));
        let (sender, receiver) = channel();
        std::thread::spawn(move || {
            let said = std::thread::spawn(move || read_at_most(stderr, 1 << 20));
            let output = read_at_most(stdout, OUTPUT + 1);
            let _ = sender.send((output, said.join().unwrap_or_default()));
        });
        let received = receiver.recv_timeout(limit);
        if !matches!(&received, Ok((output, _)) if output.len() as u64 <= OUTPUT) {
            let _ = child.kill();
            let _ = child.wait();
            return Err(match received {
                Ok(_) => failed(format!("its output is larger than {} MB", OUTPUT >> 20)),
                Err(_) if self.options.late() => Diagnostic::error(self.place, TIME_LIMIT),
                Err(_) => failed(format!("it has not come to an end within {} s", limit.as_secs_f64())),
            });
        }
        let (output, said) = received.unwrap_or_default();
        // Also if gcc complains: what it says may be what is in the file.
        if let Some(file) = self.stranger(&output) {
            let _ = child.wait();
            return Err(self.options.folders.refusal(&file, self.place));
        }
        let status = child.wait().map_err(|e| failed(e.to_string()))?;
        let _ = writer.join();
        if !status.success() {
            let said = String::from_utf8_lossy(&said);
            if status.code() == Some(127) {
                return Err(missing("it is not there".into()));
            }
            let lines = || said.lines().map(str::trim).filter(|l| !l.is_empty());
            let first = lines().find(|l| l.contains("error")).or(lines().next());
            let first = first.unwrap_or("no reason given; it may have run out of memory");
            return Err(failed(first.to_string()));
        }
        String::from_utf8(output).map_err(|_| failed("its output is not UTF-8".into()))
    }

    /// A file in the output that the program may not read: one that is entered (1), and is not in a folder of the system (3).
    fn stranger(&self, output: &[u8]) -> Option<String> {
        let lines = output.split(|b| *b == b'\n').filter(|l| l.starts_with(b"# "));
        lines.map(String::from_utf8_lossy).find_map(|line| {
            let (file, flags) = line.split_once('"')?.1.rsplit_once('"')?;
            let entered = flags.split_whitespace().next() == Some("1") && !flags.split_whitespace().any(|f| f == "3");
            let file = file.replace("\\\\", "\\").replace("\\\"", "\"");
            (entered && !self.options.folders.has(Path::new(&file))).then_some(file)
        })
    }
}

/// What comes, but not more than so many bytes.
fn read_at_most(from: Option<impl Read>, most: u64) -> Vec<u8> {
    let mut all = vec![];
    if let Some(from) = from {
        let _ = from.take(most).read_to_end(&mut all);
    }
    all
}

/// The type of a function that is declared without one, in old C.
const IMPLICIT: &str = "int ";

impl Map {
    /// Gives `main() {…}` the type that it has in old C.
    fn explicit(&mut self, code: String) -> String {
        let at = untyped_functions(&code);
        if at.is_empty() {
            return code;
        }
        let mut out = String::with_capacity(code.len() + at.len() * IMPLICIT.len());
        let mut from = 0;
        for at in at {
            out.push_str(&code[from..at]);
            self.inserted.push(out.len());
            out.push_str(IMPLICIT);
            from = at;
        }
        out.push_str(&code[from..]);
        out
    }

    /// The offset before anything was inserted.
    fn outside(&self, at: usize) -> usize {
        let before = self.inserted.partition_point(|i| *i < at);
        let Some(last) = before.checked_sub(1) else { return at };
        // It may be in the middle of the last one.
        at - last * IMPLICIT.len() - (at - self.inserted[last]).min(IMPLICIT.len())
    }

    /// Reads the line markers.
    fn number(&mut self, source: SourceId, code: &str) {
        let mut lines = vec![];
        let (mut file, mut line, mut start) = (0, 1, 0);
        for text in code.split_inclusive('\n') {
            match marker(text) {
                Some((next, name)) => {
                    file = match name {
                        "<stdin>" => 0,
                        name => match self.files.iter().position(|f| f == name) {
                            Some(n) => n as u32,
                            None => {
                                self.files.push(name.to_string());
                                self.files.len() as u32 - 1
                            }
                        },
                    };
                    lines.push(Line { start, file, line: next.max(1) });
                    line = next;
                }
                None => {
                    lines.push(Line { start, file, line: line.max(1) });
                    line += 1;
                }
            }
            start += text.len() as u32;
        }
        self.lines = Some(Preprocessed { source, code: code.to_string(), lines });
    }

    /// The stretch of a source that a stretch of the parser's text came from.
    pub fn span(&self, start: usize, end: usize) -> Span {
        let (start, end) = (self.outside(start), self.outside(end));
        let Some(pre) = &self.lines else {
            return Span { source: self.main, start: start as u32, end: end as u32 };
        };
        let plain = Span { source: pre.source, start: start as u32, end: end as u32 };
        let Some(line) = pre.line_at(start).filter(|l| l.file == 0) else { return plain };
        let Some((at, text)) = self.original.get(line.line as usize - 1) else { return plain };
        // Where no macro stood before it, a thing is in the column where it was; otherwise the whole line is meant.
        let (from, to) = (start - line.start as usize, end - line.start as usize);
        let first = pre.code[line.start as usize..].split('\n').next().unwrap_or_default();
        let unchanged = first.get(..from).is_some_and(|before| text.starts_with(before)) && from < text.len();
        let (from, to) =
            if unchanged { (from, to) } else { (text.len() - text.trim_start().len(), text.trim_end().len()) };
        Span { source: self.main, start: at + from as u32, end: at + to as u32 }
    }

    /// The same as line and column.
    pub fn place(&self, sources: &Sources, start: usize) -> Place {
        let span = self.span(start, start + 1);
        let (line, column) = sources.line_col(span);
        let mut place = Place { file: 0, line: line as u32, column: column as u32 };
        if let Some(pre) = &self.lines
            && span.source == pre.source
            && let Some(line) = pre.line_at(self.outside(start))
        {
            (place.file, place.line) = (line.file, line.line);
        }
        place
    }
}

impl Preprocessed {
    fn line_at(&self, at: usize) -> Option<&Line> {
        self.lines.get(self.lines.partition_point(|l| l.start as usize <= at).max(1) - 1)
    }
}

/// `# 12 "file.h" 1 3`
fn marker(line: &str) -> Option<(u32, &str)> {
    let rest = line.strip_prefix("# ")?;
    let (number, rest) = rest.split_once(' ')?;
    let name = rest.strip_prefix('"')?;
    Some((number.parse().ok()?, &name[..name.find('"')?]))
}

fn lines_of(text: &str) -> Vec<(u32, String)> {
    let mut start = 0;
    let mut lines = vec![];
    for line in text.split_inclusive('\n') {
        lines.push((start, line.trim_end_matches(['\n', '\r']).to_string()));
        start += line.len() as u32;
    }
    lines
}

/// The text with spaces where comments were; nothing moves.
fn blank_comments(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut i = 0;
    while i < bytes.len() {
        match bytes[i] {
            quote @ (b'"' | b'\'') => {
                let end = end_of_quoted(bytes, i, quote);
                out.extend_from_slice(&bytes[i..end]);
                i = end;
            }
            b'/' if matches!(bytes.get(i + 1), Some(b'/' | b'*')) => {
                let end = match bytes[i + 1] {
                    b'/' => end_of_line_comment(bytes, i),
                    _ => text[i + 2..].find("*/").map_or(bytes.len(), |n| i + 2 + n + 2),
                };
                out.extend(bytes[i..end].iter().map(|b| if *b == b'\n' || *b == b'\r' { *b } else { b' ' }));
                i = end;
            }
            b => {
                out.push(b);
                i += 1;
            }
        }
    }
    // Only whole characters were replaced.
    String::from_utf8(out).unwrap_or_default()
}

/// What may stand before a parenthesis at file scope, and is no function.
const NO_FUNCTIONS: [&str; 11] =
    ["asm", "char", "double", "float", "int", "long", "short", "signed", "typeof", "unsigned", "void"];

/// Where, at file scope, a declaration starts with a name and a parenthesis.
fn untyped_functions(code: &str) -> Vec<usize> {
    let bytes = code.as_bytes();
    let (mut depth, mut starts, mut i) = (0usize, true, 0);
    let mut found = vec![];
    while i < bytes.len() {
        let start = i;
        i += 1;
        match bytes[start] {
            quote @ (b'"' | b'\'') => i = end_of_quoted(bytes, start, quote),
            b'#' => i = code[start..].find('\n').map_or(bytes.len(), |n| start + n),
            b'{' | b'(' | b'[' => depth += 1,
            b'}' | b')' | b']' => {
                depth = depth.saturating_sub(1);
                starts = bytes[start] == b'}' && depth == 0;
            }
            b';' => starts = depth == 0,
            b if b.is_ascii_whitespace() => {}
            b if b.is_ascii_alphabetic() => {
                while i < bytes.len() && (bytes[i].is_ascii_alphanumeric() || bytes[i] == b'_') {
                    i += 1;
                }
                // Not `int (*p)(void);`, which is a pointer.
                let parameters = code[i..].trim_start().strip_prefix('(').map(str::trim_start);
                let is_list = parameters.is_some_and(|p| !p.starts_with(['*', '(']));
                if starts && is_list && !NO_FUNCTIONS.contains(&&code[start..i]) {
                    found.push(start);
                }
                starts = false;
            }
            _ => starts = false,
        }
    }
    found
}

/// A backslash at its end carries a comment on to the next line.
fn end_of_line_comment(bytes: &[u8], start: usize) -> usize {
    let mut i = start;
    while i < bytes.len() && (bytes[i] != b'\n' || bytes[i - 1] == b'\\') {
        i += 1;
    }
    i
}

/// One past the closing quote, or the end of the line if there is none.
pub fn end_of_quoted(bytes: &[u8], start: usize, quote: u8) -> usize {
    let mut i = start + 1;
    while i < bytes.len() && bytes[i] != b'\n' {
        match bytes[i] {
            b'\\' => i += 1,
            b if b == quote => return i + 1,
            _ => {}
        }
        i += 1;
    }
    i.min(bytes.len())
}

/// Where the nesting of brackets, operators and statements without brackets may become too deep for the parser, which is
/// recursive. It counts generously: what a statement without a semicolon could nest.
fn too_deep(code: &str) -> Option<usize> {
    let bytes = code.as_bytes();
    let mut outer: Vec<usize> = vec![];
    let (mut depth, mut i, mut row) = (0usize, 0, 0);
    while i < bytes.len() {
        let start = i;
        i += 1;
        let before = row;
        row = if bytes[start].is_ascii_whitespace() { row } else { 0 };
        match bytes[start] {
            quote @ (b'"' | b'\'') => i = end_of_quoted(bytes, start, quote),
            b'(' | b'[' | b'{' => {
                outer.push(depth);
                depth += 1;
            }
            b')' | b']' => depth = outer.pop().unwrap_or(0) + usize::from(bytes[start] == b']'),
            b'}' | b';' => {
                if bytes[start] == b'}' {
                    depth = outer.pop().unwrap_or(0);
                }
                // `else` goes on with the statement before it, and nests in it.
                let goes_on = code[i..].trim_start().starts_with("else");
                let around = outer.last().map_or(0, |o| o + 1);
                depth = if goes_on { depth + 1 } else { around };
            }
            b',' => depth = outer.last().map_or(0, |o| o + 1),
            b'!' | b'~' | b'-' | b'+' | b'*' | b'&' | b'?' | b':' | b'/' | b'%' | b'|' | b'^' | b'<' | b'>' | b'=' => {
                depth += 1;
                row = before + 1;
            }
            b if b.is_ascii_alphabetic() || b == b'_' => {
                while i < bytes.len() && (bytes[i].is_ascii_alphanumeric() || bytes[i] == b'_') {
                    i += 1;
                }
                depth += usize::from(matches!(
                    &code[start..i],
                    "if" | "while" | "for" | "do" | "switch" | "case" | "sizeof"
                ));
            }
            _ => {}
        }
        if depth > MAX_NESTING || outer.len() > MAX_BRACKETS || row > MAX_OPERATORS {
            return Some(start);
        }
    }
    None
}
