// Formats of floating point, one for all widths: rounding to the nearest, ties to even, as the hardware does; and what people say of a
// number in one, in the words of package widgets.

export interface Format { name: string; exponent: number; fraction: number; bias: number; infinite: boolean }

export const formats: Format[] = [
  { name: 'fp32', exponent: 8, fraction: 23, bias: 127, infinite: true },
  { name: 'fp16', exponent: 5, fraction: 10, bias: 15, infinite: true },
  { name: 'bf16', exponent: 8, fraction: 7, bias: 127, infinite: true },
  // The 8-bit formats of the OCP specification: e4m3 has no infinity, and one NaN for each sign.
  { name: 'fp8 e4m3', exponent: 4, fraction: 3, bias: 7, infinite: false },
  { name: 'fp8 e5m2', exponent: 5, fraction: 2, bias: 15, infinite: true },
];

/** The number of bits. */
export const width = (f: Format): number => 1 + f.exponent + f.fraction;
const all = (f: Format): number => 2 ** f.exponent - 1;
const half = (f: Format): number => 2 ** (f.exponent + f.fraction); // patterns without a sign

/** The number that a pattern stands for. */
export function decode(bits: number, f: Format): number {
  const p = 2 ** f.fraction, m = bits % p, e = Math.floor(bits / p) % (all(f) + 1), sign = bits >= half(f) ? -1 : 1;
  if (e === all(f) && (f.infinite || m === p - 1)) return !f.infinite || m ? NaN : sign * Infinity;
  return sign * (e ? (m + p) * 2 ** (e - f.bias - f.fraction) : m * 2 ** (1 - f.bias - f.fraction));
}

/** The largest finite number. */
export const largest = (f: Format): number => decode(all(f) * 2 ** f.fraction - (f.infinite ? 1 : 2 - 2 ** f.fraction), f);

/** The exponent of the leading digit, by the bits of the float64: exact where a logarithm is not. */
function power(a: number): number {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, a);
  return ((view.getUint32(0) >>> 20) & 2047) - 1023;
}

/** The gap between a format's numbers around v. */
const unit = (f: Format, v: number): number => 2 ** (Math.max(power(v), 1 - f.bias) - f.fraction);

/** The pattern nearest to a number. What is beyond the largest becomes infinite, NaN where there is no infinity. */
export function encode(v: number, f: Format): number {
  const p = 2 ** f.fraction, top = all(f) * p, a = Math.abs(v), sign = v < 0 || Object.is(v, -0) ? half(f) : 0;
  const nan = f.infinite ? top + p / 2 : top + p - 1;
  if (Number.isNaN(v)) return nan;
  const q = a / unit(f, a), down = Math.floor(q), up = q - down > 0.5 || (q - down === 0.5 && down % 2) ? 1 : 0;
  const r = Number.isFinite(a) ? (down + up) * unit(f, a) : a;
  if (r > largest(f)) return sign + (f.infinite ? top : nan);
  const biased = power(r) + f.bias;
  return sign + (r && biased >= 1 ? (biased - 1) * p : 0) + r / unit(f, r);
}

/** A pattern as digits, the sign first. */
export const digits = (bits: number, f: Format): string => ('0'.repeat(32) + bits.toString(2)).slice(-width(f));

/** The next number of the format. */
function next(f: Format, v: number, up: boolean): number {
  if (!Number.isFinite(v)) return v > 0 === up ? v : v > 0 ? largest(f) : -largest(f);
  if (!v) return (up ? 1 : -1) * decode(1, f);
  const w = decode(encode(Math.abs(v), f) + (v > 0 === up ? 1 : -1), f);
  return (Number.isNaN(w) ? Infinity : w) * (v > 0 ? 1 : -1);
}

/** A number with up to n significant digits: with an exponent below 1e-4 and from 1e9 on. */
export function decimal(v: number, n: number): string {
  if (Number.isNaN(v)) return 'NaN';
  if (!Number.isFinite(v)) return v > 0 ? '∞' : '-∞';
  if (!v) return Object.is(v, -0) ? '-0' : '0';
  const [s, e] = v.toExponential(n - 1).split('e') as [string, string], trim = (t: string): string => (t.includes('.') ? t.replace(/\.?0+$/, '') : t);
  if (Math.abs(v) < 1e-4 || +e >= 9) return `${trim(s)}e${+e}`;
  return +e >= n ? v.toFixed(0) : trim(v.toFixed(n - 1 - +e));
}

/** A number of the format: whole where seven digits hold it, else with as many digits as tell it from its neighbors. */
function shown(f: Format, v: number): string {
  const s = decimal(v, 7);
  return +s === v ? s : decimal(v, 1 + Math.ceil((f.fraction + 1) * Math.log10(2)));
}

export interface Row { format: Format; bits: number; value: number; text: string; note: string; error: string; relative: string; neighbors: string[] }

/** What becomes of v in a format; bits is the pattern where another than the nearest is asked about. */
export function describe(v: number, f: Format, bits = encode(v, f)): Row {
  const x = decode(bits, f), error = x - v, ulp = error / unit(f, x), relative = Math.abs(error / v), finite = Number.isFinite(v) && Number.isFinite(x);
  let note = '';
  if (Number.isNaN(v)) note = 'not a number';
  else if (Number.isNaN(x)) note = `NaN: there is no infinity, the largest is ${decimal(largest(f), 6)}`;
  else if (!Number.isFinite(x)) note = Number.isFinite(v) ? `overflows to infinity: the largest is ${decimal(largest(f), 6)}` : 'infinite';
  else if (!x && v) note = `flushed to zero: the smallest is ${decimal(decode(1, f), 3)}`;
  else if (x && Math.abs(x) < 2 ** (1 - f.bias)) note = `subnormal: ${(bits % 2 ** f.fraction).toString(2).length} of ${f.fraction + 1} digits left`;
  return {
    format: f, bits, value: x, text: shown(f, x), note,
    error: !finite ? '–' : error ? `${error > 0 ? '+' : ''}${decimal(Number(ulp.toPrecision(3)), 3)} ulp` : '0',
    relative: !finite ? '–' : !error ? '0' : relative < 1e-4 ? decimal(relative, 2) : `${decimal(100 * relative, 2)}%`,
    neighbors: Number.isNaN(x) ? ['–'] : [shown(f, next(f, x, false)), shown(f, next(f, x, true))],
  };
}

/** What someone typed: a number, or the pattern of a format; or why it is neither. */
export type Typed = { value: number; format?: Format; bits?: number } | { error: string };

/** Reads a number, such as "0.1", "2^-14" or "-inf"; or a pattern, such as "0x3c00" or "0b0011110000000000", of the format `of`, else of that
 * with so many digits: fp32, fp16, e4m3. Where a format is chosen, digits need no prefix. */
export function typed(text: string, of: Format | null): Typed {
  const t = text.trim().slice(0, 80).replace(/−/g, '-').replace(/_/g, '').toLowerCase();
  const m = /^0(x)([0-9a-f]+)$|^0(b)([01]+)$/.exec(t) ?? (of && (new RegExp(`^()([01]{${width(of)}})$`).exec(t) ? ['', '', '', 'b', t] : /^[0-9a-f]+$/.test(t) && t.length <= width(of) / 4 ? ['', 'x', t] : null));
  if (m) {
    const hex = !!m[1], s = (hex ? m[2] : m[4])!, long = s.length * (hex ? 4 : 1);
    const f = of ?? formats[long > 16 ? 0 : long > 8 ? 1 : 3]!, bits = parseInt(s, hex ? 16 : 2);
    return long > 64 || bits >= 2 ** width(f) ? { error: `${text.trim().slice(0, 40)} has more than the ${width(f)} bits of ${f.name}.` } : { value: decode(bits, f), format: f, bits };
  }
  const p = /^(-?)2\^(-?\d{1,4}(?:\.\d+)?)$/.exec(t), inf = /^([+-]?)(inf|infinity|∞)$/.exec(t);
  const v = p ? (p[1] ? -1 : 1) * 2 ** Number(p[2]) : inf ? (inf[1] === '-' ? -Infinity : Infinity) : t && t !== 'nan' ? Number(t) : NaN;
  if (Number.isNaN(v) && t !== 'nan') return { error: of ? `“${text.trim().slice(0, 40)}” is no pattern of ${of.name}: type up to ${width(of) / 4} hexadecimal digits.` : `“${text.trim().slice(0, 40)}” is no number: type one, such as 0.1, 2^-14 or inf, or bits, such as 0x3c00.` };
  return { value: v };
}
