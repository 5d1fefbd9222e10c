// What a person can do: open a model, run checks, go to a step. The address of the page says where one is (`#/r/2/0/5` is step 5 of the first answer
// to the third property, `#/s/0.3.w%205` a walk, `#/z/0.3` one in sets of states), so that a link restores it.
import { ask, stream } from './api.js';
import { runOf } from './run.js';
import { unfoldTo, walkTo } from './walk.js';
import { frozen, live, say, set, state } from './store.js';

const AT_ONCE = 2;
let nextId = 1;

export const rowOf = id => state.rows.find(r => r.id === id);
export const current = () => { const row = rowOf(state.row); return row?.answers[state.answer] ?? null; };
// Where checks and walks begin, if not at the start.
export const begin = () => (state.after ? [`--after=${state.after}`] : []);
// What refinement went through; of several answers to one question, the first has it.
export const roundsOf = () => current()?.rounds ?? rowOf(state.row)?.answers.find(a => a.rounds)?.rounds ?? null;
export const walking = () => state.view === 'simulate' || state.view === 'states';
export const run = () => (walking() ? state.walk?.run ?? null : runOf(current()));
export const failed = report => report.holds === false || report.verdict === 'ERROR';
export const source = () => ({ name: state.model.name, ...(state.text != null && state.text !== state.model.disk ? { text: state.text } : {}) });

const rowsOf = (model, asks) => [
  ...model.questions.map((q, n) => ({ id: nextId++, text: q.text, kind: q.kind, options: [], question: n, answers: [], status: 'idle' })),
  ...model.refused.map(report => ({ id: nextId++, text: report.query, kind: report.kind, options: [], answers: [{ report }], status: 'done' })),
  ...asks.map(option => ({ id: nextId++, text: option.replace(/^--[a-z]+=/, ''), kind: asked(option), options: [option], question: 0, answers: [], status: 'idle', own: true })),
];
const asked = option => ({ '--ltl': 'LTL', '--error': 'never', '--ctl': 'CTL' }[option.split('=')[0]] ?? '');

export async function start() {
  if (!live) {
    const answers = frozen.answers.map(a => ({ id: nextId++, text: a.report.query, kind: a.report.kind, options: [], answers: [a], status: 'done' }));
    set({ model: frozen.model ?? { name: '', title: '', source: '', drawing: { nodes: [], edges: [] }, questions: [], refused: [] }, rows: answers });
    chooseFirst();
    return follow();
  }
  try {
    const files = await ask('models');
    set({ files });
    const wanted = new URLSearchParams(location.search).get('model') ?? files.find(f => f.given)?.name;
    if (wanted) await open(wanted);
  } catch (error) { say(error.message); }
}

let watching = null;
export async function open(name, text = null) {
  stopAll(); pause();
  const listed = state.files?.find(f => f.name === name);
  set({ busy: true, menu: false });
  try {
    const model = await ask('model', { model: { name, ...(text != null ? { text } : {}) } });
    model.disk = text ?? model.source;
    set({ model, text: null, upload: text, rows: rowsOf(model, listed?.ask ?? []), row: null, answer: 0, step: 0, focus: null, walk: null, symbolic: false, after: new URLSearchParams(location.search).get('model') === name ? new URLSearchParams(location.search).get('after') ?? '' : '', space: null, pick: null, editing: false, view: 'check', busy: false, tab: null, diagnostics: model.error ?? null });
    const query = new URLSearchParams(location.search);
    if (query.get('model') !== name && listed) { query.set('model', name); query.delete('after'); history.replaceState(null, '', `?${query}${location.hash}`); }
    chooseFirst();
    watch(name, listed);
    if (!await follow()) runAll();
  } catch (error) { set({ busy: false }); say(error.message); }
}

function watch(name, listed) {
  watching?.abort();
  if (!listed) return;
  watching = new AbortController();
  stream(`watch?name=${encodeURIComponent(name)}`, null, watching.signal, () => { say(`${name} has changed on disk`); open(name); }).catch(() => {});
}

// Reads the model anew with the text as it is edited.
let typing = 0;
export async function edited(text) {
  set({ text });
  const now = ++typing;
  await new Promise(done => setTimeout(done, 300));
  if (now !== typing) return;
  try {
    const model = await ask('model', { model: { name: state.model.name, text } });
    if (now !== typing) return;
    if (model.error) return set({ diagnostics: model.error });
    stopAll();
    const own = state.rows.filter(r => r.own).map(r => r.options[0]);
    Object.assign(model, { disk: state.model.disk });
    set({ model, diagnostics: null, rows: rowsOf(model, own), row: null, answer: 0, step: 0, walk: null, space: null });
    chooseFirst();
  } catch (error) { set({ diagnostics: error.message }); }
}

function chooseFirst() {
  if (rowOf(state.row)) return;
  const bad = state.rows.find(r => r.answers.some(a => failed(a.report))), row = bad ?? state.rows[0];
  if (row) choose(row.id, Math.max(0, row.answers.findIndex(a => failed(a.report))), false);
}

// Takes a property as the one that is looked at. A run that fails is opened at its start.
export function choose(id, answer = 0, byHand = true) {
  pause();
  set({ row: id, answer, step: 0, chosen: byHand || state.chosen, ...(walking() ? { view: 'check' } : {}) });
  const proof = current()?.proof ?? roundsOf(), hasRun = !!runOf(current());
  if (state.view === 'proof' && !proof) set({ view: 'check' });
  if (byHand && !hasRun && proof && state.view === 'check') set({ pane: 'model' });
  remember();
}

// --- checks -----------------------------------------------------------------------------------------------------------------------

const running = () => state.rows.filter(r => r.status === 'running').length;

export function runAll() { state.rows.filter(r => r.question != null && r.status !== 'running').forEach(r => { r.status = 'queued'; }); pump(); }
export function runOne(id) { const row = rowOf(id); if (row.question != null && row.status !== 'running') { row.status = 'queued'; pump(); } }
export function stop(id) { const row = rowOf(id); if (row.status === 'queued') row.status = 'idle'; row.control?.abort(); set({}); }
export function stopAll() { for (const row of state.rows) if (['running', 'queued'].includes(row.status)) stop(row.id); }

function pump() {
  for (const row of state.rows) if (row.status === 'queued' && running() < AT_ONCE) check(row);
  set({});
}

async function check(row) {
  row.status = 'running'; row.progress = null; row.past = []; row.error = null; row.notes = []; row.control = new AbortController();
  const answers = [], words = state.options.trim() ? state.options.trim().split(/\s+(?=--)/) : [];
  const options = [...row.options, ...begin(), ...words.map(w => w.replace(/^(--[a-z-]+)\s+/, '$1='))];
  const asks = { model: source(), options, question: row.question };
  try {
    await stream('check', asks, row.control.signal, (name, data) => {
      if (name === 'answer') answers.push(data);
      else if (name === 'failed') row.error = data;
      else if (name === 'note') row.notes.push(data);
      else if (name === 'progress') { row.progress = data; row.past.push([sum(data, 'added'), data.runners.reduce((a, r) => a + r.waiting, 0)]); }
      set({});
    });
    row.answers = answers.length ? answers : row.answers;
    row.status = row.error ? 'failed' : 'done';
  } catch (error) {
    row.status = error.name === 'AbortError' ? (row.answers.length ? 'done' : 'idle') : 'failed';
    if (row.status === 'failed') row.error = error.message;
  }
  if (!rowOf(row.id)) return;
  const bad = row.answers.findIndex(a => failed(a.report));
  const now = rowOf(state.row), nowBad = now?.answers.some(a => failed(a.report));
  // What fails first is looked at, unless somebody has chosen.
  if (!state.chosen && bad >= 0 && !nowBad) choose(row.id, bad, false);
  if (row.answers[0]) say(`${row.text}: ${row.answers.map(a => a.report.verdict).join(', ')}`);
  pump();
}
export const sum = (progress, what) => progress.runners.reduce((a, r) => a + (r.counts[what] ?? 0), 0);

export async function add(option, text) {
  const row = { id: nextId++, text, kind: asked(option), options: [`${option}=${text}`], question: 0, answers: [], status: 'queued', own: true };
  set({ rows: [row, ...state.rows], row: row.id, answer: 0, step: 0, chosen: true });
  pump();
}
// All properties again, from where the walk has come to; or from the start. The address says so, too.
export function checkFrom(after) {
  stopAll();
  const query = new URLSearchParams(location.search);
  if (after) query.set('after', after); else query.delete('after');
  history.replaceState(null, '', `?${query}`);
  for (const row of state.rows) if (row.question != null) row.answers = [];
  set({ after, view: 'check', walk: null, space: null, symbolic: false, step: 0, answer: 0, chosen: false, pane: 'props' });
  runAll();
}
// Another text in place of a property of one's own; one that is in the file stays beside it.
export function change(id, option, text) { if (rowOf(id)?.own) { stop(id); set({ rows: state.rows.filter(r => r.id !== id) }); } return add(option, text); }
export function remove(id) { stop(id); set({ rows: state.rows.filter(r => r.id !== id) }); chooseFirst(); }

// --- steps -------------------------------------------------------------------------------------------------------------------------

export function go(step) {
  const r = run();
  if (!r) return;
  const to = Math.max(0, Math.min(r.n, step));
  if (to !== state.step) { set({ step: to }); remember(); }
}
// One step on; from the end of a lasso back to where it closes.
export function forward() { const r = run(); if (r) go(state.step < r.n ? state.step + 1 : r.back != null && r.back < r.n ? r.back : r.n); }
let timer = 0;
export function pause() { clearInterval(timer); timer = 0; if (state.playing) set({ playing: false }); }
export function play() {
  const r = run();
  if (timer) return pause();
  if (!r) return;
  if (state.step === r.n && r.back == null) go(0);
  timer = setInterval(() => { if (state.step >= run().n && run().back == null) pause(); else forward(); }, 700);
  set({ playing: true });
}

// --- links --------------------------------------------------------------------------------------------------------------------------

export function remember() {
  const at = state.rows.findIndex(r => r.id === state.row);
  const where = walking() ? `#/${state.symbolic ? 'z' : 's'}/${(state.walk?.moves ?? []).map(encodeURIComponent).join('.')}${state.walk?.run && state.step < state.walk.run.n ? `/${state.step}` : state.view === 'states' ? '/' : ''}${state.view === 'states' ? '/states' : ''}`
    : at >= 0 && current() ? `#/r/${at}/${state.answer}/${state.step}${state.view === 'proof' ? '/proof' : ''}` : location.hash;
  if (where !== location.hash) history.replaceState(null, '', location.pathname + location.search + where);
}

// Goes where the address says; whether it says anything.
export async function follow() {
  const [, kind, ...rest] = location.hash.split('/');
  if ((kind === 's' || kind === 'z') && live) {
    const moves = rest[0] ? rest[0].split('.').map(decodeURIComponent) : [];
    set({ view: rest[2] === 'states' ? 'states' : 'simulate', symbolic: kind === 'z' });
    await (rest[2] === 'states' ? unfoldTo(moves) : walkTo(moves));
    if (rest[1]) set({ step: +rest[1] });
    return true;
  }
  if (kind !== 'r') return false;
  const [at, answer, step, view] = rest, row = state.rows[+at];
  if (!row) return false;
  set({ row: row.id, chosen: true });
  if (!row.answers.length && live) { row.status = 'queued'; await check(row); }
  set({ answer: Math.min(+answer || 0, Math.max(0, row.answers.length - 1)), view: view === 'proof' ? 'proof' : 'check' });
  const r = runOf(current());
  set({ step: r ? Math.min(+step || 0, r.n) : 0 });
  remember();
  return true;
}

export function theme(t) {
  const root = document.documentElement, dark = (root.dataset.theme ?? (matchMedia('(prefers-color-scheme:dark)').matches ? 'dark' : 'light')) === 'dark';
  root.dataset.theme = t ?? (dark ? 'light' : 'dark');
}
