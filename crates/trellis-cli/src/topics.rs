//! `trellis help TOPIC`: what does not fit into the help of one option.

use std::fmt::Write as _;

use clap::{Args, Command};
use trellis::registry;
use trellis::settings::Settings;
use trellis_order::lattice::Trend;
use trellis_order::lattice::library::catalogue;

/// The text of a topic, if there is one of that name.
pub fn topic(name: &str) -> Option<String> {
    let text = match name {
        "uppaal" => include_str!("topics/uppaal.txt"),
        "timed" | "clocks" => include_str!("topics/timed.txt"),
        "tchecker" => include_str!("topics/tchecker.txt"),
        "programs" | "c" | "cfa" | "xsts" | "sts" => include_str!("topics/programs.txt"),
        "counters" | "spec" | "coverability" | "lcs" => include_str!("topics/counters.txt"),
        "altarica" | "mec" | "acheck" | "hierarchy" | "hts" => include_str!("topics/altarica.txt"),
        "scxml" | "statecharts" => include_str!("topics/scxml.txt"),
        "gamma" | "compositions" => include_str!("topics/gamma.txt"),
        "patterns" | "requirements" => include_str!("topics/patterns.txt"),
        "lattices" | "lattice" => return Some(lattices()),
        "join" | "strategies" => include_str!("topics/join.txt"),
        "evidence" | "certificates" | "traces" => include_str!("topics/evidence.txt"),
        "smtlib" | "smt-lib" | "solver" => include_str!("topics/smtlib.txt"),
        "ltl" | "hoa" => include_str!("topics/ltl.txt"),
        "exit-codes" => include_str!("topics/exit.txt"),
        _ => return None,
    };
    Some(text.trim_end().into())
}

/// The help of `check`: what goes with every model; the rest is in the topics.
pub fn check() -> String {
    let mut command = Settings::augment_args(Command::new("trellis check")).about("Check the properties of a model.");
    let ids: Vec<String> = command.get_arguments().map(|a| a.get_id().to_string()).collect();
    for id in ids.iter().filter(|id| registry::is_special(id)) {
        command = command.mut_arg(id, |a| a.hide(true));
    }
    let help = command.max_term_width(110).render_help();
    format!(
        "{help}\nOptions of one language or formalism: trellis help uppaal, trellis help c,\n\
         trellis help spec, trellis help altarica, trellis help ltl, … (or trellis check --help c)\n"
    )
}

/// The options of some groups.
pub fn options_of(groups: &[(&'static str, Vec<&'static str>)]) -> String {
    let mut out = String::new();
    for (who, names) in groups {
        if names.is_empty() {
            let _ = write!(out, "\nOptions for {who}: those of every model (trellis check --help)\n");
            continue;
        }
        let mut command = Settings::augment_args(Command::new("trellis check"));
        let ids: Vec<String> = command.get_arguments().map(|a| a.get_id().to_string()).collect();
        for id in ids.iter().filter(|id| !names.contains(&id.as_str())) {
            command = command.mut_arg(id, |a| a.hide(true));
        }
        let template = "{all-args}";
        let help = command.help_template(template).disable_help_flag(true).max_term_width(110).render_help();
        let _ = write!(out, "\nOptions for {who}\n\n{help}");
    }
    out
}

/// The topics, for messages.
pub const NAMES: &str = "uppaal, timed, tchecker, programs, scxml, gamma, patterns, counters, altarica, lattices, join, evidence, smtlib, ltl, exit-codes";

fn lattices() -> String {
    let mut out = String::from(
        "\
Lattices that a model can use

  extern UnionBitVector;                         a lattice of the library
  UnionBitVector pool[8];                        a variable: for bit vectors, [8] is the number of bits
  extern Level = Hasse(low < mid, mid < high);   one with arguments
  extern Pair = Product(Sign, Parity);           one made of others
  extern Mine from \"mine.lua\";                   your own, in a script (or: extern Mine; for Mine.lua beside the model)
  extern Mine;                                   with --python mine.py: the class Mine of that file (needs the Python package)

In guards and updates, call methods: `pool.num1s() < 3`, `level.raise(high)`; bit vectors also read and write bits:
`pool[i] == 1`, `pool[i] = 1`. A method marked ↓ answers less for larger elements, one marked ↕ neither more nor less:
guards that use those may not be monotone (see `trellis help join`). A script has its own marks: marks = { get = \"up\", … }.

",
    );
    for e in catalogue() {
        let _ = writeln!(out, "{}", e.usage);
        let _ = writeln!(out, "    {}", e.about);
        for m in &e.methods {
            let mark = match m.trend {
                Trend::Monotone => ' ',
                Trend::Antitone => '↓',
                Trend::Neither => '↕',
            };
            let _ = writeln!(out, "    {mark} {:<22} {}", m.usage, m.about);
        }
        out.push('\n');
    }
    out
}
