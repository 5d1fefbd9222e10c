// The properties: failing ones first, each with its verdict and how that was checked; what is running, with what it counts.
import { Fragment, h } from 'preact';
import { useState } from 'preact/hooks';
import { add, change, checkFrom, choose, failed, remove, runAll, runOne, stop, stopAll, sum } from './actions.js';
import { Button, Chip, Icon, Seg } from './icons.jsx';
import { live, set, state } from './store.js';

export const seconds = s => (s < 0.0995 ? `${Math.max(0.1, s * 1000).toFixed(1)} ms` : s < 100 ? `${s.toFixed(1)} s` : `${Math.round(s)} s`);
const many = (n, what) => `${n.toLocaleString('en')} ${what}${n === 1 ? '' : 's'}`;

// Engines count different things; what they do not count is not shown.
const WORDS = { added: 'states', waiting: 'waiting', steps: 'steps', covered: 'covered', refinements: 'refined', joins: 'joins', stored: 'stored', expanded: 'expanded' };
function counts(p) {
  const all = Object.fromEntries(['added', 'steps', 'covered', 'refinements', 'joins'].map(k => [k, sum(p, k)]));
  return Object.entries({ added: all.added, waiting: p.runners.reduce((a, r) => a + r.waiting, 0), steps: all.steps, ...(all.refinements ? { refinements: all.refinements } : { covered: all.covered }) });
}

// What one engine of a portfolio counts: what it has most to say about.
const counted = r => ['refinements', 'added', 'expanded', 'steps'].filter(k => r.counts[k]).slice(0, 2).map(k => `${r.counts[k].toLocaleString('en')} ${WORDS[k]}`).join(', ');

function Progress({ row }) {
  const p = row.progress;
  if (!p) return <span class="ev">reading the model</span>;
  const past = row.past.slice(-200), x = Math.max(1, past.length - 1), y = Math.max(1, ...past.map(q => q[1]));
  return <Fragment>
    {past.some(q => q[1] > 0) && <svg class="spark" viewBox="0 0 228 22" preserveAspectRatio="none" role="img" aria-label="States that wait, over time"><path d="M0 21.5H228" stroke="var(--line2)" vector-effect="non-scaling-stroke" />
      <path d={`M${past.map((q, i) => `${(i / x * 228).toFixed(1)} ${(21 - q[1] / y * 19).toFixed(1)}`).join('L')}`} fill="none" stroke="var(--accent)" stroke-width="1.5" vector-effect="non-scaling-stroke" /></svg>}
    {sum(p, 'added') > 0 && <span class="kv4">{counts(p).map(([k, v]) => <span key={k}><b>{v.toLocaleString('en')}</b>{WORDS[k]}</span>)}</span>}
    {p.runners.length > 1 && p.runners.map(r => <span class="ev runner" key={r.name}><span>{r.name}</span><span>{counted(r)}</span></span>)}
    <span class="ev">{seconds(p.seconds)}{p.memory ? `, ${Math.round(p.memory / 1048576)} MiB` : ''}</span>
  </Fragment>;
}

function evidence(a) {
  const r = a.report;
  if (r.reason) return ['warn', r.reason.text];
  if (r.unchecked) return ['warn', r.unchecked];
  const said = r.checked ?? 'not re-checked';
  return [r.checked ? 'ok' : 'warn', said.charAt(0).toUpperCase() + said.slice(1)];
}

function Row({ row, n }) {
  const a = row.answers[n], busy = row.status === 'running' || row.status === 'queued', on = state.row === row.id && state.answer === n;
  const verdict = row.status === 'running' ? 'running' : row.status === 'queued' ? 'waiting' : a ? a.report.verdict : row.status === 'failed' ? 'ERROR' : 'not run';
  const value = a?.report.clock_bound?.value ?? a?.report.bound, [icon, said] = a && !busy ? evidence(a) : row.error ? ['warn', row.error] : [];
  return <button type="button" class="pr" aria-current={on} onClick={() => choose(row.id, n)}>
    <span class="row"><Chip verdict={verdict} />{row.kind && !(a?.report.query ?? row.text).startsWith(row.kind) && <span class="tag">{row.kind}</span>}<span class="num">{a && !busy && a.report.seconds ? seconds(a.report.seconds) : ''}</span></span>
    <span class="q">{a?.report.query || row.text}{value != null && <b> = {value}</b>}</span>
    {busy && row.status === 'running' ? <Progress row={row} /> : said && <span class="ev"><Icon n={icon} /><span>{said}</span></span>}
  </button>;
}

const group = (row, n) => {
  const a = row.answers[n];
  if (row.status === 'running' || row.status === 'queued') return 1;
  if (row.status === 'failed' || (a && failed(a.report))) return 0;
  return !a ? 2 : a.report.verdict === 'UNKNOWN' ? 2 : 3;
};
// All properties as they are listed: failing ones first.
export const listed = () => state.rows.flatMap(row => (row.answers.length ? row.answers : [null]).map((_, n) => ({ row, n }))).map((x, i) => ({ ...x, i, g: group(x.row, x.n) })).sort((a, b) => a.g - b.g || a.i - b.i);
const TITLES = ['Failing', 'Running', 'Open', 'Holding'];

function Detail({ row, a, edit }) {
  const r = a?.report, busy = row.status === 'running' || row.status === 'queued';
  const explored = r && Object.entries(r.statistics ?? {}).filter(([k, v]) => v && !['added', 'expanded'].includes(k)).map(([k, v]) => `${v.toLocaleString('en')} ${k === 'stored' ? 'states' : k}`).join(', ');
  const size = r?.certificate && Object.entries(r.certificate).filter(([, v]) => typeof v === 'number').map(([k, v]) => `${v.toLocaleString('en')} ${k.replaceAll('_', ' ')}`).join(', ');
  const facts = [['Engine', r?.engine], ['Explored', explored], ['Proof', size], ['Evidence', r && evidence(a)[1]], ['Assumes', r?.assumes?.join('; ')], ['Warning', r?.warnings?.join('; ')], ['Note', [...(a?.note ? [a.note] : []), ...(row.notes ?? [])].join(' ').trim()]].filter(f => f[1]);
  const save = (name, data) => { const link = Object.assign(document.createElement('a'), { href: URL.createObjectURL(new Blob([JSON.stringify(data)], { type: 'application/json' })), download: name }); link.click(); URL.revokeObjectURL(link.href); };
  return <div class="det">
    {row.error && <pre class="diag">{row.error}</pre>}
    <dl>{facts.map(([k, v]) => <Fragment key={k}><dt>{k}</dt><dd>{v}</dd></Fragment>)}</dl>
    {live && <details class="opts"><summary>Options{state.options ? `: ${state.options}` : ''}</summary><label class="mu">as trellis check reads them, for all properties<input value={state.options} placeholder="--engine lazy --timeout 5m" onInput={e => set({ options: e.currentTarget.value })} onKeyDown={e => { if (e.key === 'Enter') runOne(row.id); }} /></label></details>}
    <span class="row wrap">
      {live && row.question != null && (busy ? <Button icon="stop" label="Stop" onClick={() => stop(row.id)}>Stop</Button> : <Button icon="redo" label="Run this property" onClick={() => runOne(row.id)}>{a ? 'Re-run' : 'Run'}</Button>)}
      {live && row.question != null && !busy && <Button label="Edit this property" onClick={edit}>Edit</Button>}
      {a?.proof && <Button label="Look at the proof" onClick={() => set({ view: 'proof' })}>Proof</Button>}
      {r?.trace && <Button icon="save" label="Save the trace" onClick={() => save('trace.json', r.trace)}>Trace</Button>}
      {a?.proof?.document && <Button icon="save" label="Save the certificate" onClick={() => save('certificate.json', a.proof.document)}>Certificate</Button>}
      {row.own && <Button icon="close" label="Remove this property" onClick={() => remove(row.id)} />}
    </span>
  </div>;
}

function Ask({ done, row }) {
  const [option, setOption] = useState(row?.options[0]?.split('=')[0] ?? (row?.kind === 'LTL' ? '--ltl' : '--property')), [text, setText] = useState(row?.text ?? '');
  const submit = e => { e.preventDefault(); if (text.trim()) { if (row) change(row.id, option, text.trim()); else add(option, text.trim()); done(); } };
  return <form class="ask" onSubmit={submit}>
    <select aria-label="What is asked" value={option} onChange={e => setOption(e.currentTarget.value)}>
      <option value="--property">Property</option><option value="--error">Never</option><option value="--ltl">LTL formula</option>
    </select>
    <textarea aria-label="The property" rows="2" placeholder={{ '--property': 'A[] not P.bad', '--error': 'what must never hold', '--ltl': 'G(request -> F answer)' }[option]} value={text} autofocus
      onInput={e => setText(e.currentTarget.value)} onKeyDown={e => { if (e.key === 'Enter' && !e.shiftKey) submit(e); }} />
    <span class="row"><button type="submit" class="btn pri">Ask</button><Button label="Close" onClick={done}>Close</Button></span>
  </form>;
}

export function Properties() {
  const [asking, setAsking] = useState(false);
  const all = state.rows.flatMap(row => (row.answers.length ? row.answers : [null]).map((_, n) => ({ row, n })));
  const failing = all.filter(({ row, n }) => group(row, n) === 0).length, word = state.filter.toLowerCase();
  const seen = all.filter(({ row, n }) => (!word || (row.answers[n]?.report.query ?? row.text).toLowerCase().includes(word)) && (!state.only || group(row, n) === 0));
  const row = state.rows.find(r => r.id === state.row), isBusy = state.rows.some(r => ['running', 'queued'].includes(r.status));
  return <aside class="pane props" aria-label="Properties">
    <div class="ph"><h2>Properties</h2><span class="mu">{all.length}</span><span class="sp" />
      {live && <Button icon="plus" label="Ask something" aria-expanded={!!asking} onClick={() => setAsking(!asking)} />}
      {live && state.rows.length > 0 && (isBusy ? <Button icon="stop" label="Stop all" onClick={stopAll}>Stop all</Button> : <Button icon="play" label="Run all properties" onClick={runAll}>Run all</Button>)}
    </div>
    {state.after && <div class="flt from"><span>From the state after {many(state.after.split(';').length, 'move')}</span><Button icon="close" label="From the start again" onClick={() => checkFrom('')} /></div>}
    {asking && <Ask key={asking.id ?? 0} row={asking.id ? asking : null} done={() => setAsking(false)} />}
    {all.length > 3 && <div class="flt"><input id="filter" type="search" placeholder="Filter  /" aria-label="Filter properties" value={state.filter} onInput={e => set({ filter: e.currentTarget.value })} />
      {failing > 0 && <Seg label="Show" value={state.only} options={[[false, 'All'], [true, `Failing ${failing}`]]} onChange={only => set({ only })} />}</div>}
    <div class="pb" tabIndex={0} role="group" aria-label="List of properties">
      {TITLES.map((title, g) => { const list = seen.filter(({ row, n }) => group(row, n) === g); return list.length > 0 && <Fragment key={title}><div class="gh"><span>{title}</span><span>{list.length}</span></div>{list.map(({ row, n }) => <Row key={`${row.id}/${n}`} row={row} n={n} />)}</Fragment>; })}
      {!all.length && <p class="empty">{state.model?.advice ? <Fragment>Nothing is asked of this model yet. {live && <Button icon="plus" label="Ask something" onClick={() => setAsking(true)}>Ask something</Button>}</Fragment> : 'No properties.'}</p>}
      {all.length > 0 && !seen.length && <p class="empty">No property matches. <Button label="Clear the filter" onClick={() => set({ filter: '', only: false })}>Clear filter</Button></p>}
    </div>
    {row && <Detail row={row} a={row.answers[state.answer]} edit={() => setAsking(row)} />}
  </aside>;
}
export { many };
