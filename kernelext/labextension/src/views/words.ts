// The text face: of a figure that cannot be drawn here, with the reason.
import { h } from '../dom';
import { clip } from '../read';

/** Lines of text as they are. */
export function plain(text: string): HTMLElement {
  const lines = text.slice(0, 40000).split('\n').slice(0, 400).map(l => clip(l, 400)).join('\n');
  return h('pre', { class: 'ht-pre', tabindex: 0, role: 'group', 'aria-label': 'The figure as text' }, lines);
}

export const words = (why: string, text: string): HTMLElement => h('div', {}, h('p', { class: 'ht-para' }, why), text ? plain(text) : null);
