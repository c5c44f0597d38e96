// The marks on the track of the slider that tries loss scales: where it stands now, the largest scale that is safe, and from where on gradients
// overflow. They are for eyes alone: the sentence beside the slider says the same of the scale that it is moved to.
import { h } from './dom';

export interface Marked { low: number; high: number; now: number; best: number; over: number; atMost: boolean }

/** How far along the track a value is, with half a thumb at either end. */
const along = (m: Marked, k: number): string => `calc(8px + (100% - 16px) * ${(Math.min(Math.max(k, m.low), m.high) - m.low) / Math.max(m.high - m.low, 1)})`;

function put(e: HTMLElement, styles: Record<string, string>): HTMLElement {
  for (const [name, value] of Object.entries(styles)) e.style.setProperty(name, value);
  return e;
}

/** The marks of one state, to stand below the slider in a box as wide as it. */
export function marks(m: Marked): HTMLElement {
  const box = h('div', { 'aria-hidden': true, 'data-marks': true });
  const all: [number, string][] = [[m.over, '× overflow']];
  if (m.now && m.now === m.best && !m.atMost) all.push([m.now, 'now, and the largest safe one']);
  else {
    all.push([m.best, m.atMost ? 'safe at most' : 'largest safe']);
    if (m.now) all.push([m.now, 'now']);
  }
  const inside = all.filter(([k]) => k >= m.low && k <= m.high), middle = (m.low + m.high) / 2;
  // Names stay on the track: to the left of a mark in its right half, to the right of one in its left half. Those nearest to the ends stand
  // lowest, so that no mark's line goes through another's name.
  const sides = [inside.filter(([k]) => k > middle).sort((a, b) => a[0] - b[0]), inside.filter(([k]) => k <= middle).sort((a, b) => b[0] - a[0])];
  sides.forEach((list, left) => list.forEach(([k, text], row) => {
    const at = along(m, k), top = `${13 * row}px`;
    box.append(put(h('span'), { position: 'absolute', left: at, top: '0', width: '1px', height: `${13 * row + 12}px`, background: 'currentColor' }),
      put(h('span', {}, text), { position: 'absolute', left: at, top, padding: '0 4px', transform: left ? 'none' : 'translateX(-100%)' }));
  }));
  // Where gradients overflow, the track is red to its end.
  if (m.over <= m.high) box.append(put(h('span'), { position: 'absolute', left: along(m, m.over), right: '8px', top: '0', height: '3px', background: '#d55e00' }));
  return put(box, { position: 'relative', height: `${13 * Math.max(...sides.map(l => l.length))}px`, 'font-size': '11px', 'line-height': '13px', 'white-space': 'nowrap' });
}
