// Where the rounding of a forward pass enters its loss, and what another dtype would do, op by op.
import { breakable, button, h, table } from '../dom';
import { change, chip, dtype, short, tone } from '../dtype';
import type { Figure } from '../figure';
import { count, percent, plural, raised, tiny } from '../format';
import { flag, list, member, number, text, whole } from '../read';
import { TreeGrid, type Group } from '../treegrid';
import type { Context, Maker, Rows } from '../view';
import { copyable, kernelButton } from './control';
import { force } from './decisions_row';
import { facts, finding, paragraphs } from './parts';
import { errors, costs, strip, type Axis } from './rounding_axis';
import { label, recipes, recipeTable } from './rounding_recipes';

export interface If { dtype: string; spread: number; lost: number; over: number }
export interface Row {
  op: string; for: string; of: string; module: string; where: string; compute: string; dtype: string; calls: number; n: number;
  size: number; own: number; total: number; share: number; spread: number; bad: number; if: If[]; recipes: If[];
}
export interface Data {
  missing: string; sentence: string; note: string; device: string; halves: string[]; exact: number; error: number; first: number; spread: number; bad: boolean;
  if: If[]; recipes: If[]; rows: Row[]; more: number; moreSpread: number; shorter: string; skip: number; why: string;
}

const size = (v: number): number => (v > 0 && Number.isFinite(v) ? v : 0);
const finite = (v: number): number => (Number.isFinite(v) ? v : 0);
const half = (d: string): boolean => d === 'float16' || d === 'bfloat16';

const ifs = (o: unknown): If[] => list(o, 'if', 4, v => ({ dtype: dtype(member(v, 'dtype')), spread: size(number(v, 'spread')), lost: whole(v, 'lost'), over: whole(v, 'over') }));

const row = (o: unknown): Row => ({
  op: text(o, 'op', 80), for: text(o, 'for', 80), of: text(o, 'of', 80), module: text(o, 'module', 80), where: text(o, 'where', 80), compute: dtype(member(o, 'compute')), dtype: dtype(member(o, 'dtype')),
  calls: whole(o, 'calls'), n: whole(o, 'n'), size: size(number(o, 'size')), own: size(number(o, 'own')), total: size(number(o, 'total')), share: finite(number(o, 'share')), spread: size(number(o, 'spread')), bad: whole(o, 'bad'), if: ifs(o), recipes: recipes(o),
});

/** Exponents with a sign behind which no line breaks. */
const minus = (t: string): string => t.replace(/(\de)-(?=\d)/g, '$1−');

const read = (d: unknown): Data => ({
  missing: text(d, 'missing', 300), sentence: minus(text(d, 'sentence', 600)), note: text(d, 'note', 300), device: text(d, 'device', 80), halves: list(d, 'halves', 2, dtype).filter(half),
  exact: finite(number(d, 'exact')), error: finite(number(d, 'error')), first: finite(number(d, 'first')), spread: size(number(d, 'spread')), bad: flag(d, 'bad'),
  if: ifs(d), recipes: recipes(d), shorter: minus(text(d, 'shorter', 600)), rows: list(d, 'rows', 48, row), more: whole(d, 'more'), moreSpread: size(number(d, 'more_spread')), skip: whole(d, 'skip'), why: text(d, 'skip_why', 300),
});

export const inDType = (all: If[], d: string): If | undefined => all.find(x => x.dtype === d);

/** The dtype whose cost a figure is about where nothing was computed in 16 bits. */
const lower = (d: Data): string => (d.halves.length ? '' : ['float16', 'bfloat16'].find(t => inDType(d.if, t)) ?? '');

const signed = (v: number): string => (v > 0 ? '+' : '') + tiny(v);
const relative = (v: number, of: number): string => (!v ? '0' : of ? tiny(v / of) : '–');
const share = (v: number): string => (v < 0.001 ? '' : percent(Math.ceil(v * 1e6), 1e6));
const name = (r: Row): string => (r.for ? `${r.op} for ${r.for}` : r.op);
const loses = (x: If, n: number): boolean => x.lost > 0 && 100 * x.lost >= n;

function would(x: If | undefined, n: number): string {
  if (!x) return '';
  return x.over ? 'overflows' : loses(x, n) ? `${tiny(x.spread)}, ${percent(x.lost, n)} zero` : tiny(x.spread);
}

class Rounding {
  readonly node = h('div');
  private readonly grid: TreeGrid<Row>;
  private readonly lower: string;
  private readonly axis: Axis;
  private readonly parts: Map<Row, number>;
  private readonly tried = new Set<Row>();
  private try: string;
  private byPart = false;
  private readonly says = h('p', { class: 'ht-says', 'aria-live': 'polite' });
  private readonly unfollow: () => void;

  constructor(readonly f: Figure, readonly d: Data, private readonly c: Context) {
    this.lower = lower(d);
    this.try = this.lower || (d.if.length ? 'float32' : '');
    if (!this.options().some(x => x.dtype === this.try)) this.try = d.if[0]?.dtype ?? '';
    if (d.bad) this.try = ''; // what the derivative of such a loss says of other ops is little
    const all = this.all(), weight = (r: Row): number => (this.lower ? inDType(r.if, this.lower)?.spread ?? 0 : r.spread);
    this.parts = new Map(d.rows.map(r => [r, all ? Math.min((weight(r) / all) ** 2, 1) : 0]));
    this.axis = this.lower ? costs(d, d.if.map(x => x.dtype).filter(half)) : errors(d);
    this.grid = new TreeGrid<Row>({
      label: f.alt || f.title,
      heads: [{ text: 'Module, op' }, { text: 'Precision' }, { text: this.axis.title }, { text: this.lower ? `Part, in ${short(this.lower)}` : 'Part' }, { text: this.lower ? `In ${short(this.lower)}` : 'Moved the loss by', number: true }, ...(this.try ? [{ text: 'Try' }] : [])],
      cells: r => this.cells(r), details: r => this.details(r),
      chosen: r => c.hub.select(r ? { module: r.module, op: r.for || r.op, gradients: [] } : null),
      words: r => `${name(r)}: ${share(this.part(r)) || 'little'} of what rounding does to the loss`,
    });
    const breaks = d.rows.some(r => inDType(r.if, this.lower)?.over), off = Math.abs(d.error) > Math.abs(d.exact) / 256;
    this.node.append(finding(d.missing || d.sentence || f.alt, d.missing ? 'none' : d.bad || breaks || off ? 'bad' : 'good', d.missing ? '–' : d.bad || breaks ? '×' : off ? '!' : '✓'));
    if (!d.missing) {
      this.node.append(...paragraphs(this.order(), d.shorter, d.note, d.skip ? `${plural(d.skip, 'result')} could not be compared: ${raised(d.why)}` : ''), this.facts());
      if (d.rows.length) this.node.append(this.tools(), this.says, this.legend(), this.grid.node);
      const products = recipeTable(d, this.lower);
      if (products) this.node.append(products);
      if (d.more) this.node.append(...paragraphs(`… and ${plural(d.more, 'more row')} that matter less.`));
      this.fill();
    }
    this.unfollow = c.hub.follow(s => { if (!s) this.grid.clear(); });
  }

  /** What ops can be tried in: dtypes, and for products recipes. */
  private options(): If[] { return [...this.d.if, ...this.d.recipes]; }

  /** What a row would do in what is tried. */
  private tries(r: Row): If | undefined { return inDType(r.if, this.try) ?? inDType(r.recipes, this.try); }

  private part(r: Row): number { return this.parts.get(r) ?? 0; }

  /** The size of what all rows do to the loss, or would do in the lower dtype. */
  private all(): number {
    const { d } = this;
    return this.lower ? inDType(d.if, this.lower)?.spread ?? 0 : d.rows.reduce((a, r) => Math.hypot(a, r.spread), d.moreSpread);
  }

  private order(): string {
    const { d } = this, e = Math.abs(d.error);
    if (d.bad || !e) return '';
    const how = Math.abs(d.first - d.error) > Math.max(e, d.spread) / 2 ? ': too far from it for the parts to be an account' : '';
    const luck = e < d.spread / 3 ? ` Errors of both signs cancelled: ${tiny(d.spread)} was to be expected.` : '';
    return `To first order, the rounding of all ops adds up to ${signed(d.first)}; the difference is ${signed(d.error)}${how}.${luck}`;
  }

  private facts(): HTMLElement {
    const { d } = this;
    if (d.bad) return facts([['loss', 'not finite'], ['in float64', String(Number(d.exact.toPrecision(6)))]]);
    const moved: [string, string, string?] = ['rounding moved the loss by', signed(d.error), d.exact ? `${tiny(Math.abs(d.error / d.exact))} of it` : ''];
    const all = d.if.map((x): [string, string] => [`to be expected in ${x.dtype}`, tiny(x.spread)]);
    return facts(this.lower ? [...all.filter(x => !x[0].endsWith(' float32')), moved] : [moved, ['to be expected', tiny(d.spread)], ...all.filter(x => x[0].endsWith(' float32'))]);
  }

  private tools(): HTMLElement {
    const orders: [boolean, string][] = [[false, 'place in the program'], [true, 'part']];
    const group = h('span', { class: 'ht-row', role: 'group', 'aria-label': 'Sort rows by' }, h('span', { class: 'ht-quiet' }, 'by'));
    const buttons = orders.map(([by, label]) => {
      const b = button(label, () => {
        this.byPart = by;
        for (const o of buttons) o.setAttribute('aria-pressed', String(o === b));
        this.fill();
      }, { 'aria-pressed': by === this.byPart });
      return b;
    });
    group.append(...buttons);
    if (!this.try) return h('div', { class: 'ht-row ht-tools' }, group);
    const choose = h('select', { class: 'ht-input', 'aria-label': 'Dtype or recipe to try' }, ...this.options().map(x => h('option', { value: x.dtype }, label(x.dtype))));
    choose.value = this.try;
    choose.addEventListener('change', () => {
      this.try = choose.value;
      this.fill();
    });
    const set = (rows: Row[]): void => {
      this.tried.clear();
      for (const r of rows) this.tried.add(r);
      this.fill();
    };
    const able = (): Row[] => this.d.rows.filter(r => this.able(r));
    return h('div', { class: 'ht-row ht-tools' }, group, h('span', { class: 'ht-row', role: 'group', 'aria-label': 'Ops to try in another dtype' }, h('span', { class: 'ht-quiet' }, 'try in'), choose,
      button('all', () => set(able())), button('three largest', () => set([...able()].sort((a, b) => this.gain(b) - this.gain(a)).slice(0, 3))), button('none', () => set([]))));
  }

  /** Whether a row can be tried in the dtype that is chosen. */
  private able(r: Row): boolean { return !!this.tries(r) && r.dtype !== this.try; }

  /** How much of all that rounding does a row has, with the casts for it. */
  private gain(r: Row): number { return this.d.rows.reduce((a, x) => (x === r || this.serves(x, r) ? a + this.part(x) : a), 0); }

  private serves(cast: Row, r: Row): boolean { return !!cast.for && cast.for === r.op && cast.module === r.module && cast.where === r.where; }

  /** The error to be expected with what is tried: casts for it are not needed. */
  private expected(): number {
    const { d } = this, tried = [...this.tried].filter(r => this.able(r));
    return d.rows.reduce((a, r) => Math.hypot(a, tried.includes(r) ? this.tries(r)!.spread : tried.some(t => this.serves(r, t)) ? 0 : r.spread), d.moreSpread);
  }

  private fill(): void {
    const { d } = this, groups: Group<Row>[] = [];
    if (this.byPart) {
      const rows = [...d.rows].sort((a, b) => b.bad - a.bad || this.part(b) - this.part(a));
      groups.push({ key: 'part', head: [h('strong', {}, 'the largest first'), h('span', { class: 'ht-quiet' }, ` · ${rows.length}`)], rows });
    } else {
      d.rows.forEach((r, i) => {
        const last = groups[groups.length - 1];
        if (last && last.rows[0]!.module === r.module) last.rows.push(r);
        else groups.push({ key: `${i} ${r.module}`, head: [h('strong', {}, r.module || '(top level)')], rows: [r] });
      });
    }
    this.grid.show(groups);
    this.say();
  }

  private say(): void {
    const tried = [...this.tried].filter(r => this.able(r)), now = this.d.rows.reduce((a, r) => Math.hypot(a, r.spread), this.d.moreSpread), over = tried.filter(r => this.tries(r)!.over).length;
    this.says.textContent = !this.try ? '' : tried.length
      ? `With ${plural(tried.length, 'op')} in ${label(this.try)} an error of about ${tiny(this.expected())} is to be expected, now ${tiny(now)}.${over ? ` ${plural(over, 'op')} of them ${over === 1 ? 'overflows' : 'overflow'} in it.` : ''}`
      : `An error of about ${tiny(now)} is to be expected as it ran; try ops in ${label(this.try)} by the buttons of the last column.`;
  }

  private legend(): HTMLElement {
    const { axis } = this;
    return h('div', { class: 'ht-legend' }, ...axis.names.map((n, i) => h('span', {}, h('span', { class: axis.tones[i] ? `ht-is-${axis.tones[i]}` : undefined, 'aria-hidden': true }, i ? '○' : '●'), ` ${n}`)),
      ...axis.guides.map(g => h('span', {}, h('span', { class: `ht-is-${tone(g.dtype)}`, 'aria-hidden': true }, '┆'), ` ${short(g.dtype)} ${g.label}`)));
  }

  private cells(r: Row): (Node | string)[] {
    const first = h('span', {}, h('code', {}, ...breakable(name(r))), r.calls > 1 ? ` ×${count(r.calls)}` : '', r.of ? h('span', { class: 'ht-quiet' }, ' ', ...breakable(r.of)) : null,
      this.byPart && r.module ? h('span', { class: 'ht-quiet' }, ' ', ...breakable(r.module)) : null, r.where ? h('span', { class: 'ht-quiet ht-where' }, ` ${r.where}`) : null);
    const cells: (Node | string)[] = [first, change(r.compute, r.dtype), strip(this.axis, r, this.words(r)), this.bar(r), this.lower ? this.cost(r) : r.bad ? '' : signed(r.share)];
    if (this.try) cells.push(this.able(r) ? this.toggle(r) : '');
    return cells;
  }

  private words(r: Row): string {
    return this.lower ? this.axis.names.map((n, i) => `${n}: ${would(inDType(r.if, this.axis.dtypes[i]!), r.n) || '–'}`).join(', ') : `own error ${relative(r.own, r.size)}, with all before it ${relative(r.total, r.size)}`;
  }

  private cost(r: Row): string { return would(inDType(r.if, this.lower), r.n); }

  private bar(r: Row): Node | string {
    if (r.bad) return h('strong', {}, `× ${plural(r.bad, 'result')} not finite`);
    const v = this.part(r), label = share(v);
    if (!label) return '';
    const b = h('span', { class: `ht-part ht-fill-${tone(this.lower || r.dtype)}`, 'aria-hidden': true });
    b.style.setProperty('width', `${Math.max(80 * v, 1.5)}px`);
    return h('span', { class: 'ht-change' }, b, h('strong', {}, label));
  }

  private toggle(r: Row): HTMLElement {
    const b = button(label(this.try), () => {
      if (this.tried.has(r)) this.tried.delete(r);
      else this.tried.add(r);
      b.setAttribute('aria-pressed', String(this.tried.has(r)));
      this.say();
    }, { class: 'ht-button ht-small', 'aria-pressed': this.tried.has(r), 'aria-label': `Try ${name(r)} in ${label(this.try)}` });
    return b;
  }

  private details(r: Row): HTMLElement {
    const { d } = this, node = h('div', { class: 'ht-details' });
    const terms: [string, Node | string][] = [['precision', change(r.compute, r.dtype)], ['own error', `${relative(r.own, r.size)} of the size of its results (root mean square ${tiny(r.own)} of ${tiny(r.size)})`], ['with all before it', relative(r.total, r.size)],
      ['moved the loss by', `${signed(r.share)}${d.exact ? `, ${tiny(Math.abs(r.share / d.exact))} of it` : ''}`], ['without the luck of signs', `${tiny(r.spread)}${this.lower ? '' : `, ${share(this.part(r)) || 'under 0.1%'} of what all rounding can do`}`], ['numbers', `${count(r.n)} in ${plural(r.calls, 'call')}`]];
    if (r.bad) terms.push(['not finite', `${plural(r.bad, 'result')} of finite operands`]);
    if (r.of) terms.push(['casts', r.of]);
    if (r.module) terms.push(['module', r.module]);
    if (r.where) terms.push(['where', r.where]);
    node.append(h('dl', { class: 'ht-terms' }, ...terms.map(([t, v]) => h('div', {}, h('dt', {}, t), h('dd', {}, v)))));
    if (r.if.length) {
      node.append(table('What it would do to the loss in another dtype', ['in', 'error', 'of the loss', 'results to zero', 'overflow'], [...r.if, ...r.recipes].map(x => [inDType(r.recipes, x.dtype) ? x.dtype : chip(x.dtype), tiny(x.spread), d.exact ? tiny(Math.abs(x.spread / d.exact)) : '–', x.lost ? `${count(x.lost)}, ${percent(x.lost, r.n)}` : '0', count(x.over)]), [1, 2, 3, 4]));
    }
    const op = r.for || r.op;
    if (half(r.dtype) || half(r.compute)) node.append(h('p', { class: 'ht-para' }, 'In the program: ', copyable(`amp.Force(${JSON.stringify(op)}, amp.FP32)`, this.c.announce)), kernelButton(this.c.hub.kernel, `run ${op} in float32 next time`, () => force(this.c, op, 'float32'), this.c.announce));
    return node;
  }

  rows(): Rows {
    const dtypes = this.options().map(x => x.dtype);
    return [['op', 'for', 'of', 'module', 'where', 'compute', 'dtype', 'calls', 'numbers', 'size', 'own error', 'total error', 'moved the loss by', 'spread', 'part', 'not finite', ...dtypes.flatMap(t => [`in ${t}`, `zero in ${t}`, `over in ${t}`])],
      ...this.d.rows.map(r => [r.op, r.for, r.of, r.module, r.where, r.compute, r.dtype, r.calls, r.n, r.size, r.own, r.total, r.share, r.spread, this.part(r), r.bad,
        ...dtypes.flatMap((t): (string | number)[] => { const x = inDType(r.if, t) ?? inDType(r.recipes, t); return x ? [x.spread, x.lost, x.over] : ['', '', '']; })])];
  }

  dispose(): void { this.unfollow(); }
}

export const rounding: Maker = (f, c) => {
  const v = new Rounding(f, read(f.data), c);
  return { node: v.node, rows: () => v.rows(), dispose: () => v.dispose() };
};
