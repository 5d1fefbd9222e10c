//! What a chart sends to itself: which states can be reached, by going everywhere.

use std::collections::{BTreeSet, VecDeque};

use trellis_model::cfa::interpret::{State, zero};
use trellis_syntax::scxml::Limit;

use crate::lockstep::{Outcome, finish, offers};
use crate::read;

/// The states of a chart that are active in some stable configuration; none if there are too many to look at all, or an event does
/// not fit.
pub fn active(text: &str, limit: usize) -> Result<Option<BTreeSet<String>>, String> {
    let chart = &read(text, &["true"])?[0];
    let start = State { location: chart.cfa.initial, env: zero(&chart.cfa) };
    let mut todo = VecDeque::from([finish(chart, start, &mut vec![])]);
    let (mut known, mut active) = (BTreeSet::new(), BTreeSet::new());
    while let Some(outcome) = todo.pop_front() {
        let state = match outcome {
            Outcome::Stable(state) | Outcome::Ended(state) => state,
            Outcome::Diverges => continue,
            Outcome::Overflow | Outcome::Lost => return Ok(None),
        };
        if !known.insert(format!("{:?}", state.env)) {
            continue;
        }
        if known.len() > limit {
            return Ok(None);
        }
        active.extend(chart.describe_values(None, &state.env, true).configuration);
        if state.location == chart.stable {
            todo.extend(offers(chart, &state).into_iter().map(|o| finish(chart, o.then, &mut vec![])));
        }
    }
    Ok(Some(active))
}

/// Are these states reached, and those not, if nothing comes from outside but `button`, where a chart has one?
fn reaches(states: &str, yes: &[&str], no: &[&str]) {
    let events = if states.contains("button") { "button" } else { "" };
    chart_reaches(&format!("trellis:events=\"{events}\""), states, yes, no);
}

fn chart_reaches(attributes: &str, states: &str, yes: &[&str], no: &[&str]) {
    let text = format!(
        "<scxml xmlns=\"http://www.w3.org/2005/07/scxml\" xmlns:trellis=\"urn:trellis\" version=\"1.0\" {attributes}>\
         <datamodel><data id=\"d\" expr=\"'0s'\"/></datamodel>{states}<final id=\"pass\"/><final id=\"fail\"/></scxml>"
    );
    let found = active(&text, 5_000).unwrap_or_else(|e| panic!("{e}")).expect("a small chart");
    for state in yes {
        assert!(found.contains(*state), "{state} is not reached: {found:?}\n{text}");
    }
    for state in no {
        assert!(!found.contains(*state), "{state} is reached: {found:?}\n{text}");
    }
}

fn at_first(content: &str, transitions: &str) -> String {
    format!("<state id=\"s0\"><onentry>{content}</onentry>{transitions}</state>")
}

#[test]
fn what_is_sent_comes_in_the_order_of_sending() {
    let sends = "<send type=\"http://www.w3.org/TR/scxml/#SCXMLEventProcessor\" event=\"a\"/><send event=\"b\"/>";
    let chart = at_first(sends, "<transition event=\"a\" target=\"pass\"/><transition event=\"*\" target=\"fail\"/>");
    reaches(&chart, &["pass"], &["fail"]);
    let sends = "<send event=\"a\"/><send event=\"b\"/><send event=\"a\"/>";
    let two = "<state id=\"s1\"><transition event=\"b\" target=\"s2\"/><transition event=\"a\" target=\"fail\"/></state>\
               <state id=\"s2\"><transition event=\"b\" target=\"fail\"/><transition event=\"a\" target=\"pass\"/></state>";
    reaches(&(at_first(sends, "<transition event=\"a\" target=\"s1\"/>") + two), &["pass"], &["fail"]);
}

#[test]
fn internal_events_come_before_what_is_sent() {
    for internal in ["<raise event=\"i\"/>", "<send event=\"i\" target=\"#_internal\"/>"] {
        let first = at_first(
            &format!("<send event=\"e\"/>{internal}"),
            "<transition event=\"e\" target=\"fail\"/><transition event=\"i\" target=\"s1\"/>",
        );
        let then = "<state id=\"s1\"><transition event=\"e\" target=\"pass\"/><transition event=\"*\" target=\"fail\"/></state>";
        reaches(&(first + then), &["s1", "pass"], &["fail"]);
    }
}

#[test]
fn delays_are_times() {
    let transitions = "<transition event=\"a\" target=\"pass\"/><transition event=\"*\" target=\"fail\"/>";
    for (sends, right) in [
        ("<send event=\"b\" delay=\"1s\"/><send event=\"a\" delay=\".5s\"/>", true),
        ("<send event=\"b\" delay=\"1s\"/><send event=\"a\" delay=\"999ms\"/>", true),
        ("<send event=\"b\" delay=\"1s\"/><send event=\"a\"/>", true),
        (
            "<send event=\"b\" delay=\"2s\"/><assign location=\"d\" expr=\"'1s'\"/><send event=\"a\" delayexpr=\"d\"/>",
            true,
        ),
        ("<send event=\"b\" delay=\"1s\" id=\"x\"/><send event=\"a\" delay=\"2s\"/><cancel sendid=\"x\"/>", true),
        ("<send event=\"a\" delay=\"1s\"/><send event=\"b\" delay=\"1s\"/>", true),
        ("<send event=\"a\" delay=\"1.5s\"/><send event=\"b\" delay=\"1.4s\"/>", false),
        ("<send event=\"b\" delayexpr=\"d\"/><send event=\"a\"/>", false),
    ] {
        let chart = at_first(sends, transitions);
        let (yes, no) = if right { ("pass", "fail") } else { ("fail", "pass") };
        reaches(&chart, &[yes], &[no]);
    }
    // What is not a time is an error, and the rest of the block is not done.
    let sends = "<assign location=\"d\" expr=\"'soon'\"/><send event=\"a\" delayexpr=\"d\"/><send event=\"a\"/>";
    let transitions = "<transition event=\"error.execution\" target=\"s1\"/><transition event=\"a\" target=\"fail\"/>";
    reaches(
        &(at_first(sends, transitions) + "<state id=\"s1\"><transition event=\"a\" target=\"fail\"/></state>"),
        &["s1"],
        &["fail"],
    );
}

/// A time-out does not win against a chain of events that are sent at once.
#[test]
fn time_passes_only_where_nothing_waits() {
    let chart = at_first(
        "<send event=\"timeout\" delay=\"1ms\"/><send event=\"a\"/>",
        "<transition event=\"a\" target=\"s1\"/><transition event=\"timeout\" target=\"fail\"/>",
    ) + "<state id=\"s1\"><onentry><send event=\"b\"/></onentry><transition event=\"b\" target=\"pass\"/>\
         <transition event=\"timeout\" target=\"fail\"/></state>";
    reaches(&chart, &["pass"], &["fail"]);
}

/// Nothing is lost of what the environment can do: it may come before and after what is sent, and before a timer or not at all.
#[test]
fn what_comes_from_outside_comes_between() {
    let chart = at_first(
        "<send event=\"a\"/>",
        "<transition event=\"a\" target=\"s1\"/><transition event=\"button\" target=\"s2\"/>",
    ) + "<state id=\"s1\"><transition event=\"button\" target=\"pass\"/></state>\
         <state id=\"s2\"><transition event=\"a\" target=\"fail\"/></state>";
    reaches(&chart, &["s1", "s2", "pass", "fail"], &[]);
    // A watch-dog that is set again in time never barks, and barks if it is not.
    let chart = at_first(
        "<send event=\"bark\" delay=\"2s\" id=\"dog\"/>",
        "<transition event=\"bark\" target=\"pass\"/><transition event=\"button\" target=\"s1\"/>",
    ) + "<state id=\"s1\"><onentry><send event=\"tick\" delay=\"1s\"/></onentry>\
         <transition event=\"bark\" target=\"s2\"/><transition event=\"tick\" target=\"s3\"/></state>\
         <state id=\"s2\"/><state id=\"s3\"/>";
    reaches(&chart, &["pass", "s1", "s2", "s3"], &[]);
    let chart = at_first(
        "<send event=\"bark\" delay=\"2s\" id=\"dog\"/>",
        "<transition event=\"button\" target=\"s1\"/><transition event=\"bark\" target=\"s1\"/>",
    ) + "<state id=\"s1\"><onentry><cancel sendid=\"dog\"/><send event=\"tick\" delay=\"1s\"/></onentry>\
         <transition event=\"bark\" target=\"fail\"/><transition event=\"tick\" target=\"pass\"/></state>";
    reaches(&chart, &["pass"], &["fail"]);
    // What only `*` matches, and what the chart makes itself, comes from outside unless the chart says that it does not.
    let chart = at_first(
        "<send event=\"a\" delay=\"1s\"/>",
        "<transition event=\"a\" target=\"pass\"/><transition event=\"*\" target=\"fail\"/>",
    );
    reaches(&chart, &["pass"], &["fail"]);
    chart_reaches("trellis:events=\"*\"", &chart, &["pass", "fail"], &[]);
    chart_reaches("", &chart, &["pass", "fail"], &[]);
}

/// W3C lets anybody send any event: that the chart sends `unlock` itself does not keep others from it.
#[test]
fn what_a_chart_sends_itself_others_may_send() {
    let chart = at_first(
        "<send event=\"a\"/>",
        "<transition event=\"a\" target=\"s1\"/><transition event=\"unlock\" target=\"fail\"/>",
    ) + "<state id=\"s1\"><onentry><send event=\"unlock\"/></onentry><transition event=\"unlock\" target=\"pass\"/></state>";
    chart_reaches("", &chart, &["s1", "pass", "fail"], &[]);
    chart_reaches("trellis:events=\"\"", &chart, &["s1", "pass"], &["fail"]);
}

#[test]
fn what_does_not_fit_is_said() {
    let chart = |attributes: &str| {
        format!(
            "<scxml xmlns=\"http://www.w3.org/2005/07/scxml\" xmlns:trellis=\"urn:trellis\" {attributes}><state id=\"a\">\
             <transition event=\"e\"><send event=\"x\"/><send event=\"y\" delay=\"1s\"/></transition>\
             <transition event=\"x y\"/></state></scxml>"
        )
    };
    for (attributes, limit) in [
        ("trellis:external=\"3\" trellis:timers=\"9\"", Limit::External),
        ("trellis:external=\"9\" trellis:timers=\"3\"", Limit::Timers),
    ] {
        let chart = &read(&chart(attributes), &["true"]).unwrap_or_else(|e| panic!("{e}"))[0];
        let start = State { location: chart.cfa.initial, env: zero(&chart.cfa) };
        let mut outcome = finish(chart, start, &mut vec![]);
        let mut steps = vec![];
        for _ in 0..4 {
            let Outcome::Stable(state) = outcome else { panic!("{outcome:?}") };
            let next = offers(chart, &state).into_iter().find(|o| o.event == "e" && o.waited == 0).expect("an event");
            steps.clear();
            outcome = finish(chart, next.then, &mut steps);
        }
        assert_eq!(outcome, Outcome::Overflow);
        let last = chart.cfa.edge(steps.last().expect("a step").edge).to;
        assert_eq!(chart.too_short(last), Some(limit));
        assert_eq!(chart.cfa.location(last).name, limit.location());
    }
}

#[test]
fn what_is_known_of_events_and_platforms() {
    for cond in [
        "'name' in _event &amp;&amp; 'data' in _event &amp;&amp; !('other' in _event)",
        "_event.name === 'a' &amp;&amp; _event['type'] == 'internal' &amp;&amp; typeof _event.origin == 'undefined'",
        "_ioprocessors === _ioprocessors &amp;&amp; 'scxml' in _ioprocessors &amp;&amp; !('http' in _ioprocessors)",
        "typeof _name == 'undefined' &amp;&amp; _sessionid != 'a' &amp;&amp; _sessionid",
        "'12' == 12 &amp;&amp; !('12' === 12) &amp;&amp; null == undefined &amp;&amp; [] == 0 &amp;&amp; true == 1",
    ] {
        let chart = at_first(
            "<raise event=\"a\"/>",
            &format!(
                "<transition event=\"a\" cond=\"{cond}\" target=\"pass\"/><transition event=\"*\" target=\"fail\"/>"
            ),
        );
        reaches(&chart, &["pass"], &["fail"]);
    }
}

#[test]
fn charts_are_invoked_and_cancelled() {
    let child = "<invoke id=\"c\"><param name=\"v\" expr=\"2\"/><content><scxml initial=\"x\">\
                 <datamodel><data id=\"v\" expr=\"0\"/></datamodel><state id=\"x\">\
                 <onentry><send event=\"hello\" target=\"#_parent\"/><send event=\"late\" target=\"#_parent\" delay=\"2s\"/></onentry>\
                 <transition event=\"bye\" cond=\"v == 2\" target=\"y\"/></state><final id=\"y\"/></scxml></content></invoke>";
    let talk = format!(
        "<state id=\"s0\">{child}<transition event=\"hello\"><send event=\"bye\" target=\"#_c\"/></transition>\
         <transition event=\"done.invoke.c\" target=\"pass\"/><transition event=\"*\" target=\"fail\"/></state>"
    );
    reaches(&talk, &["pass", "c.x"], &["fail", "c.y"]);
    let cancelled = format!(
        "<state id=\"s0\">{child}<transition event=\"hello\" target=\"s1\"/></state>\
         <state id=\"s1\"><onentry><send event=\"end\" delay=\"3s\"/><send event=\"bye\" target=\"#_c\"/></onentry>\
         <transition event=\"error.communication\" target=\"s2\"/></state>\
         <state id=\"s2\"><transition event=\"end\" target=\"pass\"/><transition event=\"*\" target=\"fail\"/></state>"
    );
    reaches(&cancelled, &["pass", "s2"], &["fail"]);
}
