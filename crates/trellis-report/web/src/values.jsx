// All values at the step that is looked at; what it has changed is marked, with the value before.
import { h } from 'preact';
import { run } from './actions.js';
import { plainly } from './layout.js';
import { state } from './store.js';
import { Virtual } from './virtual.jsx';
import { Zone } from './zone.jsx';

// Values by what they are: where parts are, variables, clocks.
export function groups(r) {
  const places = new Set(r.places), of = test => r.names.filter(n => n !== r.zone && test(n));
  // A predicate is no name.
  const said = n => r.look.symbolic && /[^\w.:[\]]/.test(n), scope = n => (n.includes('::') && !said(n) ? n.slice(0, n.lastIndexOf('::')) : null), scopes = [...new Set(r.names.map(scope).filter(Boolean))];
  return [['Locations', of(n => places.has(n) && r.places.length > 1)], ['Variables', of(n => !(places.has(n) && r.places.length > 1) && !r.clocks.has(n) && !scope(n) && !said(n))], ['Predicates', of(said)], ...scopes.map(s => [`In ${s}`, of(n => scope(n) === s)]), ['Clocks', of(n => r.clocks.has(n))]].filter(g => g[1].length);
}

export function Value({ name, value, before, isNew }) {
  return <div class={`vr${isNew ? ' ch' : ''}`} title={`${name} = ${value}`}><span class="k">{/ /.test(name) ? plainly(name) : name.split('::').at(-1)}</span><span class="v">{isNew && before !== '' && before !== '–' && before != null && <span class="w">{before} → </span>}{value}</span></div>;
}

export function Values() {
  const r = run();
  if (!r) return <aside class="pane vals" aria-label="Values"><div class="ph"><h2>Values</h2></div><p class="empty">Values are shown along a run.</p></aside>;
  const now = r.state(state.step), changed = r.changed(state.step);
  const rows = groups(r).flatMap(([title, names]) => [{ title }, ...names.map(name => ({ name }))]);
  const at = rows.findIndex(x => changed.has(x.name));
  return <aside class="pane vals" aria-label="Values">
    <div class="ph"><h2>Values</h2><span class="sp" /><span class="mu">{changed.size ? `${changed.size} changed` : ''}</span></div>
    <Virtual n={rows.length} height={22} at={rows.length > 30 ? at : null} label="Values" cls="pb" row={i => rows[i].title ? <div class="gh" key={i}><span>{rows[i].title}</span></div>
      : <Value key={i} name={rows[i].name} value={now.get(rows[i].name)} before={changed.get(rows[i].name)} isNew={changed.has(rows[i].name)} />} />
    {r.zone && <Zone zone={r.zoneAt(state.step)} />}
  </aside>;
}

// On a narrow page the model pane says itself what has changed.
export function Now() {
  const r = run();
  if (!r) return null;
  const changed = [...r.changed(state.step)], now = r.state(state.step);
  return <div class="now"><div class="gh"><span>Changed in this step</span><span>{changed.length || 'nothing'}</span></div>
    {changed.slice(0, 4).map(([n, before]) => <Value key={n} name={n} value={now.get(n)} before={before} isNew />)}
    {changed.length > 4 && <div class="vr mu">and {changed.length - 4} more under Values</div>}</div>;
}
