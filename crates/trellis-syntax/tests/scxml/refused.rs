//! What is refused, and where; and damaged charts, which must never do worse.

use trellis_syntax::diag::{Severity, Sources};
use trellis_syntax::scxml::parse;

use crate::generate::Random;
use crate::read;

const SMALL: &str = "<state id=\"a\"/>";

/// A chart with this inside.
fn chart(inside: &str) -> String {
    format!(
        "<scxml xmlns=\"http://www.w3.org/2005/07/scxml\" xmlns:trellis=\"urn:trellis\">\n\
         <datamodel><data id=\"x\" expr=\"0\"/><data id=\"c\" expr=\"'red'\" trellis:type=\"{{red, green}}\"/></datamodel>\n\
         {inside}\n</scxml>"
    )
}

/// It is refused for this reason, and the place is the marked text.
fn refused(inside: &str, why: &str, place: &str) {
    let text = chart(inside);
    let mut sources = Sources::default();
    let id = sources.add("chart.scxml", text.as_str());
    let said = match parse(&sources, id, &[]) {
        Ok(_) => panic!("{inside} is accepted"),
        Err(said) => said,
    };
    let first = said.iter().find(|d| d.severity == Severity::Error).expect("an error");
    assert!(first.message.contains(why), "{inside}: {}", first.message);
    let span = first.span.expect("a place");
    assert_eq!(&text[span.start as usize..span.end as usize], place, "{inside}: {}", first.message);
}

/// In a transition.
fn content(inside: &str, why: &str, place: &str) {
    refused(&format!("<state id=\"a\"><transition event=\"e\">{inside}</transition></state>"), why, place);
}

fn cond(cond: &str, why: &str, place: &str) {
    refused(&format!("<state id=\"a\"><transition event=\"e\" cond=\"{cond}\"/></state>"), why, place);
}

#[test]
fn elements_and_attributes() {
    refused("", "expected a state", "<scxml xmlns=\"http://www.w3.org/2005/07/scxml\" xmlns:trellis=\"urn:trellis\">");
    refused("<state id=\"a\"><invoke src=\"b\"/></state>", "<invoke src=…> is not supported", "b");
    refused("<script>x</script><state id=\"a\"/>", "expected an assignment", "");
    refused("<script>function f() {}</script><state id=\"a\"/>", "`function` is not supported in scripts", "function");
    refused("<script src=\"s.js\"/><state id=\"a\"/>", "the attribute `src`", "src=\"s.js\"");
    refused("<state id=\"a\" final=\"true\"/>", "the attribute `final`", "final=\"true\"");
    refused("<state id=\"a\">text</state>", "found text", "text");
    refused("<statee id=\"a\"/>", "no element <statee>", "<statee id=\"a\"/>");
    refused("<parallel id=\"p\"/>", "expected a state inside <parallel>", "p");
    refused("<parallel id=\"p\"><final id=\"f\"/></parallel>", "no element <final>", "<final id=\"f\"/>");
    refused("<final id=\"f\"><donedata><p/></donedata></final>", "no element <p>", "<p/>");
    refused("<state id=\"a\"/><state id=\"a\"/>", "taken", "a");
    refused("<state id=\"a\"><transition/></state>", "expected one of `event`", "<transition/>");
    refused("<trellis:rule/><state id=\"a\"/>", "no element <trellis:rule>", "<trellis:rule/>");
    refused("<datamodel><data id=\"y\" src=\"f\"/></datamodel><state id=\"a\"/>", "`src`", "src=\"f\"");
    refused("<datamodel><data id=\"y\"><b/></data></datamodel><state id=\"a\"/>", "XML as a value", "<b/>");
    refused("<datamodel><data id=\"y\">1.5</data></datamodel><state id=\"a\"/>", "fractions", "1.5");
    content("<foreach item=\"i\"/>", "`array`", "<foreach item=\"i\"/>");
    content("<send event=\"e\" target=\"http://there\"/>", "to charts", "http://there");
    content("<send event=\"e\" delay=\"soon\"/>", "expected a time", "soon");
    content("<send event=\"e\" delay=\"1min\"/>", "expected a time", "1min");
    content("<send event=\"e\" delay=\"1s\" delayexpr=\"'1s'\"/>", "both `delay` and `delayexpr`", "'1s'");
    content("<send event=\"e\" delay=\"1s\" target=\"#_internal\"/>", "cannot be delayed", "1s");
    content("<send event=\"e\" delayexpr=\"1\"/>", "found an integer", "1");
    content(
        "<send event=\"e\" type=\"http://www.w3.org/TR/scxml/#BasicHTTPEventProcessor\"/>",
        "HTTP is not supported",
        "http://www.w3.org/TR/scxml/#BasicHTTPEventProcessor",
    );
    for attribute in ["targetexpr", "typeexpr"] {
        content(&format!("<send event=\"e\" {attribute}=\"x\"/>"), "expected a string, found an integer", "x");
    }
    content("<send event=\"e\" eventexpr=\"c\"/>", "both `event` and `eventexpr`", "c");
    content("<send event=\"e\"><param expr=\"1\"/></send>", "`name`", "<param expr=\"1\"/>");
    content("<cancel sendidexpr=\"x\"/>", "expected a string", "x");
    content("<cancel/>", "`sendid`", "<cancel/>");
    content("<q:do xmlns:q=\"q\"/>", "another namespace", "<q:do xmlns:q=\"q\"/>");
    content("<if cond=\"true\"><else/><elseif cond=\"true\"/></if>", "after <else>", "<elseif cond=\"true\"/>");
}

#[test]
fn targets() {
    refused("<state id=\"a\"><transition event=\"e\" target=\"aa b\"/></state>", "no state `aa`", "aa");
    let two = "<state id=\"a\"><transition event=\"e\" target=\"b c\"/></state><state id=\"b\"/><state id=\"c\"/>";
    refused(two, "cannot be entered together", "c");
    let nested =
        "<state id=\"a\"><transition event=\"e\" target=\"b c\"/></state><state id=\"b\"><state id=\"c\"/></state>";
    refused(nested, "cannot be entered together", "c");
    refused("<state id=\"a\" initial=\"b\"><state id=\"c\"/></state><state id=\"b\"/>", "must be inside", "b");
    refused("<state id=\"a\" initial=\"b\"/><state id=\"b\"/>", "no initial state", "b");
    let history = "<state id=\"a\"><state id=\"b\"><state id=\"c\"><transition event=\"e\" target=\"h\"/></state></state>\
                   <history id=\"h\"><transition target=\"b\"/></history></state>";
    refused(history, "into the history of `a`", "h");
    let out = "<state id=\"a\"><state id=\"b\"/><history id=\"h\"><transition target=\"a\"/></history></state>";
    refused(out, "must lead into", "a");
    refused(
        "<state id=\"a\"><history id=\"h\"><transition target=\"a\"/></history></state>",
        "no history",
        "<history id=\"h\">",
    );
}

#[test]
fn expressions() {
    cond("x / 2 == 1", "fractions", "/");
    cond("c == 'blue'", "expected one of 'red', 'green', found 'blue'", "'blue'");
    cond("In('b')", "no state `b`", "In('b')");
    cond("_event.raw == 'e'", "`_event.raw` is not supported", "_event.raw");
    cond("_x == 'e'", "`_x` is not supported", "_x");
    cond("x + undefined", "undefined as a number is not supported", "undefined");
    cond("x + 'a' == 'a'", "joining a string with anything but a string", "x + 'a'");
    cond("[1] == [1]", "whether two objects are the same", "[1] == [1]");
    cond("Math.sin(x) > 0", "expected `trunc` or `floor`", "sin");
    cond("x = 1", "expected an operator, found `=`", "=");
    cond("x &lt; 1.5", "found `.`", ".");
    cond("x &amp; 1", "a bitwise operator", "x &amp; 1");
    cond("++x == 1", "found `++`", "++");
    cond("x.search('a')", "no method `search`", "search");
    cond("f(x)", "no function `f`", "f");
    cond("", "expected an expression", "");
    cond("'red", "not closed", "'");
    content("<assign location=\"c\" expr=\"1\"/>", "expected one of 'red', 'green', found an integer", "c");
    content("<assign location=\"x.y\" expr=\"1\"/>", "a member of a value that is no object", "x.y");
    let two = "<assign location=\"x\" expr=\"{a: 1}\"/><assign location=\"y\" expr=\"x\"/><assign location=\"y.a\" expr=\"2\"/>";
    let own = "<datamodel><data id=\"y\"/></datamodel>";
    refused(&format!("{own}<state id=\"a\"><onentry>{two}</onentry></state>"), "with two names", "x");
    refused(
        "<datamodel><data id=\"y\" expr=\"z\"/><data id=\"z\" expr=\"1\"/></datamodel><state id=\"a\"/>",
        "(yet)",
        "z",
    );
    let range = "<datamodel><data id=\"y\" expr=\"7\" trellis:type=\"0..5\"/></datamodel><state id=\"a\"/>";
    refused(range, "may have no value", "7");
}

#[test]
fn properties_are_given_or_in_the_file() {
    let text = chart(SMALL).replace("<scxml ", "<scxml trellis:property=\"x == 0\" ");
    let charts = read(&text, &[]).expect("a chart");
    assert_eq!(charts[0].property.as_deref(), Some("x == 0"));
    let said = read(&text, &["In('a')", "(x) &lt 1"]).expect_err("`&lt` is for XML only");
    assert!(said.contains("--property:1:9"), "{said}");
    let said = read(&text, &["y == 1"]).expect_err("there is no `y`");
    assert!(said.contains("no variable `y`"), "{said}");
    let charts = read(&text, &["In('a')", "(x) < (1)"]).expect("charts");
    let given: Vec<_> = charts.iter().map(|c| c.property.clone().unwrap_or_default()).collect();
    assert_eq!(given, ["In('a')", "(x) < (1)"]);
    assert!(read(&chart(SMALL), &[]).expect("a chart")[0].violated.is_none());
}

#[test]
fn many_regions() {
    let region = |n: usize| {
        format!(
            "<state id=\"r{n}\"><state id=\"a{n}\"><transition event=\"e{n}\" target=\"b{n}\"/>\
             <transition event=\"out\" target=\"z\"/></state><state id=\"b{n}\"/></state>"
        )
    };
    let regions: String = (0..150).map(region).collect();
    let text = chart(&format!("<parallel id=\"p\">{regions}</parallel><state id=\"z\"/>"));
    assert_eq!(read(&text, &[]).expect("a chart").len(), 1);
}

#[test]
fn nesting_has_limits() {
    let deep = |n: usize| format!("{}{}", "<state>".repeat(n), "</state>".repeat(n));
    assert!(read(&chart(&deep(39)), &[]).is_ok());
    assert!(read(&chart(&deep(5000)), &[]).expect_err("too deep").contains("levels"));
    let condition = format!("{}x{} == 1", "(".repeat(5000), ")".repeat(5000));
    cond(&condition, "nested too deeply", "(");
    let sum = format!("x{} == 1", " + x".repeat(5000));
    let text = chart(&format!("<state id=\"a\"><transition event=\"e\" cond=\"{sum}\"/></state>"));
    assert!(read(&text, &[]).expect_err("too deep").contains("nested too deeply"));
    // Histories and initial states that double with every level.
    let (mut open, mut close) = (String::new(), String::new());
    for n in 0..38 {
        open += &format!("<state id=\"s{n}\" initial=\"h{n}\">");
        let child = n + 1;
        close = format!(
            "<history id=\"h{n}\" type=\"shallow\"><transition target=\"s{child}\"/></history><state id=\"t{n}\"/></state>"
        ) + &close;
    }
    let text = chart(&format!("{open}<state id=\"s38\"/>{close}"));
    assert!(read(&text, &[]).expect_err("too large").contains("too large"));
}

const WORDS: [&str; 30] = [
    "<state id=\"z\">",
    "</state>",
    "<parallel>",
    "</parallel>",
    "<history type=\"deep\">",
    "<initial>",
    "</initial>",
    "<transition target=\"cars\"/>",
    "<onentry>",
    "</onentry>",
    "<raise event=\"tick\"/>",
    "<if cond=\"",
    "<else/>",
    "\"",
    "'",
    "&amp;",
    "&",
    "In('red')",
    " + ",
    " == ",
    "?",
    ":",
    "(",
    ")",
    "9999999999999999999999",
    "initial=\"red\"",
    "id=\"red\"",
    "é",
    "target=\"walk red\"",
    "Math.trunc(",
];

#[test]
fn damaged_charts() {
    let models = [
        include_str!("../../../../models/scxml/traffic-light.scxml"),
        include_str!("../../../../models/scxml/calculator.scxml"),
        include_str!("../../../../models/scxml/elevator.scxml"),
    ];
    let runs = std::env::var("TRELLIS_RUNS").ok().and_then(|n| n.parse().ok()).unwrap_or(600);
    let mut accepted = 0;
    for seed in 0..runs {
        let mut r = Random::new(seed);
        let mut text = models[r.below(models.len())].to_string();
        for _ in 0..=r.below(2) {
            let floor =
                |text: &str, i: usize| (0..=i.min(text.len())).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(0);
            let start = floor(&text, r.below(text.len() + 1));
            let end = floor(&text, start + [0, 1, 3, 30][r.below(4)]).max(start);
            let insert = match r.below(3) {
                0 => "",
                1 => WORDS[r.below(WORDS.len())],
                _ => &text.clone()[floor(&text, start / 2)..floor(&text, start / 2 + 20).max(floor(&text, start / 2))],
            };
            text = format!("{}{insert}{}", &text[..start], &text[end..]);
        }
        accepted += usize::from(read(&text, &[]).is_ok());
    }
    println!("{accepted} of {runs} damaged charts are still charts");
}
