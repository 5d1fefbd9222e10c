import { h } from 'preact';

// Shapes in a square of 14. Verdicts are told apart without colour: octagon, circle, diamond, ring.
const SHAPES = {
  fail: 'M4.4 1h5.2L13 4.4v5.2L9.6 13H4.4L1 9.6V4.4zM5 5l4 4M9 5L5 9', pass: 'M13 7A6 6 0 1 1 1 7a6 6 0 0 1 12 0M4.3 7.2l2 2 3.5-4',
  unk: 'M7 .8L13.2 7 7 13.2.8 7zM5.8 5.6c.1-1.6 2.5-1.5 2.4 0 0 .9-1.2.9-1.2 2M7 9.4v.1', busy: 'M7 1a6 6 0 1 1-6 6M7 4v3l2 1.4', idle: 'M13 7A6 6 0 1 1 1 7a6 6 0 0 1 12 0',
  ok: 'M2.5 7.5l3 3 6-7', first: 'M3 2.5v9M11 3L6 7l5 4z', prev: 'M9 3L4 7l5 4', next: 'M5 3l5 4-5 4', last: 'M11 2.5v9M3 3l5 4-5 4z', play: 'M4 2.5l7 4.5-7 4.5z',
  stop: 'M3.5 3.5h7v7h-7z', redo: 'M12 7a5 5 0 1 1-1.6-3.7M12 1.5v2.7H9.3', link: 'M6 8l2.5-2.5M5.5 5L7 3.4a2.6 2.6 0 0 1 3.7 3.7L9 8.6M8.5 9L7 10.6a2.6 2.6 0 0 1-3.7-3.7L5 5.4',
  plus: 'M7 2.5v9M2.5 7h9', close: 'M3 3l8 8M11 3l-8 8', open: 'M1.5 11.5v-9h4l1.5 2h5.5v7z', back: 'M5 2L2 5l3 3M2 5h6a4 4 0 0 1 0 8H5', dice: 'M2 2h10v10H2zM4.6 4.6v.1M9.4 4.6v.1M7 7v.1M4.6 9.4v.1M9.4 9.4v.1',
  save: 'M7 1.5v7M4 6l3 3 3-3M2 12h10', wait: 'M7 1a6 6 0 1 1 0 12A6 6 0 0 1 7 1M7 3.5V7l2.5 1.5', warn: 'M7 1.5l6 11H1zM7 5.5v3.5M7 10.8v.1',
};
export const Icon = ({ n }) => <svg class="ic" viewBox="0 0 14 14" aria-hidden="true">{n === 'sun'
  ? [<path d="M7 1.2a5.8 5.8 0 1 0 0 11.6z" fill="currentColor" />, <circle cx="7" cy="7" r="5.8" />] : <path d={SHAPES[n]} />}</svg>;
export const Logo = () => <svg width="18" height="18" viewBox="0 0 18 18" fill="none" stroke="var(--accent)" stroke-width="1.6" aria-hidden="true"><path d="M9 1.5L16.5 9 9 16.5 1.5 9zM5.2 5.2l7.6 7.6M12.8 5.2l-7.6 7.6" /></svg>;

export const tone = verdict => ({ UNSAFE: 'fail', FAILS: 'fail', ERROR: 'fail', SAFE: 'pass', HOLDS: 'pass', BOUND: 'pass', running: 'busy', waiting: 'busy' }[verdict] ?? (verdict === 'not run' ? 'idle' : 'unk'));
export const Chip = ({ verdict }) => <span class={`chip ${tone(verdict)}`}><Icon n={tone(verdict)} />{verdict}</span>;
export const Button = ({ icon, label, title, children, ...rest }) => <button type="button" class={children ? 'btn' : 'ib'} aria-label={children ? undefined : label} title={title ?? label} {...rest}>{icon && <Icon n={icon} />}{children}</button>;
// One of several; the others are a press away.
export const Seg = ({ label, value, options, onChange, cls = '' }) => <span class={`seg ${cls}`} role="group" aria-label={label}>{options.map(([k, text, off]) =>
  <button type="button" key={k} aria-pressed={value === k} disabled={off} onClick={() => onChange(k)}>{text}</button>)}</span>;
