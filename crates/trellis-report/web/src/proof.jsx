// The proof pane: what was found that shows why nothing bad can happen, as tables that can be searched.
import { Fragment, h } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { current } from './actions.js';
import { shown } from './run.js';
import { tablesOf } from './certificate.js';
import { Virtual } from './virtual.jsx';

function Table({ t }) {
  const [word, setWord] = useState(''), rows = useMemo(() => { const w = word.toLowerCase(); return w ? t.rows.filter(r => r.some(c => String(c).toLowerCase().includes(w))) : t.rows; }, [t, word]);
  const widths = t.columns.map((c, i) => Math.min(60, Math.max(c.length, ...t.rows.slice(0, 200).map(r => String(r[i] ?? '').length)))), grid = widths.map(w => `minmax(${Math.min(w, 8)}ch, ${w}fr)`).join(' ');
  const lines = i => Math.max(1, ...rows[i].map(c => String(c).split('\n').length));
  return <section class="ptable"><div class="gh"><span>{t.title}</span><span>{rows.length.toLocaleString('en')}{rows.length < t.rows.length ? ` of ${t.rows.length.toLocaleString('en')}` : ''}</span></div>
    {t.rows.length > 12 && <div class="flt"><input type="search" placeholder="Search" aria-label={`Search ${t.title}`} value={word} onInput={e => setWord(e.currentTarget.value)} /></div>}
    <div class="tr th" style={{ gridTemplateColumns: grid }}>{t.columns.map(c => <span key={c}>{c}</span>)}</div>
    <Virtual n={rows.length} height={useMemo(() => i => 8 + 17 * lines(i), [rows])} label={t.title} row={i => <div class="tr" key={i} style={{ gridTemplateColumns: grid }}>{rows[i].map((c, k) => <span key={k} title={String(c)}>{String(c)}</span>)}</div>} /></section>;
}

export function Proof() {
  const a = current(), proof = a?.proof, tables = useMemo(() => (proof?.document ? tablesOf(proof.document) : []), [proof]), [tab, setTab] = useState(0);
  if (!proof) return <main class="pane model" aria-label="Proof"><div class="ph"><h2>Proof</h2></div><p class="empty">This property has no proof to show.</p></main>;
  const kind = proof.document?.kind, t = tables[Math.min(tab, tables.length - 1)];
  return <main class="pane model" aria-label="Proof">
    <div class="ph"><h2>Proof</h2><span class="mu">{proof.summary || WHY[kind] || ''}</span><span class="sp" />{tables.length > 1 && <span class="seg" role="group" aria-label="Part of the proof">{tables.map((q, i) => <button type="button" key={q.title} aria-pressed={q === t} onClick={() => setTab(i)}>{q.title}</button>)}</span>}</div>
    {WHY[kind] && <p class="why">{WHY[kind]}{a.report.checked ? <Fragment> <b>Checked again:</b> {a.report.checked}.</Fragment> : ''}</p>}
    {t ? <Table key={t.title} t={t} /> : proof.text ? <pre class="prooftext" tabIndex={0}>{proof.text}</pre> : <p class="empty">The certificate is too large to be shown; save it with --certificate.</p>}
    {t && proof.text && <details class="inwords"><summary>In words</summary><pre tabIndex={0}>{proof.text}</pre></details>}
  </main>;
}
const WHY = {
  states: 'The initial state is in this set, no step leaves it, and nothing bad is in it.', invariant: 'Each formula holds whenever its location is reached: it holds at the start, every step keeps it, and it excludes the error.',
  basis: 'Vectors that no run reaches, or never leaves: everything above or below them is covered.', relation: 'A set of configurations that holds the initial ones, that no step leaves, and in which nothing is bad.',
  partition: 'The states of each node in blocks, and the tuples of blocks that can be reached.', ranking: 'An abstraction in which something decreases whenever the bad happens: it cannot go on forever.',
};
export { shown };
