// The model pane: automata one at a time with a tile for each, or the whole picture; or the source, with values beside the line.
import { h } from 'preact';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { current, run } from './actions.js';
import { Graph, Mini, among, lights, taken } from './graph.jsx';
import { Button, Chip, Seg } from './icons.jsx';
import { isNetwork, layout, prepare } from './layout.js';
import { last } from './memo.js';
import { live, set, state } from './store.js';
import { Source } from './source.jsx';
import { Now } from './values.jsx';

const preparedOf = last(drawing => { const p = prepare(drawing); return { ...p, network: isNetwork(p) }; });
const layouts = new WeakMap();
// A picture is laid out once; only the shape of the pane matters, and that in two sizes.
function laidOut(p, root, wide) {
  const key = root ?? p.nodes;
  if (!layouts.has(key)) layouts.set(key, {});
  const all = layouts.get(key), aspect = wide ? { w: 880, h: 360 } : { w: 460, h: 560 };
  return (all[wide] ??= layout(p, aspect, root));
}
const NOTHING = new Set();

// Keeps what is lit in view, without moving more than it must.
function useFollow(box, g, lit) {
  const key = [...lit.keys()].join();
  useLayoutEffect(() => {
    const b = box.current, on = g?.nodes.filter(n => lit.has(n.id) && !n.isFrame) ?? [];
    if (!b || !on.length) return;
    const x1 = Math.min(...on.map(n => n.X)), x2 = Math.max(...on.map(n => n.X + n.w)), y1 = Math.min(...on.map(n => n.Y)), y2 = Math.max(...on.map(n => n.Y + n.h)), m = 40;
    if (x1 - m < b.scrollLeft || x2 + m > b.scrollLeft + b.clientWidth) b.scrollLeft = (x1 + x2) / 2 - b.clientWidth / 2;
    if (y1 - m < b.scrollTop || y2 + m > b.scrollTop + b.clientHeight) b.scrollTop = (y1 + y2) / 2 - b.clientHeight / 2;
  }, [key, g]);
}

// The part that moves most often is the one to look at first.
const busiest = last((r, roots) => {
  const often = new Map();
  for (const s of r?.steps.slice(0, 500) ?? []) for (const p of s.parts ?? []) often.set(p.name, (often.get(p.name) ?? 0) + 1);
  const of = root => root.children.flatMap(c => c.lights.map(l => l[0])).reduce((m, n) => Math.max(m, often.get(n) ?? 0), 0);
  return roots.reduce((a, b) => (of(b) > of(a) ? b : a), roots[0]);
});

// What is wrong in the last state: the places that the property names, else those that have just been entered, else all.
function culprits(nodes, lit, step, now) {
  const asked = current()?.report.query ?? '', parts = new Set((step?.parts ?? []).map(q => q.name)), here = nodes.filter(n => lit.has(n.id));
  const isFalse = n => n.lights.some(([name, v]) => v == null && now?.get(name) === 'false' && word(name));
  const word = text => new RegExp(`(^|[^\\w.])${text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}($|[^\\w])`).test(asked);
  const named = nodes.filter(n => isFalse(n) || (lit.has(n.id) && n.lights.some(([name, v]) => (v == null ? word(name) : (now?.get(name) === v || among(now?.get(name), v)) && (word(`${name}.${v}`) || word(v))))));
  const moved = here.filter(n => n.lights.some(([name]) => parts.has(name) || name in (step?.set ?? {})));
  return new Set((named.length ? named : moved.length ? moved : here).map(n => n.id));
}

// A row of a proof, as a state to be looked at.
function picked() {
  const { pick } = state;
  return pick && pick.proof === current()?.proof ? new Map(pick.columns.map((c, i) => [c, String(pick.row[i])])) : undefined;
}

function Canvas({ g, lit, act, was, bad, now, label }) {
  const box = useRef(null);
  useFollow(box, g, lit);
  return <div class="cv" ref={box} tabIndex={0} role="group" aria-label={label}><Graph g={g} lit={lit} act={act} was={was} bad={bad} state={now} label={label} /></div>;
}

function Picture({ p, r, bad, narrow }) {
  const wide = innerWidth >= 900 && !narrow, now = r?.state(state.step) ?? picked(), before = r && state.step ? r.state(state.step - 1) : null, step = r?.steps[state.step - 1];
  const lit = useMemo(() => lights(p.nodes, now, r?.location(state.step), r?.changed(state.step)), [p, r, state.step, state.pick, state.row]);
  const was = useMemo(() => (before ? new Set(lights(p.nodes, before, r.location(state.step - 1)).keys()) : NOTHING), [p, r, state.step]);
  const act = useMemo(() => taken(p.edges, r?.raw && !step?.parts ? r.trace?.steps[r.raw[state.step] - 1] : step), [p, r, state.step]);
  bad = useMemo(() => bad && culprits(p.nodes, lit, step, now), [p, bad, lit]);
  if (p.nodes.length > 1500) return <p class="empty">This model has {p.nodes.length} places: too many for a picture. Its source, values and runs are shown all the same.</p>;
  if (!p.network) return <Canvas g={laidOut(p, null, wide)} lit={lit} act={act} was={was} bad={bad} now={now} label="The model" />;
  const focus = p.roots.find(n => n.id === state.focus) ?? busiest(r, p.roots), io = new Map((step?.message ? step.parts : []).map(q => [q.name, q.sends ? '!' : '?']));
  return [
    p.roots.length > 1 && <div class="tiles" key="tiles" style={{ '--n': Math.min(p.roots.length, 8) }}>{p.roots.map(root => {
      const on = root.children.filter(c => lit.has(c.id)), names = new Set(root.children.flatMap(c => c.lights.map(l => l[0]))), mark = [...names].map(n => io.get(n)).find(Boolean);
      return <button type="button" key={root.id} class="tile" aria-pressed={root === focus} onClick={() => set({ focus: root.id })}><b>{root.lines[0]}</b>{mark && <span class="io">{mark}</span>}<span class="loc">{on.map(c => c.lines[0]).join(', ') || (r ? '' : `${root.children.length} locations`)}</span><Mini g={laidOut(p, root, wide)} lit={lit} act={act} bad={bad} /></button>;
    })}</div>,
    <Canvas key="cv" g={laidOut(p, focus, wide)} lit={lit} act={act} was={was} bad={bad} now={now} label={`Automaton ${focus.lines[0]}`} />,
  ];
}

function Legend({ p }) {
  const has = shape => p.nodes.some(n => n.shape === shape), said = [p.nodes.some(n => n.initial) && 'double line initial', has('committed') && 'c committed', has('urgent') && 'u urgent', has('bar') && 'bar transition'].filter(Boolean);
  return <span class="mu hide-m legend">{said.join(', ')}</span>;
}

export function Inspect({ r, bad }) {
  if (!r) return null;
  const said = r.sentence(state.step), end = state.step === r.n ? r.close() : '';
  return <div class="insp"><b>{state.step ? `Step ${state.step}` : 'Start'}</b><span class="t">{said.map((s, i) => (typeof s === 'string' ? s : s.b != null ? <b key={i}>{s.b}</b> : <code key={i}>{s.code}</code>))}</span><span class="sp" />{end && <span class={`chip ${bad ? 'fail' : 'busy'}`}>{end}</span>}</div>;
}

export function Model() {
  const m = state.model, r = run(), p = preparedOf(m.drawing), a = current(), failing = state.view === 'check' && a?.report.holds === false, bad = failing && r && state.step === r.n && r.back == null;
  const drawn = p.nodes.length > 0, isProgram = drawn && !p.nodes.some(n => n.lights.length) && !!m.source && p.nodes.some(n => n.lines.some(l => /^line \d+$/.test(l))), both = isProgram && innerWidth >= 1200;
  const wanted = state.tab ?? (both ? 'both' : (isProgram && !(r && !r.steps.some(s => s.place?.line))) || !drawn ? 'source' : 'picture'), tab = wanted === 'both' && !both ? 'source' : wanted;
  return <main class="pane model" aria-label="Model">
    <div class="ph"><h2>Model</h2>{tab === 'picture' ? <Legend p={p} /> : <span class="mu hide-m">{live ? 'edit it: what is wrong is said under the line' : 'as it was checked'}</span>}<span class="sp" />
      {live && tab !== 'picture' && !state.editing && <Button label="Edit the text" onClick={() => set({ editing: true })}>Edit</Button>}
      {drawn && <Seg label="Show" value={tab} options={[...(both ? [['both', 'Both']] : []), ['picture', p.network ? 'Automata' : isProgram ? 'Automaton' : 'Picture'], ['source', 'Source']]} onChange={tab => set({ tab })} />}</div>
    {tab === 'both' ? <div class="sides"><Source r={r} bad={bad} /><Picture p={p} r={r} bad={bad} narrow /></div> : tab === 'source' ? <Source r={r} bad={bad} /> : <Picture p={p} r={r} bad={bad} />}
    <Inspect r={r} bad={failing} /><Now />
  </main>;
}
export { Chip };
