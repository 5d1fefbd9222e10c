//! Evidence of every kind: a model, a question about it, and what `trellis check` wrote.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::run::{Answer, trellis};
use crate::{on_all, root};

/// A question about a model.
pub struct Case {
    /// From `models/`.
    pub model: &'static str,
    pub options: &'static [&'static str],
    /// `--trace` or `--certificate`.
    pub evidence: &'static str,
}

const fn case(model: &'static str, options: &'static [&'static str], evidence: &'static str) -> Case {
    Case { model, options, evidence }
}

/// What is asked.
pub static CASES: &[Case] = &[
    // Networks, and lattices.
    case("data/peterson.xta", &["-p", "A[] not (P(0).Critical and P(1).Critical)"], "--certificate"),
    case("data/peterson.xta", &["-p", "E<> P(1).Critical"], "--trace"),
    case("data/philosophers.xta", &["-p", "A[] not deadlock", "--const", "N=2"], "--trace"),
    case("data/token.xta", &["-p", "A[] not deadlock"], "--certificate"),
    case("lattice/leader.xml", &[], "--certificate"),
    case("lattice/lossy.xta", &["-p", "A[] not Receiver.Wrong", "--const", "M=2"], "--trace"),
    // Clocks.
    case("timed/fischer-2-32-64.xta", &[], "--certificate"),
    case("timed/lamp.xml", &["-p", "E<> Lamp.Bright"], "--trace"),
    case("timed/bridge.ta", &["-p", "A[] torch == 0 or torch == 1"], "--certificate"),
    case("timed/tchecker/gpsmc-2.txt", &["--labels", "error"], "--trace"),
    case("timed/tchecker/csmacd-5.txt", &["-p", "E<> Station1.Start && Station2.Start"], "--trace"),
    // Programs, automata, transition systems, statecharts.
    case("c/lock.c", &[], "--certificate"),
    case("c/votes.c", &[], "--trace"),
    case("cfa/locking.cfa", &[], "--certificate"),
    case("cfa/counter_bv_false.cfa", &[], "--trace"),
    case("xsts/counter5.xsts", &["-p", "x >= 0 && x <= 5"], "--certificate"),
    case("xsts/counter5.xsts", &["-p", "x < 5"], "--trace"),
    case("xsts/lights.sts", &["-p", "safe"], "--certificate"),
    case("xsts/lights.sts", &["-p", "bad_waiting"], "--trace"),
    case("scxml/traffic-light-open.scxml", &[], "--trace"),
    case("scxml/microwave.scxml", &["-p", "!In('idle') || In('open')"], "--certificate"),
    // Counters.
    case("coverability/mesi.spec", &[], "--certificate"),
    case("coverability/mesi_bug.spec", &[], "--trace"),
    case("coverability/synapse.spec", &["--engine", "backward"], "--certificate"),
    case("coverability/lock.tts", &["--error", "1|1,1"], "--certificate"),
    // Nodes.
    case("altarica/peterson2.alt", &["--error", "P[0].loc = cs & P[1].loc = cs"], "--certificate"),
    case("altarica/fifo2.alt", &["--error", "Head.object = no & Queue.object != no"], "--trace"),
    case(
        "altarica/wheels3.alt",
        &["--error", "High.bit = 1 & Low.High.bit = 1 & Low.Low.bit = 1", "--engine", "hierarchy"],
        "--trace",
    ),
    case(
        "altarica/stack3.alt",
        &["--error", "Top.object != no and Stack.Top.object = no and Stack.Stack.object = no", "--engine", "hierarchy"],
        "--certificate",
    ),
    case("hierarchy/alarm4.hts.json", &[], "--certificate"),
    case("hierarchy/priority.hts.json", &[], "--trace"),
    // Formulas.
    case("ltl/cfa/wave_flag.cfa", &["--ltl", "G F(x)"], "--certificate"),
    case("ltl/cfa/wave_flag.cfa", &["--ltl", "F G(x)"], "--trace"),
    case("ltl/xsts/counter3inf.xsts", &["--ltl", "F(x=2)"], "--certificate"),
    case("ltl/networks/semaphore.xta", &["--ltl", "G F A.inside", "--fair", "weak"], "--trace"),
    case("ltl/networks/semaphore.xta", &["--ltl", "G F A.inside", "--fair", "strong"], "--certificate"),
    case("coverability/mesi.spec", &["--ltl", "G(modified <= 1)"], "--certificate"),
];

/// What is known about a case.
pub struct Ready {
    pub case: &'static Case,
    /// The model's folder.
    pub folder: PathBuf,
    /// The model's file name.
    pub file: String,
    /// The evidence, as it was written.
    pub text: String,
    pub json: Value,
    /// What `certify` is told beside model and evidence.
    pub certify: Vec<String>,
    /// What it says of the evidence as it is.
    pub said: String,
    /// What `check` answers.
    pub verdict: String,
}

impl Ready {
    /// Asks whether evidence is accepted.
    pub fn certify(&self, folder: &Path, evidence: &Path) -> Answer {
        let mut args = vec!["certify".to_string(), self.file.clone(), evidence.display().to_string()];
        args.extend(self.certify.iter().cloned());
        trellis(folder, &args)
    }

    /// The verdict on a model in another folder; nothing if it is not known, or the model is refused.
    pub fn verdict(&self, folder: &Path, more: &[&str]) -> (Option<String>, Answer) {
        let mut args = vec!["check", &self.file, "--json", "--timeout", "10s"];
        args.extend(self.case.options);
        args.extend(more);
        let answer = trellis(folder, &args);
        (verdict(&answer), answer)
    }
}

/// The verdict of a report, if it is one; of several (a C program has one for each check) that of the worst.
fn verdict(answer: &Answer) -> Option<String> {
    let reports = answer.stdout.lines().filter_map(|l| serde_json::from_str::<Value>(l).ok());
    let all: Vec<String> = reports.filter_map(|r| r["verdict"].as_str().map(str::to_string)).collect();
    let worst = all.iter().find(|v| matches!(v.as_str(), "UNSAFE" | "FAILS"));
    let worst = worst.or_else(|| all.iter().find(|v| *v == "UNKNOWN")).or(all.first())?;
    (worst != "UNKNOWN").then(|| worst.clone())
}

/// Makes the evidence of all cases, and has it accepted.
pub fn ready() -> Vec<Ready> {
    let here = tempfile::tempdir().expect("a temporary folder");
    let numbered: Vec<(usize, &'static Case)> = CASES.iter().enumerate().collect();
    on_all(&numbered, |(i, case)| make(&here.path().join(format!("{i}.json")), case))
}

fn make(evidence: &Path, case: &'static Case) -> Ready {
    let path = root().join("models").join(case.model);
    let (folder, file) = (path.parent().expect("a folder"), path.file_name().expect("a name"));
    let (folder, file) = (folder.to_path_buf(), file.to_str().expect("a name").to_string());
    let written = evidence.display().to_string();
    let mut args = vec!["check", file.as_str()];
    args.extend(case.options);
    args.extend(["--json", case.evidence, &written]);
    let answer = trellis(&folder, &args);
    let text = std::fs::read_to_string(evidence)
        .unwrap_or_else(|_| panic!("no evidence: {args:?}\n{}{}", answer.stdout, answer.stderr));
    let json = serde_json::from_str(&text).expect("JSON");
    let verdict = verdict(&answer).unwrap_or_else(|| panic!("{args:?}: {}", answer.stdout));
    let mut ready =
        Ready { case, folder: folder.clone(), file, text, json, certify: vec![], said: String::new(), verdict };
    // What `certify` must be told is what changes the meaning: constants always, the question where it asks for it.
    let mut told = vec![vec![], vec![]];
    let mut options = case.options.iter();
    while let (Some(name), Some(value)) = (options.next(), options.next()) {
        let always = matches!(*name, "--const" | "--fair" | "--node" | "--ints");
        let asks = matches!(*name, "-p" | "--error" | "--ltl" | "--labels" | "--start" | "--buchi");
        told.iter_mut().enumerate().filter(|(i, _)| always || (asks && *i == 0)).for_each(|(_, t)| {
            t.extend([name.to_string(), value.to_string()]);
        });
    }
    let mut last = String::new();
    for options in told {
        ready.certify = options;
        let answer = ready.certify(&folder, evidence);
        if answer.code == Some(0) {
            ready.said = answer.stdout;
            return ready;
        }
        last = answer.stdout + &answer.stderr;
    }
    panic!("{} {:?}: its own evidence is not accepted: {last}", case.model, case.options);
}
