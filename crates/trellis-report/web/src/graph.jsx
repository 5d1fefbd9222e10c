// A drawing on the screen: boxes, arrows, and what is lit in a state.
import { h } from 'preact';
import { memo } from './memo.js';
import { clip, mark, measure } from './layout.js';

// Which boxes are lit, and by whom. A box says under which value of which name; without a value, anything but 0 and false lights it.
// Is it one of several values, written one after the other?
export const among = (v, wanted) => v != null && (v.includes(', ') || v.startsWith('[')) && v.replace(/^\[|\]$/g, '').split(', ').includes(wanted);

export function lights(nodes, state, location, changed) {
  const lit = new Map();
  if (!state) return lit;
  for (const n of nodes) {
    // Of several active states each is lit; of values in words those that have just changed.
    const by = n.lights.filter(([name, wanted]) => { const v = state.get(name); return wanted == null ? v != null && (/^-?\d+$|^true$|^false$/.test(v) ? !['0', 'false'].includes(v) : changed?.has(name)) : v === wanted || among(v, wanted); });
    if (by.length) lit.set(n.id, by.map(([name]) => name));
    else if (location != null && !n.isFrame && !n.lights.length && n.lines[0] === location) lit.set(n.id, ['']);
  }
  return lit;
}

// The arrows that a step goes along.
export function taken(edges, step, before, location) {
  const out = new Set();
  if (!step) return out;
  // A rule of a net: its bar, and all arrows of that.
  const rule = step.parts?.length === 1 && !step.parts[0].name && Number.isInteger(step.parts[0].takes) ? step.parts[0].takes : null;
  if (rule != null) for (const e of edges) if (e.from.rule === rule || e.to.rule === rule || e.rule === rule) out.add(e.id).add(e.from.rule === rule ? `n${e.from.id}` : `n${e.to.id}`);
  if (step.place?.line && !out.size) for (const e of edges) if (e.lines[0]?.match(/^line (\d+)/)?.[1] === String(step.place.line)) out.add(e.id);
  for (const part of step.parts ?? []) {
    if (part.from == null || part.to == null) continue;
    const is = (n, where) => (part.name ? n.lights.some(([name, v]) => name === part.name && v === where) : n.lines[0] === where);
    const fits = edges.filter(e => is(e.from, part.from) && is(e.to, part.to));
    const said = fits.filter(e => step.message && e.lines.some(l => l.includes(step.message)));
    const one = said[0] ?? fits[0];
    if (one) out.add(one.id);
  }
  return out;
}

const Arrow = ({ tip }) => <path class="ah" d="M0 0L-8 -3.4L-8 3.4Z" transform={`translate(${tip.x.toFixed(1)} ${tip.y.toFixed(1)}) rotate(${(tip.angle * 180 / Math.PI).toFixed(1)})`} />;

function Edge({ e, on }) {
  const lines = e.shown, top = e.label && e.label.y - (lines.length - 1) * 7.5 + 4;
  return <g class={`e${on ? ' act' : ''}`}>
    <title>{e.lines.join('\n')}</title>
    <path d={e.path} /><Arrow tip={e.tip} />
    {!e.labels?.length && e.label && lines.length > 0 && (() => { const w = Math.max(...lines.map(measure)) + 6; return <rect class="back" x={e.start ? e.label.x - 3 : e.label.x - w / 2} y={top - 12} width={w} height={lines.length * 15 + 1} rx="3" />; })()}
    {e.labels?.length ? lines.map((l, i) => e.labels[i] && <text key={i} x={e.labels[i].x} y={e.labels[i].y + 11}>{l}</text>)
      : e.label && lines.map((l, i) => <text key={i} x={e.label.x} y={top + i * 15} text-anchor={e.start ? 'start' : 'middle'}>{l}</text>)}
  </g>;
}

// A place of a net with its tokens, a number where there are too many for dots.
function Tokens({ n, count }) {
  const c = { x: n.X + n.w - 2, y: n.Y + 2 };
  return <g class="tokens"><circle cx={c.x} cy={c.y} r="9" /><text x={c.x} y={c.y + 4} text-anchor="middle">{count.length > 3 ? '9+' : count}</text></g>;
}

// Values that say that something is broken.
const GOOD = /^(ok|works?|working|up|alive|healthy|intact)$/i;
const BROKEN = /^(failed|failure|fail\w*|ko|broken|lost|dead|down|stuck\w*|faulty|crashed)$/i;
function Box({ n, by, bad, was, value, fires, who, onPick }) {
  const no = value === 'false' || value === '0', broken = value != null && n.lights[0]?.[1] == null && (BROKEN.test(value) || (no && GOOD.test(n.lines[0])) || (value === 'true' && BROKEN.test(n.lines[0]))), on = !!by || broken || !!bad; bad ||= broken;
  const m = mark(n), tall = (n.h - Math.max(1, n.shown.length) * 15) / 2;
  if (n.isFrame && n.children.length) return <g class={`frame${on ? ' in' : ''}`}><title>{n.lines.join('\n')}</title><rect x={n.X} y={n.Y} width={n.w} height={n.h} rx="8" /><text x={n.X + 10} y={n.Y + 16}>{n.shown[0]}</text></g>;
  const bar = n.shape === 'bar', r = bar ? 2 : Math.min(12, n.h / 2);
  return <g class={`n ${n.shape}${on ? (bad ? ' bad' : ' on') : ''}${was ? ' was' : ''}${fires ? ' fires' : ''}`} data-node={n.id} {...(onPick ? { onClick: () => onPick(n.id), tabIndex: 0, role: 'button', onKeyDown: e => { if (e.key === 'Enter') onPick(n.id); } } : {})}>
    {!onPick && <title>{n.lines.join('\n')}</title>}
    <rect x={n.X} y={n.Y} width={n.w} height={n.h} rx={r} style={n.color && !on ? { stroke: n.color } : null} />
    {(n.initial || n.shape === 'final') && <rect class="ini" x={n.X + 2.5} y={n.Y + 2.5} width={n.w - 5} height={n.h - 5} rx={Math.max(1, r - 2)} />}
    {m && <text class="cm" x={n.X + 10} y={n.Y + tall + 12}>{m}</text>}
    {n.shown.map((l, i) => <text key={i} class={i ? 'sub' : ''} x={n.X + n.w / 2 + (m ? 6 : 0)} y={n.Y + tall + 12 + i * 15} text-anchor="middle">{l}</text>)}
    {value != null && on && /^\d+$/.test(value) && n.lights[0]?.[1] == null && <Tokens n={n} count={value} />}
    {value != null && n.lights[0]?.[1] == null && !/^\d+$/.test(value) && <text class="val" x={n.X + n.w / 2} y={n.Y + n.h + 12} text-anchor="middle">{clip(value, 20)}</text>}
    {by && by.length > 0 && by[0] && who && <text class="who" x={n.X + n.w / 2} y={n.Y - 5} text-anchor="middle">{clip(by.join(', '), 26)}</text>}
  </g>;
}

// `marks`: lit boxes, arrows just taken, boxes just left, and whether this is where it goes wrong.
export const Graph = memo(function Graph({ g, lit, act, was, bad, state, label, onPick, covers }) {
  return <svg width={g.w} height={g.h + 14} viewBox={`0 -8 ${g.w} ${g.h + 14}`} role="img" aria-label={label}>
    {g.nodes.filter(n => n.isFrame && n.children.length).map(n => <Box key={n.id} n={n} by={lit.get(n.id)} />)}
    {g.edges.map(e => <Edge key={e.id} e={e} on={act.has(e.id)} />)}
    {covers?.map(d => <path class="covering" key={d} d={d} />)}
    {g.nodes.filter(n => !(n.isFrame && n.children.length)).map(n => <Box key={n.id} n={n} by={lit.get(n.id)} bad={bad && (bad === true || bad.has(n.id))} was={!lit.has(n.id) && was.has(n.id)} fires={n.shape === 'bar' && act.has(`n${n.id}`)} value={n.lights.length === 1 ? state?.get(n.lights[0][0]) : null} who={n.lights.filter(([x]) => state?.has(x)).length > 1} onPick={onPick} />)}
  </svg>;
});

// The same, small: where things are, without words.
export const Mini = memo(function Mini({ g, lit, act, bad }) {
  return <svg class="mini" viewBox={`${Math.min(0, (g.w - 220) / 2)} ${Math.min(0, (g.h - 90) / 2)} ${Math.max(220, g.w)} ${Math.max(90, g.h)}`} aria-hidden="true">
    {g.edges.map(e => <g key={e.id} class={`e${act.has(e.id) ? ' act' : ''}`}><path d={e.path} /></g>)}
    {g.nodes.map(n => <g key={n.id} class={`n${lit.has(n.id) ? (bad && (bad === true || bad.has(n.id)) ? ' bad' : ' on') : ''}`}><rect x={n.X} y={n.Y} width={n.w} height={n.h} rx="6" /></g>)}
  </svg>;
});
export { measure };
