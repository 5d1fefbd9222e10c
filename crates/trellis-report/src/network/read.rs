//! Certificates of networks, read: matched against the network by name, row by row.

use rustc_hash::FxHashMap;
use serde_json::value::RawValue;
use trellis_domain::zone::{Bound, Constraint, MAX_CONSTANT};
use trellis_model::network::{CertEntry, Certificate, Course, Level, LuBounds, Network, Never, Snapshot};
use trellis_order::{Lattice, Word};

use super::names::Names;
use super::run::choices;
use crate::evidence::body;
use crate::present::ProofKind;
use crate::reader::{Fields, Node, Path, ReadError, field, optional};
use crate::words::excerpt;

/// A certificate. Everything in it fits the network, but for lattices without visible parts only the number of words is known to be right.
pub(super) fn certificate(
    net: &Network,
    kind: &str,
    assumes: &[String],
    raw: &RawValue,
) -> Result<Certificate, ReadError> {
    if let Some((i, odd)) = assumes.iter().enumerate().find(|(_, a)| *a != "order" && *a != "symmetry") {
        return Err(ReadError::found(format!("assumes[{i}]"), "\"order\" or \"symmetry\"", &odd.as_str().into()));
    }
    Reader::new(net).certificate(assumes, body(ProofKind::States, kind, raw)?)
}

struct Reader<'n> {
    net: &'n Network,
    names: Names,
    /// The variable that each cell belongs to.
    vars: Vec<usize>,
    /// The initial value of each cell.
    initial: Vec<i64>,
}

/// Positions by name.
fn positions(names: &[String]) -> FxHashMap<String, usize> {
    names.iter().enumerate().map(|(i, name)| (name.clone(), i)).collect()
}

impl<'n> Reader<'n> {
    fn new(net: &'n Network) -> Reader<'n> {
        let names = Names::new(net);
        let vars = net.vars.iter().enumerate().flat_map(|(i, v)| v.init.iter().map(move |_| i)).collect();
        let initial = net.vars.iter().flat_map(|v| v.init.iter().copied()).collect();
        Reader { net, names, vars, initial }
    }

    fn location(&self, p: usize, node: Node<'_, '_>) -> Result<u32, ReadError> {
        let names = &self.names.locations[p];
        let name = node.string("the name of a location")?;
        match names.iter().position(|n| *n == name) {
            Some(l) => Ok(l as u32),
            None => {
                let process = &self.names.processes[p];
                node.fail(format_args!("the name of a location of `{process}` ({})", choices(names)))
            }
        }
    }

    fn cell(&self, cell: usize, node: Node<'_, '_>) -> Result<i64, ReadError> {
        let var = &self.net.vars[self.vars[cell]];
        match node.boolean() {
            Ok(b) if var.is_bool => Ok(i64::from(b)),
            _ => node.integer(var.lo, var.hi, "a value of this variable"),
        }
    }

    fn certificate(&self, assumes: &[String], top: Node<'_, '_>) -> Result<Certificate, ReadError> {
        let fields = top.object()?;
        let mut columns = self.columns(field(&fields, &top.path, "columns")?)?;
        if let Some(list) = optional(&fields, &top.path, "bounds") {
            for (i, raw) in list.array()?.into_iter().enumerate() {
                let bounds = self.bounds(&columns, Node::new(Path::Item(&list.path, i), raw))?;
                columns.bounds.push(bounds);
            }
        }
        let list = field(&fields, &top.path, "entries")?;
        let rows = list.array()?;
        let mut entries = Vec::with_capacity(rows.len());
        for (i, raw) in rows.into_iter().enumerate() {
            entries.push(self.row(&columns, Node::new(Path::Item(&list.path, i), raw))?);
        }
        let assumed = |what: &str| assumes.iter().any(|a| a == what);
        Ok(Certificate { entries: entries.into(), up_to_order: assumed("order"), up_to_symmetry: assumed("symmetry") })
    }

    fn columns(&self, node: Node<'_, '_>) -> Result<Columns, ReadError> {
        let fields = node.object()?;
        let mut out = Columns::default();
        let list = field(&fields, &node.path, "processes")?;
        self.column(list, &self.names.processes, "process", |p, at, whole| {
            let list = field(whole, at, "locations")?;
            let mut locations = Vec::new();
            for (i, raw) in list.array()?.into_iter().enumerate() {
                locations.push(self.location(p, Node::new(Path::Item(&list.path, i), raw))?);
            }
            out.locations.push((p, locations));
            Ok(())
        })?;
        let list = field(&fields, &node.path, "variables")?;
        self.column(list, &self.names.cells, "variable", |c, _, _| {
            out.cells.push(c);
            Ok(())
        })?;
        let list = field(&fields, &node.path, "lattices")?;
        self.column(list, &self.names.lattices, "lattice variable", |l, at, whole| {
            let lattice = &self.net.lattices[l].lattice;
            let name = field(whole, at, "lattice")?;
            if *name.string("the name of a lattice")? != lattice.name() {
                return name.fail(format_args!("\"{}\", as in this model", lattice.name()));
            }
            let width = field(whole, at, "width")?;
            if width.count("a number of words")? as usize != lattice.width() {
                return width.fail(format_args!("{}, as in this model", lattice.width()));
            }
            out.lattices.push(l);
            Ok(())
        })?;
        let list = match self.names.clocks.is_empty() {
            true => optional(&fields, &node.path, "clocks"),
            false => Some(field(&fields, &node.path, "clocks")?),
        };
        out.clocks.push(0);
        if let Some(list) = list {
            self.column(list, &self.names.clocks, "clock", |c, _, _| {
                out.clocks.push(c + 1);
                Ok(())
            })?;
        }
        Ok(out)
    }

    fn bounds(&self, columns: &Columns, node: Node<'_, '_>) -> Result<LuBounds, ReadError> {
        let fields = node.object()?;
        let side = |name| {
            let list = field(&fields, &node.path, name)?;
            let mut side = vec![i32::MIN; columns.clocks.len()];
            let all = list.array_of(side.len(), "bounds, that of no clock first")?;
            for (i, (raw, &clock)) in all.into_iter().zip(&columns.clocks).enumerate() {
                let bound = Node::new(Path::Item(&list.path, i), raw);
                if !bound.is_null() {
                    let (lo, hi) = (i64::from(i32::MIN) + 1, i64::from(i32::MAX));
                    side[clock] = bound.integer(lo, hi, "null or a bound")? as i32;
                }
            }
            Ok(side)
        };
        Ok(LuBounds { lower: side("lower")?, upper: side("upper")? })
    }

    /// Visits a list of columns, which must be the given names in any order; each is a name or an object with one.
    fn column(
        &self,
        list: Node<'_, '_>,
        names: &[String],
        what: &str,
        mut visit: impl FnMut(usize, &Path<'_>, &Fields<'_>) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        let known = positions(names);
        let mut seen = vec![false; names.len()];
        for (i, raw) in list.array()?.into_iter().enumerate() {
            let node = Node::new(Path::Item(&list.path, i), raw);
            let fields = node.object().unwrap_or_default();
            let name = if fields.is_empty() { node } else { field(&fields, &node.path, "name")? };
            match known.get(&*name.string("a name")?) {
                Some(&n) if !seen[n] => {
                    seen[n] = true;
                    visit(n, &node.path, &fields)?;
                }
                Some(_) => return name.fail(format_args!("each {what} once")),
                None => return name.fail(format_args!("the name of a {what} of this model ({})", choices(names))),
            }
        }
        match seen.iter().position(|s| !s) {
            Some(missing) => list.fail(format_args!("all of the model's, also `{}`", excerpt(&names[missing]))),
            None => Ok(()),
        }
    }

    fn row(&self, columns: &Columns, node: Node<'_, '_>) -> Result<CertEntry, ReadError> {
        let timed = !self.names.clocks.is_empty();
        let parts = match node.array() {
            Ok(parts) if (if timed { 5..=8 } else { 3..=4 }).contains(&parts.len()) || parts.len() == 8 => parts,
            _ if timed => {
                return node.fail(
                    "an array of locations, variables, words, a rank or null, a zone and perhaps bounds by number and a script",
                );
            }
            _ => return node.fail("an array of locations, variables, words and perhaps a rank"),
        };
        let part = |i: usize| Node::new(Path::Item(&node.path, i), parts[i]);
        let mut state = Snapshot {
            locations: vec![0; columns.locations.len()],
            data: vec![0; columns.cells.len()],
            element: vec![0; self.net.element_width()],
            clocks: Vec::new(),
        };
        // The quick way first; if something is wrong, again slowly, for what and where it is.
        let list = part(0);
        let put = |((p, locations), n): (&(usize, Vec<u32>), Option<i64>)| {
            let found = n.and_then(|n| usize::try_from(n).ok()).and_then(|n| locations.get(n));
            found.map(|&l| state.locations[*p] = l).is_some()
        };
        if !list.integers(columns.locations.len()).is_some_and(|all| columns.locations.iter().zip(all).all(put)) {
            for (i, raw) in list.array_of(columns.locations.len(), "locations")?.into_iter().enumerate() {
                let (p, locations) = &columns.locations[i];
                let n = Node::new(Path::Item(&list.path, i), raw).index(locations.len(), "a location")?;
                state.locations[*p] = locations[n];
            }
        }
        let list = part(1);
        let mut known = vec![true; columns.cells.len()];
        let put = |(&c, n): (&usize, Option<i64>)| {
            let var = &self.net.vars[self.vars[c]];
            known[c] = n.is_some();
            state.data[c] = n.unwrap_or(self.initial[c]);
            n.is_none_or(|n| (var.lo..=var.hi).contains(&n))
        };
        if !list.integers(columns.cells.len()).is_some_and(|all| columns.cells.iter().zip(all).all(put)) {
            for (i, raw) in list.array_of(columns.cells.len(), "values")?.into_iter().enumerate() {
                let (c, value) = (columns.cells[i], Node::new(Path::Item(&list.path, i), raw));
                known[c] = !value.is_null();
                state.data[c] = if known[c] { self.cell(c, value)? } else { self.initial[c] };
            }
        }
        if known.iter().all(|k| *k) {
            known.clear();
        }
        self.words(columns, part(2), &mut state.element)?;
        let given = |i: usize| (i < parts.len()).then(|| part(i)).filter(|at| !at.is_null());
        let rank = given(3).map(|at| at.count("a rank: a number of steps")).transpose()?;
        let mut zone = Vec::new();
        if parts.len() > 4 {
            let list = part(4);
            for (i, raw) in list.array()?.into_iter().enumerate() {
                zone.push(constraint(columns, Node::new(Path::Item(&list.path, i), raw))?);
            }
        }
        let bounds = match given(5) {
            Some(at) => Some(columns.bounds[at.index(columns.bounds.len(), "bounds by number")?].clone()),
            None => None,
        };
        let says = given(6).map(|at| at.string("assertions in SMT-LIB")).transpose()?.map(|text| text.to_string());
        let course = given(7).map(|at| course(&at)).transpose()?;
        Ok(CertEntry { state, known, zone, bounds, rank, says, course })
    }

    fn words(&self, columns: &Columns, list: Node<'_, '_>, element: &mut [Word]) -> Result<(), ReadError> {
        let words: Vec<&RawValue> = list.array_of(element.len(), "words")?;
        let mut at = 0;
        for &l in &columns.lattices {
            let var = &self.net.lattices[l];
            let place = &mut element[var.offset..var.offset + var.lattice.width()];
            for word in &mut *place {
                *word = Node::new(Path::Item(&list.path, at), words[at]).word()?;
                at += 1;
            }
            if !var.lattice.is_element(place) {
                return list.fail(format_args!("for `{}` {}", excerpt(&var.name), element_of(&*var.lattice)));
            }
        }
        Ok(())
    }
}

/// `[3, [[2, "mark", 0]]]`
fn course(node: &Node<'_, '_>) -> Result<Course, ReadError> {
    let parts = node.array_of(2, "a state of the automaton, and levels")?;
    let at = Node::new(Path::Item(&node.path, 0), parts[0]).count("the number of a state of the automaton")?;
    let list = Node::new(Path::Item(&node.path, 1), parts[1]);
    let mut levels = Vec::new();
    for (i, raw) in list.array()?.into_iter().enumerate() {
        let level = Node::new(Path::Item(&list.path, i), raw);
        let parts = level.array_of(3, "a rank, \"step\", \"mark\" or \"party\", and a number")?;
        let part = |i: usize| Node::new(Path::Item(&level.path, i), parts[i]);
        let number = part(2).count("a number")?;
        let never = match &*part(1).string("what never happens")? {
            "step" => Never::Step,
            "mark" => Never::Mark(number),
            "party" => Never::Party(number),
            _ => return part(1).fail("\"step\", \"mark\" or \"party\""),
        };
        levels.push(Level { rank: part(0).count("a rank")?, never });
    }
    Ok(Course { at, levels })
}

/// What the columns of a certificate stand for.
#[derive(Default)]
struct Columns {
    /// Processes, and for each number the location it stands for.
    locations: Vec<(usize, Vec<u32>)>,
    cells: Vec<usize>,
    lattices: Vec<usize>,
    /// For each number in zones the clock it stands for, 0 for 0.
    clocks: Vec<usize>,
    bounds: Vec<LuBounds>,
}

/// `[1, 2, "<", 3]`.
fn constraint(columns: &Columns, node: Node<'_, '_>) -> Result<Constraint, ReadError> {
    let parts = node.array_of(4, "parts: two clocks, \"≤\" or \"<\", a number")?;
    let part = |i: usize| Node::new(Path::Item(&node.path, i), parts[i]);
    let clock = |i: usize| Ok(columns.clocks[part(i).index(columns.clocks.len(), "a clock or none")?]);
    let (left, right) = (clock(0)?, clock(1)?);
    let strict = match &*part(2).string("\"≤\" or \"<\"")? {
        "≤" | "<=" => false,
        "<" => true,
        _ => return part(2).fail("\"≤\" or \"<\""),
    };
    let limit = i64::from(MAX_CONSTANT);
    let n = part(3).integer(-limit, limit, "a constant of a clock constraint")?;
    match Bound::checked(n, strict) {
        Some(bound) => Ok(Constraint::new(left, right, bound)),
        None => part(3).fail("a constant of a clock constraint"),
    }
}

fn element_of(lattice: &dyn Lattice) -> String {
    format!("words of an element of {}", lattice.name())
}
