// A chart of lines over steps, drawn as SVG by DOM calls. It is a slider to the keyboard and to screen readers: arrow keys move
// from point to point, and what stands there is said. Dragging, or + and −, zoom; Escape shows all.
import { h, newId, ownKeys, s } from './dom';
import { Fit } from './fit';
import { count } from './format';
import { Margin } from './margin';

export interface Line { name: string; tone: string; dash?: string; wide?: boolean; points: [number, number][]; step?: boolean }
export interface Dot { x: number; y: number; label: string; tone: string }
export interface Rule { y: number; label: string }
export interface Band { from: number; to: number; label: string }

export interface Spec {
  label: string; // for screen readers
  x: string; // what runs along the axis
  height: number;
  lines: Line[];
  dots: Dot[];
  rules: Rule[];
  bands: Band[];
  ticks: (low: number, high: number) => number[]; // of y
  tick: (y: number, all: readonly number[]) => string; // one of them all, which are written alike
  say: (x: number) => string; // what stands at x, in a line
  span?: [number, number]; // of x, where it is not that of what is drawn: charts below each other have the same
  quiet?: boolean; // says nothing until pointed at: the chart above has told how
}

/** What is beyond any number that is meant would leave no room for the rest, nor for arithmetic. */
const tame = (y: number): number => Math.min(Math.max(y, -1e30), 1e30);

const right = 14, top = 10, bottom = 24;

export class Plot {
  readonly node: HTMLElement;
  svg: SVGSVGElement = s('svg');
  private readonly stage = h('div', { class: 'ht-stage', tabindex: 0, role: 'slider', ...ownKeys });
  private readonly readout = h('div', { class: 'ht-readout' });
  private readonly out: HTMLButtonElement;
  private readonly below: HTMLElement;
  private readonly clip = newId();
  private stops: number[] = [];
  private all: [number, number] = [0, 1];
  private window: [number, number] = [0, 1];
  private at: number | null = null;
  private dragged: number | null = null;
  private width = 0;
  private readonly fit: Fit;
  private readonly redraw = (): void => this.draw();

  /** Charts that stand below each other are given the same margin. */
  constructor(private spec: Spec, private readonly margin = new Margin()) {
    this.out = h('button', { type: 'button', class: 'ht-button' }, 'show all');
    this.out.addEventListener('click', () => { this.zoom(...this.all); this.stage.focus({ preventScroll: true }); });
    this.below = h('div', { class: 'ht-below' }, this.readout);
    this.node = h('div', { class: 'ht-plot' }, this.stage, this.below);
    this.listen();
    this.fit = new Fit(this.stage, () => this.width, this.redraw);
    margin.join(this.redraw);
    this.update(spec);
  }

  dispose(): void {
    this.fit.dispose();
    this.margin.leave(this.redraw);
  }

  /** Draws other data; what is zoomed stays so. */
  update(spec: Spec): void {
    const whole = this.window[0] === this.all[0] && this.window[1] === this.all[1];
    this.spec = spec;
    const xs = new Set<number>();
    for (const l of spec.lines) for (const p of l.points) xs.add(p[0]);
    for (const d of spec.dots) xs.add(d.x);
    this.stops = [...xs].sort((a, b) => a - b);
    const [low, high] = spec.span ?? [this.stops[0] ?? 0, this.stops[this.stops.length - 1] ?? 1];
    this.all = [low, Math.max(high, low + 1)];
    if (whole || this.window[0] < this.all[0] || this.window[1] > this.all[1]) this.window = this.all;
    this.stage.setAttribute('aria-label', `${spec.label} Arrow keys move along the ${spec.x}s.`);
    this.draw();
    this.say();
  }

  private zoom(from: number, to: number): void {
    this.window = [Math.max(from, this.all[0]), Math.min(to, this.all[1])];
    if (this.window[1] - this.window[0] < 1) this.window = this.all;
    if (this.window[0] === this.all[0] && this.window[1] === this.all[1]) this.out.remove();
    else this.below.append(this.out);
    this.draw();
  }

  /** What the chart shows at the cursor. */
  private say(): void {
    const [from, to] = this.all;
    const now = this.at ?? to;
    this.stage.setAttribute('aria-valuemin', String(from));
    this.stage.setAttribute('aria-valuemax', String(to));
    this.stage.setAttribute('aria-valuenow', String(now));
    this.stage.setAttribute('aria-valuetext', this.spec.say(now));
    this.readout.textContent = this.at === null ? this.spec.quiet ? '' : `Point at the chart for the values of a ${this.spec.x}; drag to zoom.` : this.spec.say(this.at);
    this.readout.classList.toggle('ht-quiet', this.at === null);
  }

  private move(x: number | null): void {
    this.at = x;
    this.say();
    this.cursor();
  }

  private listen(): void {
    const g = this.stage;
    g.addEventListener('pointermove', e => {
      this.move(this.nearest(this.value(e)));
      if (this.dragged !== null) this.shade(this.dragged, this.value(e));
    });
    g.addEventListener('pointerleave', () => { if (this.dragged === null && document.activeElement !== g) this.move(null); });
    g.addEventListener('pointerdown', e => {
      if (e.button || e.pointerType === 'touch') return; // fingers scroll
      this.dragged = this.value(e);
      g.setPointerCapture?.(e.pointerId);
    });
    g.addEventListener('pointerup', e => {
      if (this.dragged === null) return;
      const [a, b] = [this.dragged, this.value(e)].sort((p, q) => p - q) as [number, number];
      this.dragged = null;
      if ((b - a) * this.unit() > 6) this.zoom(a, b);
      else this.draw();
    });
    g.addEventListener('dblclick', () => this.zoom(...this.all));
    g.addEventListener('blur', () => this.move(null));
    g.addEventListener('keydown', e => this.key(e));
  }

  private key(e: KeyboardEvent): void {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const i = this.at === null ? this.stops.length : this.stops.indexOf(this.at);
    const page = Math.max(1, Math.round(this.stops.length / 10));
    const by: Record<string, number> = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -page, PageUp: page, Home: -1e9, End: 1e9 };
    const step = Object.prototype.hasOwnProperty.call(by, e.key) ? by[e.key]! : 0;
    const [a, b] = this.window, middle = this.at ?? (a + b) / 2;
    if (step && this.stops.length) {
      const x = this.stops[Math.min(Math.max(i + step, 0), this.stops.length - 1)]!;
      if (x < a || x > b) this.window = this.shifted(x);
      this.draw();
      this.move(x);
    } else if (e.key === '+' || e.key === '=') this.zoom(middle - (middle - a) / 2, middle + (b - middle) / 2);
    else if (e.key === '-') this.zoom(middle - (middle - a) * 2, middle + (b - middle) * 2);
    else if (e.key === 'Escape' && this.window !== this.all) this.zoom(...this.all);
    else return;
    e.preventDefault();
  }

  private shifted(x: number): [number, number] {
    const size = this.window[1] - this.window[0];
    const from = Math.min(Math.max(x - size / 2, this.all[0]), this.all[1] - size);
    return [from, from + size];
  }

  private unit(): number { return Math.max(this.width - this.margin.left - right, 1) / (this.window[1] - this.window[0]); }
  private px(x: number): number { return this.margin.left + (x - this.window[0]) * this.unit(); }
  private value(e: PointerEvent): number {
    const x = this.window[0] + (e.clientX - this.svg.getBoundingClientRect().left - this.margin.left) / this.unit();
    return Math.min(Math.max(x, this.window[0]), this.window[1]);
  }

  /** The stop nearest to x: the steps of a scale are where it changes, so between them any step will do. */
  private nearest(x: number): number {
    let best = this.stops[0] ?? 0;
    for (const p of this.stops) if (Math.abs(p - x) < Math.abs(best - x)) best = p;
    return Math.abs(best - x) * this.unit() < 8 ? best : Math.round(x);
  }

  private readonly mark = s('line', { class: 'ht-cursor', y1: top });
  private readonly selection = s('rect', { class: 'ht-selection', y: top });

  private cursor(): void {
    const on = this.at !== null && this.at >= this.window[0] && this.at <= this.window[1];
    this.mark.setAttribute('visibility', on ? 'visible' : 'hidden');
    if (!on) return;
    const x = this.px(this.at!).toFixed(1);
    this.mark.setAttribute('x1', x);
    this.mark.setAttribute('x2', x);
  }

  private shade(a: number, b: number): void {
    const [from, to] = [this.px(Math.min(a, b)), this.px(Math.max(a, b))];
    this.selection.setAttribute('x', from.toFixed(1));
    this.selection.setAttribute('width', Math.max(to - from, 0).toFixed(1));
    this.selection.setAttribute('visibility', 'visible');
  }

  /** Draws what is in the window. */
  private draw(): void {
    const { spec } = this, height = spec.height;
    this.width = this.stage.clientWidth || 640;
    const [low, high] = this.range(), scale = (height - top - bottom) / (high - low);
    const py = (y: number): number => height - bottom - (tame(y) - low) * scale;
    const ticks = spec.ticks(low, high).filter(y => y >= low && y <= high).slice(0, 12), labels = ticks.map(y => spec.tick(y, ticks));
    this.margin.fit([spec.x, ...labels], this.redraw);
    const { left } = this.margin, inside = height - top - bottom, plotted = this.width - left - right;
    const axes = s('g', { class: 'ht-axes' });
    for (const [i, y] of ticks.entries()) {
      axes.append(s('line', { class: 'ht-grid', x1: left, x2: this.width - right, y1: py(y), y2: py(y) }),
        s('text', { x: left - 8, y: py(y), 'text-anchor': 'end', 'dominant-baseline': 'central' }, labels[i]));
    }
    for (const x of roundSteps(...this.window, Math.max(2, Math.floor(plotted / 90)))) {
      const end = this.px(x) > this.width - right - 16;
      axes.append(s('text', { x: end ? this.width - 2 : this.px(x), y: height - bottom + 16, 'text-anchor': end ? 'end' : 'middle' }, count(x)));
    }
    axes.append(s('line', { class: 'ht-axis', x1: left, x2: this.width - right, y1: height - bottom, y2: height - bottom }),
      s('text', { x: left - 8, y: height - bottom + 16, 'text-anchor': 'end' }, spec.x));
    const inner = s('g', { 'clip-path': `url(#${this.clip})` });
    // A band's name lies where no rule has its own and no curve runs.
    const rules = spec.rules.filter(r => r.y >= low && r.y <= high).map(r => py(r.y));
    const name = (x: number, wide: number): number => {
      const curve = spec.lines.flatMap(l => l.points.filter(([at]) => this.px(at) >= x && this.px(at) <= x + wide).map(([, y]) => py(y)));
      return [top + 12, height - bottom - 6, top + inside / 2].find(y => rules.every(at => y < at - 16 || y > at + 14) && curve.every(at => at < y - 16 || at > y + 6)) ?? top + 12;
    };
    for (const b of spec.bands) {
      const x = this.px(b.from), w = this.px(b.to) - x;
      if (!(w > 0)) continue;
      inner.append(s('rect', { class: 'ht-band', x, y: top, width: w, height: inside }));
      const from = Math.max(x, left), wide = 7 * b.label.length;
      if (w > wide) inner.append(s('text', { class: 'ht-note', x: from + 5, y: name(from, wide) }, b.label));
    }
    for (const r of spec.rules) {
      if (r.y < low || r.y > high) continue;
      inner.append(s('line', { class: 'ht-rule', x1: left, x2: this.width - right, y1: py(r.y), y2: py(r.y) }),
        s('text', { class: 'ht-note', x: left + 4, y: py(r.y) - 4 }, r.label));
    }
    for (const l of spec.lines) inner.append(this.line(l, py));
    for (const d of spec.dots) {
      inner.append(s('text', { class: `ht-dot ht-ink-${d.tone}`, x: this.px(d.x), y: py(d.y), 'text-anchor': 'middle', 'dominant-baseline': 'central' }, d.label));
    }
    this.mark.setAttribute('y2', String(height - bottom));
    this.selection.setAttribute('height', String(inside));
    this.selection.setAttribute('visibility', 'hidden');
    const svg = s('svg', { class: 'ht-svg', width: this.width, height, viewBox: `0 0 ${this.width} ${height}`, 'aria-hidden': true },
      s('defs', {}, s('clipPath', { id: this.clip }, s('rect', { x: left - 7, y: 0, width: Math.max(plotted, 0) + 14, height: height - bottom + 1 }))),
      axes, inner, this.selection, this.mark);
    this.svg = svg;
    this.stage.replaceChildren(svg);
    this.cursor();
    this.fit.drawn();
  }

  /** The range of y in the window, with some air. */
  private range(): [number, number] {
    let low = Infinity, high = -Infinity;
    const take = (y: number): void => { if (Number.isFinite(y)) (low = Math.min(low, tame(y))), (high = Math.max(high, tame(y))); };
    const [a, b] = this.window;
    for (const l of this.spec.lines) {
      l.points.forEach(([x, y], i) => {
        const next = l.points[i + 1]?.[0] ?? x, last = l.points[i - 1]?.[0] ?? x;
        if (next >= a && (l.step ? x : last) <= b) take(y);
      });
    }
    for (const d of this.spec.dots) if (d.x >= a && d.x <= b) take(d.y);
    if (low > high) [low, high] = [0, 1];
    const air = Math.max((high - low) * 0.08, (Math.abs(high) + Math.abs(low)) * 1e-6, 1e-12);
    const flat = high - low < 1e-9 * (Math.abs(high) + 1), pad = Math.max(1, Math.abs(high) / 10);
    return flat ? [low - pad, high + pad] : [low - air, high + air];
  }

  private line(l: Line, py: (y: number) => number): SVGElement {
    let d = '', pen = false;
    for (const [x, y] of l.points) {
      if (!Number.isFinite(y)) { pen = false; continue; } // a gap
      const at = `${this.px(x).toFixed(1)}`, to = py(y).toFixed(1);
      d += pen ? (l.step ? `H${at}V${to}` : `L${at} ${to}`) : `M${at} ${to}`;
      pen = true;
    }
    if (l.step && pen) d += `H${this.px(this.all[1]).toFixed(1)}`;
    return s('path', { class: strokes(l), d });
  }
}

/** The classes of a line: of a legend's, too. */
export const strokes = (l: Omit<Line, 'points'>): string => `ht-line ht-ink-${l.tone}${l.dash ? ` ht-dash-${l.dash}` : ''}${l.wide ? ' ht-wide-line' : ''}`;

/** Round whole numbers between a and b, at most n. */
export function roundSteps(a: number, b: number, n: number): number[] {
  let step = 1;
  for (let k = 0; (b - a) / step > n && k < 60; k++) step *= k % 3 === 1 ? 2.5 : 2;
  const out: number[] = [];
  for (let x = Math.ceil(a / step) * step; x <= b && out.length < 40; x += step) out.push(x);
  return out;
}

/** Ticks of a linear axis. */
export function linearTicks(low: number, high: number): number[] {
  const raw = (high - low) / 5, power = 10 ** Math.floor(Math.log10(raw));
  if (!(power > 0) || !Number.isFinite(power)) return [];
  const step = [1, 2, 5, 10].find(k => k * power >= raw)! * power;
  const out: number[] = [];
  for (let y = Math.ceil(low / step) * step; y <= high && out.length < 12; y += step) out.push(Math.abs(y) < step / 1e6 ? 0 : y);
  return out;
}

/** Ticks of an axis of decimal logarithms: 1, 2 and 5 of each power of ten where there is room, else powers alone. */
export function logTicks(low: number, high: number): number[] {
  if (high - low > 2.5) return powerTicks(low, high);
  const out: number[] = [];
  for (let p = Math.floor(low); p <= high && out.length < 12; p++) for (const m of [1, 2, 5]) if (p + Math.log10(m) >= low && p + Math.log10(m) <= high) out.push(p + Math.log10(m));
  return out.length > 1 ? out : linearTicks(low, high);
}

/** Whole numbers, for an axis of powers. */
export function powerTicks(low: number, high: number): number[] {
  return roundSteps(Math.ceil(low), Math.floor(high), 7);
}
