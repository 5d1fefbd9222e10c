//! What a reader may overlook, and why it does not matter. Whatever else is overlooked is a mistake.

use crate::sites::{Change, Change::*, Site};

/// Parts of a language that nobody looks at.
pub struct Ignored {
    pub language: &'static str,
    pub changes: &'static [Change],
    /// What is changed: as a site has it; `*` stands for anything, at the end or at the start.
    pub what: &'static [&'static str],
    #[allow(dead_code, reason = "for the reader of this list")]
    pub why: &'static str,
}

impl Ignored {
    pub fn covers(&self, language: &str, site: &Site) -> bool {
        let fits = |pattern: &&str| match (pattern.strip_suffix('*'), pattern.strip_prefix('*')) {
            (Some(start), _) => site.what.starts_with(start),
            (None, Some(end)) => site.what.ends_with(end),
            (None, None) => site.what == *pattern,
        };
        let languages = |l: &str| l == language || (l == "UPPAAL" && language.starts_with("UPPAAL"));
        languages(self.language) && self.changes.contains(&site.change) && self.what.iter().any(fits)
    }
}

const LAYOUT: &[Change] = &[AttributeDropped, ValueChanged];
const ANY_WORD: &[Change] = &[NameRenamed, NameDropped, NameTwice];
const ONE_MORE: &[Change] = &[SignTwice, LineTwice];

/// The list.
pub static IGNORED: &[Ignored] = &[
    Ignored {
        language: "UPPAAL XML",
        changes: LAYOUT,
        what: &["location/@x", "location/@y", "nail/@x", "nail/@y", "name/@x", "name/@y", "label/@x", "label/@y"],
        why: "layout",
    },
    Ignored { language: "UPPAAL XML", changes: &[ElementDropped, ElementTwice], what: &["nail"], why: "layout" },
    Ignored {
        language: "UPPAAL XML",
        changes: &[ElementDropped, ElementAdded],
        what: &["comment", "comment/"],
        why: "a comment on a question",
    },
    Ignored {
        language: "UPPAAL XML",
        changes: &[ElementDropped, ElementTwice, ElementAdded],
        what: &["label", "label/"],
        why: "labels of kind `comments` (guards and others that are dropped are different models)",
    },
    Ignored {
        language: "UPPAAL XML",
        changes: ANY_WORD,
        what: &[
            "label: send",
            "label: one",
            "label: s",
            "label: own",
            "label: id",
            "label: forward",
            "label: a",
            "label: larger",
            "label: has",
            "label: come",
            "label: round",
        ],
        why: "words in labels of kind `comments`",
    },
    Ignored {
        language: "UPPAAL XML",
        changes: &[ElementDropped, ElementTwice],
        what: &["query", "formula"],
        why: "a question with an empty text asks nothing",
    },
    Ignored {
        language: "UPPAAL XML",
        changes: &[NumberChanged, SignChanged],
        what: &["declaration: 0", "declaration: 10", "declaration: >", "declaration: <"],
        why: "functions are inlined and folded: `quick(5)` is true with these limits too",
    },
    Ignored {
        language: "UPPAAL XML",
        changes: &[KeywordDropped, SignTwice],
        what: &["*: int", "*: const", "*: ;", "*: +"],
        why: "as in the textual form",
    },
    Ignored {
        language: "UPPAAL text",
        changes: &[KeywordDropped],
        what: &["int", "const"],
        why: "old syntax: `const N = 3`; a parameter that is an integer is not changed, constant or not",
    },
    Ignored {
        language: "UPPAAL text",
        changes: &[NameDropped],
        what: &["*"],
        why: "an edge that does not say where it starts does so where the one before it does",
    },
    Ignored {
        language: "UPPAAL text",
        changes: &[SignTwice, SignDropped],
        what: &[";", "+", ",", "!"],
        why: "an empty statement; a plus sign before a number; `!!x`",
    },
    Ignored {
        language: "queries",
        changes: &[SignTwice, SignDropped, LineDropped, LineTwice],
        what: &[";", "+", "\\", "Mutual exclusion.", "The torch is on one side or on the other.", "and y <= Limit"],
        why: "comments over several lines; the end of the line ends a question too; the same condition again",
    },
    Ignored {
        language: "TChecker",
        changes: &[NameRenamed],
        what: &["CorSSO_3_2_10_1_2", "csmacd_5_808_26", "fischer_5_10", "gps_mc_2_2_5_10"],
        why: "the name of the system is shown nowhere",
    },
    Ignored { language: "TChecker", changes: ONE_MORE, what: &["+", "!"], why: "a sign that changes nothing" },
    Ignored {
        language: "CFA",
        changes: &[KeywordDropped, NameRenamed],
        what: &["main", "cfa", "network", "locking"],
        why: "there is one process; its name is shown nowhere",
    },
    Ignored { language: "CFA", changes: &[SignTwice], what: &["+"], why: "a plus sign before a term" },
    Ignored { language: "XSTS", changes: &[SignTwice], what: &["+", "!"], why: "a plus sign before a term" },
    Ignored {
        language: "XSTS",
        changes: &[KeywordTwice, KeywordDropped],
        what: &["choice"],
        why: "a choice of one block is that block",
    },
    Ignored {
        language: "SCXML",
        changes: &[AttributeDropped],
        what: &["state/@initial"],
        why: "the first child is the initial one anyway",
    },
    Ignored {
        language: "SCXML",
        changes: &[NameDropped, NameTwice, NumberDropped, NumberTwice, SignDropped, SignTwice],
        what: &["transition/@event: *", "transition/@target: *"],
        why: "an event descriptor is a prefix, and nothing else has it; the same again; a parallel state is entered with all its regions",
    },
    Ignored {
        language: "STS",
        changes: &[NameRenamed],
        what: &["Lights"],
        why: "the name of the specification is shown nowhere",
    },
    Ignored {
        language: "HOA",
        changes: &[LineDropped, LineTwice],
        what: &["name:*", "tool:*", "owlArgs:*", "properties:*", "acc-name:*"],
        why: "what the format calls hints; `acc-name` only if it is not a name that contradicts `Acceptance:`",
    },
    Ignored {
        language: "HOA",
        changes: ANY_WORD,
        what: &[
            "acc",
            "name",
            "branch",
            "complete",
            "deterministic",
            "unambiguous",
            "no",
            "univ",
            "trans",
            "properties",
            "owlArgs",
            "tool",
            "Buchi",
        ],
        why: "hints take any words, and a header that is not known is a hint",
    },
    Ignored {
        language: "HOA",
        changes: &[KeywordTwice, QuotedChanged, SignDropped],
        what: &["AP", "Acceptance", "Start", "\"*", "-", ":"],
        why: "words in hints: a header's name without its colon is a word of the hint before it",
    },
    Ignored { language: "HOA", changes: &[NumberTwice], what: &["0"], why: "an edge is in a set, or it is not" },
    Ignored {
        language: "counter systems",
        changes: &[LineDropped],
        what: &["*>= 0    ,"],
        why: "counters are never negative",
    },
    Ignored {
        language: "counter systems",
        changes: &[LineDropped, NumberChanged, SignDropped],
        what: &["IdleD = 1 BusyD = 1", "x0=1, x1=1, x4=2", "x0=1, x2=1, x3=2", "1", "2", ","],
        why: "invariants in the file are checked, and found anew where they are missing; one that is none is left out with a warning; commas are optional there",
    },
    Ignored {
        language: "counter systems",
        changes: &[LineTwice],
        what: &["*"],
        why: "the same condition, value or invariant again; a variable that is set twice is warned of",
    },
    Ignored { language: "counter systems", changes: &[SignChanged], what: &["+"], why: "`x + 0` is `x - 0`" },
    Ignored { language: "thread transition systems", changes: &[LineTwice], what: &["*"], why: "rules are a set" },
    Ignored {
        language: "hierarchical transition systems",
        changes: &[LineTwice],
        what: &["*"],
        why: "moves and vectors are sets; the same field again with the same value",
    },
    Ignored {
        language: "C",
        changes: &[LineDropped, NameRenamed, KeywordDropped],
        what: &[
            "extern *",
            "reach_error",
            "__VERIFIER_assume",
            "__VERIFIER_nondet_int",
            "__VERIFIER_nondet_unsigned",
            "void",
        ],
        why: "SV-COMP says what its functions do, declared or not; gcc calls them in another way if it does not know what they take",
    },
    Ignored {
        language: "C",
        changes: &[NameDropped],
        what: &["__noreturn__"],
        why: "an empty attribute; what SV-COMP's functions do counts, and gcc believes the wrong `noreturn` instead",
    },
    Ignored {
        language: "C",
        changes: &[NumberChanged, NumberDropped],
        what: &["0"],
        why: "what `main` returns is not asked for",
    },
    Ignored {
        language: "C",
        changes: &[KeywordDropped],
        what: &["static"],
        why: "a function of a program that is one file: nobody outside can call it",
    },
    Ignored {
        language: "SCXML",
        changes: &[AttributeDropped],
        what: &["scxml/@version", "scxml/@xmlns", "scxml/@datamodel", "scxml/@initial"],
        why: "if they are there they must be right, and without them it is the only version, namespace and data model that is read; the first state is the initial one",
    },
    Ignored {
        language: "PNML",
        changes: &[
            ElementRenamed,
            ElementDropped,
            ElementTwice,
            ElementAdded,
            AttributeRenamed,
            AttributeDropped,
            AttributeAdded,
            ValueChanged,
        ],
        what: &[
            "graphics",
            "graphics/",
            "graphics/@",
            "offset",
            "offset/*",
            "position",
            "position/*",
            "toolspecific",
            "toolspecific/*",
            "default",
            "default/@",
        ],
        why: "`pnml::allowed`: where and how things are drawn; what tools keep for themselves, where the standard lets them put nothing that changes the net",
    },
    Ignored {
        language: "PNML",
        changes: &[AttributeDropped, ValueChanged],
        what: &["net/@id", "page/@id", "arc/@id", "pnml/@xmlns"],
        why: "nothing refers to nets, pages and arcs; tools write several namespaces, or none, and what is in the file is checked by its names",
    },
    Ignored {
        language: "PNML",
        changes: &[AttributeDropped],
        what: &["net/@type"],
        why: "editors leave it out; whatever only other types of nets have is refused by name",
    },
    Ignored {
        language: "PNML",
        changes: &[ElementDropped, NameDropped, NameRenamed, NameTwice],
        what: &["name", "text", "text: Two", "text: take", "text: turns"],
        why: "the name of the net is a remark; a node without a name, or with an empty one, is called what its id says",
    },
    Ignored {
        language: "PNML",
        changes: &[NameDropped],
        what: &["text: enter", "text: free", "text: inside", "text: waiting"],
        why: "the same",
    },
    Ignored {
        language: "AltaRica",
        changes: &[KeywordTwice, LineTwice],
        what: &["state", "flow", "event", "trans", "sync", "assert", "init", "sub"],
        why: "a section may be empty, and there may be several of a kind",
    },
    Ignored {
        language: "AltaRica",
        changes: &[LineTwice, LineDropped],
        what: &["event pushT < pushS; popT > popS;", "event {puta, geta, putb, getb} < shift;", "{*"],
        why: "priorities are a set of pairs; `a > b; b > c` without its middle is `a > b > c`, which is the same",
    },
    Ignored {
        language: "AltaRica",
        changes: &[LineDropped],
        what: &["nnn;"],
        why: "an event that has a priority is declared by that",
    },
    Ignored {
        language: "AltaRica",
        changes: &[SignDropped],
        what: &[";"],
        why: "the last member of a section may do without",
    },
    Ignored {
        language: "AltaRica",
        changes: &[SignDropped],
        what: &[","],
        why: "`else` ends the branches of a case, with a comma before it or without",
    },
];
