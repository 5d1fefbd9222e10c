// The frame: header, panes, keys.
import { Fragment, h, render } from 'preact';
import { useEffect } from 'preact/hooks';
import './style.css';
import { choose, current, follow, forward, go, play, remember, roundsOf, run, start, theme, walking } from './actions.js';
import { First } from './first.jsx';
import { Button, Chip, Logo, Seg } from './icons.jsx';
import { Model } from './model.jsx';
import { Proof } from './proof.jsx';
import { Properties, listed } from './props.jsx';
import { Simulator } from './simulate.jsx';
import { States } from './states.jsx';
import { RunPane } from './steps.jsx';
import { live, say, set, state, tool, useStore } from './store.js';
import { Values } from './values.jsx';
import { restart, unfoldTo } from './walk.js';

function view(v) {
  set({ view: v });
  if (v === 'states') unfoldTo(state.walk?.moves ?? []);
  else if (v === 'simulate') { if (!state.walk) restart(); else set({ step: state.walk.run?.n ?? 0 }); }
  else set({ step: Math.min(state.step, run()?.n ?? 0) });
  remember();
}

const Name = ({ m }) => { const at = m ? m.name.lastIndexOf('/') + 1 : 0; return m ? <Fragment><span class="dir">{m.name.slice(0, at)}</span>{m.name.slice(at)}</Fragment> : 'no model open'; };
function Header() {
  const m = state.model, a = current(), proofs = !!(a?.proof || (a && roundsOf()));
  return <header class="top">
    <span class="logo"><Logo /><span class="hide-s">Trellis</span></span>
    {live ? <button type="button" class="file m" onClick={() => set({ menu: !state.menu })} title="Open another model (O)" aria-expanded={state.menu}><Name m={m} /></button> : <span class="file m"><Name m={m} /></span>}
    {m && <span class="tag hide-m">{m.title}</span>}{a && <span class="tv"><Chip verdict={a.report.verdict} /></span>}<span class="sp" />
    {m && <Seg label="View" value={state.view} options={[['check', 'Check'], ...(live ? [['simulate', 'Simulate', !!m.error], ['states', 'States', !!m.error]] : []), ['proof', 'Proof', !proofs]]} onChange={view} />}
    {m && live && <Button icon="link" label="Copy a link to this state" onClick={() => { navigator.clipboard?.writeText(location.href.replace(/token=[^&#]*&?/, '')); say('Link copied: the part after # opens the same state of this model'); }} />}
    <Button icon="sun" label="Light or dark (T)" onClick={() => theme()} />
  </header>;
}

const KEYS = [['← →', 'one step back, forward'], ['Home End', 'first and last step'], ['Space', 'play, stop'], ['↑ ↓', 'the property before, after'], ['/', 'filter properties'], ['1 … 9', 'choose a process'], ['O', 'open a model'], ['T', 'light or dark'], ['?', 'these keys'], ['Esc', 'close']];
const Help = () => <div class="help" onClick={() => set({ help: false })}><div role="dialog" aria-modal="true" aria-label="Keys" tabIndex={-1} ref={e => e?.focus()}><h2>Keys</h2>{KEYS.map(([k, what]) => <Fragment key={k}><kbd>{k}</kbd><span>{what}</span></Fragment>)}<p class="mu">{tool}</p></div></div>;

function App() {
  useStore();
  useEffect(() => { document.title = `${state.model?.name ?? 'Open a model'} · Trellis`; });
  const isOpen = state.model && !state.menu;
  return <Fragment>
    {isOpen ? <div class="app" data-pane={state.pane} data-view={state.view} data-run={run() ? 'yes' : 'no'}>
      <Header />
      <div class="pswitch"><Seg label="Pane" value={state.pane} options={[['props', walking() ? 'Choices' : 'Properties'], ['model', state.view === 'proof' ? 'Proof' : state.view === 'states' ? 'States' : 'Model'], ['run', 'Run'], ['vals', 'Values']]} onChange={pane => set({ pane })} /></div>
      {walking() ? <Simulator /> : <Properties />}
      {state.view === 'proof' ? <Proof /> : state.view === 'states' ? <States /> : <Model />}
      <Values /><RunPane />
    </div> : <div class="app start"><Header />{state.files || !live ? <First /> : <p class="empty">{state.said || 'Reading …'}</p>}</div>}
    {state.help && <Help />}
    {state.busy && <div class="busybar" role="status">Reading the model …</div>}
    <div class="vh" aria-live="polite">{state.said}</div>
  </Fragment>;
}

addEventListener('keydown', e => {
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  const typing = e.target.matches?.('input:not([type=range]):not([type=file]),textarea,select'), k = e.key;
  if (k === 'Escape') { set({ help: false, menu: false }); e.target.blur?.(); return; }
  // The slider of rounds has keys of its own.
  if (typing || (e.target.closest?.('.rounds') && /^(Arrow|Home|End)/.test(k))) return;
  if (/^[1-9]$/.test(k) && state.model) { const roots = state.model.drawing.nodes.flatMap((n, i) => (n.within == null && n.shape !== 'start' ? [i] : [])); if (roots.length > 1 && roots[k - 1] != null) set({ focus: roots[k - 1] }); return; }
  const act = { '?': () => set({ help: true }), t: () => theme(), T: () => theme(), o: () => live && set({ menu: true }), O: () => live && set({ menu: true }), ArrowRight: forward, ArrowLeft: () => go(state.step - 1), Home: () => go(0), End: () => go(run()?.n ?? 0),
    ' ': () => { if (e.target.matches?.('button,summary,label')) return false; play(); }, '/': () => document.getElementById('filter')?.focus(), ArrowDown: () => turn(1, e), ArrowUp: () => turn(-1, e) }[k];
  if (act && act() !== false) e.preventDefault();
});
// The property before or after; lists that scroll keep their keys.
function turn(by, e) {
  if (walking() || e.target.closest?.('.virtual,.cv,.chart,.pb')) return false;
  const all = listed().map(({ row, n }) => [row.id, n]), at = all.findIndex(([id, n]) => id === state.row && n === state.answer), next = all[at + by];
  if (next) choose(...next);
}
addEventListener('hashchange', follow);
addEventListener('resize', () => set({}));
const wanted = new URLSearchParams(location.search).get('theme');
if (wanted) theme(wanted);
render(<App />, document.getElementById('app'));
start();
