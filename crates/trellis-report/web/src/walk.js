// The simulator: a walk is the list of its moves; the server says where they lead and what can be done there.
import { ask } from './api.js';
import { pause, remember, source } from './actions.js';
import { Run } from './run.js';
import { say, set, state } from './store.js';

let latest = 0;

async function request(more) {
  const mine = ++latest;
  const answer = await ask('walk', { model: source(), options: state.rows.find(r => r.id === state.row)?.own ? [] : [], known: 0, ...more });
  if (mine !== latest) return;
  const run = new Run({ ...answer.run, steps: answer.steps }, { start: answer.steps.some(s => s.parts?.length) && answer.run.parts?.length ? null : 'start', sparse: answer.idle.length > 0 });
  set({ walk: { moves: answer.moves, run, state: answer.state, idle: new Set(answer.idle), remark: answer.remark, choices: answer.choices, error: null }, step: run.n });
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
export const random = n => walkTo(here(), { random: n, seed: Math.floor(Math.random() * 1e9) });
export const along = (trace, steps) => walkTo([], { trace: [typeof trace === 'string' ? trace : JSON.stringify(trace), steps] });
