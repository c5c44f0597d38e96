// Numbers in words, as package widgets writes them.

const digits = '⁰¹²³⁴⁵⁶⁷⁸⁹';

/** The exponent raised: sup(-14) is "⁻¹⁴". */
export const sup = (n: number | string): string => String(n).replace(/[-0-9.]/g, c => (c === '-' ? '⁻' : c === '.' ? '·' : digits[Number(c)] ?? c));

/** Text with the exponents of its powers of two raised. */
export const raised = (text: string): string => text.replace(/\b2\^(-?\d+(?:\.\d+)?)/g, (_, e: string) => `2${sup(e)}`);

/** Counts with separators: "65,536". */
export const count = (n: number): string => (Number.isFinite(n) ? Math.round(n).toLocaleString('en-US') : '–');

export const plural = (n: number, one: string, many = one + 's'): string => (n === 1 ? `1 ${one}` : `${count(n)} ${many}`);

/** A loss scale: as a number while that is short, else as a power of two. */
export function scale(v: number): string {
  if (!Number.isFinite(v)) return Number.isNaN(v) ? 'NaN' : v > 0 ? 'infinite' : '−infinite';
  if (Number.isInteger(v) && Math.abs(v) < 2 ** 31) return count(v);
  if (v >= 1e-3 && v < 1e7) return String(Number(v.toPrecision(5)));
  const power = Math.log2(Math.fround(v)); // it was written in the fewest digits that a float32 needs
  return Number.isInteger(power) ? `2${sup(power)}` : v.toPrecision(4);
}

/** A loss scale as the power of two that most are, so that a column of them is written alike. */
export function powerScale(v: number): string {
  const power = v > 0 && Number.isFinite(v) ? Math.log2(Math.fround(v)) : NaN;
  return Number.isInteger(power) ? `2${sup(power)}` : scale(v);
}

/** A size as a power of two, to a tenth: "2^-14.3" with the exponent raised. */
export function magnitude(v: number): string {
  if (!(v > 0) || !Number.isFinite(v)) return '0';
  const e = Math.round(10 * Math.log2(v)) / 10;
  return `2${sup(e)}`;
}

/** A share, which is never called nothing where it is something, nor all where it is not all. */
export function percent(n: number, all: number): string {
  if (!(all > 0) || !(n > 0)) return '0%';
  if (n >= all) return '100%';
  const p = (100 * n) / all;
  return p < 0.1 ? 'under 0.1%' : p > 99.9 ? 'over 99.9%' : `${p < 9.95 || p > 99 ? Math.round(p * 10) / 10 : Math.round(p)}%`;
}

/** A number of at least 1 with three significant digits. */
const significant = (v: number): string => (v >= 99.95 ? v.toFixed(0) : v >= 9.995 ? v.toFixed(1).replace(/\.0$/, '') : v.toFixed(2).replace(/\.?0+$/, ''));

function scaled(n: number, first: string, units: string[]): string {
  let unit = first;
  for (const u of units) {
    if (n < 1000) break;
    n /= 1000;
    unit = u;
  }
  return unit === first ? `${Math.round(n)} ${unit}` : `${significant(n)} ${unit}`;
}

export const bytes = (n: number): string => scaled(n, 'B', ['KB', 'MB', 'GB', 'TB', 'PB']);

/** A duration of nanoseconds: "840 ns", "12.3 µs", "1.52 s". */
export const duration = (ns: number): string => scaled(ns, 'ns', ['µs', 'ms', 's']);

/** A longer one, for waiting: "3 min 5 s". */
export function wait(ns: number): string {
  const seconds = Math.round(ns / 1e9);
  if (seconds < 60) return duration(ns);
  const hours = Math.floor(seconds / 3600), minutes = Math.floor(seconds / 60) % 60;
  return hours ? `${count(hours)} h ${minutes} min` : `${minutes} min ${seconds % 60} s`;
}

/** How the numbers of one axis or of one column are written: all with decimals, or all with exponents where one would have many zeros. */
export function alike(all: readonly number[], digits: number): (v: number) => string {
  const some = all.filter(v => Number.isFinite(v) && v !== 0).map(Math.abs);
  const powers = some.some(v => v < 1e-4 || v >= 1e7);
  return v => {
    if (!Number.isFinite(v)) return Number.isNaN(v) ? 'NaN' : v > 0 ? 'Inf' : '−Inf';
    if (!powers || v === 0) return plain(Number(v.toPrecision(digits)));
    const [m, e] = v.toExponential(digits - 1).split('e');
    return plain(Number(m)) + (Number(e) ? `e${plain(Number(e))}` : '');
  };
}

/** A number that is short with decimals, as that: JavaScript itself changes to exponents below 1e-6. */
const plain = (v: number): string => (Math.abs(v) < 1e-6 && v !== 0 ? v.toFixed(20).replace(/0+$/, '') : String(v)).replace('-', '−');

/** An error with two digits: "8.1e−4", "0.013", "2.5". */
export function tiny(v: number): string {
  if (!Number.isFinite(v)) return '–';
  const a = Math.abs(v);
  if (v === 0 || (a >= 0.01 && a < 1e9)) return (a >= 100 ? v.toFixed(0) : String(Number(v.toPrecision(2)))).replace('-', '−');
  const [m, e] = v.toExponential(1).split('e');
  return `${Number(m)}e${Number(e)}`.replace(/-/g, '−');
}

/** A loss, with five significant digits. */
export const loss = (v: number): string => alike([v], 5)(v);

/** A tick of a linear axis, written as the others, with as many digits as tell them apart. */
export function tick(v: number, all: readonly number[]): string {
  for (let digits = 3; ; digits++) {
    const write = alike(all, digits), texts = all.map(write);
    if (digits > 14 || new Set(texts).size === texts.length) return write(v);
  }
}

/** A tick of an axis of decimal logarithms, written as the others. */
export function tick10(y: number, all: readonly number[]): string {
  const powers = all.every(Number.isInteger) && all.some(x => Math.abs(x) > 4);
  return powers ? `10${sup(y)}` : alike(all.map(x => 10 ** x), 2)(10 ** y);
}

/** A relative difference with three digits: "−0.120%", "+673%", "−0.00580%", "+81,100%". */
export function relative(v: number): string {
  if (!Number.isFinite(v)) return '–';
  if (v === 0) return '0';
  const sign = v < 0 ? '−' : '+', a = 100 * Math.abs(v);
  if (a < 1e-4 || a >= 1e6) return `${sign}${plainExponent(a)}%`;
  return `${sign}${a < 999.5 ? a.toPrecision(3) : Number(a.toPrecision(3)).toLocaleString('en-US')}%`;
}

const plainExponent = (a: number): string => a.toExponential(1).replace('-', '−').replace('+', '');

/** How the relative differences of a table are written, all alike: as percentages, or as multiples of the reference where one of the runs ends at
 * ten times more at least; of a reference that is not above zero there are no multiples. */
export function differences(ends: readonly number[], positive: boolean): (v: number) => string {
  if (!positive || !ends.some(v => Number.isFinite(v) && v >= 10)) return relative;
  return v => {
    if (!Number.isFinite(v)) return '–';
    const x = v + 1, a = Math.abs(x), short = Number(a.toPrecision(a >= 1 && a < 2 ? 4 : 3)); // a fourth digit just above one, which would be lost
    return `×${x < 0 ? '−' : ''}${a < 1e6 ? short.toLocaleString('en-US', { maximumSignificantDigits: 4 }) : plainExponent(a)}`;
  };
}
