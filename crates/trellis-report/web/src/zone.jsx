// A zone: what holds of the clocks, and its shadow on two of them.
import { Fragment, h } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { measure } from './layout.js';

// Bounds of all differences, from those that are written: [difference, is it less than that], closed under adding.
function closed({ clocks, bounds }) {
  const n = clocks.length + 1, z = Array.from({ length: n }, (_, i) => Array.from({ length: n }, (_, j) => (i === j ? [0, false] : i === 0 ? [0, false] : [Infinity, true])));
  const least = (a, b) => (a[0] < b[0] || (a[0] === b[0] && a[1]) ? a : b);
  for (const [i, j, op, c] of bounds) z[i][j] = least([c, op === '<'], z[i][j]);
  for (let k = 0; k < n; k++) for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) z[i][j] = least([z[i][k][0] + z[k][j][0], z[i][k][1] || z[k][j][1]], z[i][j]);
  return z;
}

// What is left of a polygon where a·x + b·y ≤ c.
function cut(points, a, b, c) {
  if (c === Infinity) return points;
  const out = [], side = p => a * p[0] + b * p[1] - c;
  points.forEach((p, i) => {
    const q = points[(i + 1) % points.length], s = side(p), t = side(q);
    if (s <= 0) out.push(p);
    if ((s < 0 && t > 0) || (s > 0 && t < 0)) { const k = s / (s - t); out.push([p[0] + k * (q[0] - p[0]), p[1] + k * (q[1] - p[1])]); }
  });
  return out;
}

const W = 212, H = 150, LEFT = 30, LOW = 24, TOP = 10, RIGHT = 12;
function Shadow({ z, names, x, y }) {
  const finite = v => (Number.isFinite(v) ? v : 0), X = x + 1, Y = y + 1;
  const reach = k => Math.max(finite(z[k][0][0]), -finite(z[0][k][0]), 1) * 1.25, most = Math.max(reach(X), reach(Y), finite(Math.abs(z[X][Y][0])), finite(Math.abs(z[Y][X][0])));
  const mx = Number.isFinite(z[X][0][0]) ? reach(X) : most, my = Number.isFinite(z[Y][0][0]) ? reach(Y) : most;
  let shape = [[0, 0], [mx, 0], [mx, my], [0, my]];
  for (const [a, b, c] of [[1, 0, z[X][0][0]], [-1, 0, z[0][X][0]], [0, 1, z[Y][0][0]], [0, -1, z[0][Y][0]], [1, -1, z[X][Y][0]], [-1, 1, z[Y][X][0]]]) shape = cut(shape, a, b, c);
  const at = ([u, v]) => [LEFT + u / mx * (W - LEFT - RIGHT), H - LOW - v / my * (H - LOW - TOP)];
  const ticks = (k, m) => [...new Set([-z[0][k][0], z[k][0][0]])].filter(v => Number.isFinite(v) && v >= 0 && v <= m);
  // Where the zone goes on without end there is no side.
  const open = (p, q, k, m, i) => !Number.isFinite(z[k][0][0]) && p[i] >= m - 1e-9 && q[i] >= m - 1e-9, sides = shape.map((p, i) => [p, shape[(i + 1) % shape.length]]).filter(([p, q]) => !open(p, q, X, mx, 0) && !open(p, q, Y, my, 1));
  const d = shape.map(p => at(p).map(v => v.toFixed(1)).join(' ')).join('L'), [x0, y0] = at([0, 0]);
  return <svg class="shadow" viewBox={`0 0 ${W} ${H}`} role="img" aria-label={`The zone over ${names[x]} and ${names[y]}`}>
    <path class="gl" d={`M${x0} ${TOP}V${y0}H${W - RIGHT}`} fill="none" />
    {d && <path class="zarea" d={`M${d}Z`} />}
    {sides.map(([p, q], i) => <path key={i} class="zside" d={`M${at(p).join(' ')}L${at(q).join(' ')}`} />)}
    {shape.length > 0 && shape.every(p => p[0] === shape[0][0] && p[1] === shape[0][1]) && <circle class="zpoint" cx={at(shape[0])[0]} cy={at(shape[0])[1]} r="4" />}
    {ticks(X, mx).map(v => <text key={`x${v}`} class="mt" x={Math.min(at([v, 0])[0], W - RIGHT - measure(names[x]) - measure(String(v)))} y={y0 + 13} text-anchor="middle">{v}</text>)}
    {ticks(Y, my).map(v => <text key={`y${v}`} class="mt" x={x0 - 5} y={at([0, v])[1] + 4} text-anchor="end">{v}</text>)}
    <text class="mt" x={W - RIGHT} y={y0 + 13} text-anchor="end">{names[x]}</text><text class="mt" x={x0 + 5} y={TOP + 8}>{names[y]}</text>
  </svg>;
}

// Two clocks whose difference is not fixed say the most.
function pair(z, n) {
  for (let i = 1; i <= n; i++) for (let j = i + 1; j <= n; j++) if (z[i][j][0] + z[j][i][0] !== 0 && z[i][0][0] !== -z[0][i][0]) return [i - 1, j - 1];
  return [0, Math.min(1, n - 1)];
}

export function Zone({ zone }) {
  const z = useMemo(() => closed(zone), [zone]), n = zone.clocks.length, [chosen, choose] = useState(null), [x, y] = chosen ?? pair(z, n);
  const pick = (k, label) => <select aria-label={label} value={k === 0 ? x : y} onChange={e => choose(k === 0 ? [+e.currentTarget.value, y] : [x, +e.currentTarget.value])}>{zone.clocks.map((c, i) => <option key={c} value={i}>{c}</option>)}</select>;
  return <div class="zone"><div class="gh"><span>Zone</span><span>{zone.bounds.length ? '' : 'any values'}</span></div>
    {zone.shown.split(' ∧ ').map(c => <div class="vr m" key={c}>{c}</div>)}
    {n > 1 && <Fragment><Shadow z={z} names={zone.clocks} x={x} y={y} />{n > 2 && <div class="row zpick">{pick(0, 'Across')}<span class="mu">and</span>{pick(1, 'Up')}</div>}</Fragment>}
  </div>;
}
