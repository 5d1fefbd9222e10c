// The state space, unfolded on demand: each state is where some moves lead, and its address says which. What has been seen stays where it is in the
// graph; a state that several ways lead to is drawn once.
import { h } from 'preact';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { Graph } from './graph.jsx';
import { Button } from './icons.jsx';
import { layout, plainly, prepare } from './layout.js';
import { called, shown } from './run.js';
import { set, state } from './store.js';
import { peek, walkTo } from './walk.js';

const MOST = 400, NOTHING = new Map(), NONE = new Set();
const keyOf = values => JSON.stringify(values);

// What a walk has told about where it is and where it can go.
export function learn(answer) {
  const space = (state.space ??= { nodes: new Map(), first: null, turn: 0 }), at = seen(space, answer.state, answer.moves, answer.remark);
  if (!answer.moves.length) space.first = answer.state;
  at.next = (answer.next ?? []).map(n => ({ key: seen(space, n.state, [...answer.moves, n.move], n.remark).key, label: short(answer.choices.offers?.[+n.move]) ?? n.label ?? n.move.replace(/^w /, 'wait ') }));
  at.isOpen = false;
  at.isInput = answer.choices.ask?.kind === 'input';
  space.turn++;
}
const short = s => (s ? s.place?.line && called(s).length > 20 ? `line ${s.place.line}` : called(s) : null);
function seen(space, values, moves, remark) {
  const key = keyOf(values);
  if (!space.nodes.has(key)) space.nodes.set(key, { key, values, moves, remark, next: [], isOpen: true, id: space.nodes.size });
  return space.nodes.get(key);
}

// A state in few words: what is other than at the start, and where the parts are.
function words(values, first, parts) {
  const lines = Object.entries(values).filter(([n, v]) => !parts.includes(n) && (!first || keyOf(first[n]) !== keyOf(v))).map(([n, v]) => (v?.bounds ? shown(v) : / /.test(n) ? `${plainly(n)}: ${shown(v)}` : `${n.split('::').at(-1)} = ${shown(v)}`));
  // Parts that are always at one place say nothing; numbers need the name of whose they are.
  const several = parts.filter(p => values[p] != null && new Set(state.model.drawing.nodes.flatMap(n => n.lit.filter(l => l[0] === p).map(l => l[1]))).size > 1);
  const numbers = several.every(p => /^\d+$/.test(shown(values[p])));
  const places = several.map(p => (numbers ? `${p} ${shown(values[p])}` : shown(values[p]))).join(', ');
  return [places, ...lines].filter(Boolean).length ? [places, ...lines].filter(Boolean) : ['start'];
}

function picture(space, parts) {
  const all = [...space.nodes.values()].slice(0, MOST), known = new Set(all.map(n => n.key));
  const nodes = all.map(n => ({ lines: words(n.values, space.first, parts), within: null, shape: n.id === 0 ? 'initial' : n.isOpen ? 'open' : n.next.length || n.isInput ? 'plain' : 'final', lit: [], nails: [] }));
  const edges = all.flatMap(n => {
    const to = new Map();
    for (const { key, label } of n.next) if (known.has(key)) to.set(key, [...(to.get(key) ?? []), label]);
    return [...to].map(([key, labels]) => ({ from: n.id, to: space.nodes.get(key).id, lines: [...new Set(labels)], nails: [], lines_at: [] }));
  });
  return layout(prepare({ nodes, edges }), { w: 880, h: 420 });
}

// Unfolds some more, nearest first.
async function unfold(n) {
  for (let k = 0; k < n && state.space.nodes.size < MOST; k++) {
    const open = [...state.space.nodes.values()].find(q => q.isOpen);
    if (!open || !await peek(open.moves)) return;
    set({});
  }
}

export function States() {
  const space = state.space, box = useRef(null), parts = state.walk?.run?.places ?? [];
  const g = useMemo(() => (space ? picture(space, parts) : null), [space, space?.turn]), here = state.walk?.state && space?.nodes.get(keyOf(state.walk.state));
  const lit = useMemo(() => (here ? new Map([[here.id, ['']]]) : NOTHING), [here]);
  useLayoutEffect(() => {
    const b = box.current, on = here && g?.nodes.find(n => n.id === here.id);
    if (b && on) { b.scrollLeft = on.X + on.w / 2 - b.clientWidth / 2; b.scrollTop = on.Y + on.h / 2 - b.clientHeight / 2; }
  }, [here, g]);
  const all = [...(space?.nodes.values() ?? [])], open = all.filter(n => n.isOpen).length;
  return <main class="pane model" aria-label="State space">
    <div class="ph"><h2>States</h2><span class="mu">{space ? `${all.length} seen, ${open ? `${open} not looked into (dashed)` : 'that is all'}` : ''}</span><span class="sp" />
      <Button label="Look into the next 25 states" disabled={!open || all.length >= MOST} onClick={() => unfold(25)}>Unfold 25</Button><Button label="Forget all but this state" icon="close" onClick={() => { set({ space: null }); walkTo(state.walk?.moves ?? []); }} /></div>
    {g ? <div class="cv" ref={box} tabIndex={0} role="group" aria-label="Graph of states"><Graph g={g} lit={lit} act={NONE} was={NONE} label="Reachable states" onPick={id => { const n = all.find(q => q.id === id); if (n) walkTo(n.moves); }} /></div> : <p class="empty">Reading the model …</p>}
    {all.length >= MOST && <p class="empty">More than {MOST} states are not drawn; walk on from one of these, or forget the others.</p>}
  </main>;
}
