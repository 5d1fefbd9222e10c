// The text of the model: with values in a gutter where the run is, and an editor with what is wrong under the line.
import { Fragment, h } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { current, edited } from './actions.js';
import { tablesOf } from './certificate.js';
import { Button } from './icons.jsx';
import { plainly } from './layout.js';
import { live, set, state } from './store.js';
import { Virtual } from './virtual.jsx';

const WORDS = new Set(('if else while for do return break continue goto switch case default int void char long short unsigned signed bool struct typedef const static extern assert process state init trans system guard sync assign commit urgent broadcast chan clock '
  + 'select var type main process loc edge error final assume havoc true false invalid rules node flow event sub sync assert edon trans env prop ctrl choice or and not template location rule label import local par seq').split(' '));
// Words, comments and numbers of most languages that there are; nothing depends on it.
function Colored({ text }) {
  const parts = [], re = /(\/\/.*$|\/\*.*?\*\/|--.*$|#.*$|<!--.*?-->)|("[^"]*")|\b(\d+)\b|([A-Za-z_]\w*)/g;
  let at = 0, m;
  while ((m = re.exec(text))) {
    const cls = m[1] ? 'cmt' : m[2] ? 'str' : m[3] ? 'nm' : WORDS.has(m[4]) ? 'kw' : null;
    if (!cls) continue;
    parts.push(text.slice(at, m.index), <span class={cls}>{m[0]}</span>);
    at = m.index + m[0].length;
  }
  return <Fragment>{parts}{text.slice(at)}</Fragment>;
}

// The messages of the terminal, by line: `--> file:3:14` says where.
export function messages(text) {
  const all = [];
  for (const block of (text ?? '').split(/\n\s*\n(?=error|warning)/)) {
    const at = block.match(/--> .*?:(\d+):(\d+)/), carets = block.match(/\^+/), under = block.match(/\^+ (.*)/), help = block.match(/= help: (.*)/);
    all.push({ line: at ? +at[1] : 0, column: at ? +at[2] : 0, width: Math.max(1, carets?.[0].length ?? 1), text: block.split('\n')[0].replace(/^(error|warning): /, ''), more: [under?.[1], help?.[1]].filter(Boolean).join('; ') });
  }
  return all.filter(m => m.text);
}

// What each line has to say at this step: the line itself what it has changed, those before what they did last.
function useGutter(r) {
  const step = state.step, answer = current();
  return useMemo(() => {
    const said = new Map(), passed = new Set();
    // Without a run, what always holds there, if that is known.
    const invariant = !r && answer?.proof?.document?.kind === 'invariant' ? tablesOf(answer.proof.document)[0]?.rows ?? [] : [];
    for (const [, line, holds] of invariant) if (line && holds !== 'true') said.set(line, [said.get(line), holds].filter(Boolean).join(' ∧ '));
    if (!r) return { said, passed, now: 0 };
    for (let i = Math.max(1, step - 400); i <= step; i++) {
      const s = r.steps[i - 1], line = s.place?.line;
      if (!line) continue;
      passed.add(line);
      const set = Object.keys(s.set).filter(n => n !== 'at').map(n => (/ /.test(n) ? `${plainly(n)}: ${r.value(n, s.set[n])}` : `${n.split('::').at(-1)} = ${r.value(n, s.set[n])}`)).join(', ');
      if (set || !said.has(line)) said.set(line, set);
    }
    // Where steps have no lines, the place has one.
    const here = r.location(step), at = here != null && !passed.size ? state.model.drawing.nodes.find(n => n.lines[0] === here)?.lines.find(l => /^line \d+$/.test(l)) : null;
    return { said, passed, now: r.steps[step - 1]?.place?.line ?? (at ? +at.slice(5) : +(here?.match(/:(\d+)$/)?.[1] ?? 0)) };
  }, [r, step, answer]);
}

export function Source({ r, bad }) {
  const text = state.text ?? state.model.source, lines = useMemo(() => text.split(/\r?\n/), [text]), gutter = useGutter(r), editing = state.editing, setEditing = editing => set({ editing });
  const wrong = messages(state.diagnostics), by = new Map(wrong.map(m => [m.line, m]));
  useEffect(() => { if (state.diagnostics && !state.rows.length) setEditing(true); }, [state.diagnostics]);
  if (!text) return <p class="empty">The text of this model is not shown: it is too long, or not there any more.</p>;
  const widest = useMemo(() => Math.min(64, Math.max(20, ...lines.map(l => l.length))), [lines]);
  if (editing && live) return <Editor lines={lines} text={text} wrong={wrong} done={() => setEditing(false)} />;
  return <div class="srcbox">
    <Virtual n={lines.length} height={useMemo(() => (by.size ? i => (by.has(i + 1) ? 40 : 21) : 21), [state.diagnostics])} at={gutter.now ? gutter.now - 1 : null} label="Source" cls={`src${gutter.said.size || by.size ? '' : ' bare'}`} row={i => {
      const n = i + 1, here = n === gutter.now, m = by.get(n);
      return <div key={i} class={`ln${here ? (bad ? ' bad' : ' cur') : ''}${by.has(n) ? ' wrong' : ''}`} style={{ '--w': `${widest}ch` }} title={m?.text}><span class="b">{here ? '▸' : gutter.passed.has(n) ? '·' : ''}</span><span class="g">{n}</span><span class="code"><Colored text={lines[i]} /></span><span class="val">{gutter.said.get(n) ?? ''}</span>{m && <span class="under" style={{ '--c': Math.max(0, m.column - 1) }}><i>{'^'.repeat(m.width)}</i> {m.text}</span>}</div>;
    }} />
    {state.diagnostics && <Problems wrong={wrong} />}
  </div>;
}

const Problems = ({ wrong }) => <div class="problems" role="alert">{wrong.map((m, i) => <div key={i}><b>{m.line ? `line ${m.line}` : 'error'}</b> {m.text}{m.more && <span class="mu"> {m.more}</span>}</div>)}</div>;

// A plain text area over lines with numbers: what is wrong is marked in the margin, underlined, and said under its line.
function Editor({ lines, text, wrong, done }) {
  const back = useRef(null), marks = useRef(null), by = new Map(wrong.map(m => [m.line, m]));
  const scroll = e => { const t = e.currentTarget; back.current.scrollTop = t.scrollTop; marks.current.style.translate = `${-t.scrollLeft}px ${-t.scrollTop}px`; };
  const reset = () => { set({ text: null, diagnostics: null }); edited(state.model.disk); };
  return <div class="editor">
    <div class="edbar"><span class="mu">{wrong.length ? `${wrong.length} to mend` : 'reads well'}; what is typed here stays on this page</span><span class="sp" /><Button icon="back" label="As it is on disk" onClick={reset}>As on disk</Button><Button label="Close the editor" onClick={done}>Done</Button></div>
    <div class="edit"><div class="nums" ref={back} aria-hidden="true">{lines.map((_, i) => <div key={i} class={by.has(i + 1) ? 'wrong' : ''}>{i + 1}</div>)}<div style={{ height: '60px' }} /></div>
      <div class="ground"><textarea aria-label="Text of the model" spellcheck={false} wrap="off" value={text} onScroll={scroll} onInput={e => edited(e.currentTarget.value)} />
        <div class="marks" ref={marks} aria-hidden="true">{wrong.filter(m => m.line).map((m, i) => <Fragment key={i}><i style={{ top: `${8 + (m.line - 1) * 21}px`, left: `calc(8px + ${m.column - 1}ch)`, width: `${m.width}ch` }} /><span style={{ top: `${8 + m.line * 21}px`, left: `calc(8px + ${Math.max(0, m.column - 1)}ch)` }}>{m.text}</span></Fragment>)}</div></div></div>
    {wrong.length > 0 && <Problems wrong={wrong} />}
  </div>;
}
