// Runs beside each other: did mixed precision change the result?
import { h, s, table } from '../dom';
import { chip, dtype, tone } from '../dtype';
import type { Figure } from '../figure';
import { alike, bytes, count, differences, duration, loss, plural, relative, sup, tick, tick10 } from '../format';
import { Margin } from '../margin';
import { linearTicks, logTicks, Plot, powerTicks, strokes, type Line, type Spec } from '../plot';
import { list, member, number, real, text, whole } from '../read';
import type { Maker, Rows } from '../view';
import { finding, fold, paragraphs } from './parts';

interface Run {
  name: string; dtype: string; tone: string; mean: number; steps: number; skipped: number; final: number; best: number; end: number; worst: number; worstAt: number; diverged: number;
  at: number[]; loss: number[]; diff: number[]; ns: number; verdict: string; ops: OpError[]; opsMore: number; opsNote: string;
}
interface OpError { phase: string; module: string; op: string; error: number; dtype: string; calls: number }
interface Data { missing: string; answer: string; runs: Run[]; more: number; peaks: number[] }

function run(v: unknown, ns: number): Run {
  const losses = list(v, 'loss', 1500, real), at: number[] = [];
  let last = -1;
  for (const x of list(v, 'at', 1500, y => y)) {
    if (typeof x !== 'number' || !(x > last) || x > 2 ** 50) break;
    at.push((last = Math.trunc(x)));
  }
  const n = at.length ? Math.min(at.length, losses.length) : losses.length;
  return {
    name: text(v, 'name', 80) || '?', dtype: dtype(member(v, 'dtype')), tone: '', mean: number(v, 'end_mean'), steps: whole(v, 'steps'), skipped: whole(v, 'skipped'), final: number(v, 'final'), best: number(v, 'best'),
    end: Number.isFinite(number(v, 'end')) ? number(v, 'end') : number(v, 'relative'), worst: number(v, 'worst'), worstAt: whole(v, 'worst_at'), diverged: whole(v, 'diverged', -1, undefined, -1),
    at: at.length ? at.slice(0, n) : losses.map((_, i) => i), loss: losses.slice(0, n), diff: list(v, 'diff', 1500, real).slice(0, n), ns, verdict: text(v, 'verdict', 20), opsMore: whole(v, 'ops_more'), opsNote: text(v, 'ops_note', 400),
    ops: list(v, 'ops', 100, o => ({ phase: text(o, 'phase', 20), module: text(o, 'module'), op: text(o, 'op', 80), error: number(o, 'error'), dtype: dtype(member(o, 'dtype')), calls: whole(o, 'calls') })),
  };
}

function read(f: Figure): Data {
  let i = 0;
  return {
    missing: text(f.data, 'missing', 300), answer: text(f.data, 'answer', 600), more: whole(f.data, 'more'), peaks: f.volatile.peaks,
    runs: color(list(f.data, 'runs', 12, v => run(v, f.volatile.ns[i++] ?? 0))),
  };
}

const logarithmic = (runs: Run[]): boolean => {
  const all = runs.flatMap(r => r.loss).filter(Number.isFinite);
  return all.length > 0 && all.every(v => v > 0) && all.reduce((a, b) => Math.max(a, b), 0) > 20 * all.reduce((a, b) => Math.min(a, b), Infinity);
};

/** The steps of all charts of the figure. */
const span = (d: Data): [number, number] => d.runs.reduce(([a, b], r) => [a, Math.max(b, r.at[r.at.length - 1] ?? 0)], [0, 0]);

function nearest(r: Run, step: number): number {
  let at = -1;
  r.at.forEach((x, i) => { if (x <= step) at = i; });
  return at;
}

type Look = Omit<Line, 'points'>;

/** Gives runs the colors that they have in the stored picture: the first run of a dtype its dtype's, every other one, and who has no dtype, one
 * that tells it apart. */
function color(runs: Run[]): Run[] {
  const seen = new Set(['none']);
  let more = 0;
  for (const r of runs) {
    r.tone = seen.has(r.dtype) ? `run-${more++ % 5}` : tone(r.dtype);
    seen.add(r.dtype);
  }
  return runs;
}

/** How runs are drawn, in all charts of the figure: by their colors and dashes, so that they can be told apart without color too; the
 * reference is wide and pale below the others, so that runs which lie on it stay visible. */
function looks(runs: Run[]): Look[] {
  return runs.map((r, i) => {
    const wide = !i && runs.length > 1, more = r.tone.startsWith('run-') ? Number(r.tone.slice(4)) : -1;
    const dash = more >= 0 ? 3 + more % 2 : r.dtype === 'float16' ? 1 : r.dtype === 'bfloat16' ? 2 : 0;
    return { name: r.name, tone: r.tone, wide, dash: dash && !wide ? String(dash) : undefined };
  });
}

/** A run's line, as the charts draw it, beside its name. */
function key(r: Run, look: Look): HTMLElement {
  const line = s('line', { class: strokes(look), x1: 0, x2: 40, y1: 5, y2: 5 });
  return h('span', {}, s('svg', { class: 'ht-key', width: 40, height: 10, 'aria-hidden': true }, line), ' ', chip(r.dtype, r.name, r.tone));
}

function curves(f: Figure, d: Data): Spec {
  const log = logarithmic(d.runs), y = (v: number): number => (log ? Math.log10(v) : v);
  return {
    label: f.alt, x: 'step', height: 230, span: span(d), lines: looks(d.runs).map((l, i) => ({ ...l, points: d.runs[i]!.loss.map((v, k) => [d.runs[i]!.at[k]!, y(v)]) })),
    dots: d.runs.flatMap(r => (r.diverged < 0 ? [] : [{ x: r.diverged, y: y(r.loss.filter(Number.isFinite).slice(-1)[0] ?? 1), label: '×', tone: 'over' }])), rules: [], bands: [],
    ticks: log ? logTicks : linearTicks,
    tick: log ? tick10 : tick,
    say: step => `step ${count(step)}: ` + d.runs.map(r => {
      const i = nearest(r, step);
      return i < 0 ? '' : `${r.name} ${loss(r.loss[i]!)}${r.diff.length && Number.isFinite(r.diff[i]) ? ` (${relative(r.diff[i]!)})` : ''}`;
    }).filter(Boolean).join(' · '),
  };
}

/** How far the other runs are from the first, on a logarithmic axis. */
function distances(d: Data): Spec | null {
  const differ = (r: Run): boolean => r.diff.some(v => Number.isFinite(v) && v !== 0), others = d.runs.filter(differ);
  if (!others.length) return null;
  const log = (v: number): number => (v === 0 || !Number.isFinite(v) ? NaN : Math.log10(Math.abs(v)));
  return {
    label: `Relative difference of the loss from ${d.runs[0]!.name}.`, x: 'step', height: 150, span: span(d), dots: [], rules: [], bands: [],
    lines: looks(d.runs).flatMap((l, i) => (differ(d.runs[i]!) ? [{ ...l, points: d.runs[i]!.diff.map((v, k): [number, number] => [d.runs[i]!.at[k]!, log(v)]) }] : [])),
    ticks: powerTicks, tick: v => `10${sup(v)}`, quiet: true,
    say: step => `step ${count(step)}: ` + others.map(r => `${r.name} differs by ${relative(r.diff[nearest(r, step)] ?? NaN)}`).join(' · '),
  };
}

/** Whether a run came out worse than the reference. */
const bad = (d: Data): boolean => d.runs.some((r, i) => r.diverged >= 0 || (i > 0 && (r.verdict === 'higher' || r.verdict === 'diverged')));

/** How far the result of each op is from the reference's, as a bar from 1e-8 to 1. */
function ops(r: Run, reference: Run): HTMLElement {
  const bar = (e: number, of: string): HTMLElement => {
    const b = h('span', { class: `ht-bar ht-fill-${e === Infinity ? 'over' : of === r.dtype ? r.tone : tone(of)}` });
    b.style.setProperty('width', `${Math.round(Math.min(Math.max((Math.log10(e > 0 ? e : 1e-9) + 8) / 8, 0.01), 1) * 100)}px`);
    return h('span', { class: 'ht-row' }, b, e === Infinity ? '× not finite' : Number.isFinite(e) ? e.toExponential(1).replace('-', '−') : '–');
  };
  return fold(`${r.name}, op by op: how far ${plural(r.ops.length, 'result')} ${r.ops.length === 1 ? 'is' : 'are'} from those of ${reference.name}${r.opsMore ? `; ${count(r.opsMore)} more left out` : ''}`, table('Relative error of results, on a logarithmic scale from 10⁻⁸ to 1',
    ['module', 'op', 'phase', 'precision', 'error'], r.ops.map(o => [o.module || '(top level)', h('code', {}, o.op), o.phase, chip(o.dtype), bar(o.error, o.dtype)])));
}

export const compare: Maker = f => {
  const d = read(f), plots: Plot[] = [];
  const node = h('div', {}, finding(d.missing || d.answer || f.alt, d.missing ? 'none' : bad(d) ? 'bad' : 'good', d.missing ? '–' : bad(d) ? '×' : '✓'));
  if (!d.missing && d.runs.length) {
    const all = looks(d.runs), margin = new Margin();
    node.append(h('div', { class: 'ht-legend' }, ...d.runs.map((r, i) => key(r, all[i]!))));
    plots.push(new Plot(curves(f, d), margin));
    node.append(h('p', { class: 'ht-axis-title' }, 'loss'), plots[0]!.node);
    const more = distances(d);
    if (more) {
      plots.push(new Plot(more, margin));
      node.append(h('p', { class: 'ht-axis-title' }, `relative difference from ${d.runs[0]!.name}, on a logarithmic axis`), plots[1]!.node);
    }
    const timed = d.runs.some(r => r.ns), diverged = d.runs.some(r => r.diverged >= 0), measured = d.peaks.some(b => b > 0);
    const against = differences(d.runs.slice(1).map(r => r.end), d.runs[0]!.loss.every(v => !(v <= 0)));
    const final = alike(d.runs.flatMap(r => [r.final, r.mean, r.best]), 5);
    const rows = d.runs.map(r => [h('span', { class: 'ht-run' }, chip(r.dtype, r.name, r.tone)), final(r.final), Number.isFinite(r.mean) && (r.mean || !r.final) ? final(r.mean) : '–', r === d.runs[0] ? 'reference' : against(r.end), r === d.runs[0] ? '' : `${against(r.worst)} at ${count(r.worstAt)}`, final(r.best),
      count(r.skipped), ...(measured ? [bytes(d.peaks[d.runs.indexOf(r)] ?? 0)] : []), ...(timed ? [r.ns ? duration(r.ns) : ''] : []), ...(diverged ? [r.diverged >= 0 ? `× from step ${count(r.diverged)}` : ''] : [])]);
    node.append(...paragraphs('The first run is the reference; means at the end, and what is said against the first, are of the last tenth of the common steps, of at most 50.'));
    node.append(h('div', { class: 'ht-scroll', tabindex: 0, role: 'group', 'aria-label': 'Final losses' },
      table(`Losses of ${plural(d.runs[0]!.steps, 'step')}`, ['run', 'final loss', 'mean at the end', 'against the first', 'furthest', 'best', 'skipped', ...(measured ? ['memory, peak'] : []), ...(timed ? ['time of a step'] : []), ...(diverged ? ['not finite'] : [])], rows, [1, 2, 3, 4, 5, 6, ...(measured || timed ? [7] : []), ...(measured && timed ? [8] : [])])));
    for (const r of d.runs) {
      if (r.ops.length) node.append(ops(r, d.runs[0]!));
      node.append(...paragraphs(r.opsNote));
    }
  }
  if (d.more) node.append(...paragraphs(`… and ${plural(d.more, 'more run')}.`));
  return {
    node, svg: () => plots[0]?.svg ?? null, dispose: () => plots.forEach(p => p.dispose()),
    rows: (): Rows => [['run', 'dtype', 'step', 'loss', 'relative difference'], ...d.runs.flatMap(r => r.loss.map((v, i): (string | number)[] => [r.name, r.dtype, r.at[i]!, String(v), Number.isFinite(r.diff[i]) ? r.diff[i]! : '']))],
  };
};
