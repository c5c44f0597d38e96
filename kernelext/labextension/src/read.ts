// A figure may come from anywhere: from a notebook that someone sent. These read one value each and never fail: what is not what
// it should be becomes empty, texts and lists are cut, numbers are finite where they must be. Only own properties are looked at.

/** The most that any count may be: larger than any that is meant, and small enough to add up. */
export const most = 2 ** 50;

export type Bag = { readonly [key: string]: unknown };

const own = Object.prototype.hasOwnProperty;

/** The object's own member of that name. */
export function member(o: unknown, key: string): unknown {
  return typeof o === 'object' && o !== null && own.call(o, key) ? (o as Bag)[key] : undefined;
}

/** Text, at most n characters, without control characters and without those that turn the reading direction of what follows. */
export function text(o: unknown, key: string, n = 200): string {
  const v = member(o, key);
  return typeof v === 'string' ? clip(v, n) : '';
}

export function clip(v: string, n: number): string {
  // Cut first: a hostile text may have megabytes.
  const cut = v.slice(0, 4 * n + 4).replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]+/g, ' ');
  const chars = Array.from(cut);
  return chars.length > n || v.length > 4 * n + 4 ? chars.slice(0, n - 1).join('') + '…' : cut;
}

/** A whole number from low to high; the nearest end where it is beyond, `otherwise` where it is none. */
export function whole(o: unknown, key: string, low = 0, high = most, otherwise = Math.max(low, 0)): number {
  const v = member(o, key);
  return typeof v === 'number' && !Number.isNaN(v) ? Math.min(Math.max(Math.trunc(v), low), high) : otherwise;
}

/** A number, which may be infinite or none (NaN): JSON stores those as "+Inf", "-Inf" and "NaN". */
export function real(v: unknown): number {
  if (typeof v === 'number') return v;
  return v === '+Inf' ? Infinity : v === '-Inf' ? -Infinity : NaN;
}

export const number = (o: unknown, key: string): number => real(member(o, key));

/** A number above 0 and finite, or otherwise. */
export function positive(o: unknown, key: string, otherwise = 1): number {
  const v = number(o, key);
  return v > 0 && Number.isFinite(v) ? v : otherwise;
}

export const flag = (o: unknown, key: string): boolean => member(o, key) === true;

/** The first n members of a list, each read by `one`. */
export function list<T>(o: unknown, key: string, n: number, one: (v: unknown) => T): T[] {
  const v = member(o, key);
  return Array.isArray(v) ? v.slice(0, n).map(one) : [];
}

export const texts = (o: unknown, key: string, n: number, length = 200): string[] =>
  list(o, key, n, v => (typeof v === 'string' ? clip(v, length) : ''));

/** How many members a list has beyond the first n. */
export function beyond(o: unknown, key: string, n: number): number {
  const v = member(o, key);
  return Array.isArray(v) ? Math.max(v.length - n, 0) : 0;
}

/** Points [x, y] with x rising: what does not rise is left out, and so is what is no pair. */
export function points(o: unknown, key: string, n: number): [number, number][] {
  const out: [number, number][] = [];
  let last = -1;
  for (const p of list(o, key, n, v => v)) {
    if (!Array.isArray(p) || typeof p[0] !== 'number' || !(p[0] > last) || p[0] > most) continue;
    last = Math.trunc(p[0]);
    out.push([last, real(p[1])]);
  }
  return out;
}
