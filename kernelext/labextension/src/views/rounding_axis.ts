// The logarithmic axis of a rounding figure's rows: the errors of results relative to their size or, of a program in float32, what ops would cost.
import { h, s } from '../dom';
import { short, tone } from '../dtype';
import { sup, tiny } from '../format';
import { inDType, type Data, type Row } from './rounding';

interface Point { at: number; tone: string; filled: boolean }

export interface Axis {
  title: string;
  names: string[];   // of the marks
  tones: string[];   // of the marks, '' for those of each row's dtype
  dtypes: string[];  // of costs
  guides: { dtype: string; at: number; label: string }[];
  points: (r: Row) => Point[];
  lo: number;
  hi: number;
}

const log = (v: number, of: number): number => Math.log2(v) - Math.log2(of);

/** An axis around what is drawn on it. */
function around(d: Data, a: Omit<Axis, 'lo' | 'hi'>): Axis {
  const all = [...a.guides.map(g => g.at), ...d.rows.flatMap(r => a.points(r).map(p => p.at))];
  const hi = all.length ? Math.max(...all.map(Math.ceil)) + 1 : 0, lo = all.length ? Math.min(...all.map(Math.floor)) - 1 : -24;
  return { ...a, hi, lo: Math.max(Math.min(lo, hi - 8), hi - 60) };
}

const drawn = (points: Point[]): Point[] => points.filter(p => Number.isFinite(p.at));

export function errors(d: Data): Axis {
  return around(d, {
    title: 'Relative error', names: ['own', 'with all before it'], tones: ['', ''], dtypes: [],
    guides: ([['float32', -24], ['float16', -11], ['bfloat16', -8]] as [string, number][]).map(([dtype, at]) => ({ dtype, at, label: `2${sup(at)}` })),
    points: r => drawn([{ at: log(r.own, r.size), tone: tone(r.dtype), filled: true }, { at: log(r.total, r.size), tone: tone(r.dtype), filled: false }]),
  });
}

export function costs(d: Data, dtypes: string[]): Axis {
  const unit = Math.abs(d.exact) || 1;
  return around(d, {
    title: d.exact ? 'Cost relative to the loss' : 'Cost', names: dtypes.map(short), tones: dtypes.map(tone), dtypes,
    guides: dtypes.map(dtype => ({ dtype, at: log(inDType(d.if, dtype)!.spread, unit), label: `all ops: ${tiny(inDType(d.if, dtype)!.spread / unit)}` })).filter(g => Number.isFinite(g.at)),
    points: r => drawn(dtypes.map((t, i) => { const x = inDType(r.if, t); return { at: x && !x.over ? log(x.spread, unit) : NaN, tone: tone(t), filled: !i }; })),
  });
}

const wide = 190, high = 16, edge = 5;

/** The marks of a row with a line between them, over the guides. */
export function strip(a: Axis, r: Row, words: string): HTMLElement {
  const x = (e: number): number => edge + ((Math.min(Math.max(e, a.lo), a.hi) - a.lo) * (wide - 2 * edge)) / (a.hi - a.lo), y = high / 2, points = a.points(r);
  const svg = s('svg', { class: 'ht-svg ht-strip-axis', width: wide, height: high, viewBox: `0 0 ${wide} ${high}`, 'aria-hidden': true });
  for (const g of a.guides) svg.append(s('rect', { class: `ht-guide ht-is-${tone(g.dtype)}`, x: x(g.at) - 0.5, y: 0, width: 1, height: high, fill: 'currentColor' }));
  if (points.length === 2) {
    const [from, to] = [Math.min(x(points[0]!.at), x(points[1]!.at)), Math.max(x(points[0]!.at), x(points[1]!.at))];
    svg.append(s('rect', { class: `ht-is-${points[1]!.tone}`, x: from, y: y - 0.75, width: to - from, height: 1.5, fill: 'currentColor' }));
  }
  for (const p of [...points].reverse()) { // the own error lies above
    svg.append(s('circle', { class: `ht-is-${p.tone}`, cx: x(p.at), cy: y, r: 4, fill: 'currentColor' }));
    if (!p.filled) svg.append(s('circle', { class: 'ht-hole', cx: x(p.at), cy: y, r: 2.2 }));
  }
  return h('span', { role: 'img', 'aria-label': words, title: words }, svg);
}
