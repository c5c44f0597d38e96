// At which op the gradients of a backward pass were lost: from the loss to the parameters.
import { h, table } from '../dom';
import { chip, dtype } from '../dtype';
import { count, percent, plural, raised, scale, sup } from '../format';
import { list, member, number, text, whole } from '../read';
import type { Maker, Rows } from '../view';
import { facts, finding, fold, paragraphs } from './parts';

interface Fit { keep: number; safe: number; kept: number }
interface Row {
  op: string; of: string; module: string; where: string; dtype: string; wanted: number;
  zeros: number; gone: number; subnormal: number; infs: number; nans: number; spread: number; fit: Fit;
}
interface End { name: string; wanted: number; zeros: number; bad: number; error: number; first: string }
interface Data { missing: string; sentence: string; note: string; later: number; scale: number; wanted: number; zeros: number; bad: number; born: number; here: number; fit: Fit; rows: Row[]; more: number; ends: End[]; rest: number; skip: number; why: string }

const size = (v: number): number => (v > 0 && Number.isFinite(v) ? v : 0);

function fit(o: unknown): Fit {
  const v = member(o, 'fit');
  return { keep: size(number(v, 'keep')), safe: size(number(v, 'safe')), kept: size(number(v, 'kept')) };
}

function row(o: unknown): Row {
  const cast = text(o, 'for', 80);
  return {
    op: text(o, 'op', 80) + (cast ? ` for ${cast}` : ''), of: text(o, 'of', 80), module: text(o, 'module', 80), where: text(o, 'where', 80), dtype: dtype(member(o, 'dtype')), wanted: whole(o, 'wanted'),
    zeros: whole(o, 'zeros'), gone: whole(o, 'gone'), subnormal: whole(o, 'subnormal'), infs: whole(o, 'infs'), nans: whole(o, 'nans'), spread: whole(o, 'spread'), fit: fit(o),
  };
}

const read = (d: unknown): Data => ({
  missing: text(d, 'missing', 300), sentence: text(d, 'sentence', 600), note: text(d, 'note', 300), later: whole(d, 'later'), scale: size(number(d, 'scale')) || 1, wanted: whole(d, 'wanted'), zeros: whole(d, 'zeros'), bad: whole(d, 'bad'), born: whole(d, 'born'),
  here: whole(d, 'here'), fit: fit(d), rows: list(d, 'rows', 48, row), more: whole(d, 'more'), rest: whole(d, 'rest'), skip: whole(d, 'skip'), why: text(d, 'skip_why', 300),
  ends: list(d, 'ends', 32, o => ({ name: text(o, 'name', 80) || '(no name)', wanted: whole(o, 'wanted'), zeros: whole(o, 'zeros'), bad: whole(o, 'bad'), error: number(o, 'error'), first: text(o, 'first', 200) })),
});

/** A loss scale as a power of two where it is one. */
function power(v: number): string {
  const e = Math.log2(Math.fround(v));
  return Number.isInteger(e) ? `2${sup(e)}` : scale(v);
}

const range = (f: Fit): string => (!f.keep || !f.safe ? '–' : f.keep > f.safe ? 'none' : f.keep === f.safe ? power(f.keep) : `${power(f.keep)} to ${power(f.safe)}`);
const half = (r: Row): boolean => r.dtype === 'float16' || r.dtype === 'bfloat16';
const here = (r: Row): number => r.zeros + r.infs + r.nans;
const before = (r: Row): number => r.gone + r.spread;
const parts = (r: Row): number[] => [Math.max(r.wanted - here(r) - before(r) - r.subnormal, 0), r.subnormal, r.zeros, r.infs + r.nans, before(r)];
const names = ['kept', 'fewer digits', 'flushed to zero here', 'not finite here', 'lost before'];
const marks = ['═', '░', '○', '×', '·'];

/** What became of a row's gradients as a bar; its words are its label. */
function bar(r: Row): HTMLElement {
  const p = parts(r), all = p.reduce((a, b) => a + b, 0), shown = p.map((n, i): [number, number] => [n, i]).filter(([n]) => n > 0);
  const label = shown.map(([n, i]) => `${names[i]} ${percent(n, all)}`).join(', ');
  const b = h('span', { class: 'ht-flow', role: 'img', 'aria-label': label || 'none', title: label });
  for (const [n, i] of shown) {
    const part = h('span', { class: `ht-flow-${i}` });
    part.style.setProperty('flex', `${Math.max(n / all, 0.012)} 0 0`);
    b.append(part);
  }
  return b;
}

const share = (n: number, all: number): string => (n ? percent(n, all) : '');

/** The ops that lost most, in words. */
function worst(d: Data): string[] {
  return d.rows.filter(r => here(r) > 0).sort((a, b) => here(b) - here(a)).slice(0, 3).map(r => {
    const lost = [[r.zeros, 'flushed to zero here'], [r.infs, 'became infinite here'], [r.nans, 'became NaN here'], [before(r), 'had been lost before']] as [number, string][];
    const what = lost.filter(([n]) => n > 0).map(([n, w], i) => `${percent(n, r.wanted)}${i ? '' : ` of dL/d${r.of}`} ${w}`).join(', ');
    return `${r.where ? r.where + ' ' : ''}${r.op}${r.module ? ' in ' + r.module : ''}, ${r.dtype}: ${what}; ${r.fit.keep > r.fit.safe ? 'no one loss scale' : 'a loss scale of ' + range(r.fit)} would keep 99.9%.`;
  });
}

export const flow: Maker = f => {
  const d = read(f.data), bad = d.bad > 0 || d.here > 0 || d.later > 0;
  const node = h('div', {}, finding(d.missing || d.sentence || f.alt, d.missing ? 'none' : bad ? 'bad' : 'good', d.missing ? '–' : bad ? '×' : '✓'));
  if (!d.missing) {
    const lost: [string, string][] = [['lost to zero', percent(d.zeros, d.wanted)], ['not finite', percent(d.bad, d.wanted)]];
    if (d.bad > d.zeros) lost.reverse();
    node.append(...paragraphs(...worst(d), d.note, d.born ? `${plural(d.born, 'gradient')} are not finite in float64 either: no loss scale helps.` : '', d.skip ? `${plural(d.skip, 'gradient tensor')} could not be compared: ${raised(d.why)}` : ''),
      facts([...lost, ['scales that keep 99.9%', range(d.fit)], ['loss scale', d.scale === 1 ? 'none' : power(d.scale)]]),
      h('div', { class: 'ht-legend' }, ...names.map((n, i) => h('span', {}, h('span', { class: `ht-flow-key ht-flow-${i}`, 'aria-hidden': true }), ` ${marks[i]} ${n}`))));
  }
  if (d.rows.length) {
    node.append(...paragraphs('From the loss on, what became of the gradients that float64 has:'));
    node.append(h('div', { class: 'ht-scroll', tabindex: 0, role: 'group', 'aria-label': 'From the loss to the parameters' }, table('Gradients from the loss on',
      ['op', 'module', 'gradient', 'precision', 'what became of it', 'lost here', 'before', 'keeps 99.9%'],
      d.rows.map(r => [h('span', {}, h('code', {}, r.op), r.where ? ` ${r.where}` : ''), r.module, `dL/d${r.of}`, chip(r.dtype), bar(r), here(r) ? h('strong', {}, percent(here(r), r.wanted)) : '', share(before(r), r.wanted), half(r) || here(r) ? range(r.fit) : '']), [5, 6])));
  }
  if (d.more) node.append(...paragraphs(`… and ${plural(d.more, 'more row')} that lost less.`));
  if (d.ends.length) {
    node.append(fold('Parameters', ...paragraphs('Those that lost most come first; the error is the difference from float64, relative to its norm.'), table('What the parameters got', ['parameter', 'zero', 'not finite', 'error', 'first lost at'],
      d.ends.map(e => [e.name, percent(e.zeros, e.wanted), percent(e.bad, e.wanted), Number.isFinite(e.error) ? String(Number(e.error.toPrecision(2))) : '–', e.first]), [1, 2, 3])));
    if (d.rest) node.append(...paragraphs(`… and ${count(d.rest)} more.`));
  }
  return {
    node,
    rows: (): Rows => [['op', 'where', 'module', 'gradient of', 'dtype', 'wanted', ...names], ...d.rows.map((r): (string | number)[] => [r.op, r.where, r.module, r.of, r.dtype, r.wanted, ...parts(r)])],
  };
};
