//! Families of AltaRica models that grow with a number, after the figures of 001, and a condition that must never hold in each.

use std::fmt::Write;

/// A model, and what is bad.
pub struct Model {
    /// In AltaRica; the last node is the top.
    pub text: String,
    /// Over the variables of the top.
    pub bad: String,
}

/// All occurrences in a chain of nodes that have `first` and, in `rest`, the next node of the chain, down to the last.
fn chain(n: usize, first: &str, rest: &str, attribute: &str) -> Vec<String> {
    let path = |depth: usize, last: &str| format!("{}{last}.{attribute}", format!("{rest}.").repeat(depth));
    let mut all: Vec<String> = (0..n - 1).map(|depth| path(depth, first)).collect();
    let end = format!("{rest}.").repeat(n - 1);
    all.push(format!("{end}{attribute}"));
    all
}

/// 001 Fig. 2.13: a stack of so many cells. Never is the top cell full and all others empty.
pub fn stack(n: usize) -> Model {
    let mut text = "node Stack1
  state object : {no, a, b} : public;
  flow isEmpty : bool;
  init object := no;
  assert isEmpty = (object = no);
  event push, pop;
  trans object = no |- push -> object := a;
        object = no |- push -> object := b;
        object = a |- pop -> object := no;
        object = b |- pop -> object := no;
edon
"
    .to_string();
    for k in 2..=n {
        let below = match k {
            2 => "<pushS, Stack.push>; <popS, Stack.pop>",
            _ => "<pushS, Stack.pushT>; <pushS, Stack.pushS>; <popS, Stack.popT>; <popS, Stack.popS>",
        };
        let _ = write!(
            text,
            "node Stack{k}
  sub Top : Stack1; Stack : Stack{};
  event pushT < pushS; popT > popS;
  trans true |- pushT, pushS, popT, popS -> ;
  sync <pushT, Top.push>; <popT, Top.pop>; {below};
edon
",
            k - 1
        );
    }
    let cells = chain(n, "Top", "Stack", "object");
    let empty: Vec<String> = cells[1..].iter().map(|c| format!("{c} = no")).collect();
    Model { text, bad: format!("{} != no and {}", cells[0], empty.join(" and ")) }
}

/// 001 Fig. 5.7: a queue of so many cells. That the head is never empty while all others are full is false: after a `get`, until the next
/// shift.
pub fn fifo(n: usize) -> Model {
    let mut text = "node Cell
  state object : {no, a, b} : public;
  init object := no;
  event puta, geta, putb, getb;
  trans object = no |- puta -> object := a;
        object = no |- putb -> object := b;
        object = a |- geta -> object := no;
        object = b |- getb -> object := no;
edon
"
    .to_string();
    for k in 2..=n {
        let queue = if k == 2 { "Cell".to_string() } else { format!("Fifo{}", k - 1) };
        let _ = write!(
            text,
            "node Fifo{k}
  sub Head : Cell; Queue : {queue};
  event {{puta, geta, putb, getb}} < shift;
  trans true |- puta, geta, putb, getb, shift -> ;
  sync <geta, Head.geta>; <getb, Head.getb>; <puta, Queue.puta>; <putb, Queue.putb>;
       <shift, Head.puta, Queue.geta>; <shift, Head.putb, Queue.getb>;
edon
"
        );
    }
    let cells = chain(n, "Head", "Queue", "object");
    let full: Vec<String> = cells[1..].iter().map(|c| format!("{c} != no")).collect();
    Model { text, bad: format!("{} = no and {}", cells[0], full.join(" and ")) }
}

/// 001 Fig. 5.5 and, with wheels that fail and are repaired, 5.6: a binary counter of so many wheels, and beside it a flag that an overflow
/// raises and the next turn of the highest wheel lowers. While it is up, that wheel is at 0.
pub fn wheels(n: usize, dysfunction: bool) -> Model {
    let mut text = counter(n, dysfunction);
    let _ = write!(
        text,
        "node Watched
  sub Count : Wheels{n};
  state over : bool : public;
  init over := false;
  event inc, reset;
  trans true |- inc -> over := false;
        true |- reset -> over := true;
  sync <inc, Count.inc>; <reset, Count.reset>;
edon
"
    );
    Model { text, bad: "over = true and Count.High.bit = 1".into() }
}

/// The same counter alone, until all wheels are at 1: that takes as many steps as there are numbers.
pub fn count(n: usize) -> Model {
    let wheels = chain(n, "High", "Low", "bit");
    let all: Vec<String> = wheels.iter().map(|w| format!("{w} = 1")).collect();
    Model { text: counter(n, false), bad: all.join(" and ") }
}

fn counter(n: usize, dysfunction: bool) -> String {
    let mut text = String::new();
    let (sub, sync) = match dysfunction {
        false => ("", ""),
        true => {
            text += "node Dysf
  state mode : {nominal, fail1, fail2} : public;
  init mode := nominal;
  event ok, f1, f2, r1, r2;
  trans mode = nominal |- ok -> ;
        mode = nominal |- f1 -> mode := fail1;
        mode = nominal |- f2 -> mode := fail2;
        mode = fail1 |- r1 -> mode := nominal;
        mode = fail2 |- r2 -> mode := nominal;
edon
";
            ("  sub D : Dysf;\n", "  sync <inc, D.ok>; <reset, D.ok>;\n")
        }
    };
    let _ = write!(
        text,
        "node Wheel
{sub}  state bit : [0, 1] : public;
  init bit := 0;
  event inc, reset;
  trans bit = 0 |- inc -> bit := 1;
        bit = 1 |- reset -> bit := 0;
{sync}edon
"
    );
    for k in 2..=n {
        let low = if k == 2 { "Wheel".to_string() } else { format!("Wheels{}", k - 1) };
        let _ = write!(
            text,
            "node Wheels{k}
  sub High : Wheel; Low : {low};
  event inc, reset;
  trans true |- inc, reset -> ;
  sync <Low.inc>; <inc, High.inc, Low.reset>; <reset, High.reset, Low.reset>;
edon
"
        );
    }
    text
}

/// A ring of stations that pass a token; who has it may work. Never do two work at the same time.
pub fn ring(n: usize) -> Model {
    let stations = |of: &dyn Fn(usize) -> String| (0..n).map(of).collect::<Vec<_>>().join(" ");
    let text = format!(
        "node Station
  state token : bool : public; phase : {{idle, waits, works}} : public;
  init token := false, phase := idle;
  event ask, start, stop, give, take;
  trans phase = idle |- ask -> phase := waits;
        phase = waits and token |- start -> phase := works;
        phase = works |- stop -> phase := idle;
        token and phase != works |- give -> token := false;
        not token |- take -> token := true;
edon
node Ring
  sub {}
  init S0.token := true;
  sync {}
edon
",
        stations(&|i| format!("S{i} : Station;")),
        stations(&|i| format!("<S{i}.give, S{}.take>;", (i + 1) % n))
    );
    let pairs = (0..n).flat_map(|i| (0..i).map(move |j| format!("(S{i}.phase = works and S{j}.phase = works)")));
    Model { text, bad: pairs.collect::<Vec<_>>().join(" or ") }
}

/// Pumps that break for good, each with a ring of one bell, which may be stopped. Never does the bell ring while all pumps work.
pub fn alarm(n: usize) -> Model {
    let pumps = |of: &dyn Fn(usize) -> String| (0..n).map(of).collect::<Vec<_>>().join(" ");
    let text = format!(
        "node Pump
  state broken : bool : public;
  init broken := false;
  event breaks;
  trans not broken |- breaks -> broken := true;
edon
node Bell
  state rings : bool : public;
  init rings := false;
  event ring, stop;
  trans true |- ring -> rings := true;
        rings |- stop -> rings := false;
edon
node Plant
  sub {} B : Bell;
  sync {}
edon
",
        pumps(&|i| format!("P{i} : Pump;")),
        pumps(&|i| format!("<P{i}.breaks, B.ring>;"))
    );
    let works: Vec<String> = (0..n).map(|i| format!("not P{i}.broken")).collect();
    Model { text, bad: format!("B.rings and {}", works.join(" and ")) }
}

/// Clients of one server, which serves one of them at a time; all clients are alike. Never are two of them served.
pub fn clients(n: usize) -> Model {
    let text = format!(
        "node Client
  state phase : {{idle, waits, served}} : public;
  init phase := idle;
  event ask, enter, leave;
  trans phase = idle |- ask -> phase := waits;
        phase = waits |- enter -> phase := served;
        phase = served |- leave -> phase := idle;
edon
node Server
  state busy : bool : public;
  init busy := false;
  event take, release;
  trans not busy |- take -> busy := true;
        busy |- release -> busy := false;
edon
node Office
  sub C : Client[{n}]; S : Server;
  sync {}
edon
",
        (0..n).map(|i| format!("<C[{i}].enter, S.take>; <C[{i}].leave, S.release>;")).collect::<Vec<_>>().join(" ")
    );
    let pairs = (0..n).flat_map(|i| (0..i).map(move |j| format!("(C[{i}].phase = served and C[{j}].phase = served)")));
    Model { text, bad: pairs.collect::<Vec<_>>().join(" or ") }
}
