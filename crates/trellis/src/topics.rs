//! `trellis help TOPIC`: what does not fit into the help of one option.

use std::fmt::Write as _;

use trellis_order::lattice::Trend;
use trellis_order::lattice::library::catalogue;

/// The text of a topic, if there is one of that name.
pub fn topic(name: &str) -> Option<String> {
    match name {
        "uppaal" => Some(UPPAAL.into()),
        "lattices" | "lattice" => Some(lattices()),
        "join" | "strategies" => Some(JOIN.into()),
        "evidence" | "certificates" | "traces" => Some(EVIDENCE.into()),
        "exit-codes" => Some(EXIT.into()),
        _ => None,
    }
}

/// The topics, for messages.
pub const NAMES: &str = "uppaal, lattices, join, evidence, exit-codes";

const UPPAAL: &str = "\
UPPAAL models

Trellis reads UPPAAL's XML (.xml, flat DTDs 1.1 to 1.6, embedded queries) and its textual language (.xta, .ta, with
queries in a .q file of the same name or given by --queries). Everything without clocks is checked:

  data        int, int[lo,hi], bool, scalar[N], arrays, structs, typedef, const, meta (reset at every step)
  functions   with loops, local variables, reference parameters; no recursion
  processes   templates with parameters, partial instantiation, free parameters in the system line, priorities
  channels    binary, broadcast, urgent, arrays, priorities
  locations   invariants over data, urgent, committed
  lattices    extern NAME; see `trellis help lattices`

Queries: A[] p, E<> p, A<> p, E[] p, p --> q, sup: e, inf: e, with deadlock, imply, forall, exists, P.location, P(1).x.

A value out of range, a division by zero or an index outside its array is an error of the model, shown with the trace
that leads to it (exit code 2). What Trellis reads but cannot check (clocks, for now; stopwatches, double, dynamic
templates, statistical queries) is refused by name and place; nothing is skipped silently.

Without clocks, time still passes: a run may stay forever in a state unless a location there is urgent or committed or
an urgent channel is ready. A<> and --> count such runs.";

const JOIN: &str = "\
Cover, join, and joining strategies (000)

A lattice variable's value is not one state but a set of them: a larger element allows more behaviour. States that agree
in everything else (the key) can therefore stand for each other:

  --update simple   only equal states meet: exact
  --update cover    a larger element stands for smaller ones: exact, if the model is monotone
  --update join     elements are joined into one that stands for both: fewest states; may be too coarse

When a joined state reaches what must not be reached, the path is tried again without joins. If it fails, Trellis stops
joining where that went wrong and goes on; so it ends with an exact answer. Your own strategy is taken as it is, and the
answer may be UNKNOWN, with the path and the joins that caused it:

  --join all                              join whatever has the same key
  --join none                             the same as --update cover
  --join 'DB.Idle'                        only where this holds of the key
  --join 'x.a.num0s() + y.a.num0s() < N'  by what the two elements are
  --join 'joined.a.num0s() < N'           by what the join would be
  --join mine.lua                         a script with  function join(x, y) … return true or false end

Monotone means: whatever a state can do, a larger one can do too, and ends at least as high. `--audit` looks for
violations by sampling and shows them. Without --update, Trellis samples by itself and falls back to simple update when
it finds one.";

const EVIDENCE: &str = "\
Evidence

No verdict leaves unchecked. A violated property comes with a trace, which the reference interpreter replays step by
step; a proven one with a certificate, a set of states that contains the start, is closed under every step, and excludes
what must not happen, which a separate checker validates. `check` does both by default (--no-check turns it off).

  trellis check MODEL --trace t.json          write the trace
  trellis check MODEL --certificate c.json    write the certificate
  trellis certify MODEL t.json                check either again
  trellis simulate MODEL --trace t.json       watch a trace
  trellis check MODEL --dot t.dot             draw it
  trellis check MODEL --html report.html      a page to look at and pass on

For cover and join update a certificate means: every reachable state is below one of its elements. That rests on the
model being monotone, and the report says so.

JSON is versioned; `trellis schema report`, `trellis schema trace`, `trellis schema certificate` print the schemas.";

const EXIT: &str = "\
Exit codes

    0   every property holds
   10   some property fails
   20   no property fails, but some are undecided
    2   bad usage, bad input, or a model that does something undefined
    1   an internal error: evidence that did not pass its check, a bug
  130   interrupted";

fn lattices() -> String {
    let mut out = String::from(
        "\
Lattices that a model can use

  extern UnionBitVector;                         a lattice of the library
  UnionBitVector pool[8];                        a variable: for bit vectors, [8] is the number of bits
  extern Level = Hasse(low < mid, mid < high);   one with arguments
  extern Pair = Product(Sign, Parity);           one made of others
  extern Mine from \"mine.lua\";                   your own, in a script (or: extern Mine; for Mine.lua beside the model)

In guards and updates, call methods: `pool.num1s() < 3`, `level.raise(high)`; bit vectors also read and write bits:
`pool[i] == 1`, `pool[i] = 1`. A method marked ↓ answers less for larger elements, one marked ↕ neither more nor less:
guards that use those may not be monotone (see `trellis help join`).

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
