// A table of groups that open and close, with rows that open for details: a tree grid for keys and screen readers.
import { h, ownKeys } from './dom';

export interface Group<T> { key: string; head: (Node | string)[]; rows: T[] }

export interface Options<T> {
  label: string;
  heads: { text: string; number?: boolean; wide?: boolean }[];
  cells: (row: T) => (Node | string)[];
  details: (row: T) => HTMLElement;
  chosen: (row: T | null) => void;
  words: (row: T) => string; // a row in a sentence
}

interface Line<T> { tr: HTMLTableRowElement; row: T | null; key: string }

export class TreeGrid<T> {
  readonly node: HTMLElement;
  private readonly body = h('tbody', { role: 'rowgroup' });
  private lines: Line<T>[] = [];
  private readonly closed = new Set<string>();
  private groups: Group<T>[] = [];
  private open: { row: T; tr: HTMLTableRowElement } | null = null;
  private current = 0;

  constructor(private readonly o: Options<T>) {
    const heads = o.heads.map(x => h('th', { scope: 'col', role: 'columnheader', class: [x.number && 'ht-number', x.wide && 'ht-wide'].filter(Boolean).join(' ') || undefined }, x.text));
    const grid = h('table', { class: 'ht-table ht-grid-table', role: 'treegrid', 'aria-label': o.label, ...ownKeys },
      h('thead', { role: 'rowgroup' }, h('tr', { role: 'row' }, ...heads)), this.body);
    this.node = h('div', { class: 'ht-scroll ht-tall' }, grid);
    this.body.addEventListener('keydown', e => this.key(e));
    this.body.addEventListener('click', e => {
      const tr = (e.target as Element).closest('tr');
      const i = this.lines.findIndex(l => l.tr === tr);
      if (i >= 0 && !(e.target as Element).closest('button')) {
        this.focus(i);
        this.act(i);
      }
    });
  }

  show(groups: Group<T>[]): void {
    this.groups = groups;
    this.draw();
  }

  /** Closes what is open: something else was selected. */
  clear(): void {
    if (!this.open) return;
    this.open = null;
    this.draw();
  }

  private draw(): void {
    this.lines = [];
    const trs: HTMLTableRowElement[] = [];
    for (const g of this.groups) {
      const shut = this.closed.has(g.key);
      const head = h('tr', { role: 'row', 'aria-level': 1, 'aria-expanded': !shut, tabindex: -1, class: 'ht-group' },
        h('td', { role: 'gridcell', colspan: this.o.heads.length }, h('span', { class: 'ht-twist', 'aria-hidden': true }, shut ? '▸' : '▾'), ...g.head));
      trs.push(head);
      this.lines.push({ tr: head, row: null, key: g.key });
      if (shut) continue;
      for (const row of g.rows) {
        const open = this.open?.row === row;
        const tr = h('tr', { role: 'row', 'aria-level': 2, 'aria-selected': open, 'aria-expanded': open, tabindex: -1, class: 'ht-site' },
          ...this.o.cells(row).map((c, i) => h('td', { role: 'gridcell', class: [this.o.heads[i]?.number && 'ht-number', this.o.heads[i]?.wide && 'ht-wide'].filter(Boolean).join(' ') || undefined }, c)));
        trs.push(tr);
        this.lines.push({ tr, row, key: g.key });
        if (open) {
          this.open!.tr = h('tr', { role: 'row', 'aria-level': 3, class: 'ht-opened' }, h('td', { role: 'gridcell', colspan: this.o.heads.length }, this.o.details(row)));
          trs.push(this.open!.tr);
        }
      }
    }
    if (this.open && !this.lines.some(l => l.row === this.open!.row)) this.open = null;
    this.body.replaceChildren(...trs);
    this.current = Math.min(this.current, Math.max(this.lines.length - 1, 0));
    this.lines[this.current]?.tr.setAttribute('tabindex', '0');
  }

  private focus(i: number): void {
    const l = this.lines[i];
    if (!l) return;
    this.lines[this.current]?.tr.setAttribute('tabindex', '-1');
    this.current = i;
    l.tr.setAttribute('tabindex', '0');
    l.tr.focus({ preventScroll: false });
  }

  /** Opens or closes what a line stands for. */
  private act(i: number, want?: boolean): void {
    const l = this.lines[i];
    if (!l) return;
    const is = l.row ? this.open?.row === l.row : !this.closed.has(l.key);
    if (want === is) return;
    if (!l.row) is ? this.closed.add(l.key) : this.closed.delete(l.key);
    else this.open = is ? null : { row: l.row, tr: l.tr };
    this.draw();
    const at = this.lines.findIndex(x => x.row === l.row && x.key === l.key);
    this.focus(at);
    if (l.row) this.o.chosen(this.open ? l.row : null);
  }

  private key(e: KeyboardEvent): void {
    const tr = (e.target as Element).closest('tr');
    const i = this.lines.findIndex(l => l.tr === tr);
    if (e.key === 'Escape' && this.open) {
      const at = this.lines.findIndex(l => l.row === this.open!.row);
      this.act(at, false);
      this.focus(at);
    } else if (i < 0 || e.target !== tr || e.ctrlKey || e.metaKey || e.altKey) return;
    else if (e.key === 'ArrowDown') this.focus(Math.min(i + 1, this.lines.length - 1));
    else if (e.key === 'ArrowUp') this.focus(Math.max(i - 1, 0));
    else if (e.key === 'Home') this.focus(0);
    else if (e.key === 'End') this.focus(this.lines.length - 1);
    else if (e.key === 'Enter' || e.key === ' ') this.act(i);
    else if (e.key === 'ArrowRight') this.act(i, true);
    else if (e.key === 'ArrowLeft') {
      const l = this.lines[i]!;
      if (l.row && this.open?.row !== l.row) this.focus(this.lines.findIndex(x => !x.row && x.key === l.key));
      else this.act(i, false);
    } else return;
    e.preventDefault();
  }
}
