// Controls that ask the kernel for something. Without one they say why they are off.
import { button, h, newId } from '../dom';
import { raised } from '../format';
import { Unanswered, type Kernel } from '../kernel';

/** What an action came to, and how to take it back. */
export interface Done { text: string; undo?: () => Promise<Done> }

/** Something that can be asked of the kernel: a label and what it does. */
export type Action = [label: string, act: () => Promise<Done>];

/** Buttons that do something in the kernel, with one line that says what came of it. */
export function kernelButtons(kernel: Kernel, actions: Action[], announce: (t: string) => void): HTMLElement {
  const id = newId(), said = h('span', { class: 'ht-quiet', id });
  let busy = false, undo: (() => Promise<Done>) | undefined;
  const run = (what: () => Promise<Done>): void => {
    if (busy || kernel.missing()) return announce(kernel.missing());
    busy = true;
    said.textContent = '…';
    what().then(d => {
      said.textContent = raised(d.text);
      undo = d.undo;
    }, (e: unknown) => {
      said.textContent = e instanceof Unanswered ? e.message : 'This did not work; see the browser’s console.';
      if (!(e instanceof Unanswered)) console.warn('halftone:', e);
    }).finally(() => {
      busy = false;
      if (undo) node.append(back);
      else back.remove();
      announce(said.textContent ?? '');
    });
  };
  const buttons = actions.map(([label, act]) => button(label, () => run(act), { 'aria-describedby': id }));
  const back = button('undo', () => undo && run(undo), { class: 'ht-button' });
  const node = h('span', { class: 'ht-row ht-control' }, ...buttons, said);
  let off = '';
  const look = (): void => {
    const why = kernel.missing();
    // Not `disabled`: who moves by keys is to find the button and hear why it is off.
    for (const b of buttons) b.setAttribute('aria-disabled', String(!!why));
    if (why) { // what was set is gone with the kernel
      undo = undefined;
      back.remove();
    }
    if (why || said.textContent === off) said.textContent = why;
    off = why;
  };
  look();
  // A figure's elements come and go; the listener goes with the element.
  const unfollow = kernel.follow(() => (node.isConnected ? look() : unfollow()));
  for (const b of buttons) b.addEventListener('focus', look), b.addEventListener('pointerenter', look);
  return node;
}

export const kernelButton = (kernel: Kernel, label: string, act: () => Promise<Done>, announce: (t: string) => void): HTMLElement => kernelButtons(kernel, [[label, act]], announce);

/** A piece of code with a button that copies it. */
export function copyable(code: string, announce: (t: string) => void): HTMLElement {
  const b = button('copy', () => {
    const copied = (): void => {
      b.textContent = 'copied';
      announce(`Copied ${code}`);
    };
    if (navigator.clipboard) void navigator.clipboard.writeText(code).then(copied, () => announce('The browser does not allow copying.'));
    else if (fallback(code)) copied();
  }, { class: 'ht-button ht-small', 'aria-label': `Copy ${code}` });
  return h('span', { class: 'ht-copy' }, h('code', {}, code), b);
}

/** Pages that are not served over https have no clipboard: select and copy as by hand. */
function fallback(code: string): boolean {
  const area = h('textarea', { class: 'ht-hush', 'aria-hidden': true });
  area.value = code;
  const before = document.activeElement as HTMLElement | null;
  document.body.append(area);
  area.select();
  const ok = document.execCommand('copy');
  area.remove();
  before?.focus();
  return ok;
}
