//! The models that come with the program: one or more of each language, small enough to be understood at a glance.

/// An example.
pub struct Example {
    /// What it is about.
    pub about: &'static str,
    /// Names and texts, the model first.
    pub files: &'static [(&'static str, &'static str)],
    /// What is asked of it beside its own questions, as options of `trellis check`.
    pub ask: &'static [&'static str],
}

/// Files by their names.
macro_rules! example {
    ($about:literal, [$($file:literal),+], $ask:expr) => {
        Example { about: $about, files: &[$(($file, include_str!(concat!("../bundled/", $file)))),+], ask: &$ask }
    };
}

/// All of them.
pub const EXAMPLES: &[Example] = &[
    example!("A gearbox controller: five automata, five clocks", ["engine-classic.xta", "engine-classic.q"], []),
    example!("A lamp with a dimmer, drawn by its author", ["lamp.xml"], []),
    example!(
        "Fischer's protocol: four processes exclude each other by waiting",
        ["fischer-4-32-64.xta", "fischer-4-32-64.q"],
        []
    ),
    example!("A sender over a lossy channel, whose contents are sets in a lattice", ["lossy.xta", "lossy.q"], []),
    example!("Votes are counted, and one too many", ["votes.c"], []),
    example!("A lock in C, proved by an invariant", ["lock.c"], []),
    example!("A microwave oven as a statechart with regions", ["microwave.scxml"], []),
    example!("A level crossing: two statecharts, composed", ["crossing.gcd", "crossing.gpd"], []),
    example!("A cache protocol with a mistake, for any number of caches", ["mesi_bug.spec"], []),
    example!("Two philosophers as a Petri net: each waits for the other's fork", ["philosophers.pnml"], [WAIT, EAT]),
    example!("A pump, its spare and a valve in AltaRica: what may fail", ["pumps.alt"], ["--error=water = false"]),
    example!("A queue of cells in AltaRica", ["fifo2.alt"], ["--error=Head.object = no & Queue.object != no"]),
    example!("Wheels that carry, each with wheels inside", ["wheels3.hts.json"], []),
    example!("A traffic light generated from statecharts", ["trafficlight_v2.xsts"], [TRAFFIC, TRAFFIC_LIVE]),
    example!("A control-flow automaton that reaches its error", ["SimpleCounterexample.theta"], []),
    example!("A lamp that blinks forever: a run that closes into a lasso", ["blinker.xta"], [BLINKER, BLINKER_ALWAYS]),
];

const TRAFFIC: &str = "--property=!(LightCommands_displayRed == true && LightCommands_displayGreen == true)";
const TRAFFIC_LIVE: &str = "--ltl=F(LightCommands_displayYellow)";
const WAIT: &str = "--error=waits1 >= 1, waits2 >= 1";
const EAT: &str = "--error=eats1 >= 1, eats2 >= 1";
const BLINKER: &str = "--ltl=F G(count = 2)";
const BLINKER_ALWAYS: &str = "--ltl=G F Lamp.on";
