// The bits of a number in five formats, which can be pressed.
import { button, h } from '../dom';
import type { Figure } from '../figure';
import { list, real, member, text, whole } from '../read';
import type { Context, Maker, Rows } from '../view';
import { decode, encode, formats, inWords, type Row } from './float';
import { finding, paragraphs } from './parts';

const exact = (v: number): string => (Object.is(v, -0) ? '−0' : Number.isNaN(v) ? 'NaN' : Number.isFinite(v) ? shorten(v) : v > 0 ? '+Inf' : '−Inf');
const shorten = (v: number): string => String(Number(v.toPrecision(9))).replace(/-/g, '−');

class Value {
  readonly node = h('div', { class: 'ht-bits' });
  private value: number;
  private readonly head = h('p', { class: 'ht-says' });
  private readonly body = h('tbody');

  constructor(private readonly asked: number, private readonly c: Context, first: boolean) {
    this.value = asked;
    const input = h('input', { class: 'ht-input', type: 'text', value: String(asked), 'aria-label': 'A number to look at', spellcheck: false, autocomplete: 'off' });
    input.addEventListener('change', () => {
      const v = input.value.trim().slice(0, 60), n = /^[+-]?inf/i.test(v) ? (v.startsWith('-') ? -Infinity : Infinity) : /^nan$/i.test(v) ? NaN : Number(v.replace('−', '-'));
      if (v === '' || (Number.isNaN(n) && !/^nan$/i.test(v))) return c.announce(`${v} is not a number.`);
      this.set(n, `Now ${exact(n)}.`);
      input.value = v;
    });
    this.node.append(h('div', { class: 'ht-row ht-tools' }, h('label', {}, 'number ', input), button('as in the figure', () => {
      this.set(this.asked, 'Back to the figure’s number.');
      input.value = String(asked);
    })), this.head,
    h('div', { class: 'ht-scroll', tabindex: 0, role: 'group', 'aria-label': 'Bits by format' }, h('table', { class: 'ht-table ht-bit-table', 'aria-label': `Bits of ${exact(asked)}` }, first && h('caption', {}, 'Press a bit to turn it: the other formats show what they make of the number. Sign, exponent and fraction stand apart.'),
      h('thead', {}, h('tr', {}, ...['format', 'sign, exponent, fraction', 'value', 'error', 'what becomes of it'].map(t => h('th', { scope: 'col' }, t)))), this.body)));
    this.draw();
    this.body.addEventListener('keydown', e => this.key(e));
  }

  private set(v: number, say: string): void {
    this.value = v;
    this.draw();
    this.c.announce(say);
  }

  rowsNow(): Row[] { return formats.map(f => encode(this.value, f)); }

  private draw(): void {
    this.head.textContent = exact(this.value);
    const focus = this.body.contains(document.activeElement) ? (document.activeElement as HTMLElement).dataset.bit : undefined;
    this.body.replaceChildren(...this.rowsNow().map((r, i) => this.row(r, i)));
    if (focus) this.body.querySelector<HTMLElement>(`[data-bit="${focus}"]`)?.focus({ preventScroll: true });
  }

  private row(r: Row, at: number): HTMLTableRowElement {
    const f = r.format, width = 1 + f.exponent + f.fraction;
    const bits = h('span', { class: 'ht-cells', role: 'group', 'aria-label': `Bits of ${f.name}` });
    for (let i = width - 1; i >= 0; i--) {
      const on = Math.floor(r.bits / 2 ** i) % 2 === 1, field = i === width - 1 ? 'sign' : i >= f.fraction ? 'exponent' : 'fraction';
      const n = field === 'fraction' ? f.fraction - i : field === 'exponent' ? i - f.fraction : 0;
      const b = button(on ? '1' : '0', () => {
        const v = decode(on ? r.bits - 2 ** i : r.bits + 2 ** i, f);
        this.set(v, `${f.name} is now ${exact(v)}.`);
      }, { class: `ht-bit ht-bit-${field}`, 'aria-pressed': on, 'aria-label': `${on ? 1 : 0}, ${field}${n ? ` bit ${n}` : ''}`, 'data-bit': `${at}-${i}`, tabindex: i === width - 1 ? 0 : -1, 'data-lm-suppress-shortcuts': true });
      if (i === width - 1 || i === f.fraction) b.classList.add('ht-bit-last');
      bits.append(b);
    }
    return h('tr', {}, h('th', { scope: 'row' }, f.name), h('td', {}, bits), h('td', { class: 'ht-number' }, exact(r.value)),
      h('td', { class: 'ht-number' }, r.error === 0 ? '0' : Number.isFinite(r.ulps) ? `${shorten(Number(r.ulps.toPrecision(2)))} ulp` : '–'), h('td', {}, inWords(r, this.value)));
  }

  private key(e: KeyboardEvent): void {
    const at = (e.target as HTMLElement).dataset.bit;
    if (!at) return;
    const cells = [...this.body.querySelectorAll<HTMLElement>('[data-bit]')], row = cells.filter(c => c.dataset.bit!.split('-')[0] === at.split('-')[0]), i = row.findIndex(c => c.dataset.bit === at);
    const r = Number(at.split('-')[0]);
    const to = e.key === 'ArrowRight' ? row[i + 1] : e.key === 'ArrowLeft' ? row[i - 1] : e.key === 'Home' ? row[0] : e.key === 'End' ? row[row.length - 1]
      : e.key === 'ArrowDown' || e.key === 'ArrowUp' ? cells.filter(c => c.dataset.bit!.startsWith(`${r + (e.key === 'ArrowDown' ? 1 : -1)}-`))[i] : null;
    if (!to) return;
    e.preventDefault();
    (e.target as HTMLElement).tabIndex = -1;
    to.tabIndex = 0;
    to.focus();
  }
}

export const bits: Maker = (f: Figure, c) => {
  const missing = text(f.data, 'missing', 300), sentence = text(f.data, 'sentence', 600), more = whole(f.data, 'more');
  const values = list(f.data, 'values', 8, v => real(member(v, 'value'))).map((v, i) => new Value(v, c, !i));
  const node = h('div', {}, finding(missing || sentence || f.alt, 'plain', '▮'), ...values.map(v => v.node), ...(more ? paragraphs(`… and ${more} more.`) : []));
  return {
    node, rows: (): Rows => [['format', 'bits', 'value', 'error', 'error in ulp'], ...values.flatMap(v => v.rowsNow().map((r): (string | number)[] => [r.format.name, `0x${r.bits.toString(16)}`, String(r.value), String(r.error), String(r.ulps)]))],
  };
};
