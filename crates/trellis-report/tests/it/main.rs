//! Reports in every form, on networks built from text.

mod counters;
mod documents;
mod junk;
mod ltl;
mod nodes;
mod pictures;
mod programs;
mod round_trip;
mod steps;
mod texts;
mod timed;
mod validate;
mod world;

use trellis_model::network::Network;
use trellis_report::PropertyReport;
use trellis_report::network::certificate_parts;
use trellis_report::page::{Answer, Page};

/// A page about a network, as the library makes it.
pub fn network_page(reports: &[PropertyReport], net: &Network) -> String {
    let proof = |r: &PropertyReport| r.certificate.as_ref().map(|c| certificate_parts(net, c, 200));
    let answers = reports.iter().map(|r| Answer::of(r, net, proof(r)).expect("it can be shown"));
    Page { live: false, tool: "trellis".into(), model: None, answers: answers.collect() }.html()
}

/// What a page was opened with.
pub fn data(page: &str) -> serde_json::Value {
    let (_, rest) = page.split_once("id=\"data\">").expect("the data");
    serde_json::from_str(rest.split_once("</script>").expect("their end").0).expect("JSON")
}
