//! The bundled models, by language: how their texts are cut into pieces, what their keywords are, and who reads them.

use std::path::{Path, PathBuf};

use crate::read::{self, Reader};
use crate::root;
use crate::scan::{C, Style};
use crate::sites::{self, Site};

/// How a language is written.
pub struct Language {
    pub name: &'static str,
    /// How file names end.
    pub endings: &'static [&'static str],
    pub style: Style,
    pub keywords: &'static [&'static str],
    /// Of XML: how the contents of an element (`element`) or of an attribute (`element/@attribute`) are written.
    pub embedded: Option<fn(&str) -> Option<Style>>,
    pub reader: Reader,
}

/// A model, or a question.
pub struct File {
    pub language: &'static Language,
    /// From `models/`, or from the samples of this test.
    pub name: String,
    pub path: PathBuf,
    pub text: String,
    /// What goes with it: the question about a model, or the model of a question.
    pub beside: String,
}

impl File {
    /// All changes of it.
    pub fn sites(&self) -> Vec<Site> {
        let Language { style, keywords, embedded, .. } = self.language;
        match embedded {
            Some(embedded) => sites::of_xml(&self.text, keywords, embedded),
            None => sites::of_text(&self.text, *style, keywords),
        }
    }
}

const HASH: Style = Style { line: &["#"], block: &[], quotes: &['"'] };
const JSON: Style = Style { line: &[], block: &[], quotes: &['"'] };
const LOLA: Style = Style { line: &["//"], block: &[("{", "}")], quotes: &['"'] };
const NODES: Style = Style { line: &["//"], block: &[("/*", "*/")], quotes: &['\'', '"'] };

const UPPAAL: &[&str] = &[
    "const",
    "meta",
    "int",
    "bool",
    "clock",
    "chan",
    "void",
    "scalar",
    "broadcast",
    "urgent",
    "commit",
    "struct",
    "typedef",
    "process",
    "state",
    "init",
    "trans",
    "guard",
    "sync",
    "assign",
    "system",
    "true",
    "false",
    "and",
    "or",
    "not",
    "imply",
    "for",
    "while",
    "do",
    "if",
    "else",
    "return",
    "forall",
    "exists",
    "deadlock",
    "extern",
    "from",
    "select",
    "priority",
    "default",
    "A",
    "E",
    "sup",
    "inf",
    "probability",
];

const ALTARICA: &[&str] = &[
    "node",
    "edon",
    "state",
    "flow",
    "event",
    "trans",
    "assert",
    "init",
    "sub",
    "sync",
    "extern",
    "const",
    "domain",
    "sort",
    "sig",
    "struct",
    "tcurts",
    "param",
    "bool",
    "true",
    "false",
    "and",
    "or",
    "not",
    "imply",
    "if",
    "then",
    "else",
    "case",
    "in",
    "out",
    "private",
    "public",
    "parent",
    "max",
    "min",
    "mod",
    "param_set",
];

/// All of them.
pub static LANGUAGES: &[Language] = &[
    Language {
        name: "UPPAAL XML",
        endings: &["xml"],
        style: C,
        keywords: UPPAAL,
        embedded: Some(|what| match what {
            "declaration" | "parameter" | "label" | "system" | "formula" | "instantiation" => Some(C),
            "name" => Some(C),
            _ => None,
        }),
        reader: read::network,
    },
    Language {
        name: "UPPAAL text",
        endings: &["xta", "ta"],
        style: C,
        keywords: UPPAAL,
        embedded: None,
        reader: read::network,
    },
    Language { name: "queries", endings: &["q"], style: C, keywords: UPPAAL, embedded: None, reader: read::queries },
    Language {
        name: "TChecker",
        endings: &["tck", "txt"],
        style: HASH,
        keywords: &[
            "system",
            "event",
            "process",
            "clock",
            "int",
            "location",
            "edge",
            "sync",
            "initial",
            "committed",
            "urgent",
            "invariant",
            "labels",
            "provided",
            "do",
        ],
        embedded: None,
        reader: read::tchecker,
    },
    Language {
        name: "CFA",
        endings: &["cfa", "theta"],
        style: C,
        keywords: &[
            "main", "process", "var", "init", "final", "error", "loc", "assume", "havoc", "skip", "return", "bool",
            "int", "rat", "bv", "true", "false", "and", "or", "not", "imply", "iff", "if", "then", "else", "mod",
            "rem", "div", "bvadd", "bvsub", "bvmul", "bvult", "bvule", "bvugt", "bvuge",
        ],
        embedded: None,
        reader: read::automaton,
    },
    Language { name: "XSTS", endings: &["xsts"], style: C, keywords: XSTS, embedded: None, reader: read::xsts },
    Language {
        name: "XSTS properties",
        endings: &["prop"],
        style: C,
        keywords: XSTS,
        embedded: None,
        reader: read::property,
    },
    Language {
        name: "STS",
        endings: &["sts"],
        style: C,
        keywords: &[
            "specification",
            "const",
            "system",
            "var",
            "int",
            "bool",
            "invariant",
            "initial",
            "transition",
            "property",
            "models",
            "G",
            "if",
            "then",
            "else",
            "and",
            "or",
            "not",
            "imply",
            "true",
            "false",
            "mod",
            "rem",
            "div",
        ],
        embedded: None,
        reader: read::sts,
    },
    Language {
        name: "SCXML",
        endings: &["scxml"],
        style: C,
        keywords: &["In", "true", "false"],
        embedded: Some(|what| match what.rsplit_once("/@")?.1 {
            "cond" | "expr" | "location" | "event" | "target" | "initial" => Some(C),
            _ => None,
        }),
        reader: read::chart,
    },
    Language {
        name: "counter systems",
        endings: &["spec"],
        style: HASH,
        keywords: &["vars", "rules", "init", "target", "invariants"],
        embedded: None,
        reader: read::counters,
    },
    Language {
        name: "PNML",
        endings: &["pnml"],
        style: C,
        keywords: &[],
        embedded: Some(|what| (what == "text").then_some(JSON)),
        reader: read::net,
    },
    Language {
        name: "LoLA",
        endings: &["lola"],
        style: LOLA,
        keywords: &["PLACE", "MARKING", "TRANSITION", "CONSUME", "PRODUCE", "SAFE", "STRONG", "WEAK", "FAIR"],
        embedded: None,
        reader: read::net,
    },
    Language {
        name: "thread transition systems",
        endings: &["tts"],
        style: HASH,
        keywords: &[],
        embedded: None,
        reader: read::threads,
    },
    Language {
        name: "lossy channel systems",
        endings: &["lcs"],
        style: Style { line: &["#", "//"], block: &[], quotes: &[] },
        keywords: &["channel", "process", "start", "initially", "error"],
        embedded: None,
        reader: read::channels,
    },
    Language {
        name: "AltaRica",
        endings: &["alt"],
        style: NODES,
        keywords: ALTARICA,
        embedded: None,
        reader: read::nodes,
    },
    Language {
        name: "hierarchical transition systems",
        endings: &["hts.json"],
        style: JSON,
        keywords: &[],
        embedded: None,
        reader: read::tree,
    },
    Language {
        name: "HOA",
        endings: &["hoa"],
        style: C,
        keywords: &["HOA", "v1", "Start", "Acceptance", "Inf", "AP", "State", "States", "Alias", "t", "f"],
        embedded: None,
        reader: read::buchi,
    },
    Language {
        name: "LTL",
        endings: &["patterns.txt"],
        style: Style { line: &[], block: &[], quotes: &['"'] },
        keywords: &["F", "G", "X", "U", "R", "W", "M", "true", "false"],
        embedded: None,
        reader: read::formulas,
    },
    Language {
        name: "C",
        endings: &["c"],
        style: C,
        keywords: &[
            "int", "char", "long", "short", "unsigned", "signed", "void", "struct", "union", "enum", "typedef",
            "static", "const", "extern", "volatile", "if", "else", "while", "for", "do", "switch", "case", "default",
            "break", "continue", "return", "goto", "sizeof", "_Bool", "inline",
        ],
        embedded: None,
        reader: read::program,
    },
];

const XSTS: &[&str] = &[
    "type", "ctrl", "var", "boolean", "integer", "trans", "init", "env", "prop", "choice", "or", "if", "then", "else",
    "for", "from", "to", "do", "local", "havoc", "assume", "true", "false", "default", "iff", "xor", "rem", "and",
    "not", "imply", "read", "write",
];

/// All bundled files, in the order of their names; the larger ones of each language come last.
pub fn files() -> Vec<File> {
    let mut all = vec![];
    for folder in [root().join("models"), root().join("crates/trellis-cli/tests/trust/samples")] {
        collect(&folder, &folder, &mut all);
    }
    all.sort_by(|a: &File, b: &File| {
        (a.language.name, a.text.len(), &a.name).cmp(&(b.language.name, b.text.len(), &b.name))
    });
    all
}

fn collect(base: &Path, folder: &Path, all: &mut Vec<File>) {
    for entry in std::fs::read_dir(folder).expect("a folder of models").filter_map(Result::ok) {
        let path = entry.path();
        if path.is_dir() {
            collect(base, &path, all);
            continue;
        }
        let name = path.strip_prefix(base).expect("below it").display().to_string();
        let ending = |l: &&Language| {
            l.endings
                .iter()
                .filter(|e| name.ends_with(*e) && name[..name.len() - e.len()].ends_with(['.', '-']))
                .map(|e| e.len())
                .max()
        };
        let Some(mut language) = LANGUAGES.iter().filter(|l| ending(l).is_some()).max_by_key(ending) else { continue };
        let text = std::fs::read_to_string(&path).expect("a readable model");
        // A file for threads, and the model that a question is about.
        if name.ends_with("lock.prop") {
            continue;
        }
        let beside = match language.name {
            "UPPAAL text" | "TChecker" => beside(&path, "q"),
            "queries" => ["xta", "ta"].iter().map(|e| beside(&path, e)).find(|t| !t.is_empty()).unwrap_or_default(),
            "XSTS" => question(&path, "xsts", 0, 1),
            "XSTS properties" => question(&path, "prop", 1, 0),
            _ => String::new(),
        };
        if language.name == "XSTS" && beside.is_empty() && !text.contains("prop") {
            language = &NO_PROPERTY;
        }
        all.push(File { language, name, path, text, beside });
    }
}

static NO_PROPERTY: Language =
    Language { name: "XSTS", endings: &[], style: C, keywords: XSTS, embedded: None, reader: read::xsts_system };

fn beside(path: &Path, ending: &str) -> String {
    std::fs::read_to_string(path.with_extension(ending)).unwrap_or_default()
}

/// The file that goes with another in a table.
fn question(path: &Path, _ending: &str, column: usize, other: usize) -> String {
    let folder = path.parent().unwrap_or(Path::new(""));
    let Ok(table) = std::fs::read_to_string(folder.join("EXPECTED.tsv")) else { return String::new() };
    let name = path.file_name().and_then(|n| n.to_str()).unwrap_or("");
    let rows = table.lines().map(|l| l.split('\t').collect::<Vec<_>>());
    let found = rows.filter(|r| r.get(column) == Some(&name)).find_map(|r| {
        let other = r.get(other).filter(|o| o.ends_with(".prop") || o.ends_with(".xsts"))?;
        std::fs::read_to_string(folder.join(other)).ok()
    });
    found.unwrap_or_default()
}
