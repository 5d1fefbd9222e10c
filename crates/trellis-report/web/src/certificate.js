// Certificates as tables: what each kind of document holds, in the model's words. What is not known is shown as it is written.
import { shown } from './run.js';

const MOST = 2000;

// `(and (= x 0) (< y 3))` as people write it.
const INFIX = { and: '∧', or: '∨', '=': '=', '<': '<', '>': '>', '<=': '≤', '>=': '≥', '+': '+', '-': '−', '*': '·', '=>': '⇒', xor: '⊕', iff: '⇔', '!=': '≠' };
export function infix(text) {
  const words = text.match(/\(|\)|"[^"]*"|\|[^|]*\||[^\s()]+/g) ?? [];
  let at = 0;
  const read = () => { const w = words[at++]; if (w !== '(') return w; const all = []; while (at < words.length && words[at] !== ')') all.push(read()); at++; return all; };
  const name = w => (w.startsWith('|') ? w.slice(1, -1) : w);
  const write = (e, outer) => {
    if (typeof e === 'string') return name(e);
    const [f, ...xs] = e;
    if (typeof f !== 'string') return `(${e.map(x => write(x)).join(' ')})`;
    if (f === 'convert' || f === 'cast') return write(xs.at(-1), outer);
    if (f === 'not' && Array.isArray(xs[0]) && xs[0][0] === '=') return write(['!=', ...xs[0].slice(1)], outer);
    if (f === 'not') return `¬${write(xs[0], 'not')}`;
    if (f === '-' && xs.length === 1) return `−${write(xs[0], 'not')}`;
    if (INFIX[f] && xs.length > 1) { const s = xs.map(x => write(x, f)).join(` ${INFIX[f]} `); return outer && outer !== f && !(outer === 'and' && ['=', '<', '>', '<=', '>=', '!='].includes(f)) && !(outer === 'or' && ['=', '<', '>', '<=', '>=', '!=', 'and'].includes(f)) ? `(${s})` : s; }
    return xs.length ? `${name(f)}(${xs.map(x => write(x)).join(', ')})` : name(f);
  };
  try { const e = read(); return at < words.length ? text : write(e); } catch { return text; }
}

// A difference bound: clock i minus clock j, clock 0 being zero.
function bound([i, j, op, c], clocks) {
  const x = k => clocks[k - 1] ?? `x${k}`;
  if (j === 0) return `${x(i)} ${op} ${c}`;
  if (i === 0) return `${x(j)} ${op === '<' ? '>' : '≥'} ${-c}`;
  return `${x(i)} − ${x(j)} ${op} ${c}`;
}
const element = (words, lattice) => {
  const set = /^(Powerset|UnionBitVector|IntersectionBitVector)\(/.test(lattice.lattice);
  if (!set) return words.join(' ');
  const bits = words.reduce((b, w, i) => b | (BigInt(w) << BigInt(64 * i)), 0n), all = [];
  for (let b = 0n; bits >> b; b++) if ((bits >> b) & 1n) all.push(String(b));
  return `{${all.join(', ')}}`;
};

function states(body) {
  const c = body.columns;
  if (!c || !Array.isArray(body.entries)) return null;
  const clocks = c.clocks ?? [], lattices = c.lattices ?? [], several = lattices.length || clocks.length;
  const row = e => {
    const [places, values, words = [], , zone] = e;
    let w = 0;
    const elements = lattices.map(l => { const s = element((words ?? []).slice(w, w + l.width), l); w += l.width; return s; });
    const where = Array.isArray(zone) ? zone.map(b => bound(b, clocks)).join(', ') || 'any' : clocks.length ? 'any' : null;
    return [...places.map((p, i) => c.processes[i]?.locations[p] ?? p), ...values.map(shown), ...elements, ...(clocks.length ? [where] : [])];
  };
  const columns = [...c.processes.map(p => p.name), ...c.variables.map(v => v.name ?? v), ...lattices.map(l => l.name), ...(clocks.length ? ['zone'] : [])];
  return [{ title: clocks.length ? 'Zones' : several ? 'Elements' : 'States', columns, rows: body.entries.slice(0, 20000).map(row) }];
}

const invariant = body => body.invariant && [{ title: 'Invariant', columns: ['location', 'line', 'holds there'], rows: body.invariant.flatMap(l => l.elements.map(e => [l.name, l.place?.line ?? '', infix(e)])) }];
const vector = v => Object.entries(v).map(([n, k]) => `${n} ≥ ${k}`).join(', ');
function basis(body) {
  const tables = [];
  if (body.never?.length) tables.push({ title: 'Never reached', columns: ['at least'], rows: body.never.map(v => [vector(v)]) });
  if (body.bounds?.length) tables.push({ title: 'Bounds', columns: ['what holds'], rows: body.bounds.map(b => [typeof b === 'string' ? b : JSON.stringify(b)]) });
  return tables.length ? tables : null;
}
// The paths of a decision diagram, each a product of values.
function relation(body) {
  if (!Array.isArray(body.tests)) return null;
  const names = [...new Set(body.tests.map(t => t.variable))], rows = [];
  const walk = (at, sofar) => {
    if (rows.length >= MOST) return;
    if (at === true) return void rows.push(names.map(n => sofar[n] ?? 'any'));
    const t = body.tests[at];
    for (const b of t?.branches ?? []) walk(b.then, { ...sofar, [t.variable]: b.values.map(shown).join(' or ') });
  };
  walk(body.first, {});
  return [{ title: rows.length >= MOST ? `First ${MOST} products` : 'Configurations', columns: names, rows }];
}
function partition(body) {
  if (!Array.isArray(body.covers)) return null;
  const name = c => c.node || 'top', block = (n, b) => body.covers[n].blocks[b]?.map(shown).join(' or ') ?? b;
  const tables = [{ title: 'Blocks', columns: ['node', 'block', 'states'], rows: body.covers.flatMap(c => c.blocks.map((b, i) => [name(c), i + 1, b.map(shown).join(', ')])) }];
  if (body.tuples) tables.unshift({ title: 'Reachable tuples', columns: body.covers.map(name), rows: body.tuples.map(t => t.map((b, n) => block(n, b))) });
  if (body.traps?.length) tables.push({ title: 'Never bad again', columns: body.covers.map(name), rows: body.traps.map(t => t.map((bs, n) => [].concat(bs).map(b => block(n, b)).join(' or '))) });
  return tables;
}
function ranking(body) {
  if (!Array.isArray(body.nodes)) return null;
  const tables = [{ title: 'Abstraction', columns: ['node', 'location', 'automaton', 'holds there', 'leads to'], rows: body.nodes.map((n, i) => [i, n.name ?? n.location, n.state, infix(shown(n.holds ?? '')), (body.edges ?? []).filter(e => e[0] === i).map(e => e[1]).join(', ')]) }];
  if (body.rankings?.length) tables.push({ title: 'Rankings', columns: ['what decreases'], rows: body.rankings.map(r => [typeof r === 'string' ? infix(r) : JSON.stringify(r, null, 1)]) });
  return tables;
}
// Anything else: lists of a document, as they are.
function plain(body) {
  const tables = [];
  for (const [title, list] of Object.entries(body ?? {})) if (Array.isArray(list) && list.length) {
    // A list of lists that are equally long is a table, too.
    const wide = Array.isArray(list[0]) ? list[0].length : 0;
    if (wide > 1 && wide <= 12 && list.every(x => Array.isArray(x) && x.length === wide)) { tables.push({ title, columns: list[0].map((_, i) => String(i + 1)), rows: list.slice(0, 20000).map(x => x.map(shown)) }); continue; }
    const objects = list.every(x => x && typeof x === 'object' && !Array.isArray(x)), columns = objects ? [...new Set(list.slice(0, 100).flatMap(Object.keys))] : ['entry'];
    tables.push({ title, columns, rows: list.slice(0, 20000).map(x => (objects ? columns.map(c => (x[c] === undefined ? '' : shown(x[c]))) : [shown(x)])) });
  }
  return tables;
}

export function tablesOf(document) {
  const read = { states, invariant, basis, relation, partition, ranking }[document.kind];
  let tables;
  try { tables = read?.(document.body) ?? plain(document.body); } catch { tables = plain(document.body); }
  // A row in which nothing stands says nothing.
  return tables.map(t => ({ ...t, rows: t.rows.filter(r => r.some(c => !['', '[]'].includes(String(c ?? '').trim()))) })).filter(t => t.rows.length);
}

// A proof that is a graph, if it is small enough to be looked at.
export function graphOf(document, drawing) {
  const { nodes, edges } = document.body ?? {};
  if (document.kind === 'invariant') return annotated(document.body.invariant, drawing);
  if (document.kind !== 'ranking' || !Array.isArray(nodes) || !Array.isArray(edges) || nodes.length > 60) return null;
  const box = n => ({ lines: [`${n.name ?? n.location}${n.state != null ? `, ${n.state}` : ''}`, ...(n.holds != null ? [infix(shown(n.holds))] : [])].filter(l => l !== 'true'), within: null, shape: 'plain', lit: [], nails: [] });
  return { nodes: nodes.map(box), edges: edges.filter(e => Array.isArray(e) && nodes[e[0]] && nodes[e[1]]).map(([from, to]) => ({ from, to, lines: [], nails: [], lines_at: [] })) };
}

// The automaton with what holds at each location, if it is the one that the proof is about. What is not reached is left out.
function annotated(invariant, drawing) {
  if (!Array.isArray(invariant) || !drawing?.nodes.length || drawing.nodes.length > 60) return null;
  const holds = new Map(invariant.map(l => [l.name, l.elements.map(infix)])), at = n => holds.get(n.lines[0]);
  if (!drawing.nodes.some(at) || [...holds.keys()].some(name => !drawing.nodes.some(n => n.lines[0] === name))) return null;
  const nodes = drawing.nodes.map(n => ({ ...n, at: null, lit: [], lines: at(n) ? [n.lines[0], ...(at(n).filter(h => h !== 'true').slice(0, 3))] : n.lines, shape: at(n) ? n.shape : n.shape === 'start' ? 'start' : 'open' }));
  return { nodes, edges: drawing.edges.map(e => ({ ...e, nails: [], lines_at: [] })) };
}
