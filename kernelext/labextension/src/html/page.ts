// What the scripts in a figure's HTML share. Such a script runs where the extension does not draw: it adds to what stands in the page, once
// it has built it, and otherwise leaves everything as it is. It is the body of a function of `data`; see package render.

export type Styles = string;

/** The figure that the script stands in; null where the script has been moved out of it. */
export function figure(): HTMLElement | null {
  const root = document.currentScript?.parentNode;
  return root instanceof HTMLElement ? root : null;
}

/** Makes an element with text; nothing here ever parses HTML, since names come from users' programs. */
export function element<K extends keyof HTMLElementTagNameMap>(tag: K, style: Styles = '', text?: string): HTMLElementTagNameMap[K] {
  const e = document.createElement(tag);
  e.style.cssText = style;
  if (text !== undefined) e.textContent = text;
  return e;
}

// A control's look on any page: JupyterLab's and VS Code's colors where they are.
const look = 'font:inherit;font-size:12px;padding:2px 8px;border-radius:3px;color:inherit;border:1px solid var(--jp-border-color1,var(--vscode-widget-border,gray))';
export const ground = 'background:var(--jp-layout-color1,var(--vscode-editor-background,Canvas))';

export function button(text: string, does: () => void): HTMLButtonElement {
  const b = element('button', `${look};cursor:pointer;background:transparent`, text);
  b.type = 'button';
  b.onclick = does;
  return b;
}

/** A labeled list to choose from. */
export function choice(label: string, options: string[], does: (i: number) => void): HTMLLabelElement {
  const l = element('label', 'display:inline-flex;gap:6px;align-items:center', label), s = element('select', `${look};${ground}`);
  for (const o of options) s.append(element('option', '', o));
  s.onchange = () => does(s.selectedIndex);
  l.append(s);
  return l;
}

/** A field for text. Keys that JupyterLab would take for commands of the notebook stay with it. */
export function field(label: string, placeholder: string, width: string): HTMLInputElement {
  const f = element('input', `font:inherit;width:${width};max-width:calc(100% - 80px);box-sizing:border-box;padding:3px 8px;color:inherit;background:transparent;border:1px solid rgba(128,128,128,0.7);border-radius:4px`);
  f.placeholder = placeholder;
  f.spellcheck = false;
  f.autocomplete = 'off';
  f.setAttribute('aria-label', label);
  return own(f);
}

/** Keeps keys from the page. */
export function own<T extends HTMLElement>(e: T): T {
  for (const k of ['keydown', 'keyup', 'keypress']) e.addEventListener(k, x => x.stopPropagation());
  return e;
}

/** A line that is read aloud when it changes. */
export function line(style: Styles): HTMLDivElement {
  const e = element('div', style);
  e.setAttribute('aria-live', 'polite');
  return e;
}

/** Makes a button that copies a text and says so. */
export function copier(text: string, words = 'copy'): HTMLButtonElement {
  const b = button(words, () => {
    const show = (): void => { b.textContent = text; };
    if (navigator.clipboard) navigator.clipboard.writeText(text).then(() => { b.textContent = 'copied'; }, show);
    else show();
  });
  return b;
}

/** Puts a button behind every piece of code that is there to be copied. */
export function copiers(root: HTMLElement): void {
  root.querySelectorAll('code.halftone-copy').forEach(c => {
    const text = c.textContent ?? '', b = copier(text);
    b.style.marginLeft = '8px';
    b.setAttribute('aria-label', `copy ${text}`);
    c.parentNode!.append(b);
  });
}

// Where people choose their own colors the system takes backgrounds away: not those that are what is shown. On paper nothing can be tried, and
// nothing scrolls: tables are as small as they have to be to fit on A4, and lines of code are broken. A slide's text is larger than a page's,
// its code has tabs as wide as in JupyterLab and is not cut off, and what is higher than a slide, code with its figures, scrolls as a whole.
const bitsPage = '@media print{.halftone-says,.halftone-type{display:none!important}.halftone-bits{zoom:.62}}.reveal .halftone-figure{zoom:1.4}';
const page = '@media print{.highlight pre{tab-size:4;white-space:pre-wrap;overflow-wrap:anywhere}:is(h1,h2,h3){break-after:avoid}.halftone-figure{:is(input,select,button,label,.halftone-try,.halftone-detail){display:none!important}div{overflow:visible!important}table:not(.halftone-bits){zoom:.75}.halftone-tree{zoom:.68}.halftone-tree table{zoom:1!important}img{break-inside:avoid}}}@media(forced-colors:active){.halftone-figure [style*="background-color:#"]{forced-color-adjust:none}}.reveal{.halftone-figure,.halftone-answer{zoom:1.4;text-align:left}section:not(.stack):has(.halftone-figure){max-height:700px;overflow-y:auto}pre{tab-size:4;white-space:pre-wrap;word-break:normal;overflow-wrap:anywhere}}';

/** Gives the page rules that follow it, once. What is stored has none, since they would restyle the page of a notebook that is not trusted. */
function rules(id: string, css: string): void {
  if (document.getElementById(id)) return;
  const s = element('style', '', css);
  s.id = id;
  document.head.append(s);
}

/** For paper and slides, of a figure of bits, whose script has no room for more. */
export const paged = (): void => rules('halftone-bits', bitsPage);

/** For paper, slides and dark pages. */
export function styled(): void {
  rules('halftone-page', page);
  turned();
}

/** Turns the pictures of charts over on a dark page: their light card takes the page's ground, ink becomes light, and hues stay. The blue of
 * magnitudes, which are drawn of letters, is lighter there. What is stored cannot know the page; a rule can, and follows it when its theme is
 * changed. The attribute is JupyterLab's and nbconvert's, the class VS Code's. */
function turned(): void {
  const dark = ':is([data-jp-theme-light="false"],.vscode-dark)';
  rules('halftone-turned', `${dark} .halftone-chart img{filter:invert(.95) hue-rotate(180deg) brightness(1.4)}${dark} .halftone-tree [style="color:#0072b2"]{color:#56b4e9!important}`);
}
