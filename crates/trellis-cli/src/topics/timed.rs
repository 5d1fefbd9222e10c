//! `trellis help timed`.

pub const TIMED: &str = "\
Models with clocks

Trellis explores *zones*: conjunctions of bounds on clocks and on differences of clocks. Two engines do it for A[] and E<>.

  --engine reach                the zone graph: the default, and the only one for questions about deadlock
    --cover alu                 a zone stands for those that it simulates, up to the constants that clocks are compared with
                                later (default)
    --cover inclusion           … for those that it includes; equality: only for itself
    --extrapolation lu+|lu|m    what is forgotten of zones under inclusion and equality (default: lu+); none: exact, may not end
  --engine lazy                 lazy abstraction: a label starts by saying nothing about clocks, and learns only what
                                it must to forbid moves that are impossible
    --clocks bounds             … bounds of clocks, propagated backward: the default with more than 32 clocks (then dfs)
    --clocks forward|backward   … zones, by interpolation; forward is the default where differences of clocks are compared
    --data forward|backward     … also of data: variables are known only where their values matter, found by interpolation
                                (default: identity, all of them everywhere)
    --data predicates           … formulas over variables, with the solver inside: as weak as can be, found forward;
                                predicates-backward: values and bounds; predicates-sequence: interpolants of whole paths
    --all-clocks                clocks that do not matter in a location stay in its zones 

  --order bfs|dfs|random        what comes first
  --order largest               larger zones overtake smaller ones: the default of reach

  (none of these)               states of reach that are the same but for the names of symmetric processes are one (Fischer's
                                protocol with 10 processes: 130 states instead of 260998). Which processes these are is found, and
                                checked against model and question; so are members of scalar sets. Also without clocks
  --no-symmetry                 they are explored one by one all the same
  --symmetry                    they are one with the other options of reach, too; says which they are, or why none

  (none of all these)           searches take turns: zones up to symmetry half of the time; lazy data by values and by predicates, lazy bounds, and
                                depth first in random order with restarts the rest. The report names the one that has answered
  --trace-kind shortest         the run that is shown has as few steps as can be
  --trace-kind fastest          … takes as little time as can be

Extrapolation, simulation and bounds are not sound where differences of clocks are compared: reach then keeps exact zones and
may not end, bounds are refused; forward and backward can do it. For deadlock, reach forgets no more than Extra-M does, and a⊑LU becomes a⊑M.

A<>, E[] and --> are answered on the zone graph with cycles; a run may stay forever where time may pass. --non-zeno leaves
out runs in which infinitely much happens in finite time. sup and inf take integers and clocks.

Conditions may compare clocks: P.x <= 3, P.x - P.y < 2. A trace has exact delays, fractions where it must, and is replayed;
a certificate lists zones, and is checked by a program that shares no code with the engines (`trellis help evidence`).

Examples:
  trellis check models/timed/fischer-4-32-64.xta
  trellis check models/timed/engine-classic.xta -p 'E<> GearControl.GearChanged and SysTimer == 150'
  trellis check models/timed/csma-05.xta -p 'A[] not deadlock' -q
  trellis check models/timed/fischer-diag-3-32-64.xta --clocks backward --stats
  trellis check models/timed/fddi-10.xta --engine reach --cover alu --order dfs";
