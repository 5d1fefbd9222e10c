//! What a verdict is bound to, made in one place: for `check`, which writes it on top of evidence, and for `certify`, which makes it
//! again from the model and its own command line and compares.
//!
//! An option that changes what the model or the property means has its place in [`Meaning`], or, if only one formalism has it, in
//! [`crate::task::Task::meaning`]; options that only change how an answer is
//! found have none. The structures of options are taken apart without `..`, so that whoever adds an option has to decide.

use std::collections::BTreeMap;
use std::path::Path;

use sha2::{Digest, Sha256};
use trellis_report::json::{Binding, Input};
use trellis_syntax::diag::Sources;

use crate::Error;
use crate::settings::{Model, Settings};

/// This tool.
pub const TOOL: &str = concat!("trellis ", env!("CARGO_PKG_VERSION"));

/// All that changes the meaning, but for the property itself.
pub struct Meaning<'a> {
    pub model: &'a Model,
    pub fair: &'a [String],
    pub non_zeno: bool,
    /// How a thread transition system starts.
    pub start: Option<&'a str>,
}

impl<'a> From<&'a Settings> for Meaning<'a> {
    fn from(args: &'a Settings) -> Meaning<'a> {
        Meaning {
            model: &args.model,
            fair: &args.formulas.fair,
            non_zeno: args.non_zeno,
            start: args.counters.start.as_deref(),
        }
    }
}

impl Meaning<'_> {
    fn options(&self) -> BTreeMap<String, String> {
        let Meaning { model, fair, non_zeno, start } = self;
        // What was brought along is among the inputs.
        let Model { model: _, constants, period, root: _, python: _, after, brought: _ } = model;
        let mut all = BTreeMap::new();
        let mut add = |name: &str, value: String| _ = all.insert(name.to_string(), value);
        if !constants.is_empty() {
            let mut constants: Vec<String> = constants.iter().map(|(name, n)| format!("{name}={n}")).collect();
            constants.sort();
            add("const", constants.join(" --const "));
        }
        if let Some(after) = after {
            let moves: Vec<&str> = after.split(';').map(str::trim).filter(|m| !m.is_empty()).collect();
            add("after", moves.join("; "));
        }
        if let Some((least, most)) = period {
            add("period", format!("{least}ms..{}", most.map_or(String::new(), |most| format!("{most}ms"))));
        }
        if !fair.is_empty() {
            let mut fair: Vec<String> = fair.iter().map(|f| canonical(f)).collect();
            fair.sort();
            add("fair", fair.join(" --fair "));
        }
        if *non_zeno {
            add("non-zeno", "yes".into());
        }
        if let Some(start) = start {
            add("start", canonical(start));
        }
        all
    }
}

/// What all properties of a model are bound to.
#[derive(Debug, Clone)]
pub struct Bound {
    inputs: Vec<Input>,
    options: BTreeMap<String, String>,
}

impl Bound {
    pub fn new<'a>(meaning: impl Into<Meaning<'a>>, inputs: Vec<Input>) -> Bound {
        Bound { inputs, options: meaning.into().options() }
    }

    /// With an option whose value only the model knows.
    pub fn with(mut self, option: &str, value: &str) -> Bound {
        self.options.insert(option.into(), value.into());
        self
    }

    /// Bound to a property.
    pub fn to(&self, property: &str) -> Binding {
        Binding {
            tool: TOOL.into(),
            inputs: self.inputs.clone(),
            property: canonical(property),
            options: self.options.clone(),
        }
    }
}

/// A file that was read, by its bytes.
pub fn input(path: &Path, bytes: &[u8]) -> Input {
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    Input { name, sha256: digest(bytes) }
}

/// The SHA-256 of some bytes, in hexadecimal.
pub fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect()
}

/// The text of a model, and what binds evidence to it.
pub fn read(path: &Path) -> Result<(String, Input), Error> {
    let broken = |e| Error::Input(format!("error: {}: cannot be read: {e}", path.display()));
    let text = std::fs::read_to_string(path).map_err(broken)?;
    let bound = input(path, text.as_bytes());
    Ok((text, bound))
}

/// The first text that was read, which is the model's. Texts are what the bytes of files are, in UTF-8.
pub fn model_input(path: &Path, sources: &Sources) -> Input {
    let text = sources.iter().next().map_or("", |s| s.text.as_str());
    input(path, text.as_bytes())
}

/// What a C program is made of: its text; if it went through the preprocessor, the files that it includes, but for those of the system,
/// and what all came to, which those of the system are part of. Line markers do not count: they name folders.
pub fn c_inputs(path: &Path, sources: &Sources) -> Vec<Input> {
    let mut all = vec![model_input(path, sources)];
    let Some(whole) = sources.iter().find(|s| s.name.ends_with(PREPROCESSED)) else { return all };
    let mut code = String::with_capacity(whole.text.len());
    let mut included: Vec<&str> = vec![];
    for line in whole.text.split_inclusive('\n') {
        match line.strip_prefix("# ").and_then(|l| l.split_once(" \"")).and_then(|(_, l)| l.rsplit_once('"')) {
            Some((file, flags)) => {
                let system = flags.split_whitespace().any(|flag| flag == "3");
                if !system && !file.starts_with('<') && !file.ends_with('/') && !included.contains(&file) {
                    included.push(file);
                }
            }
            None => code.push_str(line),
        }
    }
    for file in included {
        let is_model =
            || matches!((std::fs::canonicalize(file), std::fs::canonicalize(path)), (Ok(a), Ok(b)) if a == b);
        if let Ok(bytes) = std::fs::read(file)
            && !is_model()
        {
            all.push(input(Path::new(file), &bytes));
        }
    }
    let name = all[0].name.clone();
    all.push(Input { name: format!("{name}{PREPROCESSED}"), ..input(path, code.as_bytes()) });
    all
}

/// How preprocessed texts are called.
const PREPROCESSED: &str = " (preprocessed)";

/// A text in which white space is single spaces, but for what is quoted: texts that differ in nothing else mean the same in all
/// languages that properties are written in.
pub fn canonical(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut quote, mut space) = (None, false);
    for c in text.chars() {
        if quote.is_none() && c.is_whitespace() {
            space = !out.is_empty();
            continue;
        }
        if std::mem::take(&mut space) {
            out.push(' ');
        }
        quote = match quote {
            None if matches!(c, '"' | '\'') => Some(c),
            Some(q) if q == c => None,
            quote => quote,
        };
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_does_not_count_but_in_quotes() {
        assert_eq!(canonical("  A[]\n\t not  P.Bad "), "A[] not P.Bad");
        assert_eq!(canonical("In('a  b')  &&  x"), "In('a  b') && x");
        assert_ne!(canonical("A[] true"), canonical("A[] true\nA[] false"));
        assert_eq!(canonical(" \n"), "");
    }

    #[test]
    fn a_hash_is_the_hash() {
        let Input { name, sha256 } = input(Path::new("folder/empty.c"), b"");
        assert_eq!(name, "empty.c");
        assert_eq!(sha256, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    }
}
