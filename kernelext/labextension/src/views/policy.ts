// The op table: what autocast does with every op, and why.
import { h } from '../dom';
import type { Figure } from '../figure';
import { count, plural } from '../format';
import { flag, list, text, texts, whole } from '../read';
import { TreeGrid, type Group } from '../treegrid';
import type { Context, Maker, Rows } from '../view';
import { kernelButtons } from './control';
import { force } from './decisions_row';
import { finding, paragraphs } from './parts';

interface Class { name: string; means: string; ops: number }
interface Op { name: string; class: string; why: string; doc: string; cpu: string; apex: string; gives: string; part: boolean; own: boolean; forced: Forced | null }
interface Forced { op: string; from: string; to: string; by: string }
interface Data { missing: string; sentence: string; lists: string; source: string; classes: Class[]; ops: Op[]; more: number }

function read(d: unknown): Data {
  const whys = texts(d, 'whys', 400, 300);
  const forced = list(d, 'forced', 100, v => ({ op: text(v, 'op', 80), from: text(v, 'from', 30), to: text(v, 'to', 30), by: text(v, 'by', 80) }));
  return {
    missing: text(d, 'missing', 300), sentence: text(d, 'sentence', 600), lists: text(d, 'lists', 20), source: text(d, 'source', 120), more: whole(d, 'more'),
    classes: list(d, 'classes', 12, c => ({ name: text(c, 'class', 30), means: text(c, 'means'), ops: whole(c, 'ops') })),
    ops: list(d, 'ops', 1000, v => ({
      name: text(v, 'name', 80), class: text(v, 'class', 30), why: whys[whole(v, 'why')] ?? '', doc: text(v, 'doc', 300), cpu: text(v, 'cpu', 30), apex: text(v, 'apex', 30), gives: text(v, 'gives', 10),
      part: flag(v, 'part'), own: flag(v, 'own'), forced: forced.find(x => x.op === text(v, 'name', 80)) ?? null,
    })),
  };
}

class Policy {
  readonly node = h('div');
  private readonly grid: TreeGrid<Op>;
  private readonly shown = h('span', { class: 'ht-quiet', 'aria-live': 'polite' });
  private words: string[] = [];

  constructor(f: Figure, readonly d: Data, private readonly c: Context) {
    this.grid = new TreeGrid<Op>({
      label: f.alt || f.title, heads: [{ text: 'Op' }, { text: 'What it computes', wide: true }, { text: 'Why', wide: true }, { text: 'On the CPU' }, { text: 'In Apex O1' }],
      cells: o => [h('span', {}, h('code', {}, o.name), o.forced ? h('strong', {}, ` forced to ${o.forced.to}`) : null, o.own ? h('span', { class: 'ht-quiet' }, ' yours') : null), o.doc, o.why, o.cpu || o.class, o.apex || o.class],
      details: o => this.details(o), chosen: () => {}, words: o => `${o.name}, ${o.doc}: ${o.class}, ${o.why}`,
    });
    this.node.append(finding(d.missing || d.sentence || f.alt, 'plain', '▮'), ...paragraphs(d.source));
    if (d.missing) return;
    const search = h('input', { type: 'search', class: 'ht-input', placeholder: 'op, class, reason …', 'aria-label': 'Show only ops with these words', autocomplete: 'off', spellcheck: false });
    search.addEventListener('input', () => {
      this.words = search.value.toLowerCase().slice(0, 200).split(/\s+/).filter(Boolean);
      this.fill();
    });
    this.node.append(h('div', { class: 'ht-row ht-tools' }, search, this.shown), this.grid.node);
    this.fill();
    if (d.more) this.node.append(...paragraphs(`… and ${plural(d.more, 'more op')}.`));
  }

  private fill(): void {
    const fits = (o: Op): boolean => this.words.every(w => `${o.name} ${o.doc} ${o.class} ${o.why} ${o.forced ? 'forced' : ''}`.toLowerCase().includes(w));
    const list = this.d.ops.filter(o => o.name && fits(o)), known = new Set(this.d.classes.map(k => k.name));
    const classes = [...this.d.classes, ...[...new Set(list.map(o => o.class))].filter(n => !known.has(n)).map(name => ({ name, means: '', ops: 0 }))];
    const groups: Group<Op>[] = classes.map(k => ({ key: k.name, rows: list.filter(o => o.class === k.name), head: [h('strong', {}, k.name), h('span', { class: 'ht-quiet' }, ` ${k.means}`)] }));
    this.grid.show(groups.filter(g => g.rows.length).map(g => ({ ...g, head: [...g.head, h('span', { class: 'ht-quiet' }, ` · ${count(g.rows.length)}`)] })));
    // The headline counts what programs call; the rows that such ops are made of stand in the table too.
    const parts = this.d.ops.filter(o => o.part).length, all = plural(this.d.ops.length - parts, 'op') + (parts ? ` and ${plural(parts, 'row')} that they are made of` : '');
    this.shown.textContent = list.length === this.d.ops.length ? all : `${plural(list.length, 'row')} of ${all}`;
  }

  private details(o: Op): HTMLElement {
    const terms: [string, string][] = [['computes', o.doc || '–'], ['class', o.class], ['why', o.why]];
    if (o.cpu) terms.push(['on the CPU', o.cpu]);
    if (o.apex) terms.push(['in Apex O1', o.apex]);
    if (o.gives) terms.push(['gives', o.gives]);
    if (o.forced) terms.push(['forced', `${o.forced.from} to ${o.forced.to}${o.forced.by ? `, by ${o.forced.by}` : ''}`]);
    const { hub, announce } = this.c;
    return h('div', { class: 'ht-details' }, h('dl', { class: 'ht-terms' }, ...terms.map(([t, v]) => h('div', {}, h('dt', {}, t), h('dd', {}, v)))),
      o.part ? null : kernelButtons(hub.kernel, [[`run ${o.name} in float32 next time`, () => force(this.c, o.name, 'float32')], ['in 16 bits', () => force(this.c, o.name, 'lower')]], announce));
  }

  rows(): Rows { return [['op', 'computes', 'class', 'reason', 'on the CPU', 'in Apex O1', 'forced to'], ...this.d.ops.map(o => [o.name, o.doc, o.class, o.why, o.cpu || o.class, o.apex || o.class, o.forced?.to ?? ''])]; }
}

export const policy: Maker = (f, c) => {
  const v = new Policy(f, read(f.data), c);
  return { node: v.node, rows: () => v.rows() };
};
