// The styles, as a style sheet object: no style element and no style attribute, so that a page's content policy has nothing against it.
import css from './style.css';

const done = new WeakSet<Document>();

export function styled(document: Document): void {
  if (done.has(document)) return;
  done.add(document);
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
}
