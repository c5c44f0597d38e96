// Magnitudes of gradients against what a format holds, with a slider that moves the loss scale.
import { button, calm, h, newId, s, table } from '../dom';
import { fateOf, fates, kinds, named, overflowFrom, type Counted, type Fate, type Range } from '../fates';
import type { Figure } from '../figure';
import { Fit } from '../fit';
import { count, magnitude, percent, plural, powerScale, scale as words, sup } from '../format';
import type { Selection } from '../hub';
import { marks as trackMarks } from '../marks';
import { beyond, list, positive, text, whole } from '../read';
import type { Context, Maker, Rows } from '../view';
import { kernelButtons, type Done } from './control';
import { facts, finding, fold, paragraphs } from './parts';

const usual: Range[] = [
  { name: 'float16', zero: -25, normal: -14, top: 16 }, { name: 'bfloat16', zero: -134, normal: -126, top: 128 },
  { name: 'e4m3', zero: -10, normal: -6, top: 9 }, { name: 'e5m2', zero: -17, normal: -14, top: 16 },
];
const titles: Record<string, string> = { float16: 'fp16', bfloat16: 'bf16', e4m3: 'fp8 e4m3', e5m2: 'fp8 e5m2' };

export interface Counts extends Counted { n: number; zeros: number; amax: number; amin: number }
interface Format extends Range { best: number }
interface Part extends Counts { module: string; op: string }

interface Data extends Counts {
  missing: string; sentence: string; note: string; scale: number; best: number; below: number; above: number; now: number; badNow: number; steps: number; results: number; halves: number; infs: number; nans: number;
  formats: Format[]; modules: Part[]; ops: Part[]; more: number;
}

const counts = (o: unknown): Counts => ({
  n: whole(o, 'n'), zeros: whole(o, 'zeros'), amax: positive(o, 'amax', 0), amin: positive(o, 'amin', 0), low: whole(o, 'low', -1200, 1100, 0),
  counts: list(o, 'counts', 400, v => (typeof v === 'number' && v > 0 ? Math.min(Math.trunc(v), 2 ** 50) : 0)),
});
const part = (o: unknown): Part => ({ ...counts(o), module: text(o, 'module'), op: text(o, 'op', 80) });

function read(d: unknown): Data {
  const known = list(d, 'formats', 8, f => ({ name: text(f, 'name', 20), zero: whole(f, 'zero', -1200, 1100), normal: whole(f, 'normal', -1200, 1100), top: whole(f, 'top', -1200, 1100), best: positive(f, 'best') }))
    .filter(f => f.name && f.zero <= f.normal && f.normal < f.top);
  return {
    ...counts(d), missing: text(d, 'missing', 300), sentence: text(d, 'sentence', 600), note: text(d, 'note', 300), scale: positive(d, 'scale'), best: positive(d, 'best'), below: positive(d, 'below', 0), above: positive(d, 'above', 0), now: whole(d, 'now'), badNow: whole(d, 'bad_now'),
    steps: whole(d, 'steps'), results: whole(d, 'results'), halves: whole(d, 'halves'), infs: whole(d, 'infs'), nans: whole(d, 'nans'),
    formats: known.length ? known : usual.map(r => ({ ...r, best: 1 })), modules: list(d, 'modules', 24, part), ops: list(d, 'ops', 64, part), more: whole(d, 'more') + beyond(d, 'modules', 24),
  };
}

const marks: Record<Fate, string> = { zero: '○', subnormal: '░', normal: '■', overflow: '×' };

/** A module path with * for numbers against one without. */
const fits = (pattern: string, path: string): boolean => {
  if (pattern === path) return true;
  const [a, b] = [pattern.split('/'), path.split('/')];
  return a.length === b.length && a.every((p, i) => p === b[i] || (p === '*' && /^\d+$/.test(b[i]!)) || (b[i] === '*' && /^\d+$/.test(p)));
};

/** The gradients of what is selected: of its backward ops, else of its module. */
function chosen(d: Data, sel: Selection | null): Part[] {
  if (!sel) return [];
  const ops = d.ops.filter(p => fits(sel.module, p.module) && (p.op === sel.op || sel.gradients.includes(p.op)));
  return ops.length ? ops : d.modules.filter(p => p.counts.length && fits(sel.module, p.module));
}

const left = 12, right = 12, top = 18, bottom = 34, height = 210;

class Exponents {
  readonly node = h('div');
  svg: SVGSVGElement = s('svg');
  private d: Data;
  private k: number;
  private format: Format;
  private readonly stage = h('div', { class: 'ht-stage ht-still', tabindex: 0, role: 'img' });
  private readonly says = h('p', { class: 'ht-says', 'aria-live': 'polite' });
  private readonly fates = h('div', { class: 'ht-legend' });
  private readonly slider = h('input', { type: 'range', class: 'ht-range-input', step: 1, 'aria-label': 'Loss scale to try, as a power of two', 'data-lm-suppress-shortcuts': true });
  private readonly linked = h('p', { class: 'ht-para', 'aria-live': 'polite' });
  private readonly modules = h('div');
  private readonly from: number;
  private readonly to: number;
  private fit: Fit | undefined;
  private readonly unfollow: () => void;
  private width = 0;
  private readonly track = h('span', { class: 'ht-marks' });
  private recounted: { k: number; format: Format; sentence: string; of: Map<Part, Record<Fate, number> & { best: number }> } | null = null;

  constructor(f: Figure, private readonly c: Context) {
    const d = (this.d = read(f.data));
    this.k = Math.round(Math.log2(d.scale));
    this.format = d.formats[0]!; // the one that the run computed in
    const best = Math.round(Math.log2(d.best)), nonempty = d.counts.flatMap((n, i) => (n ? [d.low + i] : []));
    const least = nonempty.length ? Math.min(...nonempty) : -30, most = nonempty.length ? Math.max(...nonempty) : 0;
    const lowest = Math.max(Math.min(-8, this.k, best), -160), highest = Math.min(Math.max(24, this.k, best + 4), 160);
    // The axis holds still while the slider moves: all of float16, the gradients as they are, and as they are now.
    this.from = Math.max(Math.min(-30, least, least + this.k), -160);
    this.to = Math.min(Math.max(20, most + 1, most + 1 + this.k), 140);
    Object.assign(this.slider, { min: String(lowest), max: String(highest) });
    this.node.append(finding(d.missing || d.sentence || f.alt, d.missing ? 'none' : this.good() ? 'good' : 'bad', d.missing ? '–' : this.good() ? '✓' : '×'), ...paragraphs(f.alt.startsWith(d.sentence) ? f.alt.slice(d.sentence.length).trim() : '', d.note));
    if (!d.missing && nonempty.length) this.build();
    this.unfollow = c.hub.follow(sel => this.link(sel));
  }

  private good(): boolean {
    const x = fates(this.d, Math.round(Math.log2(this.d.scale)), this.d.formats[0]!);
    return !x.overflow && x.zero <= 0.01 * x.all && !this.tooLarge();
  }

  /** Whether numbers were not finite at the present scale or, where no step was at it, at none that is larger. */
  private tooLarge(): boolean {
    const { below, above, now, badNow, scale } = this.d;
    return now ? badNow > 0 : below > 0 && scale >= Math.max(below, above);
  }

  /** The largest safe scale in words: where something overflowed, it is only known to be no larger. */
  private safe(best: number): string { return `${this.d.below ? '≤ ' : ''}${powerScale(best)}`; }

  private build(): void {
    const { d } = this;
    const counted = `${plural(d.results, 'tensor')}${d.steps ? ` of ${plural(d.steps, 'step')}` : ''}`;
    this.node.append(facts([['loss scale now', words(d.scale)], ['largest safe', this.safe(d.best)], ['smallest, largest', `${magnitude(d.amin)}, ${magnitude(d.amax)}`],
      ['counted', count(d.n), `in ${counted}`], ...(d.infs + d.nans ? [['not finite', count(d.infs + d.nans)] as [string, string]] : [])]),
    this.controls(), this.says, this.stage, this.fates, this.linked, this.kernel(), this.modules);
    this.fit = new Fit(this.stage, () => this.width, () => this.draw());
    this.draw();
  }

  private controls(): HTMLElement {
    const set = (k: number): void => {
      this.k = k;
      this.draw();
    };
    this.slider.addEventListener('input', () => set(Number(this.slider.value)));
    const now = Math.round(Math.log2(this.d.scale));
    const go = (label: string, k: number): HTMLElement => button(label, () => this.glide(k), { title: `2 to the power of ${k}` });
    const id = newId(), choose = h('select', { class: 'ht-input', id, 'aria-label': 'Format to try' }, ...this.d.formats.map(x => h('option', { value: x.name }, titles[x.name] ?? x.name)));
    choose.value = this.format.name;
    choose.addEventListener('change', () => {
      this.format = this.d.formats.find(x => x.name === choose.value) ?? this.format;
      this.draw();
    });
    this.slider.addEventListener('change', () => this.recounted && this.recount().catch(() => { /* the button says why it is off */ }));
    choose.addEventListener('change', () => this.recounted && this.recount().catch(() => {}));
    const best = button(this.d.below ? 'safe at most' : 'largest safe', () => this.glide(Math.min(Math.max(this.best(), Number(this.slider.min)), Number(this.slider.max))));
    return h('div', { class: 'ht-row ht-tools ht-try' }, h('span', {}, 'try a loss scale'), h('span', { class: 'ht-track' }, this.slider, this.track), go('now', now), best, go('none', 0), choose);
  }

  /** Moves the slider so that the eye can follow, where the reader allows it. */
  private glide(k: number): void {
    const step = (): void => {
      this.k += Math.sign(k - this.k);
      this.draw();
      if (this.k !== k) requestAnimationFrame(step);
    };
    if (calm() || Math.abs(k - this.k) > 40) this.k = k;
    if (this.k === k) this.draw();
    else step();
  }

  private best(): number { return Math.round(Math.log2(this.format.best)); }

  /** Asks the kernel what becomes of every module's gradients at the slider's scale; the answer stays in the table until the slider moves on, and
   * from then on every move asks again. */
  private async recount(): Promise<Done> {
    const { d, k, format } = this, of = d.modules.filter(p => p.counts.length);
    const a = await this.c.hub.kernel.ask('whatif', {
      low: d.low, counts: d.counts, scale: 2 ** k, format: format.name, modules: of.map(p => ({ module: p.module, low: p.low, counts: p.counts, amax: p.amax })),
    });
    const answers = list(a, 'modules', of.length, m => ({ ...Object.fromEntries(kinds.map(w => [w, whole(m, w)])) as Record<Fate, number>, best: positive(m, 'best', 0) }));
    this.recounted = { k, format, sentence: text(a, 'sentence', 600), of: new Map(of.flatMap((p, i) => (answers[i] ? [[p, answers[i]!] as const] : []))) };
    this.table();
    return { text: this.recounted.sentence };
  }

  /** What the kernel can do with the slider's value. */
  private kernel(): HTMLElement {
    const { hub, announce } = this.c;
    const ask = async (first: number): Promise<Done> => {
      const a = await hub.kernel.ask('scale', { first });
      const before = positive(a, 'before', 0);
      return {
        text: first ? `Scalers start at ${words(first)} from the next one on; %amp status lists it.` : 'Scalers start as their program says.',
        undo: () => ask(before).then(({ text: t }) => ({ text: t })),
      };
    };
    return kernelButtons(hub.kernel, [['start the next run with this scale', () => ask(2 ** this.k)], ['recount by module in the kernel', () => this.recount()]], announce);
  }

  private x(e: number): number {
    return left + ((Math.min(Math.max(e, this.from), this.to) - this.from) * (this.width - left - right)) / (this.to - this.from);
  }

  private draw(): void {
    const { d, k, format } = this;
    const sum = fates(d, k, format);
    this.slider.value = String(k);
    this.slider.setAttribute('aria-valuetext', `2 to the power of ${k}`);
    const scaled = k === 0 ? 'without a loss scale' : `at loss scale ${words(2 ** k)}`;
    this.says.textContent = `${titles[format.name] ?? format.name} ${scaled}: ${percent(sum.zero, sum.all)} lost to zero, ${percent(sum.subnormal, sum.all)} with fewer digits, ${percent(sum.normal, sum.all)} kept whole, ${percent(sum.overflow, sum.all)} overflow`;
    this.fates.replaceChildren(...kinds.map(w =>
      h('span', {}, h('span', { class: `ht-ink-${w}`, 'aria-hidden': true }, marks[w]), ` ${named[w]} `, h('strong', {}, percent(sum[w], sum.all)))));
    this.track.replaceChildren(trackMarks({ low: Number(this.slider.min), high: Number(this.slider.max), now: Math.round(Math.log2(d.scale)), best: this.best(), over: overflowFrom(d, format), atMost: !!d.below }));
    this.chart();
    this.table();
  }

  private chart(): void {
    const { d, k, format } = this;
    this.width = this.stage.clientWidth || 640;
    const most = Math.max(...d.counts, 1), floor = height - bottom;
    const svg = s('svg', { class: 'ht-svg', width: this.width, height, viewBox: `0 0 ${this.width} ${height}`, 'aria-hidden': true });
    const zone = (from: number, to: number, name: string, label: string): void => {
      const [a, b] = [this.x(from), this.x(to)];
      if (b - a < 1) return;
      svg.append(s('rect', { class: `ht-zone-${name}`, x: a, y: top, width: b - a, height: floor - top }));
      if (b - a > 6.2 * label.length) svg.append(s('text', { class: 'ht-note', x: (a + b) / 2, y: top - 5, 'text-anchor': 'middle' }, label));
    };
    const title = titles[format.name] ?? format.name;
    zone(this.from, format.zero, 'zero', 'lost to zero');
    zone(format.zero, format.normal, 'subnormal', 'fewer digits');
    zone(format.normal, format.top, 'normal', `${title} keeps these whole`);
    zone(format.top, this.to, 'overflow', 'overflow');
    const bars = (c: Counts, cls: (f: Fate) => string, high: number): void => c.counts.forEach((n, i) => {
      const e = c.low + i + k;
      if (!n || e < this.from || e >= this.to) return;
      const y = Math.max(((floor - top - 8) * n) / high, 1.5);
      svg.append(s('rect', { class: cls(fateOf(e, format)), x: this.x(e) + 0.5, y: floor - y, width: Math.max(this.x(e + 1) - this.x(e) - 1, 0.5), height: y }));
    });
    const picked = chosen(d, this.c.hub.selection).filter(p => p.counts.length);
    bars(d, f => `ht-fate-${f}${picked.length ? ' ht-dim' : ''}`, most);
    if (picked.length) bars(total(picked), () => 'ht-picked', Math.max(...total(picked).counts, 1));
    for (let e = Math.ceil(this.from / 10) * 10; e <= this.to; e += this.width < 480 ? 20 : 10) {
      svg.append(s('line', { class: 'ht-axis', x1: this.x(e), x2: this.x(e), y1: floor, y2: floor + 4 }), s('text', { x: this.x(e), y: floor + 16, 'text-anchor': 'middle' }, `2${sup(e)}`));
    }
    svg.append(s('line', { class: 'ht-axis', x1: left, x2: this.width - right, y1: floor, y2: floor }),
      s('text', { x: left, y: height - 3 }, k ? `|gradient × ${words(2 ** k)}|, scaled` : '|gradient|, unscaled'));
    this.svg = svg;
    this.stage.setAttribute('aria-label', this.says.textContent ?? '');
    this.stage.replaceChildren(svg);
    this.fit?.drawn();
  }

  private table(): void {
    const { d, k, format } = this;
    const folds = [...this.modules.querySelectorAll('details')].map(e => e.open);
    const now = this.recounted, told = now && now.k === k && now.format === format ? now : null;
    const row = (p: Part): string[] => {
      const x = fates(p, k, format), t = told?.of.get(p), y = t ? { ...t, all: x.all } : x;
      return [p.module || '(top level)', magnitude(p.amin), magnitude(p.amax), ...(p.counts.length ? [percent(y.zero, x.all), percent(y.subnormal, x.all), percent(y.overflow, x.all)] : ['–', '–', '–']), percent(p.zeros, p.n),
        ...(told ? [t?.best ? powerScale(t.best) : '–'] : [])];
    };
    const known = d.modules.some(p => p.counts.length), title = titles[format.name] ?? format.name;
    const bins = d.counts.map((n, i) => ({ e: d.low + i, n })).filter(b => b.n);
    this.modules.replaceChildren(
      ...(d.modules.length ? [fold(`${plural(d.modules.length, 'module')}${d.more ? ` and ${count(d.more)} more` : ''}`, table(told ? `Counted in the kernel, at loss scale ${words(2 ** k)} in ${title}` : known ? `At the scale above, in ${title}` : 'Modules',
        ['module', 'smallest', 'largest', 'lost', 'fewer digits', 'overflow', 'zero before', ...(told ? ['largest safe scale'] : [])], d.modules.map(row), [1, 2, 3, 4, 5, 6, 7]))] : []),
      fold('Table of the bars', table('Gradients by magnitude', ['from', 'numbers', 'share', 'what becomes of them'],
        bins.map(b => [`2${sup(b.e)}`, count(b.n), percent(b.n, d.counts.reduce((a, n) => a + n, 0)), named[fateOf(b.e + k, format)]]), [0, 1, 2])));
    this.modules.querySelectorAll('details').forEach((e, i) => { e.open = folds[i] || (!i && !!told); });
  }

  /** Lights up what is selected in the notebook's decisions. */
  private link(sel: Selection | null): void {
    const picked = chosen(this.d, sel);
    this.node.classList.toggle('ht-lit', picked.length > 0);
    this.linked.textContent = !sel ? '' : !picked.length ? `No gradients of ${sel.op}${sel.module ? ` in ${sel.module}` : ''} were counted here.`
      : `Lit: ${picked.slice(0, 3).map(p => (p.op ? `${p.op} in ` : '') + (p.module || 'the top level')).join(', ')}${picked.length > 3 ? ` and ${picked.length - 3} more` : ''}, drawn to their own height; largest ${magnitude(Math.max(...picked.map(p => p.amax)))}.`;
    if (this.width) this.chart();
  }

  rows(): Rows {
    const { d, k, format } = this;
    return [['module', 'op', 'exponent', 'numbers', `in ${format.name} at scale 2^${k}`],
      ...[{ ...d, module: '', op: '' }, ...d.modules, ...d.ops].flatMap(p => p.counts.flatMap((n, i): Rows => (n ? [[p.module, p.op, p.low + i, n, named[fateOf(p.low + i + k, format)]]] : [])))];
  }

  dispose(): void {
    this.unfollow();
    this.fit?.dispose();
  }
}

/** Adds up several counts. */
function total(parts: Counts[]): Counts {
  const low = Math.min(...parts.map(p => p.low)), high = Math.max(...parts.map(p => p.low + p.counts.length));
  const sum = new Array<number>(Math.min(Math.max(high - low, 0), 2400)).fill(0);
  for (const p of parts) p.counts.forEach((n, i) => { if (p.low - low + i < sum.length) sum[p.low - low + i]! += n; });
  return { n: 0, zeros: 0, amax: 0, amin: 0, low, counts: sum };
}

export const exponents: Maker = (f, c) => {
  const v = new Exponents(f, c);
  return { node: v.node, rows: () => v.rows(), svg: () => (v.svg.isConnected ? v.svg : null), dispose: () => v.dispose() };
};
