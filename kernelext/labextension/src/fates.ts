// What becomes of magnitudes in a format, at a loss scale.

/** What becomes of a power of two: below `zero` it is lost, below `normal` it has fewer digits, from `top` on it overflows. */
export interface Range { name: string; zero: number; normal: number; top: number }

/** Numbers by power of two: counts[i] are those with 2^(low+i) ≤ |x| < 2^(low+i+1). */
export interface Counted { low: number; counts: number[] }

export type Fate = 'zero' | 'subnormal' | 'normal' | 'overflow';
export const kinds: Fate[] = ['zero', 'subnormal', 'normal', 'overflow'];
export const named: Record<Fate, string> = { zero: 'lost to zero', subnormal: 'fewer digits', normal: 'kept whole', overflow: 'overflow' };

export const fateOf = (e: number, r: Range): Fate => (e < r.zero ? 'zero' : e < r.normal ? 'subnormal' : e < r.top ? 'normal' : 'overflow');

export type Sum = Record<Fate, number> & { all: number };

/** How many have which fate at loss scale 2^k. */
export function fates(c: Counted, k: number, r: Range): Sum {
  const sum: Sum = { zero: 0, subnormal: 0, normal: 0, overflow: 0, all: 0 };
  c.counts.forEach((n, i) => {
    sum[fateOf(c.low + i + k, r)] += n;
    sum.all += n;
  });
  return sum;
}

/** The smallest k at which some of the numbers overflow; Infinity where there are none. */
export function overflowFrom(c: Counted, r: Range): number {
  let last = -1;
  c.counts.forEach((n, i) => { if (n) last = i; });
  return last < 0 ? Infinity : r.top - c.low - last;
}
