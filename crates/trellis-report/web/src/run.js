// A run, made ready to be looked at: its states on demand, times, and steps in words. Nothing is kept per state but every 64th, so that a run
// of ten thousand steps with a hundred values is no burden.
import { plainly } from './layout.js';
import { ZERO, approximate, isZero, plus, read, shown as exact } from './rational.js';

const EVERY = 64;
const prepared = new WeakMap();

// A value as people see it: texts without quotes, what is only for machines left out.
export const shown = v => {
  if (typeof v === 'string') return v;
  if (Array.isArray(v)) return `[${v.map(shown).join(', ')}]`;
  if (v && typeof v === 'object') {
    if (typeof v.shown === 'string') return v.shown;
    if (v.entries && 'default' in v) return `[${[...Object.entries(v.entries).map(([i, x]) => `${i}: ${shown(x)}`), `default: ${shown(v.default)}`].join(', ')}]`;
    return JSON.stringify(v);
  }
  return String(v);
};

const NAMED = /^([\w.-]+)(?: \("(.*?)"\))?: .*->/;
// What a step is called, shortly.
export const called = s => { const m = s.label?.match(NAMED); return s.message ?? (m ? m[2] ?? m[1] : s.label); };

export class Run {
  constructor(run, look = {}, lanes = null, trace = null) {
    Object.assign(this, { violated: run.violated, last: run.last, look, trace, lanes: lanes ?? run, steps: run.steps, start: run.start, ending: run.ending });
    this.parts = run.parts ?? []; this.clocks = new Set(run.clocks ?? []); this.n = run.steps.length;
    this.back = run.loop != null && run.loop <= this.n ? run.loop : null;
    this.names = this.allNames(run);
    this.times = [ZERO];
    for (const s of run.steps) this.times.push(plus(this.times.at(-1), read(s.delay)));
    this.rest = read(run.rest);
    this.end = plus(this.times.at(-1), this.rest);
    this.isTimed = !look.symbolic && (run.steps.some(s => s.delay != null) || this.clocks.size > 0);
    // Of sets of states: what the clocks may be, as bounds.
    this.zone = Object.keys(run.start).find(n => run.start[n]?.bounds) ?? null;
    this.kept = [this.first()];
    // Which step of the trace each state is after, where steps are shown that stand for several.
    this.raw = look.counts?.length === this.n ? look.counts.reduce((a, c) => [...a, a.at(-1) + c], [0]) : null;
    this.places = [...this.parts].filter(p => p in run.start);
  }
  allNames(run) {
    const names = new Set([...Object.keys(run.start), ...Object.keys(run.last ?? {})]);
    for (const s of run.steps) for (const n in s.set) names.add(n);
    // Of an array whose cells are set one by one only these are shown: the whole would stay as it was.
    const arrays = new Set([...names].filter(n => n.endsWith(']')).map(n => n.slice(0, n.indexOf('['))));
    return [...names].filter(n => !arrays.has(n));
  }
  first() {
    const missing = this.look.sparse ? '0' : '–';
    return new Map(this.names.map(n => [n, n in this.start ? this.value(n, this.start[n]) : missing]));
  }
  value(name, v) { const text = shown(v); return this.clocks.has(name) && /^\d+(\/\d+)?$/.test(text) ? exact(read(text)) : text; }
  // A name as the author wrote it: `main::i` is `i` where no other function has one.
  label(name) {
    this.short ??= this.names.reduce((m, n) => { const s = n.split('::').at(-1); return m.set(s, (m.get(s) ?? 0) + 1); }, new Map());
    // A predicate is no name.
    if (/ /.test(name)) return plainly(name);
    const s = name.split('::').at(-1);
    return this.short.get(s) > 1 ? name : s;
  }
  // All values at a moment; 0 is the start.
  state(i) {
    // Of a walk the last state is known better than its steps say: time may have passed since.
    if (this.last && i === this.n) return new Map(this.names.map(n => [n, n in this.last ? this.value(n, this.last[n]) : '–']));
    while (this.kept.length * EVERY <= i) this.kept.push(this.forward(this.kept.at(-1), (this.kept.length - 1) * EVERY, this.kept.length * EVERY));
    const k = Math.floor(i / EVERY);
    return this.forward(this.kept[k], k * EVERY, i);
  }
  forward(from, a, b) {
    const all = new Map(from);
    for (let i = a; i < b; i++) for (const n in this.steps[i].set) if (all.has(n)) all.set(n, this.value(n, this.steps[i].set[n]));
    return all;
  }
  // The zone at a moment.
  zoneAt(i) {
    if (!this.zone) return null;
    for (let k = i; k > 0; k--) if (this.zone in this.steps[k - 1].set) return this.steps[k - 1].set[this.zone];
    return this.start[this.zone];
  }
  // What has another value than before, with the old one.
  changed(i) {
    if (i < 1) return new Map();
    const before = this.state(i - 1), after = this.state(i), out = new Map();
    for (const [n, v] of after) if (before.get(n) !== v) out.set(n, before.get(n));
    return out;
  }
  time(i) { return exact(this.times[i]); }
  at(i) { return approximate(this.times[i]); }
  wait(i) { const d = read(this.steps[i - 1]?.delay); return isZero(d) ? null : exact(d); }
  // Where a model of one part is at a moment: the name of its place.
  location(i) {
    const steps = this.raw ? this.trace?.steps : this.steps, at = this.raw ? this.raw[i] : i;
    if (!steps?.length) return this.names.includes('at') ? this.state(i).get('at') : null;
    const of = (s, end) => s?.parts?.find(p => p.name === '')?.[end];
    return at ? of(steps[at - 1], 'to') : of(steps[0], 'from');
  }
  // A step in words: what, who, and how things move.
  words(i) {
    if (!i) return { title: this.look.start && this.look.start !== 'start' ? this.look.start : 'Start', who: '', detail: '', line: 0 };
    const s = this.steps[i - 1], parts = s.parts ?? [], moved = parts.filter(p => p.name && (p.from ?? p.to) != null && p.from !== p.to);
    const detail = moved.map(p => moved.length > 1 || parts.length > 1 || this.parts.length > 1 ? `${p.from ?? '∅'} → ${p.to ?? '∅'}` : `${p.from ?? '∅'} → ${p.to ?? '∅'}`).join(', ');
    const line = s.place?.line ?? 0;
    if (s.message) {
      const from = parts.filter(p => p.sends && p.name).map(p => p.name), to = parts.filter(p => !p.sends && p.name).map(p => p.name);
      if (!from.length && !to.length) return { title: s.message, who: '', detail: detail === `${parts[0]?.from} → ${parts[0]?.from}` ? '' : detail, line };
      return { title: s.message, who: to.length ? `${from.join(', ')} → ${to.join(', ')}` : from.join(', '), detail, line, sends: from, gets: to };
    }
    // A transition of a net has a name.
    const named = line && !s.message && !moved.length && !this.look.table && s.label.match(NAMED);
    if (named) return { title: named[2] ?? named[1], who: '', detail: '', line };
    // A rule of a counter system is a line of its file.
    if (line && !s.message && !moved.length && !this.look.table && s.label) return { title: s.label, who: '', detail: '', line, code: true };
    if (line && this.look.table) return { title: s.place.text || s.label, who: '', detail: '', line, code: true };
    if (parts.length === 1 && parts[0].name && parts[0].from != null && parts[0].from === parts[0].to && !this.look.start) return { title: parts[0].name, who: `stays in ${parts[0].to}`, detail: '', line };
    if (moved.length === 1 && !this.look.start) return { title: moved[0].name, who: 'moves', detail, line };
    const one = parts.find(p => p.name === '' && p.from && this.look.table);
    if (one) return { title: `${one.from} → ${one.to}`, ends: [one.from, one.to], who: '', detail: s.label, line };
    return { title: s.label || (one ? `${one.from} → ${one.to}` : 'step'), who: '', detail, line };
  }
  // One sentence for what a step does.
  sentence(i) {
    const w = this.words(i), s = this.steps[i - 1];
    if (!i) return ['Before the first step'];
    if (w.sends) return w.gets.length ? [`${w.sends.join(', ')} sends `, { b: w.title }, ` to ${w.gets.join(', ')}`] : [`${w.sends.join(', ')} sends `, { b: w.title }, ' and nobody receives it'];
    if (w.who === 'moves') return [`${w.title} moves from `, { b: s.parts.find(p => p.name === w.title)?.from }, ' to ', { b: s.parts.find(p => p.name === w.title)?.to }];
    if (w.who.startsWith('stays')) return [{ b: w.title }, ` ${w.who}`];
    return w.code ? [`Line ${w.line}  `, { code: w.title }] : [{ b: w.title }];
  }
  // How it ends, in words; nothing if it just stops.
  close() {
    if (this.look.end) return this.look.end;
    if (this.back != null) return this.back === this.n ? 'and so on: time may pass forever' : `and again from state ${this.back}, forever`;
    return { deadlock: 'Nothing can happen any more: a deadlock', idle: 'Time may pass forever', }[this.ending] ?? (this.violated || this.ending === 'error' ? 'Here it is violated' : this.look.last || '');
  }
}

// The run of an answer, or nothing.
export function runOf(answer) {
  if (!answer) return null;
  if (!prepared.has(answer)) {
    const trace = answer.report.trace, run = answer.shown ?? trace;
    prepared.set(answer, run ? new Run({ ...run, ending: run.ending ?? trace?.ending, violated: answer.report.holds === false }, answer.look ?? {}, answer.lanes, trace) : null);
  }
  return prepared.get(answer);
}
