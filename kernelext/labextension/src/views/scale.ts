// How the loss scale moved: the verdict first, then the scale over the steps with every skipped one.
import { h, table } from '../dom';
import type { Figure } from '../figure';
import { count, percent, plural, scale as words, sup } from '../format';
import { Margin } from '../margin';
import { linearTicks, Plot, powerTicks, type Spec } from '../plot';
import { flag, list, number, points, positive, text, texts, whole } from '../read';
import type { Context, Maker, Rows } from '../view';
import { copyable } from './control';
import { facts, finding, fold, paragraphs, remark } from './parts';

const marks: Record<string, string> = { steady: '✓', calibrating: '…', collapsing: '×', disabled: '–', empty: '–' };

interface Skip { first: number; last: number; count: number; culprit: string; value: string; scale: number; next: number }

interface Data {
  verdict: string; sentence: string; advice: string[]; fixes: { what: string; why: string; code: string }[]; note: string; enabled: boolean;
  init: number; scale: number; floor: number; interval: number; nextGrowth: number;
  nominal: number; skipped: number; effective: number; settled: number;
  points: [number, number][]; skips: Skip[]; culprits: { name: string; count: number; nan: number }[]; warnings: string[];
}

function read(d: unknown): Data {
  const verdict = text(d, 'verdict', 20);
  let end = -1;
  return {
    verdict: Object.prototype.hasOwnProperty.call(marks, verdict) ? verdict : 'empty',
    sentence: text(d, 'sentence', 600), advice: texts(d, 'advice', 5, 500), fixes: list(d, 'fixes', 5, x => ({ what: text(x, 'do', 300), why: text(x, 'why', 500), code: text(x, 'code', 400) })), note: text(d, 'note', 300), enabled: flag(d, 'enabled'),
    init: number(d, 'init_scale'), scale: number(d, 'scale'), floor: positive(d, 'min_scale', 0),
    interval: whole(d, 'growth_interval'), nextGrowth: whole(d, 'next_growth'),
    nominal: whole(d, 'nominal_steps'), skipped: whole(d, 'skipped_steps'), effective: whole(d, 'effective_steps'), settled: whole(d, 'settled', -1, undefined, -1),
    points: points(d, 'points', 1000),
    skips: list(d, 'skips', 500, k => ({
      first: whole(k, 'first'), last: whole(k, 'last'), count: whole(k, 'count', 1), culprit: text(k, 'culprit'), value: text(k, 'value', 8),
      scale: number(k, 'scale'), next: number(k, 'next'),
    })).filter(k => k.first > end && k.last >= k.first && (end = k.last) >= 0),
    culprits: list(d, 'culprits', 12, c => ({ name: text(c, 'name'), count: whole(c, 'count'), nan: whole(c, 'nan') })),
    warnings: texts(d, 'warnings', 3, 300),
  };
}

/** The binary logarithm; what has none goes to the axis' ends. */
const log = (v: number): number => (Number.isNaN(v) || v <= 0 ? -149 : v === Infinity ? 128 : Math.log2(v));

function at(d: Data, step: number): number {
  let v = d.init;
  for (const [x, y] of d.points) if (x <= step) v = y;
  return v;
}

/** Whether every skipped step can be drawn: by where the runs are, since counts may say anything. */
const few = (d: Data): boolean => d.skips.reduce((n, k) => n + k.last - k.first + 1, 0) <= 600;

/** A cross for every skipped step; for one of each run where there are many. */
function crosses(d: Data): Spec['dots'] {
  const each = few(d);
  return d.skips.flatMap(k => Array.from({ length: each ? k.last - k.first + 1 : 1 }, (_, i) => ({ x: k.first + i, y: log(i ? at(d, k.first + i) : k.scale), label: '×', tone: 'over' })));
}

/** The steps of both charts. What the last step led to stands behind it. */
const span = (d: Data): [number, number] => [0, Math.max(d.nominal - 1, d.points[d.points.length - 1]?.[0] ?? 0, (d.skips[d.skips.length - 1]?.last ?? -1) + 1)];

function spec(f: Figure, d: Data): Spec {
  const [, last] = span(d);
  return {
    label: f.alt, x: 'step', height: 240, span: span(d),
    lines: [{ name: 'loss scale', tone: 'scale', step: true, points: d.points.map(([x, y]) => [x, log(y)]) }],
    dots: crosses(d),
    rules: [d.floor > 0 ? { y: log(d.floor), label: `${words(d.floor)}, the floor that was set` } : { y: 0, label: '1, as without a scaler' }],
    // What collapses without ever having been steady is not on its way to be.
    bands: d.nominal > 0 && (d.settled > 0 || d.settled < 0 && d.verdict === 'calibrating') ? [{ from: 0, to: d.settled < 0 ? last : Math.min(d.settled, last), label: 'calibrating' }] : [],
    ticks: powerTicks, tick: y => `2${sup(y)}`,
    say: step => {
      const skip = d.skips.find(k => k.first <= step && step <= k.last);
      return `step ${count(step)}: loss scale ${words(at(d, step))}${skip ? ` × skipped${skip.culprit ? `, ${skip.culprit} was ${skip.value || 'not finite'}` : ''}` : ''}`;
    },
  };
}

/** How many steps the optimizer is behind: each skipped one moved no weight, though a schedule of the learning rate counts it. */
function behind(d: Data): Spec {
  let n = 0;
  const line: [number, number][] = [[0, 0]];
  const each = few(d);
  for (const k of d.skips) {
    const skipped = Math.min(k.count, k.last - k.first + 1);
    // One step up for every skipped one, where neighbors are not too many to be drawn.
    for (let i = 1; each && i < skipped; i++) line.push([k.first + i, n + i]);
    n += skipped;
    line.push([k.last + 1, n]);
  }
  const [, last] = span(d);
  if (last > line[line.length - 1]![0]) line.push([last, n]);
  return {
    label: `Steps that were skipped: ${count(d.skipped)} of ${count(d.nominal)}.`, x: 'step', height: 96, span: span(d), lines: [{ name: 'steps behind', tone: 'over', step: true, points: line.filter((p, i) => !i || p[0] > line[i - 1]![0]) }],
    dots: [], rules: [], bands: [], quiet: true, ticks: (a, b) => linearTicks(a, b).filter(Number.isInteger), tick: count,
    say: step => `step ${count(step)}: ${plural(line.reduce((v, p) => (p[0] <= step ? p[1] : v), 0), 'step')} behind`,
  };
}

function countdown(d: Data): HTMLElement | null {
  if (!d.enabled || d.verdict === 'collapsing' || !d.nextGrowth || !d.interval || d.nextGrowth > d.interval) return null;
  const bar = h('progress', { class: 'ht-progress', max: d.interval, value: d.interval - d.nextGrowth, 'aria-label': 'clean steps towards the next growth' });
  return h('div', { class: 'ht-row' }, bar, h('span', { class: 'ht-quiet' }, `${count(d.interval - d.nextGrowth)} of ${count(d.interval)} clean steps; the scale grows in ${count(d.nextGrowth)}`));
}

const fix = (x: Data['fixes'][number], c: Context): HTMLElement =>
  h('li', {}, h('strong', {}, x.what), x.why ? h('span', {}, ' ', ...remark(x.why)) : null, x.code ? h('div', {}, copyable(x.code, c.announce)) : null);

export const scale: Maker = (f, c) => {
  let d = read(f.data);
  const node = h('div'), margin = new Margin(), plot = new Plot(spec(f, d), margin), lane = new Plot(behind(d), margin);
  const draw = (): void => {
    const skips = d.skips.map(k => [k.first === k.last ? count(k.first) : `${count(k.first)}–${count(k.last)}`, k.culprit || '–', k.value, words(k.scale), words(k.next)]);
    node.replaceChildren(
      finding(d.sentence || f.alt, d.verdict, marks[d.verdict]!),
      ...(d.enabled && d.nominal ? [facts([
        ['scale now', words(d.scale)], ['skipped', `${count(d.skipped)} of ${count(d.nominal)}`, percent(d.skipped, d.nominal)],
        ['effective steps', count(d.effective)],
        ...(d.culprits[0] ? [['overflowed most', d.culprits[0].name, `×${count(d.culprits[0].count)}`] as [string, string, string]] : []),
      ])] : []),
      ...(d.fixes.length || d.advice.length ? [h('div', { class: 'ht-alarm', role: 'note' }, h('strong', {}, 'What helps'), h('ol', {}, ...d.fixes.map(x => fix(x, c)), ...d.advice.map(a => h('li', {}, ...remark(a)))))] : []),
      ...(d.points.length > 1 ? [plot.node] : []),
      ...(d.points.length > 1 && d.skips.length ? [h('p', { class: 'ht-axis-title' }, 'steps behind: nominal minus effective'), lane.node] : []),
      ...[countdown(d)].filter((e): e is HTMLElement => !!e),
      ...paragraphs(d.note, ...d.warnings),
      ...(skips.length ? [fold(`${plural(d.skipped, 'skipped step')}, each with the parameter that overflowed first`,
        table('Skipped steps', ['step', 'parameter', 'gradient', 'scale', 'scale after'], skips, [0, 3, 4]))] : []),
    );
  };
  draw();
  return {
    node,
    update(g) {
      d = read(g.data);
      plot.update(spec(g, d));
      lane.update(behind(d));
      draw();
      return true;
    },
    rows: (): Rows => [['step', 'loss scale', 'skipped', 'parameter', 'gradient'],
      ...d.points.map(([x, y]) => [x, y, '', '', '']), ...d.skips.map(k => [k.first, k.scale, k.count, k.culprit, k.value])],
    svg: () => plot.svg,
    dispose() {
      plot.dispose();
      lane.dispose();
    },
  };
};
