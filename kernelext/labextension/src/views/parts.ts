// Pieces that several figures use.
import { h } from '../dom';
import { raised } from '../format';

/** The finding: the sentence that a figure is about, with a mark of how good it is. */
export function finding(sentence: string, tone: string, mark: string): HTMLElement {
  return h('p', { class: `ht-finding ht-tone-${tone}` }, h('span', { class: 'ht-mark', 'aria-hidden': true }, mark), h('span', {}, raised(sentence)));
}

/** Numbers with their names below, the number first. */
export function facts(list: [name: string, value: string, beside?: string][]): HTMLElement {
  return h('dl', { class: 'ht-facts' }, ...list.map(([name, value, beside]) =>
    h('div', {}, h('dt', {}, name), h('dd', {}, value, beside ? h('small', {}, ' ' + beside) : null))));
}

export const paragraphs = (...texts: string[]): HTMLElement[] => texts.filter(Boolean).map(t => h('p', { class: 'ht-para' }, ...remark(t)));

/** What can be opened: the table that says the same as a chart. */
export function fold(summary: string, ...content: Node[]): HTMLElement {
  return h('details', { class: 'ht-fold' }, h('summary', {}, summary), h('div', { class: 'ht-scroll', tabindex: 0, role: 'group', 'aria-label': summary }, ...content));
}

/** Text in which `…` marks code. */
export function remark(text: string): Node[] {
  return raised(text).split('`').map((part, i) => (i % 2 ? h('code', {}, part) : document.createTextNode(part)));
}
