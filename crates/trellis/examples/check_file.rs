//! A model in a file, and all that it is asked: verdicts with their evidence.

use trellis::{Model, Verdict};

fn main() -> Result<(), trellis::Error> {
    let model = Model::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/hierarchy/alarm4.hts.json"))?;
    let mut answered = 0;
    for property in model.properties()? {
        let report = model.check(&property).timeout("60s").run()?; // engine chosen, evidence re-checked
        match report.verdict() {
            Verdict::Safe(_) => println!("{property}: safe"),
            Verdict::Unsafe(trace) => {
                for step in trace.steps() {
                    println!("{step}")
                }
            }
            Verdict::Unknown(why) => eprintln!("{why}"),
            _ => println!("{report}"),
        }
        answered += usize::from(report.holds().is_some());
    }
    assert!(answered > 0, "every question has an answer");
    Ok(())
}
