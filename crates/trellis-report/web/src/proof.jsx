// The proof pane: what was found that shows why nothing bad can happen, as tables that can be searched.
import { Fragment, h } from 'preact';
import { Graph } from './graph.jsx';
import { Button, Seg } from './icons.jsx';
import { layout, prepare } from './layout.js';
import { set, state } from './store.js';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { current, roundsOf } from './actions.js';
import { shown } from './run.js';
import { graphOf, infix, tablesOf } from './certificate.js';
import { Virtual } from './virtual.jsx';

function Table({ t, onPick, picked }) {
  const [word, setWord] = useState(''), rows = useMemo(() => { const w = word.toLowerCase(); return w ? t.rows.filter(r => r.some(c => String(c).toLowerCase().includes(w))) : t.rows; }, [t, word]);
  const widths = t.columns.map((c, i) => Math.min(60, Math.max(c.length, ...t.rows.slice(0, 200).map(r => String(r[i] ?? '').length)))), grid = widths.map(w => `minmax(${Math.min(w, 8)}ch, ${w}fr)`).join(' ');
  const lines = i => Math.max(1, ...rows[i].map(c => String(c).split('\n').length));
  return <section class="ptable"><div class="gh"><span>{t.title}</span><span>{rows.length.toLocaleString('en')}{rows.length < t.rows.length ? ` of ${t.rows.length.toLocaleString('en')}` : ''}</span></div>
    {t.rows.length > 12 && <div class="flt"><input type="search" placeholder="Search" aria-label={`Search ${t.title}`} value={word} onInput={e => setWord(e.currentTarget.value)} /></div>}
    <div class="tr th" style={{ gridTemplateColumns: grid }}>{t.columns.map(c => <span key={c}>{c}</span>)}</div>
    <Virtual n={rows.length} height={useMemo(() => i => 8 + 17 * lines(i), [rows])} label={t.title} row={i => <div class={`tr${rows[i] === picked ? ' cur' : ''}`} key={i} style={{ gridTemplateColumns: grid }} {...(onPick ? { onClick: () => onPick(t.rows.indexOf(rows[i])), role: 'button', tabIndex: 0, title: 'Show it in the model', onKeyDown: e => { if (e.key === 'Enter') onPick(t.rows.indexOf(rows[i])); } } : {})}>{rows[i].map((c, k) => <span key={k} title={String(c)}>{String(c)}</span>)}</div>} /></section>;
}

// A small abstraction as a graph: what holds where, and what leads where.
function Abstract({ graph }) {
  const g = useMemo(() => layout(prepare(graph), { w: 880, h: 420 }), [graph]);
  return <div class="cv" tabIndex={0} role="group" aria-label="The abstraction"><Graph g={g} lit={new Map()} act={new Set()} was={new Set()} label="The abstraction" /></div>;
}

// What refinement went through, a round at a time: what had been built, the path that was impossible, and what was learnt from it.
function Rounds({ rounds }) {
  const [n, setN] = useState(0), at = Math.min(n, rounds.length - 1), r = rounds[at], box = useRef(null);
  const g = useMemo(() => {
    const nodes = r.drawing.nodes.map((q, i) => ({ ...q, lines: q.lines.map(infix).filter((l, k) => k === 0 || l !== 'true'), shape: `round ${r.roles[i]}` }));
    const edges = r.drawing.edges.filter((_, i) => !r.covers[i]);
    const g = layout(prepare({ nodes, edges }), { w: 880, h: 420 }), where = new Map(g.nodes.map(q => [q.id, q]));
    // Covering edges bend aside, so that they do not lie on the tree's own.
    g.covers = r.drawing.edges.filter((_, i) => r.covers[i]).map(e => {
      const a = where.get(e.from), b = where.get(e.to), x1 = a.X + a.w / 2, y1 = a.Y, x2 = b.X + b.w / 2, y2 = b.Y + b.h, mx = (x1 + x2) / 2 + (y1 - y2) * 0.25, my = (y1 + y2) / 2;
      return `M${x1} ${y1}Q${mx} ${my} ${x2} ${y2}`;
    });
    return g;
  }, [r]);
  const on = useMemo(() => new Set(g.edges.filter(e => e.to.shape.endsWith('path') || e.to.shape.endsWith('error')).map(e => e.id)), [g]), roles = new Set(r.roles);
  useLayoutEffect(() => { const p = g.nodes.find(q => q.shape.endsWith('pivot')) ?? g.nodes[0], b = box.current; if (b && p) { b.scrollLeft = p.X - b.clientWidth / 2; b.scrollTop = p.Y - b.clientHeight / 2; } }, [g]);
  return <div class="rounds">
    <div class="rbar"><span class="tp"><Button icon="prev" label="The round before" disabled={!at} onClick={() => setN(at - 1)} /><Button icon="next" label="The next round" disabled={at === rounds.length - 1} onClick={() => setN(at + 1)} /></span>
      <input type="range" min="0" max={rounds.length - 1} value={at} aria-label="Round" onInput={e => setN(+e.currentTarget.value)} /><span class="pos"><b>{at + 1}</b> of {rounds.length}</span></div>
    <p class="said"><b>{infix(r.title)}</b></p>
    <p class="key mu">{[['pivot', 'pivot'], ['error', 'seems to reach the error'], ['path', 'on the impossible path'], ['covered', 'covered'], ['waiting', 'waits']].filter(([k]) => roles.has(k)).map(([k, said]) => <span key={k} class={`role ${k}`}>{said}</span>)}{r.cut && <span>only the first {r.drawing.nodes.length} nodes are drawn</span>}</p>
    <div class="cv" ref={box} tabIndex={0} role="group" aria-label="What had been built"><Graph g={g} lit={NOTHING} act={on} was={NONE} covers={g.covers} label="What had been built" /></div>
  </div>;
}
const NOTHING = new Map(), NONE = new Set();

// What was found: a sentence why it is a proof, and its parts, one at a time. A row of a set of states shows itself in the model.
export function Proved({ a }) {
  const proof = a.proof ?? {}, rounds = roundsOf(), tables = useMemo(() => (proof.document ? tablesOf(proof.document) : []), [proof]), graph = useMemo(() => (proof.document ? graphOf(proof.document, state.model.drawing) : null), [proof]), [tab, setTab] = useState(0), drawn = proof.document?.kind === 'invariant', picks = ['states', 'relation'].includes(proof.document?.kind);
  const names = [...(graph && !drawn ? ['Graph'] : []), ...tables.map(q => q.title), ...(graph && drawn ? ['Graph'] : []), ...(proof.text ? ['In words'] : []), ...(rounds ? ['Refinement'] : [])], now = names[Math.min(tab, names.length - 1)], t = tables.find(q => q.title === now);
  const why = WHY[proof.document?.kind];
  return <div class="proved">
    <div class="why"><span>{why ?? proof.summary ?? 'How the run was found.'}{a.report.checked ? <Fragment> <b>Checked again:</b> {a.report.checked}.</Fragment> : ''}</span>{names.length > 1 && <Seg label="Part of the proof" value={now} options={names.map(q => [q, q])} onChange={q => setTab(names.indexOf(q))} />}</div>
    {now === 'Refinement' ? <Rounds key={state.row} rounds={rounds} /> : now === 'Graph' && graph ? <Abstract graph={graph} /> : t ? <Table key={t.title} t={t} onPick={picks ? row => set({ pick: { proof, row: t.rows[row], columns: t.columns } }) : null} picked={state.pick?.proof === proof ? state.pick.row : null} /> : proof.text ? <pre class="prooftext" tabIndex={0}>{proof.text}</pre> : <p class="empty">The certificate is too large to be shown; save it with --certificate.</p>}
  </div>;
}

export function Proof() {
  const a = current();
  return <main class="pane model" aria-label="Proof">
    <div class="ph"><h2>Proof</h2><span class="mu">{a?.proof ? a.report.query : ''}</span><span class="sp" /><span class="mu">{a?.proof?.summary}</span></div>
    {a && (a.proof || roundsOf()) ? <Proved key={`${state.row}/${state.answer}`} a={a} /> : <p class="empty">This property has no proof to show.</p>}
  </main>;
}
const WHY = {
  states: 'The initial state is in this set, no step leaves it, and nothing bad is in it.', invariant: 'Each formula holds whenever its location is reached: it holds at the start, every step keeps it, and it excludes the error.',
  basis: 'Vectors that no run reaches, or never leaves: everything above or below them is covered.', relation: 'A set of configurations that holds the initial ones, that no step leaves, and in which nothing is bad.',
  partition: 'The states of each node in blocks, and the tuples of blocks that can be reached.', ranking: 'An abstraction in which something decreases whenever the bad happens: it cannot go on forever.',
};
export { shown };
