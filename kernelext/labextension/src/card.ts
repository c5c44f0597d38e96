// The frame around every figure: its title, what can be taken from it, and the one place that speaks to screen readers.
import { button, h, newId } from './dom';
import { raised } from './format';
import { savePNG, saveCSV, saveSVG } from './export';
import type { Faces } from './export';
import type { Figure } from './figure';
import type { View } from './view';

export interface Card { node: HTMLElement; announce(text: string): void; show(f: Figure, view: View): void }

export function card(faces: Faces): Card {
  const id = newId();
  const title = h('h3', { class: 'ht-title', id }), body = h('div', { class: 'ht-body' });
  const live = h('div', { class: 'ht-hush', 'aria-live': 'polite' });
  let figure: Figure | null = null, view: View | null = null;
  const announce = (words: string): void => { live.textContent = words; };
  const act = (what: string, how: () => string | Promise<string>): HTMLButtonElement =>
    button(what, () => {
      void Promise.resolve().then(how).then(announce, (e: unknown) => {
        const why = e instanceof Error ? e.message : String(e);
        announce(why);
        note.textContent = why;
      });
    }, { class: 'ht-button ht-small', title: `Save this figure as ${what}`, 'aria-label': `Save as ${what}` });
  const note = h('span', { class: 'ht-quiet' });
  const name = (): string => (figure?.title || 'figure').replace(/[^\p{L}\p{N}]+/gu, '-').replace(/^-+|-+$/g, '').slice(0, 60).toLowerCase() || 'figure';
  const saves = h('span', { class: 'ht-saves', role: 'group', 'aria-label': 'Save' }, note,
    act('PNG', () => savePNG(name(), view?.svg?.() ?? null, faces)),
    act('SVG', () => saveSVG(name(), view?.svg?.() ?? null, faces)),
    act('CSV', () => saveCSV(name(), view?.rows() ?? [])));
  const node = h('div', { class: 'ht-card', role: 'group', 'aria-labelledby': id }, h('header', { class: 'ht-head' }, title, saves), body, live);
  return {
    node, announce,
    show(f, v) {
      figure = f;
      if (view !== v) body.replaceChildren(v.node);
      view = v;
      title.textContent = raised(f.title);
      node.dataset.kind = f.kind;
    },
  };
}
