//! `trellis help TOPIC`: what does not fit into the help of one option.

mod timed;

use std::fmt::Write as _;

use clap::{Args, Command};
use trellis::registry;
use trellis::settings::Settings;
use trellis_order::lattice::Trend;
use trellis_order::lattice::library::catalogue;

use timed::TIMED;

/// The text of a topic, if there is one of that name.
pub fn topic(name: &str) -> Option<String> {
    match name {
        "uppaal" => Some(UPPAAL.into()),
        "timed" | "clocks" => Some(TIMED.into()),
        "tchecker" => Some(TCHECKER.into()),
        "programs" | "c" | "cfa" | "xsts" | "sts" => Some(PROGRAMS.into()),
        "counters" | "spec" | "coverability" => Some(COUNTERS.into()),
        "altarica" | "mec" | "acheck" => Some(ALTARICA.into()),
        "scxml" | "statecharts" => Some(SCXML.into()),
        "gamma" | "compositions" => Some(GAMMA.into()),
        "patterns" | "requirements" => Some(PATTERNS.into()),
        "lattices" | "lattice" => Some(lattices()),
        "join" | "strategies" => Some(JOIN.into()),
        "evidence" | "certificates" | "traces" => Some(EVIDENCE.into()),
        "smtlib" | "smt-lib" | "solver" => Some(SMTLIB.into()),
        "ltl" | "hoa" => Some(LTL.into()),
        "exit-codes" => Some(EXIT.into()),
        _ => None,
    }
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

const LTL: &str = "\
Linear temporal logic

  F a          a at some moment from now on           (also <>a)
  G a          a at every moment from now on          (also []a)
  X a          a at the next moment
  a U b        b at some moment, and a until then
  a W b        a U b, or a for ever
  a R b        b up to and including the moment of a, or for ever
  a M b        a R b, and a at some moment
  not and or -> <->                                   (also ! && || & | => <=>)

From loose to tight: <->, -> (to the right), or, and, U W R M (to the right), not F G X, comparisons, sums, products. So `!a U b` is
`(!a) U b`, and `G x = 1` is `G (x = 1)`. GFa is G F a. There are no past operators.

A formula about a model has three types: int, bool and LTL. Its atoms are comparisons (= /= < <= > >=) of terms (+ - * / % mod rem,
array[index], Type.LITERAL), boolean variables, In(state), and texts in double quotes, which are in the language of the model. Of counter systems, AltaRica
and .hts.json, `deadlock` is an atom: nothing but an idle step is possible.

  trellis check MODEL --ltl 'G(x > 0 -> F y)'             must hold on every infinite run
  trellis check MODEL --buchi never.hoa                   no infinite run may be accepted: the automaton says what must not
                                                          happen (a never claim); its atoms (AP) are conditions on the model

UNSAFE comes with a lasso: a beginning, and what happens again and again after it; where no run repeats, with a beginning and a
set of states in which runs can stay forever. SAFE comes with an abstraction of the product of the model and the automaton of the
negated formula, and rankings that say why no bad cycle can be taken forever. Both can be written (--trace, --certificate) and
checked again (trellis certify).

A letter is read after each edge of an automaton and of a C program; after init, each env and each trans of an XSTS (--ltl-step full:
after init and each trans); at the start and after each transition of an STS; after each macro-step of a statechart; at the start and
after each rule of a counter system, each flat event of an AltaRica node but ε, and each step of a hierarchical transition system (.hts.json)
that not all nodes take by resting, with an event that has no name and changes nothing (all stay as they are where nothing can happen;
nodes are flattened for this, so they must be small). A run that
has ended stays as it is forever; a run that is stuck elsewhere does not count.

A[] p and E<> p ask about states at the same moments, and a state counts as soon as it is reached, whether or not an assumption blocks
the run later on. A<> p, E[] p and p --> q are formulas. Of C, .cfa, .xsts and .sts, -p 'E<> deadlock' and -p 'A[] not deadlock' ask whether
a run can be blocked before its end.

Networks of automata (UPPAAL, TChecker): atoms are locations and data as in queries (`P(1).cs`, `n[2] > 0`), and whole conditions in
quotes (`\"forall (i : id_t) n[i] > 0\"`), without clocks. A letter is read at the start and after each step; a run that ends, for lack
of steps or because time passes for ever, stays as it is. States are enumerated (with the elements of lattices, never joined; zones, if
there are clocks); --non-zeno as for liveness.
  --fair progress          something happens if anything can
  --fair weak              a process that could always move from some time on does so again and again; weak:P(1),go for some
                           processes and channels only
  --fair strong            a process that could move again and again does so again and again
Fairness is for models without clocks; there time is stopped by invariants and urgency. Give certify the same --ltl, --fair and --non-zeno.

If no engine is chosen, several take turns. --engine cegar: abstraction refinement, with the options of programs; explicit: state
by state; bmc: lassos of growing length (--depth N). --search nested or scc: how fair cycles are looked for.

A formula becomes a Büchi automaton. `trellis ltl2hoa` writes it in the Hanoi format; every name is an atom there:
  trellis ltl2hoa '!G(a -> F b)'                          marks on edges, as many as it takes
  trellis ltl2hoa 'GF a & GF b' --acceptance state        one mark, on states
  trellis ltl2hoa 'G(a -> X b)' --dot                     a picture
";

const COUNTERS: &str = "\
Counter systems: any number of processes

A .spec file has variables (how many processes are in which state), rules, a start and targets:

  vars invalid shared modified
  rules
    invalid >= 1 -> invalid' = invalid - 1, shared' = shared + modified + 1, modified' = 0;
    shared >= 1 -> invalid' = invalid + modified + shared - 1, shared' = 0, modified' = 1;
  init invalid >= 1, shared = 0, modified = 0
  target modified >= 2
         modified >= 1, shared >= 1

Can a state be reached that is at least as large as a target? `init invalid >= 1` allows any number. Updates are simultaneous; a rule
that would make a number negative cannot be taken. --error 'x >= 2, y >= 1' asks for another target, --error 'fireable NAME' whether
a rule or a transition can ever be taken; -p 'A[] !deadlock' asks whether some rule
can always be taken, and A[] p, E<> p, … any other condition, as formulas (trellis help ltl). UNSAFE comes with a number of
processes and the rules they take (--full-trace: all of a long run), SAFE with an invariant in words (--show-invariant: all of it).

If no engine is chosen, several take turns on two threads (--threads 1: on one).

  --engine wsts         lazy abstraction with breadth-first control, LA[BF] (Dimitrova and Podelski's Algorithm 2), by comparing vectors, without a solver;
                        a refinement also brings its predicates without the variables that the refutation does not need
    --plain             no predicates but those of the paper
    --linear            linear atoms, Boolean formulas over them, and a solver, as the paper writes it: slow, for study
    --show-tree[=FILE]  the abstract reachability tree, refinement by refinement: error regions, pivots, new predicates, deleted and reopened nodes;
                        to a file: .json, .svg, .dot, or text. --dot FILE draws the tree that proves SAFE
    --control dfs|random|adverse   another control, which need not end
    --start-atoms       the atoms of the start are predicates from the beginning, as in the paper
    --equal-depth       nodes may be covered by nodes of the same depth
    --merged            all rules are one command: few refinements, with many predicates each
    --layers            a refinement brings what leads into the target by any rules
  --engine backward     from the targets to the start, with minimal bases; what the state equation shows to be out of reach is left
                        out (--no-prune: it is kept)
  --engine forward      from the start, with accelerations (Karp and Miller): finds errors. Who is nearest to the target by the
                        state equation comes first (--no-guide: the newest)
  --engine equation     the state equation with traps: a quick proof, or none
  --engine frames       an IC3-style search: what can be reached in at most 1, 2, 3, … steps, from above

  --engine explicit     from the start, exact where guards have upper bounds: numbers that these depend on are kept as they are

Place/transition nets in PNML (.pnml) and in LoLA's language (.lola) are read as well: places are variables, transitions keep their
names in runs; a target must be given with --error. A place is called by its id or by its name; what is not made of letters, digits,
`_`, `.` and `-` is written in double quotes, as --error '\"the queue\" >= 2'. Of PNML, inhibitor (fewer tokens than the weight), read or test,
equal, reset, transfer and untimed transport arcs are read, in the forms of TAPAAL, PIPE, Snoopy and WoPeD too, capacities, and markings
with one colour. An element or attribute that is not known is refused: time, priorities, colours, guards.

Thread transition systems (.tts) are read too: s0, s1, … is the shared state, l0, l1, … count threads by their
local state; --error '1|0,2' asks for shared state 1 with threads in 0 and 2 (or the line is in a file beside the model, with the
extension .prop), and --start '0|1/2' starts in 0 with one thread in 1 and any number in 2 ('0/2': nobody in 1). Where a passive move has several
destinations (3 ~> 0 3 ~> 1) each thread chooses: one by one, in steps of their own.

A rule of a .spec may have a name (`rule take: idle >= 1 -> …`); without one, a comment of one line right above it names it in runs. What a
run takes very often is one step, `rule × n`.

Lossy channel systems (.lcs) are processes that send messages through queues, which are unbounded and may lose any of them:

  channel data { m0 m1 }
  process Sender { start idle; send: idle -> wait; wait -> wait data!m0; wait -> idle data!m1; }
  process Receiver { start idle; idle -> got data?m0; }
  initially data = m1;                    what is in a channel at the start
  error Sender.wait, data >= m1 m0;       never there, with m1 and then m0 in the channel, perhaps with others between them

Transitions of one name in several processes happen together. --engine backward (the default) and wsts (with --control, --equal-depth, --show-tree) decide
them; --error 'Receiver.got' asks for something else.

--invariants FILE: weighted sums that no rule changes, as `x = 1, y = 2`, like those in a .spec under `invariants`. They are checked
before they are used. Without them Trellis finds sums that never grow where it needs them (--engine equation, backward).

A run can be drawn process by process, as a message sequence chart: --msc run.svg, or as text with --msc -. An instance is stepped
through with `trellis simulate model.spec --instance 'invalid = 3'`, or written as an UPPAAL model with `trellis convert model.spec
--to xta --instance 'invalid = 3'`; what is not mentioned starts as small as it may.

A guard with an upper bound (`x = 0`, `x in [1, 3]`, an inhibitor arc, a capacity) is not monotone. Most engines then let whoever has too
many lose some first, so SAFE holds; a run is replayed exactly, and if it is none they do not know. --engine explicit loses nothing: it
decides if the numbers that are tested stay bounded, and need not end if they do not.

`trellis certify MODEL FILE` proves the target of the model, or that of --error; evidence about another target is rejected. A target with `=` is refused: that is
reachability.
";

const ALTARICA: &str = "\
AltaRica, Mec 5 and Acheck

Trellis reads AltaRica (.alt): nodes with state and flow variables, assertions, guarded transitions, priorities, sub-nodes and
synchronisation vectors. The last node of the file is the top, or the one that --node names.

  trellis check model.alt --error EXPR        EXPR must never hold; -p EXPR: must always hold; -p 'E<> EXPR': can hold
      paths as in the model: 'P[0].loc = cs & P[1].loc = cs'; `deadlock` is that no event but doing nothing is possible
  --ctl FORMULA                               must hold initially: not and or => EX AX EF AF EG AG E[a U b] A[a U b] over conditions. A
                                              step is any event but doing nothing; a run goes on for ever or until nothing can
                                              happen. The answer is evaluated again, plainly; if too much can be reached, it is UNKNOWN
  (no --engine)                               the next two in turns
  --engine reach                              all reachable states, by saturation on decision diagrams; --backward: from EXPR
  --engine cegar                              a partition by the state variables that are enumerations, refined; abstract states
                                              that are understood are thrown away (--no-pruning: they are kept);
                                              --iterations FILE: what each refinement did (.csv, .svg: a plot, or a table)
  --engine hierarchy                          each node is abstracted where it stands, and the product of the abstractions explored on
                                              the fly; --neat: neat covers, which tell more states apart than needed;
                                              --refine along, failure, or interpolants (predicates from the solver);
                                              --no-pruning: without certified pairs, and what can never become bad is explored;
                                              --no-symmetry: sub-nodes that can be exchanged are told apart
  --memory 2GiB                               the diagrams may not grow beyond; then the answer is UNKNOWN
  trellis check model.alt --spec FILE.spe     Acheck: what the file shows, as NAME<tab>NUMBER, and its tests; --node NAME runs it on
                                              that node, whatever the file says. dot(S, T) draws; --redirect FOLDER follows
                                              redirections (`> 'f/$NODENAME.res'`) below a folder; without it all is printed.
                                              quot() draws the quotient by the coarsest bisimulation whose classes respect the
                                              sets of configurations defined above it, modes() the automaton of modes: what state
                                              variables are, and for which flows events change them. project(any_s, (T, U), 'Name',
                                              true, path) writes a sub-node again: an event where some configuration has a step of T
                                              by it, or where some has steps by it, all of U. loop is refused
  trellis cuts model.alt --top EXPR           minimal cut sets and minimal sequences of failures that lead to EXPR; failures are events
                                              called fail…, or those that --failures '*.stuck' names; --order N: at most N of them;
                                              --fmea: what each does alone; --open-psa FILE: a fault tree, with what
                                              the model says of failures to other tools (`extern law <event …>`); --fmea-csv FILE
  trellis mec [FILE]                          Mec 5's relations over configurations and events of nodes and over plain values,
                                              quantifiers, fixpoints, systems of equations, and commands; `:help` lists them;
                                              --timeout, --memory: for each command, and for all diagrams

UNSAFE comes with a run: flat events, and what changes by each. SAFE comes with a set of states that no event leaves. Both are
checked before anybody sees the answer: a run is replayed without diagrams, a set by one step of every event on diagrams and by plain
steps (all of a small model, random runs of a large one). --trace, --certificate, --json, --dot and --html write them to files;
`trellis certify model.alt FILE --error EXPR` checks them again.

With --engine hierarchy each node's own configurations are listed (at most 2^20). A node whose assertion, guards or updates speak of
variables below it is taken as one with all that is below; that is exact, and too large for many models: then the answer is UNKNOWN,
and the other engines are to be asked. What is asked may be any formula; comparisons of variables of different nodes are taken apart by
their values. Runs and proofs go to files (--trace, --certificate) and are checked again by `trellis certify`, with the same --error, and --node if they are
not about the last node of the file. Proofs are a partition of each node's configurations, and tuples of blocks that no step leaves but into
trap regions: blocks of each node that no event of its own leaves, and where nothing is bad. Sub-nodes that can be exchanged (the same behaviour, and
neither vectors, priorities nor the question tell them apart) share one partition, and it only counts how many of them are where; proofs
say which they are, and their checker looks at each exchange.

Hierarchical transition systems (.hts.json; trellis schema hierarchy) are the same without variables: nodes with states, moves by events,
vectors, priorities and sub-nodes, and what must never be.
  trellis check wheels3.hts.json
  trellis check wheels3.hts.json --ltl 'G F \"low.low in 0\"'      formulas are about where nodes are: \"NODE in STATE|STATE\", or NODE = STATE
  trellis check wheels3.hts.json -p 'A[] !deadlock'              some node can always do something else than rest
Networks of automata (UPPAAL) without clocks are such systems too: --engine hierarchy abstracts each process; processes that share
variables are taken as one. Broadcasts, committed locations, priorities and lattice variables are refused.

An update outside its domain means that the transition is not possible. Flows move freely within the assertions, in every step. Of
the events of a vector that are marked with `?`, a choice gives way to a larger one that includes it. `/` and `mod` round towards zero.
bool[2][3] is an array of three arrays of two. What is `extern` is for other tools: it is kept, and a warning says so. A variable with more than 65536 values, such as an integer
without bounds, is not for diagrams: then the model is flattened, and predicates are asked of a solver, as for programs.
";

const PROGRAMS: &str = "\
Programs, control-flow automata and transition systems

Trellis reads C (.c, or .i after the preprocessor), Theta's automata (.cfa, .theta) and transition systems (.xsts, .sts), and
statecharts (.scxml, see `trellis help scxml`), and asks one thing: can an error be reached? In C that is a call of reach_error,
__VERIFIER_error or __assert_fail, an assert that fails, or anything that C leaves undefined (below); in an automaton, its error
location; in a transition system, a state where its property does not hold. UNSAFE comes with a run, for C in lines of the source, with the values that were read and what
they change (--full-trace: all of a long one); SAFE with an invariant for each loop (--show-invariant).

If no engine is chosen, several take turns on two threads (--threads 1: on one): what is quick comes first, everybody gets a little
time, then more; the first answer wins, and --stats says whose it was.

  --engine bmc                  bounded model checking: is there an error after one large step, two, …? (--depth N: not further)
  --engine induction            k-induction, with invariants guessed from runs of the program and proven by a solver (--depth N)
  --engine lazy                 lazy abstraction with interpolants: labels are strengthened along paths, only where they must be
  --engine explicit             all states, one by one; gives up where something may have too many values

  --engine cegar                abstraction refinement: explore labels; where a path of labels reaches an error, either a
                                run goes along it, or learn from why none does (also if one of the options below is given)
    --domain predicates         a label says which of the predicates hold (default); explicit: what values variables have;
                                product: values where that is natural, predicates elsewhere
    --predicates cartesian      each predicate on its own (default); boolean: all combinations, in one label; split: a label
                                for each
    --refinement newton         predicates from strongest postconditions along the path (default); newton-backward: from weakest
                                preconditions; sequence: interpolants; core: the variables of the unsat core; binary,
                                binary-backward: one interpolant, as late or as early as can be
    --precision local           what is learned holds at its location (default); global: everywhere
    --initial empty             nothing is known to matter at first (default); property: what is asked before errors; assumes:
                                what is asked anywhere
    --split conjuncts           predicates are taken apart at && (default); whole: not at all; atoms: as far as possible
    --pruning lazy              what lies below the first label that was too coarse is explored again (default); full: all of it
    --max-values 64             a variable with more values than that after a step is not tracked there
  --order bfs|dfs|error         what comes first; error: what is nearest to an error

  --witness w.yml               a witness for the validators of SV-COMP (format 2.0): what was read on the way to the error, or
                                invariants of loops as C expressions. What cannot be said there is left out, and counted

Each configuration fails on some programs, and says UNKNOWN or goes on until --timeout; none answers wrongly: runs are replayed by an
interpreter, invariants are checked by a separate program, question by question to a solver (`trellis help evidence`).

  read        integers of all widths, enumerations, arrays of constant size, all statements, all expressions, functions
              (inlined); __VERIFIER_nondet_…, __VERIFIER_assume, assert, reach_error, abort, exit; #directives through gcc -E;
              structures (each member a variable, s.a); pointers to variables, entries, members and structures, and their
              arithmetic (shown as p@ = 3, a number for each thing that is pointed to anywhere; 0 is null)
  refused     by name and place, where it is used: recursion, what is allocated (malloc), casts between pointers, pointers to
              functions and to anything (void *), unions, bit-fields, floating point, arrays of variable size, inline
              assembly, threads

Integers wrap, signed ones too (--ints wrap), or are mathematical, unsigned ones too (--ints math). `long` has 64 bits, or 32
with --data-model ilp32. Locals without an initial value are arbitrary. Operands are evaluated from left to right.

What C leaves undefined is a check, with its line: one verdict for each assertion and each check that fails, the others are counted
(14 bounds checks). A run stops at the first thing that fails, so the others are about runs on which nothing failed before.

  bounds      an index within its array, a pointer within what it points into (from one row or member to the next is outside)
  pointer     no null pointer, no pointer to a variable whose block has ended, no order between different objects
  division    no division by zero, no quotient outside its type (INT_MIN / -1)
  shift       a distance from 0 to less than the width
  return      a function whose value is used returns one
  call        functions that are called have a body, but for inputs (nondet_…, __VERIFIER_nondet_…); one that has none may do
              anything: UNKNOWN
  --overflow          signed results in their type, and no left shift of a negative number or that loses bits; without it they wrap
  --uninitialised     no read of a local variable that was never set; without it that is any value
  --assume-defined    assertions only: what is undefined does not happen, and a function without a body changes nothing
  --property-file F   what SV-COMP's unreach-call.prp, no-overflow.prp, valid-memsafety.prp, def-behavior.prp or termination.prp ask
  --termination       does every run end? SAFE does not say so: where there are loops, it is partial correctness

  trellis check model.xsts                     with its own property, or that of model.prop
  trellis check model.xsts -p 'x <= 5'         or with a .prop file
  trellis check model.sts -p safe              one property of several, by name

A run of an XSTS is init, env, trans, env, trans, …; its property must hold after each of them. Integers are mathematical; a step
that divides by zero does not happen, and a property that does so does not hold. An STS is read as formulas over this state and
the next one.

Examples:
  trellis check models/c/votes.c
  trellis check models/c/lock.c --show-invariant --stats
  trellis check models/c/count.c --predicates split --refinement core
  trellis check models/c/overflow.c --ints math
  trellis check models/c/overflow.c --overflow
  trellis check models/c/count.c --termination
  trellis check models/cfa/locking.cfa --domain explicit
  trellis convert models/c/lock.c --to dot --blocks       the automaton; what has no loop in it is one edge";

const SCXML: &str = "\
Statecharts

Trellis reads W3C's SCXML (.scxml) and makes a control-flow automaton of it: `trellis check FILE` checks it with the engines for
programs (`trellis help programs`), `trellis convert FILE --to svg` draws the chart.

  read        state, parallel, final, history (shallow, deep), initial, transition (internal, external, without event, without
              target), onentry, onexit, datamodel, assign, if, foreach, raise, script, donedata, param, content; send to the
              chart itself, with or without a delay (delay, delayexpr), and cancel
  data        undefined, null, truth values, integers, strings from a finite set, arrays (at most 8 elements) and objects of
              these; trellis:type=\"bool\", \"int\", \"0..10\" or \"{red, green}\" on data
  expressions && || ! == != === !== < <= > >= + - * % ?: a.b a[b] typeof, instanceof Array, concat, In('state'),
              Math.trunc(a / b) Math.floor(a / b); _event, _name, _sessionid, _ioprocessors
  left out    what foreign namespaces add outside of executable content
  refused     by name and place: invoke, functions and loops in scripts, fractions, XML as a value, values from other files,
              HTTP, objects with two names where parts are changed, a transition from deep inside a state into that state's
              history

One step is a macro-step, as W3C's Appendix D says: an event comes, from outside or sent by the chart to itself, then micro-steps
follow until none is enabled and the internal queue is empty. A property is an expression over data and In('state'); it is asked after each
macro-step: <scxml xmlns:trellis=\"urn:trellis\" trellis:property=\"...\">, or <trellis:property expr=\"...\"/> for several.

From outside may come all events that the chart mentions, those that it raises or sends itself included, unless trellis:events=\"a b\"
lists which (\"\": none); a proof assumes that then, and says so. Never done.… and error.….

What is sent to the chart itself waits in the external queue, in order; events from outside may have been put before it. A delay
is time: it passes where nothing waits, and what a chart does takes none. Of two that are due at once either may come first, but
not the later one of two that were sent at the same moment.

trellis:queue=\"8\" bounds the internal queue, trellis:external the external one, trellis:timers what waits for its time; a chart
that needs more is UNSAFE if a run that needs no more violates the property, else UNKNOWN, and the limit is named. So is
a run to a value that is not supported (NaN, what an event from outside carries). An expression that throws, an assignment to what is
not declared and a division by zero raise error.execution.";

const GAMMA: &str = "\
Composed statecharts

Trellis reads packages of the Gamma Statechart Composition Framework (.gcd) with all that they import, and checks the last component of the
file that no other contains, or --node NAME; --const NAME=VALUE gives its parameters.

  trellis check M.gcd --error 'In(door.Main.Open) && In(cabin.Main.Moving)'
  trellis check M.gcd -p 'A[] x <= 3'         also E<>, A<>, E[] and p --> q; --ltl, --pattern (`trellis help patterns`)
  trellis check M.gcd                         the properties in files .gpd beside it that are about its component; --queries FILE.gpd
  trellis check M.gcd … --trace run.get       a run as an execution trace
  trellis cover M.gcd --transitions --output tests    a trace for all that can be reached, a proof for what cannot

  names       instance.Region.State or In(instance.Region.State); instance.variable; instance.Port.event (raised in this cycle);
              instance.Port.event::parameter; Port.event of an output of the whole; what is clear without its beginning can be shortened
  read        statecharts (regions, history, choice, merge, fork, join, timeouts, priorities, all schedules but parallel), sync,
              cascade with execution lists, adapters with queues and clocks, scheduled-async, async, @Asynchronous
  refused     by name and place: decimals and rationals, records, quantifiers, full-step, regions in parallel

One step is a cycle (of an asynchronous system: one execution of what its list says). Before it, any time may pass, and the environment raises any
inputs, with any values. Time is dense; a run is told in milliseconds. Invariants are assumptions. What a component raises to
itself comes in its next cycle. A choice none of whose branches is enabled is a mistake of the model, which keeps proofs away.";

const PATTERNS: &str = "\
Requirements in words

--pattern 'KIND: … [, SCOPE]' asks of every infinite run, about any model that --ltl is for; conditions are those of formulas.

  absence: P                     P never holds             globally (if nothing is said)
  existence: P                   P holds at some time      before R       up to the first R, if there is one
  universality: P                P always holds            after Q        from the first Q on
  precedence: A precedes B       B only after A            between Q and R        from each Q to the next R, if that comes
  response: A leads to B         after A, B some time      after Q until R        the same, also if R never comes

  trellis check models/gamma/crossing.gcd --pattern 'response: controller.Gate.lower leads to gate.Main.Down, after controller.Main.Closed'

These are the specification patterns of Dwyer, Avrunin and Corbett; chains and bounded existence are not among them.";

const UPPAAL: &str = "\
UPPAAL models

Trellis reads UPPAAL's XML (.xml, flat DTDs 1.1 to 1.6, embedded queries) and its textual language (.xta, .ta, with
queries in a .q file of the same name or given by --queries):

  data        int, int[lo,hi], bool, scalar[N], arrays, structs, typedef, const, meta (reset at every step)
  functions   with loops, local variables, reference parameters; no recursion
  processes   templates with parameters, partial instantiation, free parameters in the system line, priorities
  channels    binary, broadcast, urgent, arrays, priorities
  locations   invariants, urgent, committed; branch points (weights are left out)
  clocks      guards, invariants, resets to integers or other clocks, differences, stopwatches (x' == 0); see `trellis help timed`
  lattices    extern NAME; see `trellis help lattices`

Queries: A[] p, E<> p, A<> p, E[] p, p --> q, sup: e, inf: e, bounds: e, with deadlock, imply, forall, exists, P.location, P(1).x, P(1).f(2).

A value out of range, a division by zero or an index outside its array is an error of the model, shown with the trace
that leads to it (exit code 2). What Trellis reads but cannot check (rates other than 0 and 1, dynamic templates, statistical
queries; clocks together with lattice variables) is refused by name and place; nothing is skipped silently. Hybrid clocks and `double` are left out with
a warning; a step or a question that looks at one is refused.

Without clocks, time still passes: a run may stay forever in a state unless a location there is urgent or committed or
an urgent channel is ready. A<> and --> count such runs.";

const TCHECKER: &str = "\
TChecker models

Trellis reads the language of TChecker (.tck, or .txt that starts with `system:`): processes, locations with invariants,
labels, committed and urgent, edges with provided and do, bounded integers and arrays, clocks, synchronisation vectors with
weak parts. All that `trellis help timed` says of engines applies.

  --labels a,b    can a state be reached in which all these labels occur? May be given several times
  --property Q    UPPAAL's queries, over process.location, variables, clocks and labels: A[] not (cs1 && cs2)

What differs from UPPAAL: an assignment out of range makes a step impossible, and is no error; a weak part of a vector takes
part whenever its location has such an edge, whatever its guard. Refused, each with its place: several initial locations of
a process, clocks set to a clock plus a number, clocks in the conditions of statements or set in loops, disjunctions over
clocks. Attributes that mean nothing are ignored with a warning.

tck-reach's `visited` is our `expanded` (--stats, --json) for --engine reach --order bfs.

Examples:
  trellis check models/timed/tchecker/fischer-5.txt --labels cs1,cs2 --labels cs1
  trellis check models/timed/tchecker/fischer-5.txt --labels cs1,cs2 --engine reach --order bfs --stats
  trellis check models/timed/tchecker/csmacd-5.txt -p 'E<> Station1.Start && Station2.Start'
  trellis check models/timed/tchecker/gpsmc-2.txt --labels error";

const JOIN: &str = "\
Cover, join, and joining strategies

A lattice variable's value is not one state but a set of them: a larger element allows more behaviour. States that agree
in everything else (the key) can therefore stand for each other:

  --update simple   only equal states meet: exact
  --update cover    a larger element stands for smaller ones: exact for monotone models
  --update join     elements are joined into one that stands for both: fewest states; may be too coarse

  --workers N                                 N threads, level by level (--update simple or cover, --join all); counts do not depend on N
  --checkpoint DIR --every 5m, --resume DIR   keeps what was explored, and goes on from there

When a joined state reaches what must not be reached, the path is tried again without joins. If it fails, Trellis stops
joining what is like it: it learns a rule from what the model asks of the joined element (a note shows it as a --join of your own),
or, where there is nothing to ask, never joins under that key again; so it ends with an exact answer. Your own strategy is taken as it is, and the
answer may be UNKNOWN, with the path and the joins that caused it:

  --join all                              join whatever has the same key
  --join none                             the same as --update cover
  --join 'DB.Idle'                        only where this holds of the key
  --join 'x.a.num0s() + y.a.num0s() < N'  by what the two elements are
  --join 'joined.a.num0s() < N'           by what the join would be
  --join mine.lua                         a script with  function join(x, y) … return true or false end
  --python mine.py                        the same in Python, def join(x, y): …; needs the Python package

Monotone means: whatever a state can do, a larger one can do too, and ends at least as high. Trellis proves it from the marks
of the lattices' methods (`trellis help lattices`): guards and invariants may only become true when an element grows, data must
not depend on lattice values, updates must keep larger elements larger, receivers of broadcasts and models with priorities
must not ask lattice values. The checker proves it once more. What is not proved is searched with simple update; a note says what
is in the way. If you ask for cover or join all the same, what is found is shown, and the rest is UNKNOWN (exit code 20), unless
you take the responsibility:

  --assume monotone   the verdict then names the assumption, and `certify` wants it stated, too

The marks and laws of a script are declared by its author and only sampled, so they are such an assumption. `--audit` says
whether the model is proved monotone, and looks for violations by sampling.";

const EVIDENCE: &str = "\
Evidence

No verdict leaves unchecked. A violated property comes with a trace, which the reference interpreter replays step by
step; a proven one with a certificate, a set of states that contains the start, is closed under every step, and excludes
what must not happen, which a separate checker validates. `check` does both by default (--no-check turns it off).
The checker computes by its own means; --check quick lets it take the search's compiled steps in networks without
clocks, which is faster and no second opinion on them.

  trellis check MODEL --trace t.json          write the trace
  trellis check MODEL --certificate c.json    write the certificate
  trellis certify MODEL t.json                check either again, for the model's own properties
  trellis certify MODEL t.json -p QUERY       … or for this one
  trellis-certify MODEL t.json                a program of its own without any search (networks, counter systems)
  trellis simulate MODEL --trace t.json       watch a trace
  trellis check MODEL --svg t.svg             draw it: who acts on whom, and when
  trellis check MODEL --dot t.dot             as a graph, for Graphviz
  trellis check MODEL --trace t.xtr           for UPPAAL's simulator; t.itf.json, t.vcd: for other tools
  trellis check MODEL --html report.html      a page to look at and pass on
  trellis serve MODEL                         the same page, live: check, step, simulate

A run of a program is told in lines of its source, and on file edge by edge of its automaton, with everything that was left
open; its certificate is an invariant, as terms for each loop. The checker asks a solver whether it holds at the start and every
way from one location to the next keeps it. A proof that this solver cannot follow is no proof: the answer is then UNKNOWN.

Evidence is bound to what it was made from: the SHA-256 of the model and of all files that it names, the property in canonical form, the
options that change the meaning, the version of the tool. `certify` takes all of these from the model and its own command line, never from
the evidence: repeat --const, --ints, --data-model, --node, --fair, --non-zeno, --ltl-step and --start. Where anything differs, it says
what, and the answer is REJECTED (exit code 10); so it is if anything else in the file is not what `check` would have written there. Where nothing
is asked (the model has no property and none is given) it is an error (2). --timeout and --memory end in UNKNOWN (20).

For cover and join update a certificate means: every reachable state is below one of its elements. That rests on the
model being monotone, which the checker proves; where it cannot, the answer is UNKNOWN unless --assume monotone is given.

JSON is versioned; `trellis schema report`, `trellis schema trace`, `trellis schema certificate`,
`trellis schema page` print the schemas, which are those of all languages.";

const SMTLIB: &str = "\
SMT-LIB and solvers

  trellis smt FILE.smt2                      runs an SMT-LIB 2.6 script on the solver inside Trellis
  trellis smt FILE.smt2 --timeout 10s        … giving up on a check after ten seconds
  trellis smt FILE.smt2 --solver z3          … on another solver, by name or path; cvc5 and others will do
  trellis smt FILE.smt2 --smt-log DIR        … and keeps what the solver is asked, in files that can be run again
  trellis smt FILE.smt2 --proof OUT          … and writes a proof of each `unsat`: OUT.cnf (DIMACS) and OUT.drat, for drat-trim

  sorts       Bool, Int, (_ BitVec n) up to 64 bits, (Array i e), enumerations by declare-datatypes, define-sort
  functions   all of the Core, Ints, FixedSizeBitVectors and ArraysEx theories; ((as const S) v); bv2nat, int2bv
  commands    declare-const, declare-fun without arguments, define-fun (put in place), assert, push, pop, check-sat,
              check-sat-assuming, get-model, get-value, get-unsat-core, get-unsat-assumptions, get-assignment, echo, reset

What else SMT-LIB has (reals, quantifiers, functions without a definition, strings, division by what is no literal) is no
error: it is named with its place, and a check that depends on it is answered `unknown`, unless the rest is `unsat` already.
Integers are exact, whatever their size. A model is evaluated before it is shown. A proof is followed before it is written; what
OUT.cnf says of integers is justified in its comments (factors that add up to a contradiction, branches, divisors).

Exit codes: 0 every check has an answer, 20 some are unknown, 2 the script is wrong.";

const EXIT: &str = "\
Exit codes

    0   every property holds
   10   some property fails
   20   no property fails, but some are undecided, or nothing was asked
    2   bad usage, bad input, a query that makes no sense (others are answered), or a model that does something undefined
    1   an internal error: evidence that did not pass its check, a bug; or output that could not be written
  130   interrupted, by Ctrl-C or SIGTERM

`certify`: 0 valid, 10 rejected, 20 out of time or memory, 2 no evidence, or nothing is asked";

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
