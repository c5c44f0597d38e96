// The bits of a number in five formats, which can be pressed.
import { button, h } from '../dom';
import type { Figure } from '../figure';
import { list, real, member, text, whole } from '../read';
import type { Context, Maker, Rows } from '../view';
import { decimal, decode, describe, digits, encode, formats, typed, width, type Row } from '../float';
import { finding, paragraphs } from './parts';

const minus = (s: string): string => s.replace(/-/g, '−');
const exact = (v: number): string => minus(decimal(v, 9));

class Value {
  readonly node = h('div', { class: 'ht-bits' });
  private value: number;
  private given: { format: number; bits: number } | null = null; // the pattern that was asked about
  private readonly head = h('p', { class: 'ht-says' });
  private readonly error = h('p', { class: 'ht-para', role: 'alert' });
  private readonly body = h('tbody');

  constructor(private readonly asked: number, private readonly c: Context, first: boolean) {
    this.value = asked;
    const input = h('input', { class: 'ht-input', type: 'text', value: String(asked), placeholder: '0.1, 2^-14, inf, 0x3c00', 'aria-label': 'A number, or a pattern of bits', spellcheck: false, autocomplete: 'off' });
    const as = h('select', { class: 'ht-input', 'aria-label': 'What is typed' }, h('option', { value: '' }, 'a number'), ...formats.map((f, i) => h('option', { value: i }, `${f.name} bits`)));
    const read = (): void => {
      const t = typed(input.value, as.value ? formats[Number(as.value)]! : null);
      this.error.textContent = 'error' in t ? t.error : '';
      if ('error' in t) return;
      this.given = t.format ? { format: formats.indexOf(t.format), bits: t.bits! } : null;
      this.set(t.value, `Now ${exact(t.value)}.`);
    };
    input.addEventListener('change', read);
    as.addEventListener('change', read);
    this.node.append(h('div', { class: 'ht-row ht-tools' }, h('label', {}, 'look at ', input), h('label', {}, 'as ', as), button('as in the figure', () => {
      as.value = '';
      this.error.textContent = '';
      this.given = null;
      this.set(this.asked, 'Back to the figure’s number.');
      input.value = String(asked);
    })), this.error, this.head,
    ...(first ? [h('p', { class: 'ht-para' }, h('span', { class: 'ht-hint' }, 'Press a bit to turn it: the other formats show what they make of the number. '), 'Sign, exponent and fraction stand apart. A ulp is the gap between neighbors.')] : []),
    h('div', { class: 'ht-scroll', tabindex: 0, role: 'group', 'aria-label': 'Bits by format' }, h('table', { class: 'ht-table ht-bit-table', 'aria-label': `Bits of ${exact(asked)}` },
      h('thead', {}, h('tr', {}, ...['format', 'sign, exponent, fraction', 'becomes, between its neighbors', 'error'].map(t => h('th', { scope: 'col' }, t)))), this.body)));
    this.draw();
    this.body.addEventListener('keydown', e => this.key(e));
  }

  private set(v: number, say: string): void {
    this.value = v;
    this.draw();
    this.c.announce(say);
  }

  rowsNow(): Row[] { return formats.map((f, i) => describe(this.value, f, this.given?.format === i ? this.given.bits : encode(this.value, f))); }

  private draw(): void {
    this.head.textContent = exact(this.value);
    const focus = this.body.contains(document.activeElement) ? (document.activeElement as HTMLElement).dataset.bit : undefined;
    this.body.replaceChildren(...this.rowsNow().map((r, i) => this.row(r, i)));
    if (focus) this.body.querySelector<HTMLElement>(`[data-bit="${focus}"]`)?.focus({ preventScroll: true });
  }

  private row(r: Row, at: number): HTMLTableRowElement {
    const f = r.format, wide = width(f), all = digits(r.bits, f);
    const bits = h('span', { class: 'ht-cells', role: 'group', 'aria-label': `Bits of ${f.name}` });
    for (let i = wide - 1; i >= 0; i--) {
      const on = all[wide - 1 - i] === '1', field = i === wide - 1 ? 'sign' : i >= f.fraction ? 'exponent' : 'fraction';
      const n = field === 'fraction' ? f.fraction - i : field === 'exponent' ? i - f.fraction : 0;
      const b = button(on ? '1' : '0', () => {
        const now = on ? r.bits - 2 ** i : r.bits + 2 ** i, v = decode(now, f);
        this.given = { format: at, bits: now };
        this.set(v, `${f.name} is now ${exact(v)}.`);
      }, { class: `ht-bit ht-bit-${field}`, 'aria-pressed': on, 'aria-label': `${on ? 1 : 0}, ${field}${n ? ` bit ${n}` : ''}`, 'data-bit': `${at}-${i}`, tabindex: i === wide - 1 ? 0 : -1, 'data-lm-suppress-shortcuts': true });
      if (i === wide - 1 || i === f.fraction) b.classList.add('ht-bit-last');
      bits.append(b);
    }
    // Few columns, so that a row fits beside a file browser: what belongs together stands in one.
    const quiet = (t: string): HTMLElement | null => (t ? h('div', { class: 'ht-quiet' }, t) : null);
    return h('tr', {}, h('th', { scope: 'row' }, f.name), h('td', {}, bits), h('td', {}, h('strong', {}, minus(r.text)), quiet(minus(r.note)), quiet(r.neighbors.length > 1 ? minus(r.neighbors.join(' · ')) : '')),
      h('td', {}, minus(r.error), quiet(r.relative === r.error ? '' : minus(r.relative))));
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
    node, rows: (): Rows => [['format', 'bits', 'value', 'error', 'relative error', 'what becomes of it', 'neighbors'], ...values.flatMap(v => v.rowsNow().map((r): (string | number)[] => [r.format.name, `0x${r.bits.toString(16)}`, String(r.value), r.error, r.relative, r.note, r.neighbors.join(' ')]))],
  };
};
