// A small picture of magnitudes: bars over powers of two, in front of what float16 holds.
import { s } from '../dom';
import { list, positive, whole } from '../read';

/** Shares of numbers by power of two: bins[i] are those with 2^(low+i) ≤ |x| < 2^(low+i+1). */
export interface Health {
  n: number; zeros: number; infs: number; nans: number; amax: number; amin: number; low: number; bins: number[];
  zero: number; subnormal: number; normal: number; overflow: number;
}

export function readHealth(o: unknown, fateOf: (o: unknown) => unknown): Health | null {
  const n = whole(o, 'n');
  if (!n) return null;
  const f = fateOf(o);
  return {
    n, zeros: whole(o, 'zeros'), infs: whole(o, 'infs'), nans: whole(o, 'nans'), amax: positive(o, 'amax', 0), amin: positive(o, 'amin', 0),
    low: whole(o, 'low', -1200, 1100, 0), bins: list(o, 'bins', 400, v => (typeof v === 'number' && v > 0 && Number.isFinite(v) ? v : 0)),
    zero: whole(f, 'zero'), subnormal: whole(f, 'subnormal'), normal: whole(f, 'normal'), overflow: whole(f, 'overflow'),
  };
}

const from = -40, to = 24, unit = 2;

/** Draws one or two rows: forward above, backward below. */
export function strip(rows: { health: Health | null; name: string }[], normal: [number, number], label: string): SVGSVGElement {
  const height = 15, shown = rows.filter(r => r.health);
  const svg = s('svg', { class: 'ht-strip', width: (to - from) * unit, height: height * Math.max(shown.length, 1), role: 'img', 'aria-label': label });
  const x = (e: number): number => (Math.min(Math.max(e, from), to) - from) * unit;
  shown.forEach((r, i) => {
    const y = i * height, b = r.health!;
    svg.append(s('rect', { class: 'ht-range', x: x(normal[0]), y, width: x(normal[1]) - x(normal[0]), height: height - 2 }));
    const most = Math.max(...b.bins, 1e-9);
    b.bins.forEach((n, k) => {
      const e = b.low + k;
      if (!(n > 0) || e < from || e >= to) return;
      const h = Math.max(((height - 3) * n) / most, 1), inside = e >= normal[0] && e < normal[1];
      svg.append(s('rect', { class: inside ? `ht-bar-${r.name}` : 'ht-bar-out', x: x(e), y: y + height - 2 - h, width: unit, height: h }));
    });
  });
  return svg;
}
