// A list of which only what is seen is there, however long it is. Rows have known heights; the row `at` is kept in view.
import { h } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';

export function Virtual({ n, height, row, at, label, cls = '' }) {
  const box = useRef(null), [top, setTop] = useState(0), [tall, setTall] = useState(600);
  // Where each row begins; equal heights need no table.
  const offsets = useMemo(() => {
    if (typeof height === 'number') return null;
    const all = new Float64Array(n + 1);
    for (let i = 0; i < n; i++) all[i + 1] = all[i] + height(i);
    return all;
  }, [n, height]);
  const start = i => (offsets ? offsets[i] : i * height), find = y => {
    if (!offsets) return Math.max(0, Math.min(n - 1, Math.floor(y / height)));
    let a = 0, b = n;
    while (a < b - 1) { const m = (a + b) >> 1; if (offsets[m] <= y) a = m; else b = m; }
    return a;
  };
  useEffect(() => {
    const seen = new ResizeObserver(() => setTall(box.current?.clientHeight ?? 600));
    seen.observe(box.current);
    return () => seen.disconnect();
  }, []);
  useLayoutEffect(() => {
    if (at == null || at < 0 || !box.current) return;
    const b = box.current, y = start(at), end = start(at + 1);
    if (y < b.scrollTop) b.scrollTop = Math.max(0, y - 40); else if (end > b.scrollTop + b.clientHeight) b.scrollTop = end - b.clientHeight + 40;
  }, [at, n, offsets]);
  const a = n ? Math.max(0, find(top) - 4) : 0, b = n ? Math.min(n, find(top + tall) + 6) : 0, rows = [];
  for (let i = a; i < b; i++) rows.push(row(i));
  return <div ref={box} class={`virtual ${cls}`} tabIndex={0} role="group" aria-label={label} onScroll={e => setTop(e.currentTarget.scrollTop)}>
    <div style={{ height: `${n ? start(n) : 0}px`, position: 'relative' }}><div style={{ position: 'absolute', left: 0, right: 0, top: `${n ? start(a) : 0}px` }}>{rows}</div></div>
  </div>;
}
