// Formats of floating point, one for all widths: rounding to the nearest, ties to even, as the hardware does.

export interface Format { name: string; exponent: number; fraction: number; bias: number; infinite: boolean }

export const formats: Format[] = [
  { name: 'fp32', exponent: 8, fraction: 23, bias: 127, infinite: true },
  { name: 'fp16', exponent: 5, fraction: 10, bias: 15, infinite: true },
  { name: 'bf16', exponent: 8, fraction: 7, bias: 127, infinite: true },
  // The 8-bit formats of the OCP specification: e4m3 has no infinity, and one NaN for each sign.
  { name: 'e4m3', exponent: 4, fraction: 3, bias: 7, infinite: false },
  { name: 'e5m2', exponent: 5, fraction: 2, bias: 15, infinite: true },
];

export interface Row { format: Format; bits: number; value: number; error: number; ulps: number; ulp: number }

const all = (f: Format): number => 2 ** f.exponent - 1;

/** The number that a pattern stands for. */
export function decode(bits: number, f: Format): number {
  const fraction = bits % 2 ** f.fraction, exponent = Math.floor(bits / 2 ** f.fraction) % 2 ** f.exponent;
  const sign = bits >= 2 ** (f.exponent + f.fraction) ? -1 : 1;
  if (exponent === all(f)) {
    if (f.infinite) return fraction ? NaN : sign * Infinity;
    if (fraction === 2 ** f.fraction - 1) return NaN;
  }
  return sign * (exponent ? (1 + fraction / 2 ** f.fraction) * 2 ** (exponent - f.bias) : (fraction / 2 ** f.fraction) * 2 ** (1 - f.bias));
}

/** The largest finite number. */
export const largest = (f: Format): number => (f.infinite ? (2 - 2 ** -f.fraction) * 2 ** (all(f) - 1 - f.bias) : (2 - 2 * 2 ** -f.fraction) * 2 ** (all(f) - f.bias));
export const smallest = (f: Format): number => 2 ** (1 - f.bias - f.fraction);

const even = (v: number): number => {
  const down = Math.floor(v), rest = v - down;
  return rest > 0.5 || (rest === 0.5 && down % 2) ? down + 1 : down;
};

/** The pattern nearest to a number. What is beyond the largest becomes infinite, NaN where there is no infinity. */
export function encode(v: number, f: Format): Row {
  const sign = v < 0 || Object.is(v, -0) ? 2 ** (f.exponent + f.fraction) : 0, a = Math.abs(v);
  const infinity = f.infinite ? all(f) * 2 ** f.fraction : all(f) * 2 ** f.fraction + 2 ** f.fraction - 1;
  let bits: number, ulp = 0;
  if (Number.isNaN(v)) bits = f.infinite ? all(f) * 2 ** f.fraction + 2 ** (f.fraction - 1) : infinity;
  else if (a === Infinity) bits = infinity;
  else {
    const power = Math.max(a > 0 ? exponentOf(a) : -1e4, 1 - f.bias);
    ulp = 2 ** (power - f.fraction);
    // Fraction and exponent are one number: rounding up carries from one into the other.
    bits = even(a / ulp) + (power - 1 + f.bias) * 2 ** f.fraction;
    bits = Math.min(bits, infinity);
  }
  const value = decode(sign + bits, f);
  return { format: f, bits: sign + bits, value, error: Object.is(value, v) || value === v || (Number.isNaN(v) && Number.isNaN(value)) ? 0 : value - v, ulps: value === v || Number.isNaN(v) ? 0 : (value - v) / ulp, ulp };
}

/** The power of two at or below a number, exactly. */
function exponentOf(a: number): number {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, a);
  const e = (view.getUint32(0) >>> 20) & 0x7ff;
  return e ? e - 1023 : Math.floor(Math.log2(a));
}

export function inWords(r: Row, v: number): string {
  const f = r.format;
  if (Number.isNaN(v)) return 'not a number';
  if (r.value === v) return Number.isFinite(v) && v !== 0 && Math.abs(v) < 2 ** (1 - f.bias) ? 'exact, with fewer digits' : 'exact';
  if (Number.isNaN(r.value)) return `NaN: the largest is ${largest(f)}`;
  if (!Number.isFinite(r.value)) return `overflows: the largest is ${Number(largest(f).toPrecision(6))}`;
  if (r.value === 0) return `lost to zero: the smallest is ${smallest(f).toPrecision(3)}`;
  return Math.abs(r.value) < 2 ** (1 - f.bias) ? 'rounded, with fewer digits' : 'rounded';
}
