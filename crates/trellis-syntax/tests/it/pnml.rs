//! Place/transition nets in PNML.

use trellis_model::counter::Interval;
use trellis_model::counter::System;
use trellis_syntax::diag::Sources;
use trellis_syntax::pnml::parse;

fn read(net: &str) -> Result<System, String> {
    let mut sources = Sources::default();
    let id = sources.add("net.pnml", net);
    parse(&sources, id).map_err(|d| {
        assert!(d.iter().all(|d| d.span.is_some()));
        d[0].message.clone()
    })
}

fn net(inside: &str) -> Result<System, String> {
    read(&format!(
        "<?xml version=\"1.0\"?>\n<pnml xmlns=\"http://www.pnml.org/version-2009/grammar/pnml\">\n\
         <net id=\"n\" type=\"http://www.pnml.org/version-2009/grammar/ptnet\"><page id=\"g\">{inside}</page></net></pnml>"
    ))
}

const PLACES: &str =
    "<place id=\"p-1\"><name><text>first</text></name><initialMarking><text> 3 </text></initialMarking></place>
    <place id=\"p_1\"/><transition id=\"t\"/>";

#[test]
fn reads_a_net() {
    let system = net(&format!(
        "{PLACES}<toolspecific tool=\"x\" version=\"1\"><place id=\"no\"/></toolspecific>
         <arc id=\"a\" source=\"p-1\" target=\"t\"><inscription><text>2</text></inscription></arc>
         <arc id=\"b\" source=\"t\" target=\"p_1\"/><arc id=\"c\" source=\"t\" target=\"p-1\"/>"
    ))
    .unwrap();
    assert_eq!(system.names, ["p_1", "p_1_"]);
    assert_eq!(system.initial, [Interval::exactly(3), Interval::exactly(0)]);
    assert_eq!(system.describe(0), "p_1 >= 2 -> p_1' = p_1 - 1, p_1_' = p_1_ + 1");
}

#[test]
fn mistakes_have_a_place() {
    let arc = |attributes: &str, inside: &str| {
        net(&format!("{PLACES}<arc id=\"a\" {attributes}>{inside}</arc>")).unwrap_err()
    };
    assert!(arc("source=\"p-1\" target=\"p_1\"", "").starts_with("expected an arc between a place and a transition"));
    assert!(arc("source=\"p-1\" target=\"t\"", "<type value=\"inhibitor\"/>").contains("not supported"));
    assert!(
        arc("source=\"p-1\" target=\"t\"", "<inscription><text>many</text></inscription>").contains("found `many`")
    );
    assert!(net("<place id=\"p\"/><place id=\"p\"/>").unwrap_err().contains("an id of its own"));
    assert!(net("<referencePlace id=\"p\" ref=\"q\"/>").unwrap_err().contains("not supported"));
    assert!(read("<pnml><net id=\"n\" type=\"symmetricnet\"/></pnml>").unwrap_err().contains("symmetricnet"));
    assert!(read("<pnml/>").unwrap_err().contains("expected one <net>"));
    assert!(read("<uml/>").unwrap_err().contains("expected"));
    assert!(read("vars x").is_err());
}
