// The simulator: what can be done in the state that is looked at. It stands where properties stand, so that model, values and steps stay.
import { Fragment, h } from 'preact';
import { useState } from 'preact/hooks';
import { checkFrom } from './actions.js';
import { Button, Icon, Seg } from './icons.jsx';
import { plainly } from './layout.js';
import { called, shown } from './run.js';
import { state } from './store.js';
import { along, inSets, move, random, restart, undo, walkTo } from './walk.js';

function Offer({ s, onTake, later }) {
  const parts = s.parts ?? [], moved = parts.filter(p => p.name && p.from != null && p.to != null), sends = parts.filter(p => p.sends && p.name).map(p => p.name), gets = parts.filter(p => !p.sends && p.name).map(p => p.name);
  const sets = Object.entries(s.set).filter(([n, v]) => n !== 'at' && !v?.bounds && !(state.symbolic && state.walk?.run?.clocks.has(n)) && !moved.some(p => p.name === n)).map(([n, v]) => (/ /.test(n) ? `${plainly(n)}: ${shown(v)}` : `${n} := ${shown(v)}`)).join(', ');
  return <button type="button" class="pr offer" onClick={onTake}>
    <span class="row">{!s.message && s.place?.line > 0 && <span class="mu">line {s.place.line}</span>}{!s.message && s.place?.line > 0 && called(s) === s.label ? <code>{s.place.text || s.label}</code> : <b>{called(s) || 'step'}</b>}{s.message && <span class="mu">{sends.join(', ')}{gets.length ? ` → ${gets.join(', ')}` : ''}</span>}{later && <span class="num">after {s.delay}</span>}</span>
    {moved.length > 0 && (s.message || !s.label.includes('→')) && <span class="ev">{moved.map(p => `${p.from} → ${p.to}`).join(', ')}</span>}
    {sets && <span class="ev m">{sets}</span>}
  </button>;
}

const LIMIT = { forever: () => 'Time may pass without limit', never: () => 'No time may pass here', upto: w => `Up to ${w.limit} time units may pass`, below: w => `Less than ${w.limit} time units may pass`, unknown: () => 'How long time may pass is not worked out' };

function Wait({ wait }) {
  const [delay, setDelay] = useState('1');
  if (!wait) return null;
  return <div class="waitbox"><span class="mu">{LIMIT[wait.kind](wait)}</span>
    {wait.kind !== 'never' && <form class="row" onSubmit={e => { e.preventDefault(); move(`w ${delay}`); }}><input aria-label="How long" value={delay} onInput={e => setDelay(e.currentTarget.value)} size="6" /><button type="submit" class="btn"><Icon n="wait" />Wait</button>
      {wait.limit && wait.kind === 'upto' && <Button label={`Wait ${wait.limit}`} onClick={() => move(`w ${wait.limit}`)}>{wait.limit}</Button>}</form>}</div>;
}

function Input({ ask }) {
  const [value, setValue] = useState('');
  return <form class="waitbox" onSubmit={e => { e.preventDefault(); move(`${ask.name} = ${value}`); }}><span><b>{ask.name}</b> <span class="mu">is open: {ask.domain}</span></span><span class="row"><input aria-label={ask.name} value={value} onInput={e => setValue(e.currentTarget.value)} /><button type="submit" class="btn">Set</button></span></form>;
}

export function Simulator() {
  const w = state.walk, c = w?.choices, isPast = w?.run && state.step < w.run.n;
  const ticking = !!w?.run && [...w.run.clocks].some(c => !['0', undefined].includes(w.run.state(w.run.n).get(c)));
  const load = e => { const file = e.currentTarget.files[0]; if (file) file.text().then(t => along(t, 1e6)); };
  // Going on from an earlier step forgets what came after it; a wait and a step are two moves.
  const keep = () => { let n = 0, k = 0; for (const m of w.moves) { if (n >= state.step && !m.startsWith('w')) break; k++; if (!m.startsWith('w') && !m.includes('=')) n++; } return w.moves.slice(0, k); };
  return <aside class="pane props" aria-label="Simulator">
    <div class="ph"><h2>Simulate</h2><span class="mu">{w?.run ? `${w.run.n} steps` : ''}</span><span class="sp" /><Button icon="back" label="Undo" disabled={!w?.moves.length} onClick={undo} /><Button icon="dice" label="A step at random" onClick={() => random(1)} /><Button icon="first" label="Start again" disabled={!w?.moves.length} onClick={restart} /></div>
    {(w?.canBeSets || state.symbolic) && <div class="flt"><Seg label="What a state is" value={state.symbolic} options={[[false, 'Concrete'], [true, w?.run?.zone || w?.run?.clocks.size ? 'Zones' : 'Predicates']]} onChange={inSets} /></div>}
    <div class="pb" tabIndex={0} role="group" aria-label="What can be done">
      {w?.error && <pre class="diag" role="alert">{w.error}</pre>}
      {isPast && <p class="empty">You look at step {state.step}. <Button label="Go on from here" onClick={() => walkTo(keep())}>Go on from here</Button></p>}
      {!isPast && c && <Fragment>
        {w.remark && <p class="empty"><span class="chip fail">{w.remark}</span></p>}
        <Wait wait={c.wait} />
        {c.ask?.kind === 'input' && <Input ask={c.ask} />}
        {c.error && <pre class="diag">{c.error}</pre>}
        <div class="gh"><span>{{ start: 'It may start in several ways', input: 'Some values' }[c.ask?.kind] ?? 'Enabled now'}</span><span>{c.all ?? c.offers?.length ?? 0}</span></div>
        {c.offers?.map((s, i) => <Offer key={i} s={s} onTake={() => move(String(i))} />)}
        {c.all > c.offers?.length && <p class="empty">and {c.all - c.offers.length} more</p>}
        {c.offers?.length === 0 && !c.later?.length && !c.error && <p class="empty">No step is possible: a deadlock, or the end.</p>}
        {c.later?.length > 0 && <Fragment><div class="gh"><span>After waiting</span><span>{c.later.length}</span></div>{c.later.map((s, i) => <Offer key={i} s={s} later onTake={() => move(`w ${s.delay}`)} />)}</Fragment>}
      </Fragment>}
      {!w && <p class="empty">Reading the model …</p>}
    </div>
    <div class="det"><span class="row wrap"><Button icon="dice" label="Ten steps at random" onClick={() => random(10)}>10 at random</Button>{w?.canBegin && !state.symbolic && w.moves.length > 0 && !isPast && <Button icon="play" label="All properties, from this state on" disabled={ticking} title={ticking ? 'A check begins where all clocks are 0' : 'All properties, from this state on'} onClick={() => checkFrom([state.after, ...w.moves].filter(Boolean).join(';'))}>Check from here</Button>}<label class="btn"><Icon n="open" />Replay a trace<input class="vh" type="file" accept=".json" onChange={load} /></label></span></div>
  </aside>;
}
