// Exact numbers of time: `5/2` as a pair of big integers.
const gcd = (a, b) => { while (b) [a, b] = [b, a % b]; return a; };
const make = (n, d) => { const g = gcd(n < 0n ? -n : n, d) || 1n; return { n: n / g, d: d / g }; };

export const ZERO = { n: 0n, d: 1n };
export const read = text => {
  if (text == null || !/^\d+(\/\d+)?$/.test(text)) return ZERO;
  const [n, d] = text.split('/');
  return make(BigInt(n), BigInt(d ?? 1));
};
export const plus = (a, b) => make(a.n * b.d + b.n * a.d, a.d * b.d);
export const isZero = a => a.n === 0n;
export const approximate = a => Number(a.n) / Number(a.d);
// 5/2 is shown as 2.5 where that is exact, as the terminal does.
export const shown = a => {
  if (a.d === 1n) return String(a.n);
  let d = a.d; while (d % 2n === 0n) d /= 2n; while (d % 5n === 0n) d /= 5n;
  return d === 1n && a.d < 10000n ? String(approximate(a)) : `${a.n}/${a.d}`;
};
