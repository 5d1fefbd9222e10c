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
use trellis_report::html::{Evidence, page};
use trellis_report::network::certificate_parts;

/// A page about a network, as the library makes it.
pub fn network_page(reports: &[PropertyReport], net: &Network) -> String {
    let proof = |r: &PropertyReport| r.certificate.as_ref().map(|c| certificate_parts(net, c, 200));
    page(&reports.iter().map(|r| (r, Evidence::of(r, net).with_proof(proof(r)))).collect::<Vec<_>>())
}
