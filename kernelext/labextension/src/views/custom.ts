// A figure of the user's own, with the faces that it brought: a picture, HTML or lines of text.
import { h } from '../dom';
import { plain } from './words';
import { member, text } from '../read';
import type { Maker } from '../view';
import { finding, paragraphs } from './parts';

const longest = 64 << 10;

function own(d: unknown, key: string): string {
  const v = member(d, key);
  return typeof v === 'string' && v.length <= longest ? v : '';
}

export const custom: Maker = (f, c) => {
  const svg = own(f.data, 'svg'), html = own(f.data, 'html'), lines = own(f.data, 'text');
  const node = h('div', {}, f.alt ? finding(f.alt, 'plain', '▮') : null);
  if (svg) {
    // In an img element a picture can neither run a script nor load anything.
    const image = h('img', { class: 'ht-own' });
    image.alt = f.alt || f.title;
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
    node.append(image);
  } else if (html && c.html) node.append(h('div', { class: 'ht-own-html' }, c.html(html)));
  if ((svg || html) && lines) node.append(h('details', { class: 'ht-fold' }, h('summary', {}, 'As text'), plain(lines)));
  else if (lines) node.append(plain(lines));
  node.append(...paragraphs(text(f.data, 'note', 300)));
  return { node, rows: () => lines.split('\n').slice(0, 400).map(l => [l]) };
};
