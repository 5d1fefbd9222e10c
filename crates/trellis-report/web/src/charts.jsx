// A run as pictures: who is where over time (or over steps), and who sends what to whom. Of a long run a window around the step is drawn.
import { h } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { go } from './actions.js';
import { clip, measure } from './layout.js';
import { approximate } from './rational.js';
import { called, shown } from './run.js';

const WINDOW = 120, ROWS = 40;

function useWidth() {
  const box = useRef(null), [w, set] = useState(400);
  useEffect(() => { const seen = new ResizeObserver(() => set(box.current?.clientWidth ?? 400)); seen.observe(box.current); return () => seen.disconnect(); }, []);
  return [box, Math.max(300, w)];
}
const around = (r, step) => (r.n <= WINDOW * 1.5 ? [0, r.n] : [Math.max(0, Math.min(r.n - WINDOW, step - WINDOW / 2)), Math.min(r.n, Math.max(WINDOW, step + WINDOW / 2))]);
const fit = (text, width) => { if (measure(text) <= width) return text; let n = Math.floor(width / 6.5); while (n > 1 && measure(clip(text, n)) > width) n--; return n > 2 ? clip(text, n) : ''; };
const ticks = (from, to, whole) => { const span = to - from || 1, raw = Math.max(whole ? 1 : 0, span / 6), p = 10 ** Math.floor(Math.log10(raw)), step = [1, 2, 2.5, 5, 10].map(k => k * p).find(k => k >= raw && (!whole || Number.isInteger(k))), out = []; for (let t = Math.ceil(from / step - 1e-9) * step; t <= to + 1e-9; t += step) out.push(+t.toFixed(9)); return out; };

// What is drawn as rows: the parts that have places, or the values that change.
function rowsOf(r) {
  if (r.places.length) return r.places.slice(0, ROWS);
  const often = new Map();
  for (const s of r.steps.slice(0, 2000)) for (const n in s.set) often.set(n, (often.get(n) ?? 0) + 1);
  return [...often].filter(([n]) => r.names.includes(n) && !r.clocks.has(n) && n !== 'at').sort((a, b) => b[1] - a[1]).slice(0, 14).map(([n]) => n);
}

export function Time({ r, step, cls }) {
  const [box, width] = useWidth(), rows = rowsOf(r), timed = approximate(r.end) > 0;
  const [a, b] = around(r, step), left = Math.min(150, Math.max(40, ...rows.map(n => measure(r.label(n)))) + 18), H = rows.length > 8 ? 24 : 30;
  const x0 = timed ? r.at(a) : a, end = timed ? (b === r.n ? approximate(r.end) : r.at(b)) : b + 0.5, scale = (width - left - 18) / (end - x0 || 1), X = t => left + (t - x0) * scale, at = i => X(timed ? r.at(i) : i);
  const now = at(step), top = 44, bottom = top + rows.length * H, bars = [];
  rows.forEach((name, k) => {
    let here = r.state(a).get(name), since = a;
    for (let i = a + 1; i <= b + 1; i++) {
      const s = r.steps[i - 1], next = i <= b && s && name in s.set ? r.value(name, s.set[name]) : here;
      if (i <= b && next === here) continue;
      const x1 = at(since), x2 = i > b ? X(end) : at(i);
      if (x2 - x1 > 0.5) bars.push({ k, x: x1, w: x2 - x1, text: here, on: since <= step && (step < i || i > b), key: `${k}/${since}` });
      here = next; since = i;
    }
  });
  // Steps at the same instant stand beside each other as far as there is room.
  const dots = []; let free = -Infinity;
  for (let i = a; i <= b; i++) { const x = Math.max(at(i), free); dots.push({ i, x }); free = x + 19; }
  // What would leave the chart on the right moves back; where there is no room at all, some are left out, never the one that is looked at.
  for (let k = dots.length - 1, most = width - 11; k >= 0 && dots[k].x > most; k--, most -= 19) dots[k].x = most;
  const many = dots.length && dots[0].x < left - 12;
  if (many) { const every = Math.ceil((b - a + 1) * 19 / (width - left)); dots.forEach(d => { d.x = at(d.i); }); const kept = dots.filter(d => d.i === step || ((d.i - a) % every === 0 && Math.abs(at(d.i) - at(step)) >= 19)); dots.length = 0; dots.push(...kept); }
  const w = r.words(step), lanes = step ? [...(w.sends ?? []), ...(w.gets ?? [])].map(p => rows.indexOf(p)).filter(k => k >= 0) : [];
  return <div class={`chart ${cls}`} ref={box} tabIndex={0} role="group" aria-label="Time chart"><div class="ct">{timed ? 'Time chart, exact time units' : 'Over the steps'}{b - a < r.n ? `, steps ${a} to ${b}` : ''}</div>
    <svg width={width} height={bottom + (r.back != null ? 44 : 26)} role="img" aria-label="Where each part is over time">
      {ticks(x0, end, !timed).map(t => <g key={t}><line class="gl" x1={X(t)} x2={X(t)} y1={top} y2={bottom} /><text class="mt" x={X(t)} y={bottom + 16} text-anchor="middle">{t}</text></g>)}
      {r.back != null && r.back >= a && <g><rect class="lasso" x={at(r.back)} y={top - 2} width={Math.max(2, X(end) - at(r.back))} height={bottom - top + 4} /><text class="mt" x={X(end) - 4} y={bottom + 34} text-anchor="end">↺ again and again</text></g>}
      {rows.map((name, k) => <text key={name} x={left - 8} y={top + k * H + H / 2 + 4} text-anchor="end"><title>{name}</title>{fit(r.label(name), left - 12)}</text>)}
      {bars.map(q => <g key={q.key}><title>{`${r.label(rows[q.k])}: ${q.text}`}</title><rect class={`gbar${q.on ? ' on' : ''}`} x={q.x} y={top + q.k * H + 3} width={q.w} height={H - 6} rx="3" />{q.w > 22 && <text x={q.x + 6} y={top + q.k * H + H / 2 + 4}>{fit(q.text, q.w - 10)}</text>}</g>)}
      <line class="cur" x1={now} x2={now} y1={top - 6} y2={bottom} />
      {lanes.length > 1 && <g class="hop"><circle cx={now} cy={top + lanes[0] * H + H / 2} r="3.5" />{lanes.slice(1).map(k => { const y = top + k * H + H / 2, up = k < lanes[0]; return <path key={k} d={`M${now} ${y}l-4 ${up ? 7 : -7}h8z`} />; })}</g>}
      {dots.map(({ i, x }) => <g key={i} class={`dot hit${i === step ? ' on' : ''}`} onClick={() => go(i)}><circle cx={x} cy={22} r="9" /><text x={x} y={26} text-anchor="middle">{i > 999 ? '·' : i}</text></g>)}
    </svg></div>;
}

const ROW = 24;
export function Messages({ r, step, cls }) {
  const [box, width] = useWidth(), run = r.lanes, steps = run.steps, parts = run.parts, n = steps.length;
  const same = n === r.n, [a, b] = same ? around(r, step) : [0, Math.min(n, 400)];
  const gap = Math.max((width - 16) / parts.length, Math.min(68, Math.max(...parts.map(measure)) + 16)), X = k => 8 + gap * (k + 0.5), total = Math.max(width, 16 + gap * parts.length);
  const rows = []; let y = 46;
  for (let i = a + 1; i <= b; i++) {
    const wait = same ? r.wait(i) : null;
    if (wait) { rows.push({ wait, i, y, t: r.time(i) }); y += ROW - 2; }
    rows.push({ i, y }); y += ROW;
  }
  const here = rows.find(q => q.i === step && !q.wait)?.y ?? 40;
  useLayoutEffect(() => { const e = box.current; if (e && (here < e.scrollTop + 60 || here > e.scrollTop + e.clientHeight - 30)) e.scrollTop = here - e.clientHeight / 2; }, [here]);
  return <div class={`chart ${cls}`} ref={box} tabIndex={0} role="group" aria-label="Message chart">
    <div class="lanes" style={{ width: `${total}px` }}>{parts.map((p, k) => <span key={p} title={p} style={{ left: `${X(k) - gap / 2}px`, width: `${gap}px` }}>{p}</span>)}</div>
    <svg width={total} height={y + 14} style={{ marginTop: '-26px' }} role="img" aria-label="Who sends what to whom">
      {parts.map((p, k) => <line key={p} class="lf" x1={X(k)} x2={X(k)} y1={28} y2={y} />)}
      {rows.map(q => {
        if (q.wait) return <g key={`w${q.i}`}><rect class="wb" x="6" y={q.y - 13} width={total - 12} height={18} rx="2" /><text class="mt" x="12" y={q.y}>wait {q.wait}</text><text class="mt" x={total - 12} y={q.y} text-anchor="end">time {q.t}</text></g>;
        const s = steps[q.i - 1], ps = s.parts ?? [], send = ps.filter(p => p.sends).map(p => parts.indexOf(p.name)).filter(k => k >= 0), get = ps.filter(p => !p.sends).map(p => parts.indexOf(p.name)).filter(k => k >= 0);
        const c = `msg hit${same && q.i === step ? ' on' : same && q.i < step ? ' past' : ''}`, label = called(s), pick = () => same && go(q.i);
        if (send.length && get.length) return <g key={q.i} class={c} onClick={pick}>{get.map((k, j) => { const x1 = X(send[0]), x2 = X(k), d = x2 > x1 ? -1 : 1; return <g key={k}><path d={`M${x1} ${q.y}H${x2}`} /><path class="ah" d={`M${x2} ${q.y}l${8 * d} -3.5v7z`} />{j === 0 && <text x={(x1 + x2) / 2} y={q.y - 4} text-anchor="middle">{fit(label, Math.max(60, Math.abs(x2 - x1) - 8))}</text>}</g>; })}</g>;
        const who = (get.length ? get : send)[0];
        const all = [...new Set([...get, ...send])].sort((x, y) => x - y);
        // Several parts move together: one line through all of them.
        if (all.length > 1) { const x1 = X(all[0]), x2 = X(all.at(-1)); return <g key={q.i} class={c} onClick={pick}><title>{label}</title><path d={`M${x1} ${q.y}H${x2}`} />{all.map(k => <rect key={k} x={X(k) - 4} y={q.y - 4} width="8" height="8" rx="2" />)}<text x={(x1 + x2) / 2} y={q.y - 6} text-anchor="middle">{fit(label, Math.max(60, x2 - x1 + gap * 0.8))}</text></g>; }
        return who == null ? null : <g key={q.i} class={c} onClick={pick}><title>{label}</title>{(get.length ? get : send).map(k => <rect key={k} x={X(k) - 5} y={q.y - 9} width="10" height="12" rx="2" />)}{X(who) + 80 > total ? <text x={X(who) - 10} y={q.y + 1} text-anchor="end">{fit(inner(ps, s, r), X(who) - 24)}</text> : <text x={X(who) + 10} y={q.y + 1}>{fit(inner(ps, s, r), total - X(who) - 16)}</text>}</g>;
      })}
      {r.back != null && same && r.back >= a && r.back < r.n && (() => { const from = (rows.find(q => q.i === r.back + 1)?.y ?? 46) - 14; return <g class="msg loopline"><path d={`M${total - 16} ${y - 16}h10V${from}h-10`} /><path class="ah" d={`M${total - 16} ${from}l8 -3.5v7z`} /></g>; })()}
    </svg></div>;
}
// What a part does by itself: where it goes, or what it changes.
const inner = (ps, s, r) => {
  const p = ps.find(q => q.to != null && q.from !== q.to), sets = Object.entries(s.set).filter(([n]) => !r.clocks.has(n)).map(([n, v]) => `${n} := ${shown(v)}`).join(', ');
  return p && ps.length === 1 ? shown(p.to) : sets || called(s);
};

// The charts that say something about a run.
export function chartsOf(r) {
  if (!r.n) return [];
  const charts = rowsOf(r).length ? [{ title: r.isTimed ? 'Time' : 'Over steps', Chart: Time }] : [];
  if ((r.lanes.parts?.length ?? 0) > 1 && r.lanes.parts.length <= ROWS && r.lanes.steps.some(s => s.parts?.length)) charts.push({ title: 'Messages', Chart: Messages });
  return charts;
}
