//! Random input never makes the parser panic, and whatever it says has a place in the file.

use proptest::prelude::*;
use trellis_syntax::diag::{Diagnostic, Sources, render};
use trellis_syntax::uppaal::{parse_expr, parse_queries, parse_xml, parse_xta};

use crate::show::SOURCE;

fn check(text: &str, diags: &[Diagnostic]) -> Result<(), TestCaseError> {
    let mut sources = Sources::default();
    sources.add("t", text);
    for diag in diags {
        let span = diag.span.ok_or_else(|| TestCaseError::fail(format!("no place: {diag:?}")))?;
        prop_assert!(span.start <= span.end && span.end as usize <= text.len(), "{diag:?}");
        prop_assert!(
            text.is_char_boundary(span.start as usize) && text.is_char_boundary(span.end as usize),
            "{diag:?}"
        );
    }
    let _ = render(diags, &sources, false);
    Ok(())
}

fn parse_all(text: &str) -> Result<(), TestCaseError> {
    let (nta, diags) = parse_xta(SOURCE, text);
    check(text, &diags)?;
    drop(nta.clone());
    check(text, &parse_xml(SOURCE, text).1)?;
    check(text, &parse_queries(SOURCE, text).1)?;
    check(text, &parse_expr(SOURCE, text).1)
}

/// The words of the language, of XML, and some that belong to neither.
const WORDS: &[&str] = &[
    "process",
    "P",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    ";",
    ",",
    ":",
    ".",
    "?",
    "'",
    "->",
    "-->",
    "=",
    ":=",
    "+=",
    "==",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
    "<?",
    ">?",
    "<<",
    ">>",
    "+",
    "-",
    "*",
    "/",
    "%",
    "&",
    "|",
    "^",
    "&&",
    "||",
    "!",
    "not",
    "and",
    "or",
    "imply",
    "xor",
    "++",
    "--",
    "int",
    "bool",
    "clock",
    "chan",
    "const",
    "meta",
    "broadcast",
    "urgent",
    "commit",
    "state",
    "init",
    "trans",
    "select",
    "guard",
    "sync",
    "assign",
    "system",
    "typedef",
    "struct",
    "scalar",
    "void",
    "for",
    "while",
    "do",
    "if",
    "else",
    "return",
    "forall",
    "exists",
    "sum",
    "deadlock",
    "true",
    "false",
    "extern",
    "from",
    "import",
    "dynamic",
    "progress",
    "gantt",
    "priority",
    "default",
    "query",
    "A[]",
    "E<>",
    "sup:",
    "inf{",
    "Pr[",
    "x",
    "a",
    "1",
    "99999999999",
    "1.5",
    "\"s\"",
    "\"",
    "/*",
    "*/",
    "//",
    "\n",
    "\\",
    "é",
    "\0",
    "#",
    "@",
    "u",
    "<nta>",
    "</nta>",
    "<template>",
    "</template>",
    "<name>P</name>",
    "<declaration>",
    "</declaration>",
    "<location id=\"a\">",
    "</location>",
    "<init ref=\"a\"/>",
    "<label kind=\"guard\">",
    "</label>",
    "<system>",
    "</system>",
    "&lt;",
    "&amp;",
    "&",
    "<![CDATA[",
    "]]>",
    "<!--",
    "-->",
    "<transition>",
    "</transition>",
    "<source ref=\"a\"/>",
    "<target ref=\"b\"/>",
];

fn soup() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(WORDS), 0..120).prop_map(|words| words.join(" "))
}

/// A right model with a stretch cut out, doubled, or replaced.
fn damaged() -> impl Strategy<Value = String> {
    let models = prop::sample::select(
        &[
            include_str!("../../../../models/timed/bridge.ta"),
            include_str!("../../../../models/timed/bridge.q"),
            include_str!("../../../../models/timed/lamp.xml"),
            include_str!("../../../../models/timed/fischer-2-32-64.xta"),
        ][..],
    );
    (models, any::<prop::sample::Index>(), 0usize..40, soup()).prop_map(|(model, at, len, soup)| {
        let floor = |i: usize| (0..=i.min(model.len())).rev().find(|i| model.is_char_boundary(*i)).unwrap_or(0);
        let start = floor(at.index(model.len() + 1));
        let end = floor(start + len).max(start);
        let insert: String = if len % 2 == 0 { soup.chars().take(30).collect() } else { String::new() };
        format!("{}{insert}{}", &model[..start], &model[end..])
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_text(text in any::<String>()) {
        parse_all(&text)?;
    }

    #[test]
    fn random_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        parse_all(&String::from_utf8_lossy(&bytes))?;
    }

    #[test]
    fn token_soup(text in soup()) {
        parse_all(&text)?;
    }

    #[test]
    fn soup_inside_xml(text in soup()) {
        parse_all(&format!("<nta><declaration>{}</declaration></nta>", text.replace('<', "&lt;").replace('&', "&amp;")))?;
        parse_all(&format!("<nta><declaration><![CDATA[{}]]></declaration></nta>", text.replace("]]>", "")))?;
    }

    #[test]
    fn damaged_models(text in damaged()) {
        parse_all(&text)?;
    }
}
