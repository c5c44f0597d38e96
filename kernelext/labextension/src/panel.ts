// The side panel: the figures of the notebook that is in front, and how precision stands in its kernel right now. The kernel is asked
// only while the panel is open.
import { h } from './dom';
import { MIME, read, type Figure } from './figure';
import { bytes, count, loss, plural, raised, scale as words } from './format';
import type { Hub } from './hub';
import type { Cell, NotebookPanel } from './jupyter';
import { Unanswered } from './kernel';
import { flag, member, number, positive, text, whole } from './read';
import { button } from './dom';
import { styled } from './style';
import { force } from './views/decisions_row';

const kinds: Record<string, string> = {
  decisions: 'decisions', scale_history: 'loss scale', exponents: 'exponents', bits: 'bits', compare: 'comparison', policy: 'op table', live: 'training', custom: 'own',
};

interface Entry { cell: number; nth: number; figure: Figure; ran: number | null }

const most = 200;

/** The figures of a notebook, in order. */
function entries(p: NotebookPanel): Entry[] {
  const out: Entry[] = [];
  p.content.widgets.forEach((c: Cell, cell) => {
    const o = c.model.type === 'code' ? c.model.outputs : undefined;
    for (let i = 0, nth = 0; o && i < Math.min(o.length, 200) && out.length < most; i++) {
      const raw = o.get(i).data[MIME];
      if (raw === undefined) continue;
      try {
        out.push({ cell, nth, figure: read(raw), ran: c.model.executionCount ?? null });
      } catch { /* it says so itself where it is shown */ }
      nth++;
    }
  });
  return out;
}

/** Brings a figure into view and gives it the focus. */
async function show(p: NotebookPanel, e: Entry): Promise<void> {
  await p.content.scrollToItem?.(e.cell, 'smart');
  const cards = p.content.widgets[e.cell]?.node.querySelectorAll<HTMLElement>('.ht-card');
  const card = cards?.[e.nth];
  card?.scrollIntoView({ block: 'start' });
  card?.setAttribute('tabindex', '-1');
  card?.focus({ preventScroll: true });
}

export class PanelView {
  readonly node = h('div', { class: 'ht-card ht-panel' });
  private panel: NotebookPanel | null = null;
  private hub: Hub | null = null;
  private readonly status = h('div');
  private readonly list = h('ul', { class: 'ht-list' });
  private readonly said = h('p', { class: 'ht-para' });
  private readonly live = h('div', { class: 'ht-hush', 'aria-live': 'polite' });
  private timer = 0;
  private open = false;
  private known = '';
  private readonly changed = (): void => {
    clearTimeout(this.later);
    this.later = window.setTimeout(() => this.open && this.fill(), 400);
  };
  private later = 0;

  constructor() {
    styled(document);
    this.node.append(h('h2', { class: 'ht-panel-title' }, 'Precision'), h('section', { 'aria-label': 'Kernel' }, h('h3', { class: 'ht-title' }, 'Right now'), this.status, this.said),
      h('section', { 'aria-label': 'Figures' }, h('h3', { class: 'ht-title' }, 'Figures of this notebook'), this.list), this.live);
  }

  /** Shows another notebook, or none. */
  follow(p: NotebookPanel | null, hub: Hub | null): void {
    this.panel?.content.modelContentChanged.disconnect(this.changed);
    this.panel = p;
    this.hub = hub;
    this.known = '';
    p?.content.modelContentChanged.connect(this.changed);
    this.status.replaceChildren();
    if (this.open) this.show();
  }

  /** The panel is in sight. */
  show(): void {
    this.open = true;
    this.fill();
    clearTimeout(this.timer);
    void this.ask();
  }

  hide(): void {
    this.open = false;
    clearTimeout(this.timer);
  }

  private fill(): void {
    const p = this.panel, all = p ? entries(p) : [];
    const now = JSON.stringify(all.map(e => [e.cell, e.nth, e.figure.kind, e.figure.title, e.figure.alt, e.ran]));
    if (now === this.known) return; // what has the focus stays
    this.known = now;
    this.list.replaceChildren(...all.map(e => h('li', {}, (() => {
      const b = button('', () => void show(p!, e), { class: 'ht-entry' });
      const kind = Object.prototype.hasOwnProperty.call(kinds, e.figure.kind) ? kinds[e.figure.kind]! : 'figure';
      b.append(h('strong', {}, raised(e.figure.title)), h('span', { class: 'ht-quiet' }, ` ${kind}${e.ran ? ` · [${count(e.ran)}]` : ''}`), h('span', { class: 'ht-excerpt' }, raised(e.figure.alt)));
      return b;
    })())));
    if (!all.length) this.list.replaceChildren(h('li', { class: 'ht-quiet' }, p ? 'None yet: widgets.Show in a cell makes one, and so does %%amp float16 --show decisions.' : 'No notebook is open.'));
  }

  private async ask(): Promise<void> {
    const hub = this.hub, why = hub ? hub.kernel.missing() : this.panel ? '' : 'No notebook is open.';
    let next = 3000;
    if (why || !hub) {
      this.said.textContent = why;
      this.status.replaceChildren();
    } else {
      try {
        const a = await hub.kernel.ask('status');
        if (hub === this.hub && this.open) this.draw(a, hub);
        if (flag(a, 'running')) next = 1500;
      } catch (e) {
        if (hub === this.hub) this.said.textContent = e instanceof Unanswered ? e.message : 'The kernel could not be asked.';
      }
    }
    clearTimeout(this.timer);
    if (this.open) this.timer = window.setTimeout(() => void this.ask(), document.hidden ? 10000 : next);
  }

  private draw(a: unknown, hub: Hub): void {
    const live = member(a, 'live'), history = member(a, 'scale_history'), running = flag(a, 'running');
    const training = running && text(live, 'state', 10) === 'running';
    const rows: [string, string, string?][] = [];
    const waiting = whole(a, 'waiting');
    rows.push(['kernel', running ? 'runs a cell' : 'idle', waiting ? `${plural(waiting, 'cell')} waiting` : '']);
    rows.push(['device', (training && text(live, 'device', 40)) || text(a, 'device', 40) || 'cpu', training ? 'of the training' : 'of the next cell']);
    const now = positive(live, 'scale', 0) || positive(history, 'scale', 0), first = positive(a, 'first_scale', 0);
    const collapsed = !positive(live, 'scale', 0) && whole(live, 'skipped') > 0;
    if (collapsed) rows.push(['loss scale', '0', `collapsed, ${count(whole(live, 'skipped'))} skipped`]);
    else if (now) rows.push(['loss scale', words(now), training ? 'right now' : text(history, 'verdict', 20) || 'last seen']);
    if (first) rows.push(['first loss scale', words(first), 'set for the next scaler']);
    if (live) rows.push(['loss', loss(number(live, 'loss')), `${text(live, 'state', 10)} ${count(whole(live, 'step'))}${whole(live, 'total') ? ` of ${count(whole(live, 'total'))}` : ''}`]);
    if (whole(live, 'bytes') || whole(live, 'peak')) rows.push(['tensors', bytes(whole(live, 'bytes')), `peak ${bytes(whole(live, 'peak'))}`]);
    if (whole(a, 'process_bytes')) rows.push(['processes', bytes(whole(a, 'process_bytes')), 'of the kernel’s cells and tools']);
    rows.push(['between cells', whole(a, 'objects') ? bytes(whole(a, 'object_bytes')) : 'nothing', whole(a, 'objects') ? plural(whole(a, 'objects'), 'object') : '']);
    const dl = this.status.querySelector('dl') ?? h('dl', { class: 'ht-now' });
    dl.replaceChildren(...rows.map(([name, value, beside]) => h('div', {}, h('dt', {}, name), h('dd', {}, h('strong', {}, value), beside ? h('small', {}, ` ${beside}`) : null))));
    if (!dl.isConnected) this.status.replaceChildren(dl);
    this.forced(a, hub);
    this.said.textContent = '';
  }

  /** What is forced in the session, each with a way back. */
  private forced(a: unknown, hub: Hub): void {
    const f = member(a, 'forced'), names = typeof f === 'object' && f !== null ? Object.keys(f).slice(0, 50).sort() : [];
    const key = names.map(n => `${n}=${text(f, n, 20)}`).join(' ');
    const old = this.status.querySelector<HTMLElement>('.ht-forced');
    if (old?.dataset.of === key) return;
    const c = { hub, announce: (t: string): void => { this.live.textContent = t; } };
    const box = h('div', { class: 'ht-forced', 'data-of': key }, ...(names.length ? [h('h4', { class: 'ht-title' }, 'Forced in this session')] : []),
      ...names.map(n => h('div', { class: 'ht-row' }, h('code', {}, n.slice(0, 80)), ` to ${text(f, n, 20)}`, button('undo', () => {
        force(c, n, 'default').then(d => {
          c.announce(d.text);
          return this.ask();
        }, (e: Error) => { this.said.textContent = e.message; });
      }, { class: 'ht-button ht-small', 'aria-label': `Undo what ${n.slice(0, 80)} is forced to` }))));
    old?.remove();
    this.status.append(box);
  }
}
