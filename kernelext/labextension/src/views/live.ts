// How a training loop goes, in one block that is updated in place.
import { h } from '../dom';
import type { Figure } from '../figure';
import { bytes, count, loss, plural, scale as words, tick, tick10, wait } from '../format';
import { linearTicks, logTicks, Plot, type Spec } from '../plot';
import { list, number, points, positive, text, whole } from '../read';
import type { Context, Maker, Rows } from '../view';

interface Data {
  state: string; sentence: string; total: number; step: number; device: string; loss: number; best: number; bestAt: number; diverged: number;
  scale: number; skipped: number; culprit: string; skips: number[]; mean: number; points: [number, number][];
}

function read(d: unknown): Data {
  const state = text(d, 'state', 10);
  return {
    state: state === 'running' || state === 'done' ? state : 'stopped', sentence: text(d, 'sentence', 600), total: whole(d, 'total'), step: whole(d, 'step'), device: text(d, 'device', 60),
    loss: number(d, 'loss'), best: number(d, 'best'), bestAt: whole(d, 'best_at'), diverged: whole(d, 'diverged', -1, undefined, -1),
    scale: positive(d, 'scale', 0), skipped: whole(d, 'skipped'), culprit: text(d, 'culprit'), mean: whole(d, 'mean_of', 0),
    skips: list(d, 'skips', 200, v => (typeof v === 'number' && v >= 0 && v < 2 ** 50 ? Math.trunc(v) : -1)).filter(v => v >= 0), points: points(d, 'points', 240),
  };
}

function spec(f: Figure, d: Data): Spec {
  const values = d.points.map(p => p[1]).filter(Number.isFinite);
  const log = values.length > 1 && values.every(v => v > 0) && Math.max(...values) > 20 * Math.min(...values);
  const y = (v: number): number => (log ? Math.log10(v) : v), base = values.length ? y(Math.min(...values)) : 0;
  return {
    label: f.alt, x: 'step', height: 140, lines: [{ name: 'loss', tone: 'half', points: d.points.map(([a, b]) => [a, y(b)]) }],
    dots: d.skips.map(x => ({ x, y: base, label: '×', tone: 'over' })), rules: [], bands: [], ticks: log ? logTicks : linearTicks,
    tick: log ? tick10 : tick,
    say: step => {
      const p = d.points.filter(q => q[0] <= step).slice(-1)[0];
      return `step ${count(step)}: loss ${p ? loss(p[1]) : '–'}${d.mean > 1 ? ` (mean of ${d.mean})` : ''}${d.skips.includes(step) ? ' × skipped' : ''}`;
    },
  };
}

/** The states of a kernel that has lost what it ran, and how long one has to be idle before a figure believes it: the last state of a cell that ends
 * may come after. */
const gone = /restarting|dead|terminating/, settle = 1500;

const signs: Record<string, string> = { running: '▶', done: '✓', stopped: '■' };

class Live {
  readonly node = h('div', { class: 'ht-live' });
  readonly plot: Plot;
  private d: Data;
  private readonly state = h('span', { class: 'ht-state' });
  private readonly bar = h('progress', { class: 'ht-progress ht-long', 'aria-label': 'steps made' });
  private readonly left = h('span', { class: 'ht-quiet' });
  private readonly row = h('div', { class: 'ht-row' }, this.state, this.left);
  private readonly chips = h('dl', { class: 'ht-facts' });
  private readonly ends = h('p', { class: 'ht-para', role: 'status' });
  private lost = ''; // why no update follows, though the last one said that it runs
  private timer = 0;
  private readonly unfollow: () => void;

  constructor(private f: Figure, private readonly c: Context) {
    this.d = read(f.data);
    this.plot = new Plot(spec(f, this.d));
    this.node.append(this.row, this.chips, this.ends);
    this.draw();
    this.unfollow = c.hub.kernel.watch(now => this.watch(now));
  }

  update(f: Figure): boolean {
    this.f = f;
    this.d = read(f.data);
    this.lost = '';
    this.plot.update(spec(f, this.d));
    this.draw();
    this.watch(this.c.hub.kernel.status());
    return true;
  }

  /** A kernel that is killed or restarted sends no last state, so the page itself tells that nothing runs any more. */
  private watch(now: string): void {
    clearTimeout(this.timer);
    if (this.d.state !== 'running' || this.lost) return;
    if (gone.test(now)) this.lose('Interrupted by a restart of the kernel.');
    else if (now === 'idle' || now === 'none') {
      this.timer = window.setTimeout(() => {
        if (this.c.hub.kernel.status() === now && !this.asked()) this.lose('Its cell does not run any more.');
        else this.watch(this.c.hub.kernel.status());
      }, settle);
    }
  }

  /** Whether JupyterLab still waits for the cell: a kernel that answers the side panel calls itself idle meanwhile. */
  private asked(): boolean {
    return this.node.closest('.jp-Cell')?.querySelector('.jp-InputPrompt')?.textContent?.includes('*') ?? false;
  }

  private lose(why: string): void {
    this.lost = why;
    this.draw();
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.unfollow();
    this.plot.dispose();
  }

  private draw(): void {
    const { d } = this, v = this.f.volatile, state = this.lost ? 'stopped' : d.state, running = state === 'running';
    const of = d.total ? `${count(d.step)} of ${count(d.total)}` : plural(d.step, 'step');
    this.state.textContent = `${signs[state]} ${state} ${of}`;
    this.state.className = `ht-state ht-tone-${d.diverged >= 0 ? 'bad' : state === 'stopped' ? 'calibrating' : 'good'}`;
    if (d.total && !this.bar.isConnected) this.state.after(this.bar);
    if (d.total) Object.assign(this.bar, { max: d.total, value: Math.min(d.step, d.total) });
    this.left.textContent = [running && v.left ? `${wait(v.left)} left` : '', v.wall ? (running ? `${wait(v.wall)} so far` : `took ${wait(v.wall)}`) : ''].filter(Boolean).join(', ');
    const list: [string, string, string][] = [['loss', loss(d.loss), ''], ['best', loss(d.best), `at ${count(d.bestAt)}`]];
    // Nothing but skipped steps brings a scale to 0, and where there is no scaler, none are.
    if (d.scale || d.skipped) list.push(['loss scale', words(d.scale), `${d.scale ? '' : 'collapsed, '}${d.skipped ? `${count(d.skipped)} skipped` : 'none skipped'}`]);
    if (v.rate) list.push(['speed', `${v.rate < 10 ? v.rate.toPrecision(2) : count(v.rate)}`, 'steps/s']);
    if (v.peak || v.bytes) list.push(['memory', bytes(v.bytes || v.peak), v.peak ? `peak ${bytes(v.peak)}` : '']);
    if (d.device) list.push(['device', d.device, '']);
    // In place: what has the focus or is being read stays.
    while (this.chips.children.length > list.length) this.chips.lastElementChild!.remove();
    list.forEach(([name, value, beside], i) => {
      const at = this.chips.children[i] ?? this.chips.appendChild(h('div', {}, h('dt'), h('dd', {}, '', h('small'))));
      const [dt, dd] = [at.children[0]!, at.children[1]!];
      if (dt.textContent !== name) dt.textContent = name;
      dd.replaceChildren(value, h('small', {}, beside ? ' ' + beside : ''));
    });
    if (d.points.length > 1 && this.plot.node.parentNode !== this.node) this.chips.after(this.plot.node);
    const text = running ? '' : [this.lost, d.sentence].filter(Boolean).join(' ');
    if (this.ends.textContent !== text) this.ends.textContent = text;
  }

  rows(): Rows {
    return [['step', 'loss', 'skipped'], ...this.d.points.map(([x, y]): (string | number)[] => [x, String(y), '']), ...this.d.skips.map((x): (string | number)[] => [x, '', 1])];
  }
}

export const live: Maker = (f, c) => {
  const v = new Live(f, c);
  return { node: v.node, update: g => v.update(g), rows: () => v.rows(), svg: () => (v.plot.node.isConnected ? v.plot.svg : null), dispose: () => v.dispose() };
};
