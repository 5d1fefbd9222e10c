// The simulator: a walk is the list of its moves; the server says where they lead and what can be done there.
import { ask } from './api.js';
import { begin, pause, remember, source } from './actions.js';
import { Run } from './run.js';
import { learn } from './states.jsx';
import { say, set, state } from './store.js';

let latest = 0;

async function request(more) {
  const mine = ++latest;
  const answer = await ask('walk', { model: source(), options: begin(), known: 0, expand: state.view === 'states', symbolic: state.symbolic, ...more });
  if (mine !== latest) return;
  if (answer.next) learn(answer);
  // Before the first step nobody has said yet which names are places.
  const places = new Set(state.model.drawing.nodes.flatMap(n => n.lit.filter(l => l[1] != null).map(l => l[0])));
  const parts = answer.run.parts?.length ? answer.run.parts : Object.keys(answer.state).filter(n => places.has(n));
  // Which names are clocks is known from any trace.
  const clocks = answer.run.clocks?.length ? answer.run.clocks : state.rows.flatMap(r => r.answers).map(a => a.report.trace?.clocks ?? a.shown?.clocks).find(c => c?.length) ?? [];
  const run = new Run({ ...answer.run, clocks, last: answer.state, parts, steps: answer.steps }, { start: parts.length && (!answer.steps.length || answer.steps.some(s => s.parts?.length)) ? null : 'start', sparse: answer.idle.length > 0, symbolic: state.symbolic });
  set({ walk: { moves: answer.moves, run, state: answer.state, idle: new Set(answer.idle), remark: answer.remark, choices: answer.choices, canBeSets: answer.symbolic, canBegin: answer.begins, error: null }, step: run.n });
  remember();
}

export async function walkTo(moves, more = {}) {
  pause();
  try { await request({ moves, ...more }); }
  catch (error) {
    if (state.walk) set({ walk: { ...state.walk, error: error.message } }); else set({ walk: { moves: [], error: error.message, run: null, choices: { offers: [], later: [] } } });
    say(error.message);
  }
}
// What was done up to the step that is looked at: going on from there forgets the rest.
const here = () => state.walk?.moves ?? [];
export const move = m => walkTo([...here(), m]);
export const undo = () => walkTo(here().slice(0, -1));
export const restart = () => walkTo([]);
// From states to sets of states, or back: moves of the one are none of the other.
export function inSets(symbolic) { set({ symbolic, walk: null, space: null, step: 0 }); return state.view === 'states' ? unfoldTo([]) : restart(); }
export const random = n => walkTo(here(), { random: n, seed: Math.floor(Math.random() * 1e9) });
export const along = (trace, steps) => walkTo([], { trace: [typeof trace === 'string' ? trace : JSON.stringify(trace), steps] });
// Looks into a state without going there.
export async function peek(moves) {
  try { learn(await ask('walk', { model: source(), options: begin(), moves, known: 1e9, expand: true, symbolic: state.symbolic })); return true; } catch (error) { say(error.message); return false; }
}
// All states on the way, so that the graph shows how one comes there.
export async function unfoldTo(moves) {
  for (let k = 0; k < Math.min(moves.length, 60); k++) if (!await peek(moves.slice(0, k))) break;
  await walkTo(moves);
}
