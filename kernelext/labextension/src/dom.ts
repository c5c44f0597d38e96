// Everything on the page is made here, by DOM calls: text is text, never parsed. Attributes that could load or run something
// (href, src, on…) have no way in: their names are not among those that `Attributes` takes.

const svgNamespace = 'http://www.w3.org/2000/svg';

type Value = string | number | boolean | null | undefined;

type Allowed =
  | 'class' | 'id' | 'role' | 'tabindex' | 'title' | 'type' | 'for' | 'value' | 'min' | 'max' | 'step' | 'placeholder' | 'disabled'
  | 'colspan' | 'scope' | 'hidden' | 'name' | 'lang' | 'open' | 'checked' | 'selected' | 'autocomplete' | 'spellcheck'
  // of SVG
  | 'x' | 'y' | 'x1' | 'y1' | 'x2' | 'y2' | 'cx' | 'cy' | 'r' | 'width' | 'height' | 'd' | 'points' | 'viewBox' | 'transform'
  | 'text-anchor' | 'dominant-baseline' | 'patternUnits' | 'patternTransform' | 'preserveAspectRatio' | 'clip-path' | 'rx' | 'fill';

export type Attributes = Partial<Record<Allowed | `aria-${string}` | `data-${string}`, Value>>;
export type Child = Node | string | null | undefined | false;

function fill(e: Element, attributes: Attributes, children: Child[]): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) e.setAttribute(name, name.startsWith('aria-') || name.startsWith('data-') || name === 'spellcheck' ? 'true' : '');
    else if (value === false) name.startsWith('aria-') && e.setAttribute(name, 'false');
    else if (value !== null && value !== undefined) e.setAttribute(name, String(value));
  }
  for (const c of children) if (c !== null && c !== undefined && c !== false) e.append(c);
}

/** Makes an HTML element. */
export function h<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const e = document.createElement(tag);
  fill(e, attributes, children);
  return e;
}

/** Makes an SVG element. */
export function s<K extends keyof SVGElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: Child[]): SVGElementTagNameMap[K] {
  const e = document.createElementNS(svgNamespace, tag);
  fill(e, attributes, children);
  return e;
}

/** Makes a button that does something. */
export function button(label: string, press: () => void, attributes: Attributes = {}): HTMLButtonElement {
  const b = h('button', { type: 'button', class: 'ht-button', ...attributes }, label);
  b.addEventListener('click', press);
  return b;
}

let ids = 0;
/** An id that no other element of the page has. */
export const newId = (): string => `ht-${++ids}`;

/** A sentence for screen readers alone. */
export const hush = (text: string): HTMLElement => h('span', { class: 'ht-hush' }, text);

/** Keys that JupyterLab would take for commands of the notebook stay with the element. */
export const ownKeys: Attributes = { 'data-lm-suppress-shortcuts': true };

/** Whether the reader asked for less motion. */
export const calm = (): boolean => matchMedia('(prefers-reduced-motion: reduce)').matches;

/** A name whose lines may break behind its separators. */
export const breakable = (name: string): (Node | string)[] => name.split(/(?<=[_/.])/).flatMap((part, i) => (i ? [h('wbr', {}), part] : [part]));

/** A table with a caption and scoped headers. The first cell of a row heads it. */
export function table(caption: string, heads: string[], rows: Child[][], numbers: number[] = []): HTMLTableElement {
  const numeric = (i: number): string | undefined => (numbers.includes(i) ? 'ht-number' : undefined);
  return h('table', { class: 'ht-table' },
    h('caption', {}, caption),
    h('thead', {}, h('tr', {}, ...heads.map((t, i) => h('th', { scope: 'col', class: numeric(i) }, t)))),
    h('tbody', {}, ...rows.map(r => h('tr', {}, ...r.map((c, i) => (i ? h('td', { class: numeric(i) }, c) : h('th', { scope: 'row', class: numeric(i) }, c)))))));
}
