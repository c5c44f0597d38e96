// A field that searches the op table, which stands in the page.
import { element, field, figure, line, styled } from './page';

function start(list: Element): void {
  const box = element('div', 'margin:8px 0'), label = element('label', '', 'Search '), input = field('search the op table', 'conv, fp32, overflows, bool', '420px'), says = line('margin:4px 0;opacity:0.75');
  box.className = 'halftone-search';
  input.type = 'search';
  label.append(input);
  box.append(label, says);
  list.before(box);

  // The entries, each with the words that it is found by: its own, its reason's and its class's.
  const folds = [...list.querySelectorAll('details')], reasons = [...list.querySelectorAll<HTMLElement>('.halftone-reason')];
  const ops = [...list.querySelectorAll<HTMLElement>('.halftone-reason :is(li, span)')].map(e => ({
    e, text: `${e.textContent} ${e.closest('.halftone-reason')!.firstChild!.textContent} ${e.closest('details')!.firstChild!.textContent}`.toLowerCase(),
  }));
  let before: boolean[] | null = null;
  input.oninput = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean), open = (before ??= folds.map(d => d.open));
    let n = 0;
    for (const o of ops) n += (o.e.hidden = !words.every(w => o.text.includes(w))) ? 0 : 1;
    for (const r of reasons) r.hidden = !r.querySelector(':is(li, span):not([hidden])');
    folds.forEach((d, i) => {
      d.hidden = !d.querySelector('.halftone-reason:not([hidden])');
      d.open = !!words.length || open[i]!;
    });
    if (!words.length) before = null;
    says.textContent = !words.length ? '' : `${n} of ${ops.length} rows${n ? '' : ': try part of a name, a class such as fp32, or a word of a reason'}`;
  };
}

const list = figure()?.querySelector('.halftone-policy');
if (list) {
  styled();
  start(list);
}
