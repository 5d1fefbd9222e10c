// What there is to be opened: the folder's models, examples, or a file of one's own.
import { Fragment, h } from 'preact';
import { useState } from 'preact/hooks';
import { open } from './actions.js';
import { Button } from './icons.jsx';
import { set, state } from './store.js';

export function First() {
  const [word, setWord] = useState(''), files = state.files ?? [], match = f => !word || `${f.name} ${f.about ?? ''} ${f.language}`.toLowerCase().includes(word.toLowerCase());
  const take = file => file && file.text().then(text => open(file.name, text));
  const own = files.filter(f => !f.about && match(f)), examples = files.filter(f => f.about && match(f));
  const Card = f => <button type="button" key={f.name} onClick={() => open(f.name)}><b>{f.about ?? f.name.split('/').pop()}</b><span class="mu">{f.language}</span><span class="m">{f.name}</span></button>;
  return <main class="pane model first-pane" aria-label="Open a model"><div class="pb" tabIndex={0}><div class="first">
    <div class="row"><h1>Open a model</h1><span class="sp" />{state.model && <Button icon="close" label="Close" onClick={() => set({ menu: false })} />}</div>
    <p class="mu">Trellis asks whether something bad can happen, shows the run if it can, and the proof if it cannot.</p>
    <label class="drop" onDragOver={e => e.preventDefault()} onDrop={e => { e.preventDefault(); take(e.dataTransfer.files[0]); }}><span class="btn pri">Choose a file</span><input class="vh" type="file" onChange={e => take(e.currentTarget.files[0])} /><span>or drop one here: UPPAAL, TChecker, C, CFA, XSTS, SCXML, counter systems and nets, AltaRica, hierarchies. The file stays on this machine.</span></label>
    <input class="search" type="search" placeholder="Search" aria-label="Search models" value={word} onInput={e => setWord(e.currentTarget.value)} />
    {own.length > 0 && <Fragment><h2>Here</h2><div class="exs">{own.slice(0, 60).map(Card)}</div>{own.length > 60 && <p class="mu">and {own.length - 60} more; search for them</p>}</Fragment>}
    {examples.length > 0 && <Fragment><h2>Examples</h2><div class="exs">{examples.map(Card)}</div></Fragment>}
    <p class="mu"><kbd>O</kbd> open &nbsp; <kbd>←</kbd> <kbd>→</kbd> step &nbsp; <kbd>?</kbd> all keys</p>
  </div></div></main>;
}
