//! Feeds bytes to every entry of the UPPAAL parser. What is found wrong must have a place in the text and must show.

#![no_main]

use libfuzzer_sys::fuzz_target;
use trellis_syntax::diag::{Diagnostic, Sources, render};
use trellis_syntax::uppaal::{parse_expr, parse_queries, parse_xml, parse_xta};

fn check(sources: &Sources, diags: &[Diagnostic]) {
    for diag in diags {
        let span = diag.span.expect("every error has a place");
        let text = &sources.get(span.source).text;
        assert!(text.get(span.start as usize..span.end as usize).is_some(), "{diag:?}");
    }
    let _ = render(diags, sources, false);
}

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let mut sources = Sources::default();
    let id = sources.add("input", text);
    let text = sources.get(id).text.as_str();
    let (nta, diags) = parse_xml(id, text);
    check(&sources, &diags);
    drop(nta.clone());
    let (nta, diags) = parse_xta(id, text);
    check(&sources, &diags);
    drop(nta.clone());
    check(&sources, &parse_queries(id, text).1);
    check(&sources, &parse_expr(id, text).1);
});
