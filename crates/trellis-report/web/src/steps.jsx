// The run pane: transport, the steps in words, and charts beside them.
import { Fragment, h } from 'preact';
import { useCallback } from 'preact/hooks';
import { Proved } from './proof.jsx';
import { current, forward, go, pause, play, run, walking } from './actions.js';
import { chartsOf } from './charts.jsx';
import { Button, Seg } from './icons.jsx';
import { plainly } from './layout.js';
import { live, set, state } from './store.js';
import { along } from './walk.js';
import { Virtual } from './virtual.jsx';

// Where a program or a statechart is, is shown by its picture.
export const SHOWN = new Set(['states', 'active', 'at']);
function changes(r, i) {
  const s = r.steps[i - 1], places = new Set(r.places);
  return Object.keys(s.set).filter(n => !places.has(n) && !r.clocks.has(n) && !SHOWN.has(n) && n !== r.zone).map(n => (/ /.test(n) ? `${plainly(n)}: ${r.value(n, s.set[n])}` : `${r.label(n)} := ${r.value(n, s.set[n])}`)).join(', ');
}

function Step({ r, i, isBad }) {
  const w = r.words(i), wait = i ? r.wait(i) : null, set_ = i ? changes(r, i) : '', inLoop = r.back != null && i > r.back;
  return <div>
    {wait && <div class="wt">wait {wait}, until time {r.time(i)}</div>}
    <button type="button" class={`st${isBad && i === r.n ? ' endf' : ''}${inLoop ? ' loop' : ''}${r.back === i && r.back < r.n ? ' entry' : ''}`} aria-current={state.step === i ? 'step' : undefined} onClick={() => { pause(); go(i); }}>
      <span class="i">{i}</span>
      <span class="b"><span class="a">{w.line > 0 && <span class="mu ln-no">line {w.line}</span>}{w.code ? <code>{w.title}</code> : w.ends ? <Fragment><b>{w.ends[0]}</b><b class="arrow">→</b><b>{w.ends[1]}</b></Fragment> : <b>{w.title}</b>}{w.who && <span class="mu">{w.who}</span>}{!w.code && set_ && !w.detail.includes(':=') && <span class="x">{set_}</span>}</span>
        <span class="d">{w.code ? set_ : w.detail || (i ? '' : 'initial state')}</span></span>
    </button>
  </div>;
}

export function Transport({ r }) {
  const time = r?.isTimed ? <Fragment>, time <b>{r.time(state.step)}</b></Fragment> : null, none = !r || !r.n;
  return <Fragment>
    <span class="tp"><Button icon="first" label="Start (Home)" disabled={none} onClick={() => go(0)} /><Button icon="prev" label="Back (←)" disabled={none} onClick={() => go(state.step - 1)} />
      <Button icon={state.playing ? 'stop' : 'play'} label={state.playing ? 'Stop (Space)' : 'Play (Space)'} disabled={none} onClick={play} /><Button icon="next" label="Forward (→)" disabled={none} onClick={forward} /><Button icon="last" label="End" disabled={none} onClick={() => go(r.n)} /></span>
    <input type="range" min="0" max={r?.n ?? 0} value={state.step} disabled={none} aria-label="Step" aria-valuetext={r ? `step ${state.step} of ${r.n}` : ''} onInput={e => go(+e.currentTarget.value)} />
    <span class="pos">{r ? <Fragment>step <b>{state.step}</b> of {r.n}{time}</Fragment> : 'no run'}</span>
  </Fragment>;
}

export function RunPane() {
  const r = run(), a = current(), charts = r ? chartsOf(r) : [], isBad = state.view === 'check' && a?.report.holds === false, chart = Math.min(state.chart, charts.length);
  const height = useCallback(i => (i > (r?.n ?? 0) ? 26 : 44) + (r && i && i <= r.n && r.wait(i) ? 22 : 0), [r]);
  const close = r?.close();
  return <section class="pane run" aria-label="Run">
    <div class="ph"><h2>{walking() ? 'Walk' : 'Run'}</h2><Transport r={r} />
      {charts.length > 1 && <Seg label="Chart" cls="chartseg" value={chart} options={charts.map((c, i) => [i + 1, c.title])} onChange={chart => set({ chart })} />}
      {live && state.view === 'check' && a?.report.trace && <Button icon="play" label="Go on from here by hand" title="Simulate from this step" onClick={() => { set({ view: 'simulate' }); along(a.report.trace, r.raw ? r.raw[state.step] : state.step); }}>Simulate from here</Button>}
    </div>
    {r ? <div class={`rb c${charts.length}`} data-c={chart}>
      <Virtual n={r.n + 1 + (close ? 1 : 0)} height={height} at={state.step} label="Steps" row={i => (i > r.n ? <div class={`end${isBad ? ' bad' : ''}`} key="end">{r.back != null && r.back < r.n ? <button type="button" onClick={() => go(r.back)}>↺ {close}</button> : close}</div> : <Step key={i} r={r} i={i} isBad={isBad} />)} />
      {charts.map((c, i) => <c.Chart key={c.title} r={r} step={state.step} cls={`c${i + 1}`} />)}
    </div> : a?.proof && state.view === 'check' ? <Proved key={`${state.row}/${state.answer}`} a={a} /> : <p class="empty">{a ? (a.proof ? 'The property holds: there is no run to show.' : a.report.reason?.text ?? 'This answer has no run.') : state.rows.length ? 'Choose a property, or run it.' : 'Ask something, or simulate.'}</p>}
  </section>;
}
