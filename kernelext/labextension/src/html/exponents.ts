// What the gradients would be at other loss scales and in other formats, in the place of the drawn chart.
import { fateOf, fates, kinds, named, overflowFrom, type Counted, type Fate, type Range } from '../fates';
import { percent, sup } from '../format';
import { marks } from '../marks';
import { button, choice, element, figure, line, own, styled } from './page';

interface Format extends Range { best: number }

/** Scales are powers of two. The first source is all gradients, others are modules. */
declare const data: { alt: string; now: number; below?: number; formats: Format[]; sources: (Counted & { name: string })[] };

const colors: Record<Fate, string> = { zero: '#8a8a8a', subnormal: '#56b4e9', normal: '#0072b2', overflow: '#d55e00' };
const signs: Record<Fate, string> = { zero: '○', subnormal: '░', normal: '═', overflow: '×' };
const low = -44, high = 24, height = 230;

const power = (k: number): string => `2${sup(k)}`;
const scale = (k: number): string => (k > 30 || k < 0 ? power(k) : (2 ** k).toLocaleString('en'));

/** Adds an SVG element. */
function shape(to: Element, name: string, attributes: Record<string, string | number>, text?: string): Element {
  const e = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const a in attributes) e.setAttribute(a, String(attributes[a]));
  if (text) e.textContent = text;
  to.append(e);
  return e;
}

function start(box: HTMLElement): void {
  let format = data.formats[0]!, source = data.sources[0]!, k = data.now;
  const panel = own(element('div', 'max-width:960px;margin:8px 0')), said = line(''), says = element('strong', 'font-size:15px'), sums = element('div', 'display:flex;flex-wrap:wrap;gap:2px 22px;margin:2px 0 6px');
  panel.className = 'halftone-whatif';
  const slider = element('input', 'display:block;width:100%;margin:0'), track = element('div', 'flex:1 1 260px;min-width:0'), marked = element('div'), safe = button('', () => set(format.best));
  slider.type = 'range';
  slider.min = String(Math.min(-8, k, format.best));
  slider.max = String(Math.max(24, k, format.best + 4));
  slider.setAttribute('aria-label', 'loss scale to try, as a power of two');
  const svg = shape(panel, 'svg', { role: 'img', 'aria-label': data.alt, style: `display:block;width:100%;height:${height}px`, fill: 'currentColor', 'font-size': 12 });
  const set = (to: number): void => {
    k = Math.max(Math.min(to, +slider.max), +slider.min);
    draw();
  };

  const draw = (): void => {
    const width = svg.clientWidth || 720, base = height - 22, unit = width / (high - low), sum = fates(source, k, format), bars = new Map<number, number>();
    const x = (e: number): number => (Math.max(Math.min(e, high), low) - low) * unit;
    source.counts.forEach((n, i) => {
      const at = Math.max(Math.min(source.low + i + k, high - 1), low);
      bars.set(at, (bars.get(at) ?? 0) + n);
    });
    svg.replaceChildren();
    ([[low, format.zero, 'zero'], [format.zero, format.normal, 'subnormal'], [format.normal, format.top, 'normal'], [format.top, high, 'overflow']] as [number, number, Fate][]).forEach(([from, to, fate]) => {
      const w = x(to) - x(from), name = `${signs[fate]} ${named[fate]}`;
      if (w <= 0) return;
      shape(svg, 'rect', { x: x(from), y: 0, width: w, height: base, fill: `rgba(86,180,233,${fate === 'normal' ? 0.2 : fate === 'subnormal' ? 0.1 : 0})` });
      if (w > 7 * name.length) shape(svg, 'text', { x: x(from) + w / 2, y: 14, 'text-anchor': 'middle', opacity: 0.8 }, name);
    });
    const most = Math.max(1, ...bars.values());
    bars.forEach((n, e) => {
      const h = n && Math.max(((base - 24) * n) / most, 1.5);
      shape(svg, 'rect', { x: x(e) + 0.5, y: base - h, width: Math.max(unit - 1, 1), height: h, fill: colors[fateOf(e, format)] });
    });
    shape(svg, 'rect', { x: 0, y: base, width, height: 1, opacity: 0.5 });
    for (let t = low + 4; t < high; t += width < 500 ? 16 : 8) shape(svg, 'text', { x: x(t), y: height - 5, 'text-anchor': 'middle' }, power(t));
    slider.value = String(k);
    slider.setAttribute('aria-valuetext', scale(k));
    const known = data.below === undefined, n = scale(k), raised = power(k);
    says.textContent = `${k ? `Scaled by ${n}${n === raised ? '' : ` = ${raised}`}` : 'Unscaled'} in ${format.name}${k === data.now && k ? ': the present scale' : known && k === format.best ? ': the largest safe scale' : ''}`;
    safe.textContent = `${known ? 'largest safe' : 'safe at most'} ${scale(format.best)}`;
    marked.replaceChildren(marks({ low: +slider.min, high: +slider.max, now: data.now, best: format.best, over: overflowFrom(data.sources[0]!, format), atMost: !known }));
    sums.replaceChildren(...kinds.map(fate => {
      const one = element('span', 'white-space:nowrap');
      one.append(element('strong', '', percent(sum[fate], sum.all)), element('span', 'opacity:0.8', ` ${signs[fate]} ${named[fate]}`));
      return one;
    }));
  };

  slider.oninput = () => set(+slider.value);
  track.append(slider, marked);
  said.append(says, sums);
  svg.before(said);
  const bar = element('div', 'display:flex;flex-wrap:wrap;gap:8px 12px;align-items:flex-start;margin:4px 0');
  bar.className = 'halftone-try';
  bar.append(element('span', '', 'loss scale'), track, button('none', () => set(0)));
  if (data.now) bar.append(button(`now ${scale(data.now)}`, () => set(data.now)));
  bar.append(safe, choice('format', data.formats.map(f => f.name), i => {
    format = data.formats[i]!;
    draw();
  }));
  if (data.sources.length > 2) bar.append(choice('of', data.sources.map(s => s.name), i => {
    source = data.sources[i]!;
    draw();
  }));
  panel.append(bar);
  box.replaceChildren(panel);
  draw();
  if (window.ResizeObserver) new ResizeObserver(draw).observe(svg);
}

const box = figure()?.querySelector<HTMLElement>('.halftone-chart');
if (box) {
  styled();
  start(box);
}
