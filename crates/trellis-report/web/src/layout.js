// Where the boxes of a drawing are. Authors' coordinates are taken as they are; everything else is laid out level by level: the boxes within a frame first
// (dagre, layers from left to right or top to bottom, whichever fits the pane better), then the frame as one box of its parent. An arrow between
// levels is laid out where both ends have a common frame, and drawn to the box it means.
import dagre from '@dagrejs/dagre';

const LINE = 15, PAD = 10, GAP = 24, TITLE = 22, LOOP = 22;
// Larger levels take dagre too long; they are packed without arrows in mind.
const MAX_LEVEL = 500;
const context = document.createElement('canvas').getContext('2d');
export const FONT = '12px Inter,"SF Pro Text","Segoe UI","Helvetica Neue",Arial,"Liberation Sans",sans-serif';
export const measure = text => { context.font = FONT; return context.measureText(text).width; };
export const clip = (text, most) => (text.length > most ? text.slice(0, most - 1) + '…' : text);

const shortened = (lines, most, width) => {
  const all = lines.filter(Boolean).map(l => clip(l, width));
  return all.length > most ? [...all.slice(0, most - 1), `… ${all.length - most + 1} more`] : all;
};

// What stands at an arrow that is laid out: the channel, if there is one, else what must hold or happens; all of it is a look away (hover, or taken).
function label(lines) {
  const sync = lines.find(l => /^[\w.[\]]+[!?]$/.test(l.trim()));
  return sync ? [sync] : shortened(lines, 2, 30);
}

// The parts of a drawing, with sizes; points from which an arrow shows where to start become a mark of that box.
// Numbers and names as they are in the source: `0i32` is 0, `main::i` is i.
export const plainly = l => l.replace(/\b(\d+)[iu]\d+\b/g, '$1').replace(/\b[A-Za-z_]\w*::(?=[A-Za-z_])/g, '');

export function prepare(drawing) {
  const nodes = drawing.nodes.map((n, id) => ({ ...n, id, children: [], edges: [], isFrame: n.shape === 'frame', initial: n.shape === 'initial' }));
  for (const n of nodes) {
    n.parent = n.within == null ? null : nodes[n.within];
    n.parent?.children.push(n);
    if (n.parent) n.parent.isFrame = true;
    n.lights = Array.isArray(n.lit) && typeof n.lit[0] === 'string' ? [n.lit] : n.lit ?? [];
  }
  nodes.filter(n => n.shape === 'bar').forEach((n, rule) => { n.rule = rule; });
  const gone = new Set();
  const edges = [];
  drawing.edges.forEach((e, id) => {
    const from = nodes[e.from], to = nodes[e.to];
    if (from.shape === 'start') { to.initial = true; gone.add(from); return; }
    edges.push({ ...e, id, from, to, shown: e.lines_at?.length ? e.lines : label(e.lines.map(plainly)) });
  });
  // What no arrow leads to or from, and nothing lights, was left over when the program was cut down to the question.
  const used = new Set(edges.flatMap(e => [e.from, e.to]));
  const kept = nodes.filter(n => !gone.has(n) && (used.has(n) || !edges.length || n.initial || n.isFrame || n.within != null || n.lights.length > 0 || n.shape === 'bar'));
  for (const n of kept) {
    n.children = n.children.filter(c => !gone.has(c));
    // A place without a name is called after what it is; its mark says so already.
    n.shown = shortened(n.lines.filter(l => l !== n.shape || n.shape === 'final'), n.isFrame ? 1 : 4, 40);
    if (n.shape === 'bar') Object.assign(n, { w: Math.max(26, Math.max(0, ...n.shown.map(measure)) + 2 * PAD), h: 22 });
    else Object.assign(n, { w: Math.max(34, Math.max(0, ...n.shown.map(measure)) + 2 * PAD + (mark(n) ? 12 : 0)), h: Math.max(24, n.shown.length * LINE + 9) });
  }
  return { nodes: kept, edges, roots: kept.filter(n => !n.parent) };
}
export const mark = n => ({ committed: 'c', urgent: 'u' }[n.shape]);

// A network: every root is a frame without frames in it. Then each is looked at on its own.
export const isNetwork = p => p.roots.length > 0 && p.roots.every(r => r.isFrame && r.children.every(c => !c.isFrame))
  && p.edges.every(e => e.from.parent && e.from.parent === e.to.parent);

const ancestors = n => { const all = []; for (let a = n; a; a = a.parent) all.push(a); return all; };

// Lays out boxes of one level, and all that is in them. Places are relative to the level's corner.
function level(nodes, edges, aspect) {
  for (const n of nodes) if (n.isFrame && n.children.length) {
    const size = level(n.children, edges, aspect);
    n.w = Math.max(size.w + 2 * PAD, measure(n.shown[0] ?? '') + 2 * PAD + 8);
    n.h = size.h + 2 * PAD + TITLE - 6;
    n.inner = { x: PAD + Math.max(0, (n.w - size.w - 2 * PAD) / 2), y: TITLE };
  }
  const here = new Set(nodes), own = [];
  for (const e of edges) {
    const a = ancestors(e.from).find(n => here.has(n)), b = ancestors(e.to).find(n => here.has(n));
    if (a && b && (a !== b || (a === e.from && a === e.to))) own.push({ e, a, b });
  }
  const authored = nodes.length && nodes.every(n => n.at);
  if (authored) return placed(nodes, own);
  if (!own.some(o => o.a !== o.b) || nodes.length > MAX_LEVEL) return packed(nodes, own, aspect);
  const ways = (nodes.length < 160 ? ['LR', 'TB'] : ['TB']).map(way => layered(nodes, own, way));
  const fit = s => Math.min(1, aspect.w / s.w, aspect.h / s.h) - (s.w * s.h) / 1e9;
  const best = ways.reduce((a, b) => (fit(b) > fit(a) ? b : a));
  best.apply();
  return best;
}

// Where runs begin comes first, then what can be reached from there: otherwise arrows that lead back would be taken for those that lead on.
function inOrder(nodes, own) {
  const next = new Map(nodes.map(n => [n, []])), seen = new Set();
  for (const { a, b } of own) next.get(a).push(b);
  for (const first of [...nodes.filter(n => n.initial), ...nodes]) {
    const waiting = [first];
    for (const n of waiting) if (!seen.has(n)) { seen.add(n); waiting.push(...next.get(n)); }
  }
  return [...seen];
}

function layered(all, own, way) {
  const nodes = inOrder(all, own), loops = new Map();
  own.filter(o => o.a === o.b).forEach(o => loops.set(o.a, [...(loops.get(o.a) ?? []), o.e]));
  const g = new dagre.graphlib.Graph({ multigraph: true });
  g.setGraph({ rankdir: way, nodesep: 16, edgesep: 10, ranksep: way === 'LR' ? 30 : 22, marginx: 8, marginy: 8, ranker: nodes.length > 200 ? 'longest-path' : 'network-simplex' });
  // Names that begin with a letter: an object has its numbers first, whatever the order.
  const id = n => `n${n.id}`;
  nodes.forEach(n => g.setNode(id(n), { width: n.w, height: n.h }));
  // All arrows of a box to itself are one for the library: loops within each other, with what is said of them beside.
  for (const [n, es] of loops) g.setEdge(id(n), id(n), { width: 2 * LOOP + 6 * es.length + Math.max(0, ...es.flatMap(e => e.shown.map(measure))), height: Math.max(24, es.reduce((s, e) => s + e.shown.length * LINE + 4, 0)), labelpos: 'c' }, 'loops');
  own.forEach(({ e, a, b }, i) => {
    if (a === b) return;
    const w = Math.max(0, ...e.shown.map(measure)), h = e.shown.length * LINE;
    g.setEdge(id(a), id(b), w ? { width: w + 6, height: h + 4, labelpos: 'c' } : {}, String(i));
  });
  dagre.layout(g);
  const { width, height } = g.graph();
  return { w: width, h: height, apply() {
    nodes.forEach(n => { const at = g.node(id(n)); n.x = at.x - n.w / 2; n.y = at.y - n.h / 2; });
    own.forEach(({ e, a, b }, i) => { if (a === b) return void Object.assign(e, { points: null, label: null, level: a.parent, nth: loops.get(a).indexOf(e), of: loops.get(a) }); const at = g.edge(id(a), id(b), String(i)); Object.assign(e, { points: at.points, label: at.x != null && e.shown.length ? { x: at.x, y: at.y } : null, level: a.parent }); });
  } };
}

// In rows, as wide as suits the pane.
function packed(nodes, own, aspect) {
  const loops = new Map();
  for (const { e, a, b } of own) if (a === b) loops.set(a, [...(loops.get(a) ?? []), e]);
  const wide = n => n.w + (loops.has(n) ? LOOP + 6 * loops.get(n).length + 8 + Math.max(0, ...loops.get(n).flatMap(e => e.shown.map(measure))) : 0);
  const area = nodes.reduce((s, n) => s + (wide(n) + GAP) * (n.h + GAP), 0), most = Math.max(...nodes.map(n => wide(n) + GAP), Math.sqrt(area * (aspect.w / aspect.h)) * 1.15);
  let x = 8, y = 8, tall = 0, w = 0;
  for (const n of nodes) {
    if (x > 8 && x + wide(n) > most) { x = 8; y += tall + GAP / 2; tall = 0; }
    Object.assign(n, { x, y }); x += wide(n) + GAP / 2; w = Math.max(w, x); tall = Math.max(tall, n.h);
  }
  for (const { e, a, b } of own) Object.assign(e, { points: null, label: null, level: a.parent, ...(a === b ? { nth: loops.get(a).indexOf(e), of: loops.get(a) } : {}) });
  return { w: w + 8 - GAP / 2, h: y + tall + 8, apply() {} };
}

// As the author has put them. Their editors draw a location as a small circle with its name beside it; here it is a box around its middle.
function placed(nodes, own) {
  const xs = [], ys = [];
  for (const n of nodes) { n.x = n.at[0] - n.w / 2; n.y = n.at[1] - n.h / 2; xs.push(n.x, n.x + n.w); ys.push(n.y, n.y + n.h); }
  for (const { e } of own) for (const [x, y] of e.nails ?? []) { xs.push(x); ys.push(y); }
  for (const { e } of own) (e.lines_at ?? []).forEach(([x, y], i) => { xs.push(x, x + measure(e.shown[i] ?? '')); ys.push(y, y + LINE); });
  const left = Math.min(...xs) - 20, top = Math.min(...ys) - 20;
  for (const n of nodes) { n.x -= left; n.y -= top; }
  for (const { e, a } of own) {
    e.points = (e.nails ?? []).map(([x, y]) => ({ x: x - left, y: y - top }));
    e.labels = (e.lines_at ?? []).map(([x, y]) => ({ x: x - left, y: y - top }));
    Object.assign(e, { authored: true, level: a.parent });
  }
  return { w: Math.max(...xs) - left + 20, h: Math.max(...ys) - top + 20, apply() {} };
}

// A whole picture: boxes and arrows with places, and its size. `root` is a frame to be looked at alone.
export function layout(p, aspect, root = null) {
  const nodes = root ? root.children : p.roots;
  const size = level(nodes, p.edges, aspect);
  const all = [], origin = new Map([[null, { x: 0, y: 0 }], [root, { x: 0, y: 0 }]]);
  const place = (list, at) => {
    for (const n of list) {
      const X = at.x + n.x, Y = at.y + n.y;
      all.push({ ...n, X, Y, node: n });
      if (n.isFrame && n.children.length) { const o = { x: X + n.inner.x, y: Y + n.inner.y }; origin.set(n, o); place(n.children, o); }
    }
  };
  place(nodes, { x: 0, y: 0 });
  const at = new Map(all.map(n => [n.node, n]));
  const edges = p.edges.filter(e => at.has(e.from) && at.has(e.to)).map(e => route(e, at, origin.get(e.level) ?? { x: 0, y: 0 }));
  return { nodes: all, edges, w: Math.ceil(size.w), h: Math.ceil(size.h) };
}

const middle = b => ({ x: b.X + b.w / 2, y: b.Y + b.h / 2 });
// Where the line from the middle of a box to a point leaves the box.
function border(b, to) {
  const m = middle(b), dx = to.x - m.x, dy = to.y - m.y;
  if (!dx && !dy) return m;
  const t = Math.min(dx ? b.w / 2 / Math.abs(dx) : Infinity, dy ? b.h / 2 / Math.abs(dy) : Infinity);
  return { x: m.x + dx * t, y: m.y + dy * t };
}

function route(e, at, o) {
  const a = at.get(e.from), b = at.get(e.to), out = { ...e, edge: e };
  let inner = (e.points ?? []).map(p => ({ x: p.x + o.x, y: p.y + o.y }));
  // Dagre's first and last points are on the borders of the boxes of its level; the ends are found anew.
  if (inner.length >= 2 && !e.authored) inner = inner.slice(1, -1);
  if (a === b && !inner.length) {
    const all = e.of ?? [e], k = e.nth ?? 0, r = LOOP * 0.75 + 7 * k, x = a.X + a.w, y = a.Y + a.h / 2, d = Math.min(a.h / 2 - 3, 7 + 2 * k);
    out.path = `M${x - 1} ${y - d}C${x + r * 1.3} ${y - d - r * 0.75},${x + r * 1.3} ${y + d + r * 0.75},${x} ${y + d}`; out.tip = { x, y: y + d, angle: 0.52 - Math.PI };
    const before = all.slice(0, k).reduce((s, f) => s + f.shown.length * LINE + 4, 0), total = all.reduce((s, f) => s + f.shown.length * LINE + 4, 0);
    out.label = e.shown.length ? { x: x + LOOP + 5 * all.length, y: y - total / 2 + before + (e.shown.length * LINE + 4) / 2 } : null; out.start = true;
  } else {
    const first = border(a, inner[0] ?? middle(b)), last = border(b, inner.at(-1) ?? middle(a)), all = [first, ...inner, last];
    out.path = smooth(all, e.authored);
    const before = all.at(-2);
    out.tip = { ...last, angle: Math.atan2(last.y - before.y, last.x - before.x) };
    if (e.label) out.label = { x: e.label.x + o.x, y: e.label.y + o.y };
    else if (e.shown.length) { const m = all.length > 2 ? all[all.length >> 1] : { x: (first.x + last.x) / 2, y: (first.y + last.y) / 2 }; out.label = { x: m.x, y: m.y - 6 }; }
  }
  if (e.labels?.length) out.labels = e.labels.map(p => ({ x: p.x + o.x, y: p.y + o.y }));
  return out;
}

// Through the points, corners rounded off; straight between the nails of an author.
function smooth(p, straight) {
  const s = q => `${q.x.toFixed(1)} ${q.y.toFixed(1)}`;
  if (straight || p.length < 3) return 'M' + p.map(s).join('L');
  let d = `M${s(p[0])}`;
  for (let i = 1; i < p.length - 1; i++) {
    const a = p[i - 1], b = p[i], c = p[i + 1], cut = (u, v) => { const l = Math.hypot(v.x - u.x, v.y - u.y) || 1, r = Math.min(18, l / 2); return { x: u.x + (v.x - u.x) * r / l, y: u.y + (v.y - u.y) * r / l }; };
    d += `L${s(cut(b, a))}Q${s(b)} ${s(cut(b, c))}`;
  }
  return `${d}L${s(p.at(-1))}`;
}
