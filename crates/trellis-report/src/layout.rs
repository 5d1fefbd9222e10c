//! Where the boxes and arrows of a drawing stand. What an author has placed stays there; the rest is laid out in layers, by `dagre`.
//!
//! Layers are Sugiyama's method: dagre ranks by network simplex and places by Brandes and Köpf. It was chosen because it needs little (`log`
//! and serde), is a port of the layout that Mermaid uses, tested against it, and because it alone makes room for labels
//! and routes loops (`rust-sugiyama` knows no labels, `layout-rs` draws from dot). Frames are laid out from the inside out, each for itself; boxes without
//! arrows are put in rows, as words in a text. Very large drawings are refused: nobody would see anything.

use std::collections::BTreeMap;

use dagre::graph::{Graph, GraphOptions};
use dagre::{EdgeLabel, LayoutOptions, NodeLabel};

use crate::present::{Drawing, DrawnNode, NodeShape};

/// The height of a line of text, and the width of a character.
pub const LINE: f64 = 15.0;
const CHARACTER: f64 = 6.9;
/// Of a location that its author has placed.
pub const RADIUS: f64 = 12.0;
/// Around what is in a frame; and between rows.
const MARGIN: f64 = 16.0;
/// Rows of boxes without arrows become so long.
const ROW: f64 = 900.0;
/// More boxes, or arrows, are not laid out.
const MOST_NODES: usize = 500;
const MOST_EDGES: usize = 1000;

/// How far loops of frames stand out.
const LOOP: f64 = 18.0;

type Point = (f64, f64);

/// A rectangle: its left upper corner, its width and height.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Rect {
    /// Left.
    pub x: f64,
    /// Top.
    pub y: f64,
    /// Width.
    pub w: f64,
    /// Height.
    pub h: f64,
}

impl Rect {
    /// Its middle.
    pub fn middle(&self) -> Point {
        (self.x + self.w / 2.0, self.y + self.h / 2.0)
    }

    /// Where a line from its middle to a point leaves it.
    fn border(&self, (x, y): Point) -> Point {
        let (middle, (dx, dy)) = (self.middle(), (x - self.middle().0, y - self.middle().1));
        let part = (self.w / 2.0 / dx.abs().max(1e-9)).min(self.h / 2.0 / dy.abs().max(1e-9)).min(1.0);
        (middle.0 + dx * part, middle.1 + dy * part)
    }

    fn and(self, other: Rect) -> Rect {
        let (x, y) = (self.x.min(other.x), self.y.min(other.y));
        let (right, bottom) = ((self.x + self.w).max(other.x + other.w), (self.y + self.h).max(other.y + other.h));
        Rect { x, y, w: right - x, h: bottom - y }
    }
}

/// Where everything stands.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Layout {
    /// For each box its rectangle.
    pub boxes: Vec<Rect>,
    /// For each box where its lines are: the left end of their base lines, or the middle if they stand within it ([`centred`]).
    pub texts: Vec<Vec<Point>>,
    /// Is this where the parts of a frame that its author has drawn start? It has a double line then, and the point of its frame has no place.
    pub initial: Vec<bool>,
    /// For each arrow the points it goes through; nothing if it is not drawn.
    pub arrows: Vec<Vec<Point>>,
    /// For each arrow where its lines begin.
    pub labels: Vec<Vec<Point>>,
    /// How wide and high all of it is.
    pub size: Point,
}

/// How wide a text is, about.
pub fn width(text: &str) -> f64 {
    text.chars().count() as f64 * CHARACTER
}

fn text_size(lines: &[String]) -> Point {
    (lines.iter().map(|l| width(l)).fold(0.0, f64::max), lines.len() as f64 * LINE)
}

/// Do the lines of a box stand in the middle of it?
pub fn centred(node: &DrawnNode) -> bool {
    node.at.is_none() && node.shape != NodeShape::Frame
}

/// A layout; or why there is none.
pub fn layout(drawing: &Drawing) -> Result<Layout, String> {
    let (n, m) = (drawing.nodes.len(), drawing.edges.len());
    if n > MOST_NODES || m > MOST_EDGES {
        return Err(format!(
            "{n} boxes and {m} arrows are too many to be drawn (at most {MOST_NODES} and {MOST_EDGES})"
        ));
    }
    let mut work = Work { drawing, children: vec![vec![]; n + 1], out: Layout::default() };
    work.out = Layout {
        boxes: vec![Rect::default(); n],
        texts: vec![vec![]; n],
        initial: vec![false; n],
        arrows: vec![vec![]; m],
        labels: vec![vec![]; m],
        size: (0.0, 0.0),
    };
    for (i, node) in drawing.nodes.iter().enumerate() {
        work.children[node.within.filter(|w| *w < i).map_or(n, |w| w)].push(i);
    }
    work.out.size = work.frame(n);
    Ok(work.out)
}

struct Work<'d> {
    drawing: &'d Drawing,
    /// For each box those within it; the last are those within none.
    children: Vec<Vec<usize>>,
    out: Layout,
}

impl Work<'_> {
    /// Places what is within a box, relative to it; how large that is, with margins.
    fn frame(&mut self, of: usize) -> Point {
        let inside = self.children[of].clone();
        let placed = inside.iter().any(|&n| self.drawing.nodes[n].at.is_some());
        let title = self.drawing.nodes.get(of).map_or((0.0, 0.0), |n| text_size(&n.lines));
        let size = if placed { self.as_drawn(&inside) } else { self.in_layers(&inside) };
        let top = title.1 + MARGIN;
        for &n in &inside {
            self.shift(n, MARGIN, top);
        }
        for e in self.edges_of(of) {
            shift(&mut self.out.arrows[e], MARGIN, top);
            shift(&mut self.out.labels[e], MARGIN, top);
        }
        if of < self.drawing.nodes.len() {
            let line = |i: usize| (8.0, 4.0 + LINE * (i as f64 + 0.75));
            self.out.texts[of] = (0..self.drawing.nodes[of].lines.len()).map(line).collect();
        }
        (size.0.max(title.0) + 2.0 * MARGIN, size.1 + top + MARGIN)
    }

    /// Moves a box and all that is within it.
    fn shift(&mut self, n: usize, dx: f64, dy: f64) {
        self.out.boxes[n].x += dx;
        self.out.boxes[n].y += dy;
        shift(&mut self.out.texts[n], dx, dy);
        for e in self.edges_of(n) {
            shift(&mut self.out.arrows[e], dx, dy);
            shift(&mut self.out.labels[e], dx, dy);
        }
        for c in self.children[n].clone() {
            self.shift(c, dx, dy);
        }
    }

    /// The child of a box that a box is, or is within.
    fn below(&self, of: usize, mut n: usize) -> Option<usize> {
        loop {
            let parent = self.drawing.nodes[n].within.unwrap_or(self.drawing.nodes.len());
            if parent == of {
                return Some(n);
            }
            n = self.drawing.nodes[n].within?;
        }
    }

    /// The arrows that are laid out within a box: in none that is within it.
    fn edges_of(&self, of: usize) -> Vec<usize> {
        let is_here = |e: &usize| {
            let edge = &self.drawing.edges[*e];
            let (from, to) = (self.below(of, edge.from), self.below(of, edge.to));
            match (from, to) {
                (Some(a), Some(b)) => a != b || a == edge.from || b == edge.to,
                _ => false,
            }
        };
        (0..self.drawing.edges.len()).filter(is_here).collect()
    }

    /// As the author has drawn it.
    fn as_drawn(&mut self, inside: &[usize]) -> Point {
        let nodes = &self.drawing.nodes;
        let mut all: Option<Rect> = None;
        let mut add = |r: Rect| all = Some(all.map_or(r, |a| a.and(r)));
        for &n in inside {
            let node = &nodes[n];
            // What nobody has placed is the point of the start.
            let Some((x, y)) = node.at else { continue };
            self.out.boxes[n] = Rect { x: x - RADIUS, y: y - RADIUS, w: 2.0 * RADIUS, h: 2.0 * RADIUS };
            add(self.out.boxes[n]);
            let beside = (0..node.lines.len()).map(|i| (x + RADIUS + 3.0, y - RADIUS + i as f64 * LINE));
            let at = if node.lines_at.len() == node.lines.len() { node.lines_at.clone() } else { beside.collect() };
            node.lines.iter().zip(&at).for_each(|(l, p)| add(Rect { x: p.0, y: p.1, w: width(l), h: LINE }));
            self.out.texts[n] = at.iter().map(|p| (p.0, p.1 + LINE * 0.75)).collect();
        }
        for (e, edge) in self.drawing.edges.iter().enumerate() {
            let (true, true) = (inside.contains(&edge.from), inside.contains(&edge.to)) else { continue };
            let (Some(from), Some(to)) = (nodes[edge.from].at, nodes[edge.to].at) else {
                self.out.initial[edge.to] |= nodes[edge.from].shape == NodeShape::Start;
                continue;
            };
            let mut points = vec![from];
            points.extend(&edge.nails);
            if edge.from == edge.to && edge.nails.len() < 2 {
                let (x, y) = edge.nails.first().copied().unwrap_or((from.0, from.1 - 45.0));
                points = vec![from, (x - 15.0, y), (x + 15.0, y)];
            }
            points.push(to);
            let circle = |at: Point, towards: Point| {
                let (dx, dy) = (towards.0 - at.0, towards.1 - at.1);
                let length = dx.hypot(dy).max(1e-9);
                (at.0 + dx / length * RADIUS, at.1 + dy / length * RADIUS)
            };
            let last = points.len() - 1;
            let ends = (circle(from, points[1]), circle(to, points[last - 1]));
            (points[0], points[last]) = ends;
            points.iter().for_each(|p| add(Rect { x: p.0, y: p.1, w: 0.0, h: 0.0 }));
            let middle = (
                (points[last / 2].0 + points[last / 2 + 1].0) / 2.0,
                (points[last / 2].1 + points[last / 2 + 1].1) / 2.0,
            );
            let beside = (0..edge.lines.len()).map(|i| (middle.0 + 4.0, middle.1 + i as f64 * LINE));
            let at = if edge.lines_at.len() == edge.lines.len() { edge.lines_at.clone() } else { beside.collect() };
            edge.lines.iter().zip(&at).for_each(|(l, p)| add(Rect { x: p.0, y: p.1, w: width(l), h: LINE }));
            self.out.labels[e] = at.iter().map(|p| (p.0, p.1 + LINE * 0.75)).collect();
            self.out.arrows[e] = points;
        }
        let all = all.unwrap_or_default();
        for &n in inside {
            self.out.boxes[n].x -= all.x;
            self.out.boxes[n].y -= all.y;
            shift(&mut self.out.texts[n], -all.x, -all.y);
        }
        for e in 0..self.drawing.edges.len() {
            if inside.contains(&self.drawing.edges[e].from) {
                shift(&mut self.out.arrows[e], -all.x, -all.y);
                shift(&mut self.out.labels[e], -all.x, -all.y);
            }
        }
        (all.w, all.h)
    }

    /// How large a box is; what is within it is placed.
    fn measure(&mut self, n: usize) -> Point {
        let node = &self.drawing.nodes[n];
        if !self.children[n].is_empty() || node.shape == NodeShape::Frame {
            return self.frame(n);
        }
        if node.shape == NodeShape::Start {
            return (10.0, 10.0);
        }
        let (w, h) = text_size(&node.lines);
        let (w, h) = ((w + 18.0).max(30.0), h + 12.0);
        let line = |i: usize| (w / 2.0, 6.0 + LINE * (i as f64 + 0.75));
        self.out.texts[n] = (0..node.lines.len()).map(line).collect();
        (w, h)
    }

    /// In layers; what no arrow leads to or from is put in rows below.
    fn in_layers(&mut self, inside: &[usize]) -> Point {
        let sizes: BTreeMap<usize, Point> = inside.iter().map(|&n| (n, self.measure(n))).collect();
        let of = inside.first().map_or(0, |&n| self.drawing.nodes[n].within.unwrap_or(self.drawing.nodes.len()));
        let ends = |e: usize| {
            let edge = &self.drawing.edges[e];
            Some((self.below(of, edge.from)?, self.below(of, edge.to)?))
        };
        let edges: Vec<(usize, usize, usize)> =
            self.edges_of(of).into_iter().filter_map(|e| ends(e).map(|(a, b)| (e, a, b))).collect();
        // Loops of frames, and what leads from a frame to what is within it, are small, however large the frame is; they stand beside it.
        let (loops, edges): (Vec<_>, Vec<_>) =
            edges.into_iter().partition(|(_, a, b)| a == b && !self.children[*a].is_empty());
        let beside = |n: usize| {
            let of =
                loops.iter().filter(|l| l.1 == n).map(|l| text_size(&self.drawing.edges[l.0].lines).0 + 2.0 * LOOP);
            of.fold(0.0, f64::max)
        };
        let mut graph: Graph<NodeLabel, EdgeLabel> =
            Graph::with_options(GraphOptions { directed: true, multigraph: true, compound: false });
        let is_tied = |n: usize| edges.iter().any(|(_, a, b)| *a == n || *b == n);
        for (&n, &(w, height)) in sizes.iter().filter(|(n, _)| is_tied(**n)) {
            graph.set_node(n.to_string(), Some(NodeLabel { width: w + beside(n), height, ..NodeLabel::default() }));
        }
        for (e, a, b) in &edges {
            let (width, height) = text_size(&self.drawing.edges[*e].lines);
            let label = EdgeLabel { width, height, label_offset: 5.0, ..EdgeLabel::default() };
            graph.set_edge(a.to_string(), b.to_string(), Some(label), Some(&e.to_string()));
        }
        if !edges.is_empty() {
            let options = LayoutOptions { nodesep: 30.0, ranksep: 36.0, edgesep: 16.0, ..LayoutOptions::default() };
            dagre::layout(&mut graph, Some(options));
        }
        let mut all = Rect::default();
        for (&n, &(w, h)) in &sizes {
            let Some(at) = graph.node(&n.to_string()) else { continue };
            let (x, y) = (at.x.unwrap_or_default() - (w + beside(n)) / 2.0, at.y.unwrap_or_default() - h / 2.0);
            self.put(n, x, y, (w, h));
            all = all.and(self.out.boxes[n]);
        }
        for (e, a, b) in &edges {
            let Some(at) = graph.edge(&a.to_string(), &b.to_string(), Some(&e.to_string())) else { continue };
            let mut points: Vec<Point> = at.points.iter().map(|p| (p.x, p.y)).collect();
            // What leads into a frame, or out of one, goes on to what is within.
            let edge = &self.drawing.edges[*e];
            if let Some(first) = points.first().copied().filter(|_| edge.from != *a) {
                points.insert(0, self.out.boxes[edge.from].border(first));
            }
            if let Some(last) = points.last().copied().filter(|_| edge.to != *b) {
                points.push(self.out.boxes[edge.to].border(last));
            }
            self.out.arrows[*e] = points;
            let lines = &self.drawing.edges[*e].lines;
            let ((w, h), (x, y)) = (text_size(lines), (at.x.unwrap_or_default(), at.y.unwrap_or_default()));
            let (left, top) = (x - w / 2.0, y - h / 2.0);
            self.out.labels[*e] = (0..lines.len()).map(|i| (left, top + LINE * (i as f64 + 0.75))).collect();
            if !lines.is_empty() {
                all = all.and(Rect { x: left, y: top, w, h });
            }
            self.out.arrows[*e].iter().for_each(|p| all = all.and(Rect { x: p.0, y: p.1, w: 0.0, h: 0.0 }));
        }
        // Loops and labels may stand out to the left.
        for (&n, _) in sizes.iter().filter(|(n, _)| is_tied(**n)) {
            self.shift(n, -all.x, -all.y);
        }
        for (e, _, _) in &edges {
            shift(&mut self.out.arrows[*e], -all.x, -all.y);
            shift(&mut self.out.labels[*e], -all.x, -all.y);
        }
        let (mut right, top) = (all.w, if edges.is_empty() { 0.0 } else { all.h + MARGIN });
        let (mut x, mut y, mut row) = (0.0, top, 0.0f64);
        for (&n, &(w, h)) in sizes.iter().filter(|(n, _)| !is_tied(**n)) {
            let more = beside(n);
            if x > 0.0 && x + w + more > ROW {
                (x, y, row) = (0.0, y + row + MARGIN, 0.0);
            }
            self.put(n, x, y, (w, h));
            (x, row, right) = (x + w + more + MARGIN, row.max(h), right.max(x + w + more));
        }
        let mut used: BTreeMap<usize, f64> = BTreeMap::new();
        for (e, n, _) in &loops {
            let (r, edge) = (self.out.boxes[*n], &self.drawing.edges[*e]);
            let y = used.entry(*n).or_insert(r.y + LOOP);
            let (left, out, below) = (r.x + r.w, r.x + r.w + LOOP, *y + LOOP);
            let end = |at: usize, y: f64| if at == *n { (left, y) } else { self.out.boxes[at].border((left, y)) };
            let points = vec![end(edge.from, *y), (out, *y), (out, below), end(edge.to, below)];
            let label = (0..edge.lines.len()).map(|i| (out + 4.0, *y + LINE * (i as f64 + 0.75))).collect();
            *y = below + (edge.lines.len() as f64 * LINE - LOOP).max(0.0) + 8.0;
            right = right.max(out + text_size(&edge.lines).0);
            (self.out.arrows[*e], self.out.labels[*e]) = (points, label);
        }
        (right, if row > 0.0 { y + row } else { all.h })
    }

    /// Puts a box that was measured somewhere.
    fn put(&mut self, n: usize, x: f64, y: f64, (w, h): Point) {
        self.shift(n, x, y);
        self.out.boxes[n] = Rect { x, y, w, h };
    }
}

fn shift(points: &mut [Point], dx: f64, dy: f64) {
    points.iter_mut().for_each(|p| *p = (p.0 + dx, p.1 + dy));
}
