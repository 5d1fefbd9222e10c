//! The XML form: elements, labels, and the way back from decoded text to the file.

use trellis_syntax::uppaal::ast::{Decl, ExprKind, QueryKind};
use trellis_syntax::uppaal::parse_xml;

use crate::show::{SOURCE, covered, places, show, xml};

/// A model with one template whose inside is given.
fn template(inside: &str) -> String {
    format!("<nta><template><name>P</name>{inside}</template><system>system P;</system></nta>")
}

const ONE: &str = "<location id=\"a\"><name>A</name></location><init ref=\"a\"/>";

#[test]
fn a_template_with_everything() {
    let text = "<?xml version=\"1.0\"?><!DOCTYPE nta PUBLIC \"-//Uppaal Team//DTD Flat System 1.1//EN\" \"x.dtd\">\
        <nta><imports/><declaration>int n;</declaration><template><name> P </name>\
        <parameter>const int[0,1] id, int &amp;r</parameter><declaration>clock x;</declaration>\
        <location id=\"a\"><name>A</name><label kind=\"invariant\">x &lt;= 5</label><urgent/></location>\
        <location id=\"b\"><committed/><label kind=\"comments\">no < matter</label></location>\
        <branchpoint id=\"c\"/><init ref=\"b\"/>\
        <transition controllable=\"false\"><source ref=\"a\"/><target ref=\"b\"/></transition>\
        <transition><source ref=\"b\"/><target ref=\"a\"/><label kind=\"select\">i : int[0,1]</label>\
        <label kind=\"guard\"><![CDATA[n < 2 && x > 1]]></label><label kind=\"synchronisation\">c!</label>\
        <label kind=\"assignment\">n = 1, x = 0</label><label kind=\"testcode\">)(</label><nail x=\"1\" y=\"2\"/></transition>\
        </template><instantiation>Q := P(1, n);</instantiation><system>int m; system Q;</system></nta>"
        .replace("no < matter", "no &lt; matter");
    let nta = xml(&text);
    let p = &nta.templates[0];
    assert_eq!(p.name.name, "P");
    assert_eq!(p.params.len(), 2);
    assert_eq!((p.locations[0].name.name.as_str(), p.locations[0].anonymous), ("A", false));
    assert_eq!((p.locations[1].name.name.as_str(), p.locations[1].anonymous), ("b", true));
    assert!(p.locations[0].urgent && p.locations[1].committed && p.locations[2].branches);
    assert_eq!(p.locations[0].invariant.as_ref().map(show).as_deref(), Some("(x Le 5)"));
    assert_eq!(p.init, Some(1));
    assert!(p.edges[0].unsupported.is_none());
    assert_eq!(p.edges[1].guard.as_ref().map(show).as_deref(), Some("((n Lt 2) And (x Gt 1))"));
    assert_eq!(p.edges[1].update.len(), 2);
    assert_eq!((nta.decls.len(), nta.system_decls.len(), nta.instances.len()), (1, 1, 1));
    assert!(p.params[1].by_ref);
}

#[test]
fn queries_come_with_their_comments() {
    let nta = xml("<nta><template><name>P</name></template><system>system P;</system><queries><option key=\"x\"/>\
        <query><formula>E&lt;&gt; P.a</formula><comment> can it? </comment><result outcome=\"success\"/></query>\
        <query><formula/><comment>none</comment></query></queries></nta>");
    assert_eq!(nta.queries.len(), 1);
    assert_eq!((nta.queries[0].text.as_str(), nta.queries[0].comment.as_str()), ("E<> P.a", "can it?"));
    assert_eq!(nta.queries[0].recorded, Some(true));
    assert!(matches!(nta.queries[0].kind, QueryKind::Possibly(_)));
}

#[test]
fn spans_point_into_the_file_across_entities() {
    let label = "<label kind=\"guard\">x &lt; 5 &amp;&amp; yy &gt;= 1</label>";
    let text = template(&format!("{ONE}<transition><source ref=\"a\"/><target ref=\"a\"/>{label}</transition>"));
    let nta = xml(&text);
    let guard = nta.templates[0].edges[0].guard.as_ref().expect("a guard");
    assert_eq!(covered(&text, guard.span), "x &lt; 5 &amp;&amp; yy &gt;= 1");
    let ExprKind::Binary(_, left, right) = &guard.kind else { panic!() };
    assert_eq!(covered(&text, left.span), "x &lt; 5");
    assert_eq!(covered(&text, right.span), "yy &gt;= 1");
    let ExprKind::Binary(_, name, _) = &right.kind else { panic!() };
    assert_eq!(covered(&text, name.span), "yy");
}

#[test]
fn spans_point_into_the_file_across_cdata_and_comments() {
    let text = "<nta><declaration>int <!-- note -->a;\n<![CDATA[bool b = 1 < 2;]]>\nint &#99;;</declaration></nta>";
    let nta = xml(text);
    let names: Vec<_> = nta
        .decls
        .iter()
        .map(|d| match d {
            Decl::Vars(v) => (v.names[0].name.name.as_str(), covered(text, v.names[0].name.span)),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(names, [("a", "a"), ("b", "b"), ("c", "&#99;")]);
}

#[test]
fn an_error_after_an_entity_is_at_its_column() {
    let text = "<nta>\n<declaration>int a;\nbool b = 1 &lt; 2 &amp;&amp; ;\n</declaration></nta>";
    let (_, diags) = parse_xml(SOURCE, text);
    assert_eq!(places(text, &diags), ["3:30: expected an expression, found `;`"]);
    assert_eq!(covered(text, diags[0].span.expect("a place")), ";");
}

#[test]
fn a_location_that_is_not_there_is_suggested() {
    let text = template(&format!("{ONE}<transition><source ref=\"a\"/><target ref=\"idx\"/></transition>"));
    let (_, diags) = parse_xml(SOURCE, &text);
    assert_eq!(diags.len(), 1);
    assert_eq!(covered(&text, diags[0].span.expect("a place")), "idx");
    let text = template("<location id=\"id10\"/><init ref=\"id01\"/>");
    let (_, diags) = parse_xml(SOURCE, &text);
    assert!(diags[0].help.as_ref().is_some_and(|h| !h.is_empty()));
}

#[test]
fn an_init_that_is_missing_is_spelled_out() {
    let text = template("<location id=\"id7\"/>");
    let (_, diags) = parse_xml(SOURCE, &text);
    assert_eq!(diags[0].help.as_deref(), Some("add one after the locations, such as <init ref=\"id7\"/>"));
}

#[test]
fn the_old_doctype_means_old_parameters() {
    let body = "<nta><template><name>P</name><parameter>int a</parameter></template><system>system P;</system></nta>";
    assert!(!xml(body).templates[0].params[0].by_ref);
    let old = format!("<!DOCTYPE nta PUBLIC '-//Uppaal Team//DTD Flat System 1.0//EN' 'x.dtd'>{body}");
    assert!(xml(&old).templates[0].params[0].by_ref);
}

#[test]
fn unknown_names_are_suggested() {
    let help = |text: &str| parse_xml(SOURCE, text).1[0].help.clone().unwrap_or_default();
    assert_eq!(help("<nta><templat/></nta>"), "did you mean <template>?");
    let label = "<transition><source ref=\"a\"/><target ref=\"a\"/><label kind=\"gaurd\">x</label></transition>";
    assert_eq!(help(&template(&format!("{ONE}{label}"))), "did you mean \"guard\"?");
}

#[test]
fn elements_inside_text_are_not_dropped_silently() {
    let text = template(&format!(
        "{ONE}<transition><source ref=\"a\"/><target ref=\"a\"/><label kind=\"guard\">x<b/>5 == 1</label></transition>"
    ));
    let (_, diags) = parse_xml(SOURCE, &text);
    assert_eq!(covered(&text, diags[0].span.expect("a place")), "<b/>");
}
