//! Place/transition nets in PNML, and what editors write beside it.

use trellis_model::counter::Interval;
use trellis_model::counter::System;
use trellis_syntax::diag::Sources;
use trellis_syntax::pnml::parse;
use trellis_syntax::spec;

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

/// What a transition `t` does that has this arc from `p` beside an ordinary one to `q`.
fn arc(arc: &str) -> Result<String, String> {
    let places = "<place id=\"p\"/><place id=\"q\"/><transition id=\"t\"/><arc source=\"t\" target=\"q\"/>";
    net(&format!("{places}{arc}")).map(|s| s.meaning(0))
}

#[test]
fn reads_a_net_and_keeps_names() {
    let system = net(&format!(
        "{PLACES}<toolspecific tool=\"x\" version=\"1\"><place id=\"no\"/></toolspecific>
         <arc id=\"a\" source=\"p-1\" target=\"t\"><inscription><text>2</text></inscription></arc>
         <arc id=\"b\" source=\"t\" target=\"p_1\"/><arc id=\"c\" source=\"t\" target=\"p-1\"/>"
    ))
    .unwrap();
    assert_eq!(system.names, ["p-1", "p_1"]);
    assert_eq!(system.initial, [Interval::exactly(3), Interval::exactly(0)]);
    assert_eq!(system.describe(0), "t: \"p-1\" >= 2 -> \"p-1\"' = \"p-1\" - 1, p_1' = p_1 + 1");
}

#[test]
fn arcs_that_are_more_than_arcs_are_read_however_they_are_marked() {
    for (kind, meaning) in [
        ("normal", "p >= 1 -> p' = p - 1, q' = q + 1"),
        ("inhibitor", "p = 0 -> q' = q + 1"),
        ("read", "p >= 1 -> q' = q + 1"),
        ("test", "p >= 1 -> q' = q + 1"),
        ("equal", "p = 1 -> q' = q + 1"),
        ("reset", "true -> p' = 0, q' = q + 1"),
    ] {
        let ends = "id=\"a\" source=\"p\" target=\"t\"";
        for form in [
            format!("<arc {ends} type=\"{kind}\"/>"),
            format!("<arc {ends}><type value=\"{kind}\"/></arc>"),
            format!("<arc {ends}><type>{kind}</type></arc>"),
            format!("<arc {ends}><arctype><text>{kind}</text></arctype></arc>"),
            format!(
                "<arc {ends} type=\"{kind}\"><type value=\"{kind}\"/><inscription><value>Default,1</value></inscription></arc>"
            ),
        ] {
            assert_eq!(arc(&form).as_deref(), Ok(meaning), "{form}");
        }
    }
    // From so many tokens on.
    let weighted = |kind: &str| arc(&format!("<arc source=\"p\" target=\"t\" type=\"{kind}\" weight=\"3\"/>"));
    assert_eq!(weighted("inhibitor").as_deref(), Ok("p in [0, 2] -> q' = q + 1"));
    assert_eq!(weighted("tapnInhibitor").as_deref(), Ok("p in [0, 2] -> q' = q + 1"));
    assert_eq!(weighted("read").as_deref(), Ok("p >= 3 -> q' = q + 1"));
    assert!(weighted("reset").is_err());
    // All that is left after what an ordinary arc takes.
    let both = "<arc source=\"p\" target=\"t\" weight=\"2\"/><arc source=\"p\" target=\"t\" type=\"transfer\"/>\
                <arc source=\"t\" target=\"q\" type=\"transfer\"/>";
    assert_eq!(arc(both).as_deref(), Ok("p >= 2 -> p' = 0, q' = p + q - 1"));
}

#[test]
fn markings_weights_and_capacities_in_any_form() {
    let first = |place: &str| net(&format!("{place}<transition id=\"t\"/>")).map(|s| s.initial[0].low);
    for place in [
        "<place id=\"p\" initialMarking=\"2\"/>",
        "<place id=\"p\"><initialMarking><text>2</text></initialMarking></place>",
        "<place id=\"p\"><initialMarking><value>Default,2</value></initialMarking></place>",
        "<place id=\"p\"><initialMarking><value>Default,0,Red,2</value></initialMarking></place>",
        "<place id=\"p\"><initialMarking>2</initialMarking></place>",
    ] {
        assert_eq!(first(place), Ok(2), "{place}");
    }
    for place in [
        "<place id=\"p\" initialMarking=\"2\"><initialMarking><text>2</text></initialMarking></place>",
        "<place id=\"p\"><initialMarking><text>2</text></initialMarking><initialMarking><text>2</text></initialMarking></place>",
        "<place id=\"p\"><initialMarking><text>2</text><text>3</text></initialMarking></place>",
        "<place id=\"p\"><initialMarking/></place>",
        "<place id=\"p\"><initialMarking><value>Default,1,Red,2</value></initialMarking></place>",
        "<place id=\"p\"><initialMarking><value>Default,1</value></initialMarking></place>\
         <place id=\"q\"><initialMarking><value>Red,1</value></initialMarking></place>",
        "<place id=\"p\"><initialMarking><text>1'dot</text></initialMarking></place>",
        "<place id=\"p\"><hlinitialMarking><text>1'dot</text></hlinitialMarking></place>",
    ] {
        assert!(first(place).is_err(), "{place}");
    }
    assert_eq!(
        arc("<arc source=\"p\" target=\"t\" type=\"timed\" inscription=\"[0,inf)\" weight=\"4\"/>").as_deref(),
        Ok("p >= 4 -> p' = p - 4, q' = q + 1")
    );
    // Several between the same two add up; TAPAAL writes the inscription 1 beside a weight.
    let two = "<arc source=\"p\" target=\"t\"/><arc source=\"p\" target=\"t\" type=\"normal\" inscription=\"1\" weight=\"2\"/>";
    assert_eq!(arc(two).as_deref(), Ok("p >= 3 -> p' = p - 3, q' = q + 1"));
    let full = |attributes: &str| {
        let text = format!(
            "<place id=\"p\" {attributes}/><transition id=\"t\"/><arc source=\"t\" target=\"p\" weight=\"2\"/>"
        );
        net(&text).map(|s| if s.rules.is_empty() { "never".into() } else { s.meaning(0) })
    };
    assert_eq!(full("capacity=\"3\"").as_deref(), Ok("p in [0, 1] -> p' = p + 2"));
    assert_eq!(full("capacity=\"1\"").as_deref(), Ok("never"));
    assert!(full("capacity=\"0\"").is_err() && full("capacity=\"1\" initialMarking=\"2\"").is_err());
}

#[test]
fn references_are_what_they_refer_to() {
    let inside = "<place id=\"p\"/><page id=\"h\"><referencePlace id=\"r\" ref=\"s\"/><referencePlace id=\"s\" ref=\"p\"/>\
                  <referenceTransition id=\"u\" ref=\"t\"/><arc source=\"u\" target=\"r\"/></page><transition id=\"t\"/>";
    assert_eq!(net(inside).unwrap().describe(0), "t: true -> p' = p + 1");
    for broken in [
        "<referencePlace id=\"p\" ref=\"q\"/>",
        "<referencePlace id=\"p\" ref=\"p\"/>",
        "<transition id=\"t\"/><referencePlace id=\"p\" ref=\"t\"/>",
        "<referencePlace id=\"p\"/>",
    ] {
        assert!(net(broken).is_err(), "{broken}");
    }
}

#[test]
fn places_are_asked_for_by_id_or_by_name() {
    let system = net("<place id=\"a.b\"/><place id=\"a_b\"><name><text>the queue</text></name></place>\
                      <place id=\"c\"><name><text>a.b</text></name></place><place id=\"d\"><name><text>e</text></name></place>\
                      <place id=\"f\"><name><text>e</text></name></place><transition id=\"t\"/><arc source=\"t\" target=\"c\"/>")
    .unwrap();
    assert_eq!(system.names[..2], ["a.b", "a_b"]);
    let ask = |text: &str| {
        let mut sources = Sources::default();
        let id = sources.add("--error", text);
        let first = |d: Vec<trellis_syntax::diag::Diagnostic>| d.first().map(|d| d.message.clone()).unwrap_or_default();
        let asked = spec::parse_targets(&sources, id, &system);
        asked.map(|(t, said)| (t[0].entries().to_vec(), first(said))).map_err(first)
    };
    assert_eq!(ask("a_b >= 2").map(|t| t.0), Ok(vec![(1, 2)]));
    assert_eq!(ask("\"the queue\" >= 2, c >= 1").map(|t| t.0), Ok(vec![(1, 2), (2, 1)]));
    // An id of one and the name of another; the name of two; nobody's.
    assert!(ask("a.b >= 1").unwrap_err().contains("2 different places"));
    assert!(ask("e >= 1").unwrap_err().contains("2 different places"));
    assert!(ask("\"a b\" >= 1").unwrap_err().contains("no variable"));
    // Questions whose answer is plain.
    assert!(ask("c >= 0").unwrap().1.contains("every state covers"));
    assert!(ask("c >= 1, a_b >= 0").unwrap().1.contains("always holds"));
    assert!(ask("a_b >= 1").unwrap().1.contains("no rule raises `a_b`"));
    assert_eq!(ask("c >= 1").unwrap().1, "");
}

#[test]
fn mistakes_have_a_place() {
    let arc = |attributes: &str, inside: &str| {
        net(&format!("{PLACES}<arc id=\"a\" {attributes}>{inside}</arc>")).unwrap_err()
    };
    assert!(arc("source=\"p-1\" target=\"p_1\"", "").starts_with("expected an arc between a place and a transition"));
    assert!(
        arc("source=\"p-1\" target=\"t\"", "<inscription><text>many</text></inscription>").contains("found `many`")
    );
    assert!(arc("source=\"p-1\" target=\"u\"", "").contains("no node `u`"));
    assert!(net("<place id=\"p\"/><place id=\"p\"/>").unwrap_err().contains("an id of its own"));
    assert!(read("<pnml><net id=\"n\" type=\"symmetricnet\"/></pnml>").unwrap_err().contains("symmetricnet"));
    assert!(read("<pnml/>").unwrap_err().contains("expected one <net>"));
    assert!(read("<uml/>").unwrap_err().contains("expected"));
    assert!(read("vars x").is_err());
}

#[test]
fn what_is_not_known_is_refused_by_name() {
    for (inside, named) in [
        ("<place id=\"p\" bound=\"1\"/>", "`bound`"),
        ("<place id=\"p\" invariant=\"&lt;= 5\"/>", "<=5"),
        ("<place id=\"p\"><urgency/></place>", "<urgency>"),
        ("<place id=\"p\">3</place>", "`3`"),
        ("<place id=\"p\"/><transition id=\"t\"/><arc source=\"p\" target=\"t\" type=\"modifier\"/>", "`modifier`"),
        ("<place id=\"p\"/><transition id=\"t\"/><arc source=\"p\" target=\"t\" inscription=\"[7,9]\"/>", "[7,9]"),
        ("<place id=\"p\"/><transition id=\"t\"/><arc source=\"t\" target=\"p\" type=\"inhibitor\"/>", "from a place"),
        ("<place id=\"p\"/><transition id=\"t\"/><arc source=\"p\" target=\"t\" type=\"transfer\"/>", "another one"),
        ("<place id=\"p\"/><transition id=\"t\"/><arc source=\"p\" target=\"t\" type=\"transport\"/>", "as much"),
        (
            "<place id=\"p\"/><transition id=\"t\"/><arc source=\"p\" target=\"t\"><hlinscription/></arc>",
            "<hlinscription>",
        ),
        (
            "<place id=\"p\"/><transition id=\"t\"/><arc source=\"p\" target=\"t\"><name><text>2</text></name></arc>",
            "weight",
        ),
        ("<transition id=\"t\" priority=\"1\"/><transition id=\"u\" priority=\"2\"/>", "priority"),
        ("<transition id=\"t\"><condition/></transition>", "<condition>"),
        ("<transition id=\"t\"><rate><value>0.0</value></rate></transition>", "rate"),
        ("<transition id=\"t\" player=\"1\"/>", "games"),
        ("<x:place xmlns:x=\"urn:other\" id=\"p\"/>", "another namespace"),
        ("<plcae id=\"p\"/>", "<plcae>"),
        (
            "<place id=\"p\"/><transition id=\"t\"/><arc source=\"p\" target=\"t\"/><arc source=\"p\" target=\"t\" type=\"read\"/>",
            "not clear",
        ),
        (
            "<place id=\"p\"/><place id=\"q\"/><transition id=\"t\"/><arc source=\"p\" target=\"t\" type=\"reset\"/>\
             <arc source=\"p\" target=\"t\" type=\"transfer\"/><arc source=\"t\" target=\"q\" type=\"transfer\"/>",
            "not clear",
        ),
        (
            "<place id=\"p\"/><transition id=\"t\"/><arc id=\"a\" source=\"p\" target=\"t\"/><arc id=\"a\" source=\"p\" target=\"t\"/>",
            "second arc",
        ),
        ("<name><texxt>n</texxt></name>", "<texxt>"),
        ("<name><text>n</text></name><name><text>n</text></name>", "second <name>"),
    ] {
        let said = net(inside).unwrap_err();
        assert!(said.contains(named), "{inside}: {said}");
    }
    assert!(read("<pnml><net id=\"n\"/><shared-place name=\"p\"/></pnml>").unwrap_err().contains("<shared-place>"));
    assert!(read("<pnml><net id=\"n\" active=\"false\"/></pnml>").unwrap_err().contains("not active"));
}

/// The parser of XML lets the second one pass.
#[test]
fn a_namespace_is_given_once() {
    let twice = "<pnml xmlns=\"urn:a\" xmlns:b='urn:b' xmlns=\"urn:a\"><net id=\"n\"/></pnml>";
    assert!(read(twice).unwrap_err().contains("`xmlns` again"), "{:?}", read(twice));
    let inside = "<pnml><net id=\"n\" xmlns:b=\"urn:b\" xmlns:b=\"urn:b\"/></pnml>";
    assert!(read(inside).is_err());
    let once = "<pnml xmlns=\"urn:a\" xmlns:b='xmlns=\"urn:a\"'><net id=\"n\"><name xmlns=\"urn:a\"/></net></pnml>";
    assert!(read(once).is_ok(), "{:?}", read(once));
}
