// One state for the whole page, and who is told when it changes.
import { useLayoutEffect, useState } from 'preact/hooks';

const data = JSON.parse(document.getElementById('data').textContent || '{"live":false,"answers":[]}');
export const live = data.live, tool = data.tool, frozen = data;
export const state = {
  files: null, model: null, text: null, diagnostics: null, ask: [], rows: [], row: null, answer: 0, step: 0, playing: false, view: 'check', pane: 'model',
  chart: 1, focus: null, tab: null, filter: '', only: false, help: false, walk: null, symbolic: false, after: '', space: null, pick: null, editing: false, busy: false, said: '', menu: false, options: '',
};
const told = new Set();
let due = false;

// Changes are told once per frame, however many there are.
export function set(patch) {
  Object.assign(state, patch);
  if (due) return;
  due = true;
  queueMicrotask(() => { due = false; for (const tell of told) tell({}); });
}
export function useStore() {
  const [, tell] = useState();
  // At once, not after the next picture: what is set in between would be lost.
  useLayoutEffect(() => { told.add(tell); return () => told.delete(tell); }, []);
  return state;
}
export const say = said => set({ said });
