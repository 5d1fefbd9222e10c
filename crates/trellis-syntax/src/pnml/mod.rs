//! Place/transition nets in PNML (ISO/IEC 15909-2), as counter systems: a place is a variable, a transition a rule.
//!
//! Beside the standard, what editors write is read, exactly: markings and weights as attributes (TAPAAL), with a colour if there is
//! only one (PIPE), capacities, and arcs that are more than arcs, however they are marked (`type="inhibitor"`, `<type
//! value="inhibitor"/>`, `<arctype><text>inhibitor</text></arctype>`):
//!
//! | arc | from a place to a transition |
//! |---|---|
//! | inhibitor | there must be fewer tokens than its weight |
//! | read, test | there must be at least its weight; nothing is taken |
//! | equal | there must be exactly its weight; nothing is taken |
//! | reset | all that is left is taken away, whatever it is |
//! | transfer | all that is left goes where the transition's other transfer arc leads |
//! | transport | an ordinary arc (it keeps the ages of tokens, and nets with time are refused) |
//!
//! Several ordinary arcs between the same two add up; of the others there may be one. A capacity is what a place may hold *after* a
//! step. Pages are read as if their content stood in the net, reference nodes as what they refer to.
//!
//! PNML has no questions: targets come from elsewhere. What is in no list (`allowed`) is refused by name: other types of nets, time,
//! colours, priorities, whatever nobody here has heard of.

mod allowed;
mod value;

use std::collections::BTreeMap;

use roxmltree::Node;
use rustc_hash::FxHashSet;
use trellis_model::counter::{Interval, System, Var};

use crate::diag::shorten;
use crate::diag::{Diagnostic, SourceId, Sources, Span};
use crate::net::{Arcs, add};
use crate::text::errors::closest;
use crate::xml::{self, Language};

use self::value::{Inscription, Said, inscription, invariant, number};

const LANGUAGE: Language = Language {
    root: "pnml",
    what: "a PNML file contains a <pnml> element with a <net>",
    textual: "is this another language? PNML is XML",
};

/// The types of nets that are read, by the last part of their address, in lower case: those of the standard and of its predecessors. The
/// core model says nothing of labels, and tools that give it mean place/transition nets.
const TYPES: [&str; 6] = ["ptnet", "ptnetb", "pt net", "p/t net", "pnmlcoremodel", "epnml-1.1"];
const EXTENDED: [&str; 3] = ["inhibitorptnet", "resetptnet", "resetinhibitorptnet"];

/// Reads the net; without targets.
pub fn parse(sources: &Sources, id: SourceId) -> Result<System, Vec<Diagnostic>> {
    read(sources, id).map_err(|d| vec![d])
}

type Read<T> = Result<T, Diagnostic>;

/// What an identifier stands for.
#[derive(Clone, Copy)]
enum Meant<'a> {
    Place(Var),
    Transition(usize),
    Reference { place: bool, to: &'a str, at: Span },
}

/// Where an arc leads.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    In,
    Out,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Normal,
    Inhibitor,
    Read,
    Equal,
    Reset,
    Transfer,
    Transport,
}

/// What the transfer and transport arcs of a transition say, until all arcs are known.
struct Pairs {
    /// The transition.
    at: Span,
    transfer: [Option<(Var, Span)>; 2],
    /// By the number of a pair: how much is taken, how much is put.
    transport: BTreeMap<Option<u64>, ([u64; 2], Option<Span>)>,
}

struct Reader<'a> {
    sources: &'a Sources,
    id: SourceId,
    system: System,
    nodes: BTreeMap<&'a str, Meant<'a>>,
    capacities: BTreeMap<Var, u64>,
    transitions: Vec<Arcs>,
    pairs: Vec<Pairs>,
    /// How the first transition is ranked among the others: all must be alike.
    rank: Option<[Option<&'a str>; 2]>,
    /// The one colour of tokens, if colours are mentioned.
    colour: Option<&'a str>,
}

fn read(sources: &Sources, id: SourceId) -> Read<System> {
    let document = xml::parse(id, &sources.get(id).text, &LANGUAGE)?;
    let mut reader = Reader {
        sources,
        id,
        system: System::default(),
        nodes: BTreeMap::new(),
        capacities: BTreeMap::new(),
        transitions: vec![],
        pairs: vec![],
        rank: None,
        colour: None,
    };
    reader.document(document.root_element())?;
    reader.finish()
}

fn children<'a>(node: Node<'a, 'a>, name: &'static str) -> impl Iterator<Item = Node<'a, 'a>> {
    node.children().filter(move |n| n.is_element() && n.tag_name().name() == name)
}

impl<'a> Reader<'a> {
    fn at(&self, start: usize, end: usize) -> Span {
        Span { source: self.id, start: start as u32, end: end as u32 }
    }

    /// The opening tag, or what is on its line.
    fn span(&self, n: Node<'_, '_>) -> Span {
        let start = n.range().start;
        if n.is_element() {
            self.at(start, start + 1 + n.tag_name().name().len())
        } else {
            self.at(start, n.range().end)
        }
    }

    fn fail<T>(&self, n: Node<'_, '_>, message: String) -> Read<T> {
        Err(Diagnostic::error(self.span(n), message))
    }

    fn line(&self, n: Node<'_, '_>) -> u32 {
        self.sources.line_col(self.span(n)).0 as u32
    }

    fn document(&mut self, root: Node<'a, 'a>) -> Read<()> {
        if root.tag_name().name() != "pnml" {
            return self.fail(root, format!("expected <pnml>, found <{}>", shorten(root.tag_name().name())));
        }
        let nets: Vec<Node<'a, 'a>> = children(root, "net").collect();
        let [net] = nets[..] else {
            return self
                .fail(nets.get(1).copied().unwrap_or(root), format!("expected one <net>, found {}", nets.len()));
        };
        if let Some(kind) = self.attribute(net, "type") {
            let full = kind.text.trim().to_lowercase();
            let last = full.rsplit(['/', '#']).next().unwrap_or_default();
            let last = last.trim_end_matches(".pntd").trim_end_matches(".rng");
            if !full.is_empty() && !TYPES.iter().chain(&EXTENDED).any(|t| *t == last || *t == full) {
                let message = format!("expected a place/transition net, found the type `{}`", shorten(kind.text));
                return Err(Diagnostic::error(kind.span, message));
            }
        }
        if let Some(active) = self.attribute(net, "active").filter(|a| a.text != "true") {
            return Err(Diagnostic::error(active.span, "this net is not active, and there is no other"));
        }
        self.check(root)?;
        let mut arcs = vec![];
        let mut waiting = vec![net];
        // Nodes before arcs: these may stand anywhere.
        while let Some(part) = waiting.pop() {
            let mut pages = vec![];
            // Nobody needs the name of a net, but it is one.
            self.label(part, "name")?;
            for node in part.children().filter(Node::is_element) {
                match node.tag_name().name() {
                    "page" => pages.push(node),
                    "place" => self.place(node)?,
                    "transition" => self.transition(node)?,
                    "referencePlace" | "referenceTransition" => self.reference(node)?,
                    "arc" => arcs.push(node),
                    _ => {}
                }
            }
            waiting.extend(pages.into_iter().rev());
        }
        let mut seen = FxHashSet::default();
        for arc in arcs {
            if let Some(id) = self.attribute(arc, "id").filter(|id| !id.text.is_empty() && !seen.insert(id.text)) {
                return Err(Diagnostic::error(id.span, format!("a second arc with the id `{}`", shorten(id.text))));
            }
            self.arc(arc)?;
        }
        Ok(())
    }

    /// A name of its own for a node.
    fn declare(&mut self, node: Node<'a, 'a>, what: Meant<'a>) -> Read<&'a str> {
        let tag = node.tag_name().name();
        let Some(id) = self.attribute(node, "id").filter(|id| !id.text.is_empty()) else {
            return self.fail(node, format!("expected a <{tag}> with an id, found none"));
        };
        if self.nodes.insert(id.text, what).is_some() {
            let message = format!("expected a <{tag}> with an id of its own, found `{}` again", shorten(id.text));
            return Err(Diagnostic::error(id.span, message));
        }
        Ok(id.text)
    }

    /// What people call a node, if that is not its id.
    fn title(&self, node: Node<'a, 'a>, id: &str) -> Read<Option<String>> {
        let said = self.either(node, "name")?;
        Ok(said.map(|s| s.text.trim()).filter(|t| !t.is_empty() && *t != id).map(String::from))
    }

    fn place(&mut self, node: Node<'a, 'a>) -> Read<()> {
        let v = self.system.names.len() as Var;
        let id = self.declare(node, Meant::Place(v))?;
        let marking = match self.either(node, "initialMarking")? {
            Some(said) => self.tokens(&said, "a marking")?,
            None => 0,
        };
        if let Some(said) = self.attribute(node, "invariant") {
            invariant(&said)?;
        }
        if let Some(said) = self.either(node, "capacity")? {
            let unlimited = ["inf", "∞"].contains(&said.text.trim());
            let most = if unlimited { 0 } else { self.tokens(&said, "a capacity")? };
            match most {
                _ if unlimited => {}
                // PIPE writes this where there is no limit.
                0 if said.value => {}
                0 => {
                    return Err(Diagnostic::error(said.span, "a place that can hold nothing is not supported")
                        .help("leave the capacity out if there is no limit"));
                }
                n if marking > n => {
                    return Err(Diagnostic::error(said.span, format!("{marking} tokens at the start do not fit")));
                }
                n => _ = self.capacities.insert(v, n),
            }
        }
        self.system.names.push(id.into());
        self.system.initial.push(Interval::exactly(marking));
        let title = self.title(node, id)?;
        self.system.aliases.extend(title.map(|t| (t, v)));
        Ok(())
    }

    fn transition(&mut self, node: Node<'a, 'a>) -> Read<()> {
        let id = self.declare(node, Meant::Transition(self.transitions.len()))?;
        if let Some(player) = self.attribute(node, "player").filter(|p| p.text.trim() != "0") {
            return Err(Diagnostic::error(player.span, "games are not supported: this transition is the opponent's"));
        }
        if let Some(rate) = self.label(node, "rate")?
            && !rate.text.parse::<f64>().is_ok_and(|r| r > 0.0)
        {
            let message = format!("expected a positive number as a rate, found `{}`", shorten(rate.text));
            return Err(Diagnostic::error(rate.span, message));
        }
        // Immediate transitions come before others, and those of high priority before those of low. If all are alike nothing comes first.
        let (timed, priority) = (self.label(node, "timed")?, self.either(node, "priority")?);
        let rank = [timed.map(|t| t.text), priority.map(|p| p.text)];
        if *self.rank.get_or_insert(rank) != rank {
            return Err(Diagnostic::error(self.span(node), "transitions of different priority are not supported")
                .label("another than the first has")
                .help("which transitions are immediate (`timed`), and every `priority`, must be the same for all"));
        }
        let arcs =
            Arcs { line: self.line(node), name: Some(id.into()), title: self.title(node, id)?, ..Arcs::default() };
        self.transitions.push(arcs);
        let at = self.span(node);
        self.pairs.push(Pairs { at, transfer: [None; 2], transport: BTreeMap::new() });
        Ok(())
    }

    fn reference(&mut self, node: Node<'a, 'a>) -> Read<()> {
        let place = node.tag_name().name() == "referencePlace";
        let Some(to) = self.attribute(node, "ref") else {
            return self.fail(node, "expected `ref`, found a reference to nothing".into());
        };
        self.declare(node, Meant::Reference { place, to: to.text, at: to.span })?;
        Ok(())
    }

    /// The place or transition that an end of an arc, or a reference, means.
    fn resolve(&self, mut id: &'a str, at: Span) -> Read<Meant<'a>> {
        for _ in 0..=self.nodes.len() {
            match self.nodes.get(id) {
                Some(Meant::Reference { place, to, .. }) => {
                    let fits = matches!(
                        (self.nodes.get(to), place),
                        (Some(Meant::Place(_)), true) | (Some(Meant::Transition(_)), false)
                    ) || matches!(self.nodes.get(to), Some(Meant::Reference { place: p, .. }) if p == place);
                    if !fits {
                        let what = if *place { "place" } else { "transition" };
                        let message = format!("`{}` refers to `{}`, which is no {what}", shorten(id), shorten(to));
                        return Err(Diagnostic::error(at, message));
                    }
                    id = to;
                }
                Some(found) => return Ok(*found),
                None => {
                    let error = Diagnostic::error(at, format!("there is no node `{}`", shorten(id)));
                    return Err(error.meant(closest(id, self.nodes.keys().copied())));
                }
            }
        }
        Err(Diagnostic::error(at, format!("`{}` refers to itself", shorten(id))))
    }

    fn arc(&mut self, node: Node<'a, 'a>) -> Read<()> {
        let mut ends = vec![];
        for name in ["source", "target"] {
            let Some(end) = self.attribute(node, name) else {
                return self.fail(node, format!("expected an arc with a {name}, found none"));
            };
            ends.push(self.resolve(end.text, end.span)?);
        }
        let (place, transition, way) = match ends[..] {
            [Meant::Place(p), Meant::Transition(t)] => (p, t, Way::In),
            [Meant::Transition(t), Meant::Place(p)] => (p, t, Way::Out),
            _ => {
                return self.fail(
                    node,
                    format!(
                        "expected an arc between a place and a transition, found `{}` and `{}`",
                        shorten(node.attribute("source").unwrap_or_default()),
                        shorten(node.attribute("target").unwrap_or_default())
                    ),
                );
            }
        };
        let kind = self.kind(node)?;
        let (weight, pair) = self.weight(node)?;
        if let Some(tagged) = self.label(node, "tagged")?.filter(|t| t.text != "false") {
            return Err(Diagnostic::error(tagged.span, "tagged tokens are not supported"));
        }
        let at = self.span(node);
        let fail = |message: &str| Err(Diagnostic::error(at, message));
        if way == Way::Out && !matches!(kind, Kind::Normal | Kind::Transport | Kind::Transfer) {
            return fail("an arc of this kind goes from a place to a transition");
        }
        if pair.is_some() && kind != Kind::Transport {
            return fail("only transport arcs have a number");
        }
        let (arcs, pairs) = (&mut self.transitions[transition], &mut self.pairs[transition]);
        let special = match kind {
            Kind::Normal | Kind::Transport => {
                let all = if way == Way::In { &mut arcs.takes } else { &mut arcs.puts };
                if weight > 0 {
                    add(all, place, weight).map_err(|m| Diagnostic::error(at, m))?;
                }
                if kind == Kind::Transport {
                    let (sums, span) = pairs.transport.entry(pair).or_default();
                    sums[way as usize] = sums[way as usize].saturating_add(weight);
                    span.get_or_insert(at);
                }
                return Ok(());
            }
            Kind::Inhibitor => arcs.inhibits.insert(place, weight),
            Kind::Read => arcs.reads.insert(place, weight),
            Kind::Equal => arcs.equals.insert(place, weight),
            Kind::Reset => (!arcs.resets.insert(place)).then_some(0),
            Kind::Transfer => pairs.transfer[way as usize].replace((place, at)).map(|_| 0),
        };
        if special.is_some() {
            return fail("a second arc of this kind: what both mean together is not clear");
        }
        match (kind, weight) {
            (Kind::Reset | Kind::Transfer, n) if n != 1 => {
                fail("this arc moves all tokens; a weight means nothing here")
            }
            (Kind::Inhibitor | Kind::Read, 0) => fail("expected a weight of at least 1 on this arc"),
            _ => Ok(()),
        }
    }

    /// What kind of arc it is; it may be said in several ways, if all say the same.
    fn kind(&self, node: Node<'a, 'a>) -> Read<Kind> {
        let mut found: Option<Kind> = None;
        for said in [self.attribute(node, "type"), self.label(node, "type")?, self.label(node, "arctype")?] {
            let Some(said) = said else { continue };
            let kind = match &said.text.trim().to_lowercase()[..] {
                "normal" | "regular" | "timed" => Kind::Normal,
                "inhibitor" | "tapninhibitor" => Kind::Inhibitor,
                "read" | "test" => Kind::Read,
                "equal" => Kind::Equal,
                "reset" => Kind::Reset,
                "transfer" => Kind::Transfer,
                "transport" => Kind::Transport,
                other => {
                    let message = format!("an arc of the kind `{}` is not understood", shorten(other));
                    return Err(Diagnostic::error(said.span, message)
                        .help("normal, inhibitor, read, test, equal, reset, transfer and transport arcs are"));
                }
            };
            if *found.get_or_insert(kind) != kind {
                return Err(Diagnostic::error(said.span, "two kinds of arc in one: which one counts?"));
            }
        }
        Ok(found.unwrap_or(Kind::Normal))
    }

    /// The weight of an arc, and of a transport arc the number of its pair.
    fn weight(&mut self, node: Node<'a, 'a>) -> Read<(u64, Option<u64>)> {
        let weight = self.attribute(node, "weight").map(|w| number(&w, "a weight")).transpose()?;
        let written = self.attribute(node, "inscription");
        let label = self.label(node, "inscription")?;
        let twice = |said: &Said<'_>| Err(Diagnostic::error(said.span, "the weight is said twice: which one counts?"));
        let (beside, pair) = match &written {
            None => (None, None),
            Some(said) => match inscription(said)? {
                Inscription::AnyAge(pair) => (None, pair),
                Inscription::Weight(n) => (Some(n), None),
            },
        };
        let label = match &label {
            Some(said) if weight.is_some() || beside.is_some() => return twice(said),
            Some(said) => Some(self.tokens(said, "a weight")?),
            None => None,
        };
        let weight = match (weight, beside, &written) {
            // TAPAAL writes the inscription 1 beside every weight.
            (Some(w), Some(1), _) => Some(w),
            (Some(w), Some(n), Some(said)) if w != n => return twice(said),
            (w, n, _) => w.or(n),
        };
        let weight = weight.or(label);
        // Some tools have written weights as names.
        if weight.is_none()
            && let Some(name) = self.label(node, "name")?.filter(|n| n.text.parse::<u64>().is_ok_and(|n| n != 1))
        {
            return Err(Diagnostic::error(name.span, "the arc's name is a number: is it its weight?")
                .help("write <inscription> for a weight"));
        }
        Ok((weight.unwrap_or(1), pair))
    }

    fn finish(mut self) -> Read<System> {
        // A place has the names of its references too.
        let mut names = vec![];
        for (&id, meant) in &self.nodes {
            if let Meant::Reference { at, .. } = meant
                && let Meant::Place(v) = self.resolve(id, *at)?
            {
                names.push((id.to_string(), v));
            }
        }
        self.system.aliases.extend(names);
        for (mut arcs, pairs) in self.transitions.into_iter().zip(self.pairs) {
            match pairs.transfer {
                [Some((from, _)), Some((to, _))] => arcs.transfers.push((from, to)),
                [Some((_, at)), None] | [None, Some((_, at))] => {
                    return Err(Diagnostic::error(
                        at,
                        "a transfer arc needs another one on the other side of its transition",
                    ));
                }
                [None, None] => {}
            }
            if let Some((_, at)) = pairs.transport.values().find(|([takes, puts], _)| takes != puts) {
                let message = "as much must come out of a transport arc as goes in";
                return Err(Diagnostic::error(at.unwrap_or(pairs.at), message));
            }
            let at = pairs.at;
            if let Some((_, to)) = arcs.transfers.iter().find(|(_, to)| self.capacities.contains_key(to)) {
                let name = shorten(&self.system.names[*to as usize]);
                let message = format!("all tokens go to `{name}`, which has a capacity: that is not supported");
                return Err(Diagnostic::error(at, message));
            }
            if let Some((from, _)) = arcs.transfers.iter().find(|(from, _)| arcs.resets.contains(from)) {
                let name = shorten(&self.system.names[*from as usize]);
                let message = format!(
                    "`{name}` is emptied by a reset arc and by a transfer arc: what both mean together is not clear"
                );
                return Err(Diagnostic::error(at, message));
            }
            if let Some(p) = arcs.reads.keys().find(|p| arcs.takes.contains_key(p)) {
                let name = shorten(&self.system.names[*p as usize]);
                let message = format!(
                    "transition `{}` has an ordinary arc and a read arc from `{name}`: what both mean together is not clear",
                    shorten(arcs.name.as_deref().unwrap_or_default())
                );
                return Err(Diagnostic::error(at, message)
                    .help("an ordinary arc there and back asks for tokens without taking them"));
            }
            self.system.rules.extend(arcs.rule(&self.capacities));
        }
        Ok(self.system)
    }
}
