// In which precision every op ran, and why: a summary, then a tree of the places in the program.
import { breakable, button, h, newId } from '../dom';
import { change, chip, dtype, short, sign, tone } from '../dtype';
import type { Figure } from '../figure';
import { bytes, count, duration, magnitude, plural } from '../format';
import type { Selection } from '../hub';
import { beyond, flag, list, member, text, texts, whole } from '../read';
import { TreeGrid, type Group } from '../treegrid';
import type { Context, Maker, Rows } from '../view';
import { details } from './decisions_row';
import { facts, finding, paragraphs } from './parts';
import { readHealth, strip, type Health } from './strip';

export interface Cast { name: string; operand: number; from: string; to: string; format: string; count: number; hits: number; bytes: number; each: number; lost: number; over: number }

export interface Site {
  index: number; phase: string; module: string; modules: number; op: string; rule: string; by: string; from: string[]; compute: string; out: string;
  shape: string; where: string; calls: number; bytes: number; saved: number; changed: boolean; of: number; force: string; ns: number;
  dims: { m: number; k: number; n: number } | null; casts: Cast[]; health: Health | null; back: Site[];
}

export interface Data {
  device: string; note: string; missing: string; steps: number; dropped: number; more: number; format: string;
  ops: { dtype: string; calls: number; sites: number }[];
  calls: number; changed: number; casts: number; hits: number; castBytes: number; bytes: number; full: number; tensorOps: number; tensorOK: number;
  sites: Site[]; forward: Site[];
}

const maxSites = 600;

function site(v: unknown, index: number, rules: string[], ns: number[]): Site {
  const dims = member(v, 'dims');
  return {
    index, phase: text(v, 'phase', 20), module: text(v, 'module'), modules: whole(v, 'modules', 1), op: text(v, 'op', 80) || '?', rule: rules[whole(v, 'rule')] ?? '', by: text(v, 'by', 20),
    from: list(v, 'in', 8, dtype), compute: dtype(member(v, 'compute')), out: dtype(member(v, 'out')), shape: text(v, 'shape'), where: text(v, 'where', 80),
    calls: whole(v, 'calls'), bytes: whole(v, 'bytes'), saved: whole(v, 'saved'), changed: flag(v, 'changed'), of: whole(v, 'of'), force: text(v, 'force', 400), ns: ns[index] ?? 0,
    dims: dims ? { m: whole(dims, 'm'), k: whole(dims, 'k'), n: whole(dims, 'n') } : null,
    casts: list(v, 'casts', 8, c => ({
      name: text(c, 'name', 80), operand: whole(c, 'operand'), from: dtype(member(c, 'from')), to: dtype(member(c, 'to')), format: text(c, 'format', 10), count: whole(c, 'count', 1), hits: whole(c, 'hits'),
      bytes: whole(c, 'bytes'), each: whole(c, 'each'), lost: whole(c, 'lost'), over: whole(c, 'over'),
    })),
    health: readHealth(member(v, 'health'), o => member(o, 'fate')), back: [],
  };
}

function read(f: Figure): Data {
  const d = f.data, u = member(d, 'summary'), rules = texts(d, 'rules', maxSites, 400);
  const ops = list(u, 'ops', 8, o => ({ dtype: dtype(member(o, 'dtype')), calls: whole(o, 'calls'), sites: whole(o, 'sites') })).filter(o => o.calls);
  let i = 0;
  const sites = list(d, 'sites', maxSites, v => site(v, i++, rules, f.volatile.ns));
  const forward = sites.filter(s => {
    const parent = s.of > 0 && s.of - 1 < s.index ? sites[s.of - 1] : undefined;
    if (s.phase === 'backward' && parent && parent.phase !== 'backward') parent.back.push(s);
    return s.phase !== 'backward' || !parent;
  });
  return {
    device: text(d, 'device', 60), note: text(d, 'note', 300), missing: text(d, 'missing', 300), steps: whole(d, 'steps'), dropped: whole(d, 'dropped'),
    more: whole(d, 'more') + beyond(d, 'sites', maxSites), format: text(d, 'format', 10) || 'fp16',
    ops, calls: ops.reduce((a, o) => a + o.calls, 0), changed: whole(u, 'changed'), casts: whole(u, 'casts'), hits: whole(u, 'cast_hits'), castBytes: whole(u, 'cast_bytes'),
    bytes: whole(u, 'bytes'), full: whole(u, 'bytes_fp32'), tensorOps: whole(u, 'tensor_ops'), tensorOK: whole(u, 'tensor_ok'), sites, forward,
  };
}

export const perStep = (d: Data, n: number): number => (d.steps > 1 ? n / d.steps : n);

/** How often a row runs in a step, as package widgets writes it: "" for once, " ×2" for twice, " ×4 in 3 steps" where steps differ. */
export function times(d: Data, calls: number): string {
  const steps = Math.max(d.steps, 1);
  return calls === steps ? '' : calls % steps ? ` ×${count(calls)} in ${plural(steps, 'step')}` : ` ×${count(calls / steps)}`;
}

export const inputs = (s: Site): string => (s.from.length ? s.from.find(x => x !== s.compute) ?? s.from[0]! : s.compute);
export const eligible = (s: Site): string => (s.dims ? (s.dims.m % 8 || s.dims.k % 8 || s.dims.n % 8 ? '✗' : '✓') : '');

/** Why, and whether tensor cores take the product's sizes: a reason that names them is not to name them twice. */
function reason(s: Site): (Node | string)[] {
  if (!s.dims) return [s.rule];
  const named = s.rule.endsWith('tensor cores');
  return [s.rule, h('span', { class: 'ht-quiet' }, named ? `:\u00a0${eligible(s)}` : `; tensor\u00a0cores\u00a0${eligible(s)}`)];
}

/** The range of normal numbers of the format that health is about, as powers of two. */
const normals = (d: Data): [number, number] => (d.format === 'bf16' ? [-126, 128] : [-14, 16]);

function shares(d: Data): HTMLElement {
  const total = Math.max(d.calls, 1);
  const bar = h('div', { class: 'ht-share', role: 'img', 'aria-label': d.ops.map(o => `${short(o.dtype)}: ${count(perStep(d, o.calls))} calls`).join(', ') });
  for (const o of d.ops) {
    const part = h('span', { class: `ht-fill-${tone(o.dtype)}` });
    part.style.setProperty('flex-grow', String(o.calls / total));
    bar.append(part);
  }
  const legend = h('div', { class: 'ht-legend' }, ...d.ops.map(o => h('span', {}, chip(o.dtype), ` ${count(perStep(d, o.calls))}`)),
    h('span', { class: 'ht-quiet' }, d.steps > 1 ? 'calls a step' : 'calls'));
  return h('div', {}, bar, legend);
}

function summary(d: Data, f: Figure): HTMLElement {
  const list: [string, string, string?][] = [['changed by autocast', count(perStep(d, d.changed)), `of ${plural(Math.round(perStep(d, d.calls)), 'call')}`]];
  if (d.full) list.push(['results', bytes(perStep(d, d.bytes)), d.full > d.bytes ? `${bytes(perStep(d, d.full))} in fp32` : '']);
  if (d.casts) list.push(['casts', count(perStep(d, d.casts)), `${count(perStep(d, d.hits))} cached, ${bytes(perStep(d, d.castBytes))} moved`]);
  if (d.tensorOps) list.push(['tensor cores', `${count(perStep(d, d.tensorOK))} of ${count(perStep(d, d.tensorOps))}`, 'products with dims ÷ 8']);
  if (f.volatile.overhead && f.volatile.wall) list.push(['tracing cost', `${((100 * f.volatile.overhead) / f.volatile.wall).toPrecision(2)}%`, 'of the time']);
  return facts(list);
}

const half = (d: string): boolean => d === 'float16' || d === 'bfloat16';
const name = (s: Site): string => s.module || (s.phase === 'optimizer' ? 'optimizer' : s.phase === 'backward' ? 'backward' : 'top level');

type Grouping = 'module' | 'op' | 'dtype';
const groupings: [Grouping, string][] = [['module', 'module'], ['op', 'op'], ['dtype', 'precision']];

function grouped(list: Site[], by: Grouping): Map<string, Site[]> {
  const out = new Map<string, Site[]>();
  for (const s of list) {
    const key = by === 'module' ? name(s) : by === 'op' ? s.op : short(s.compute);
    out.set(key, [...(out.get(key) ?? []), s]);
  }
  return out;
}

const matches = (s: Site, words: string[]): boolean => {
  const all = `${s.module} ${s.op} ${s.rule} ${s.where} ${short(s.compute)} ${s.compute} ${s.casts.map(c => c.name).join(' ')}`.toLowerCase();
  return words.every(w => all.includes(w));
};

/** What figures of the same notebook are to light up. */
const selection = (s: Site): Selection => ({ module: s.module, op: s.op, gradients: s.phase === 'backward' ? [s.op] : s.back.map(b => b.op) });

class Decisions {
  readonly node = h('div');
  private readonly grid: TreeGrid<Site>;
  private readonly shown = h('span', { class: 'ht-quiet', 'aria-live': 'polite' });
  private by: Grouping = 'module';
  private words: string[] = [];
  private onlyChanged = false;
  private readonly unfollow: () => void;

  constructor(readonly f: Figure, readonly d: Data, c: Context) {
    const timed = d.forward.some(s => s.ns), healthy = d.sites.some(s => s.health);
    this.grid = new TreeGrid<Site>({
      label: f.alt || f.title,
      heads: [{ text: 'Module, op' }, { text: 'Forward' }, { text: 'Why', wide: true }, { text: 'Backward' },
        ...(healthy ? [{ text: 'Magnitudes' }] : []), { text: 'Bytes', number: true }, ...(timed ? [{ text: 'Time', number: true }] : [])],
      cells: s => this.cells(s, healthy, timed),
      details: s => details(s, d, c),
      chosen: s => c.hub.select(s ? selection(s) : null),
      words: s => `${s.op} in ${name(s)}: ${short(inputs(s))} to ${short(s.compute)}, ${s.rule}`,
    });
    const main = d.ops.find(o => half(o.dtype))?.dtype ?? d.ops[0]?.dtype ?? '';
    this.node.append(finding(d.missing || this.sentence(), d.missing ? 'none' : tone(main), d.missing ? '–' : sign(main)), ...paragraphs(d.note));
    if (!d.missing) this.node.append(shares(d), summary(d, f), this.tools(), this.grid.node);
    if (d.more) this.node.append(h('p', { class: 'ht-para' }, `… and ${plural(d.more, 'more row')}, left out to keep the notebook small.`));
    this.fill();
    this.unfollow = c.hub.follow(s => { if (!s) this.grid.clear(); });
  }

  private sentence(): string {
    const { d } = this, calls = d.ops.filter(o => half(o.dtype)).reduce((a, o) => a + o.calls, 0);
    if (!d.calls) return this.f.alt;
    const kind = d.ops.find(o => half(o.dtype))?.dtype;
    if (!kind) return `Every op ran in ${d.ops.map(o => short(o.dtype)).join(' and ')}.`;
    return `${count(perStep(d, calls))} of ${plural(Math.round(perStep(d, d.calls)), 'op call')}${d.steps > 1 ? ' a step' : ''} ran in ${short(kind)}${d.device ? ` on ${d.device}` : ''}.`;
  }

  private tools(): HTMLElement {
    const search = h('input', { type: 'search', class: 'ht-input', placeholder: 'op, module, reason …', 'aria-label': 'Show only rows with these words', autocomplete: 'off', spellcheck: false });
    search.addEventListener('input', () => {
      this.words = search.value.toLowerCase().slice(0, 200).split(/\s+/).filter(Boolean);
      this.fill();
    });
    const check = h('input', { type: 'checkbox', id: newId() });
    check.addEventListener('change', () => {
      this.onlyChanged = check.checked;
      this.fill();
    });
    const group = h('span', { class: 'ht-row', role: 'group', 'aria-label': 'Group rows by' }, h('span', { class: 'ht-quiet' }, 'by'));
    const buttons = groupings.map(([by, label]) => {
      const b = button(label, () => {
        this.by = by;
        for (const o of buttons) o.setAttribute('aria-pressed', String(o === b));
        this.fill();
      }, { 'aria-pressed': by === this.by });
      return b;
    });
    group.append(...buttons);
    const all = this.d.forward, some = all.some(s => s.changed) && !all.every(s => s.changed);
    return h('div', { class: 'ht-row ht-tools' }, search, group, some ? h('label', { class: 'ht-check', for: check.id }, check, ' only what autocast changed') : null, this.shown);
  }

  private fill(): void {
    const list = this.d.forward.filter(s => (!this.onlyChanged || s.changed) && matches(s, this.words));
    const groups: Group<Site>[] = [];
    for (const [key, rows] of grouped(list, this.by)) {
      const modules = this.by === 'module' && rows[0]!.modules > 1 ? ` · ${count(rows[0]!.modules)} equal modules` : '';
      groups.push({ key, head: [h('strong', {}, key), h('span', { class: 'ht-quiet' }, modules || (rows.length > 1 ? ` · ${rows.length}` : ''))], rows });
    }
    this.grid.show(groups);
    this.shown.textContent = list.length === this.d.forward.length ? '' : `${list.length} of ${plural(this.d.forward.length, 'row')}`;
  }

  private cells(s: Site, healthy: boolean, timed: boolean): (Node | string)[] {
    const { d } = this;
    const first = h('span', {}, h('code', {}, ...breakable(s.op)), times(d, s.calls), this.by === 'module' ? '' : h('span', { class: 'ht-quiet' }, ` ${name(s)}`), s.where ? h('span', { class: 'ht-quiet ht-where' }, ` ${s.where}`) : null);
    const casts = s.casts.length ? h('span', { class: 'ht-quiet ht-change' }, ` ${plural(s.casts.length, 'cast')}`) : null;
    const cells: (Node | string)[] = [first, h('span', {}, change(inputs(s), s.compute), casts), h('span', {}, ...reason(s)),
      h('span', { class: 'ht-backs' }, ...s.back.slice(0, 4).map(b => h('span', {}, chip(b.compute), ' ', h('span', { class: 'ht-quiet' }, ...breakable(b.op)))), s.back.length > 4 ? ` +${s.back.length - 4}` : null)];
    if (healthy) {
      const back = s.back.find(b => b.health)?.health ?? null;
      cells.push(s.health || back ? strip([{ health: s.health, name: 'forward' }, { health: back, name: 'backward' }], normals(d), healthWords(s, back)) : '');
    }
    cells.push(s.bytes ? bytes(perStep(d, s.bytes)) : '');
    if (timed) cells.push(s.ns ? duration(s.ns) : '');
    return cells;
  }

  rows(): Rows {
    return [['phase', 'module', 'op', 'inputs', 'compute', 'output', 'reason', 'shape', 'where', 'calls', 'bytes', 'changed', 'tensor cores', 'casts', 'ns per call', 'largest', 'zeros', 'numbers'],
      ...this.d.sites.map(s => [s.phase, s.module, s.op, s.from.join(' '), s.compute, s.out, s.rule, s.shape, s.where, s.calls, s.bytes, s.changed ? 'yes' : 'no', eligible(s), s.casts.length, s.ns || '',
        s.health?.amax ?? '', s.health?.zeros ?? '', s.health?.n ?? ''])];
  }

  dispose(): void { this.unfollow(); }
}

function healthWords(s: Site, back: Health | null): string {
  const one = (n: string, x: Health | null): string => (x ? `${n}: largest ${magnitude(x.amax)}, ${count(x.zeros)} of ${count(x.n)} zero` : '');
  return [one('forward', s.health), one('backward', back)].filter(Boolean).join('; ');
}

export const decisions: Maker = (f, c) => {
  const v = new Decisions(f, read(f), c);
  return { node: v.node, rows: () => v.rows(), dispose: () => v.dispose() };
};
