// The bits of a number can be clicked, and another number or pattern typed. Whatever goes wrong, the static face stays.
import { decimal, decode, describe, digits, encode, formats, typed, width } from '../float';
import { button, choice, element, field, figure, line, own, paged } from './page';

/** The numbers of the table's groups, NaN and infinities as words. */
declare const data: { values: (number | string)[] };

function start(table: HTMLTableElement): void {
  const frame = table.parentElement!, says = line('margin:4px 0;opacity:0.8');
  says.className = 'halftone-says';
  says.textContent = 'Click a bit to change it; arrow keys move, Enter changes.';
  frame.before(says);
  [...table.tBodies].forEach((body, i) => group(body, Number(String(data.values[i]).replace('Inf', 'Infinity')), table, says));
}

function group(body: HTMLTableSectionElement, asked: number, table: HTMLTableElement, says: HTMLElement): void {
  const rows = [...body.rows].filter(r => r.querySelector('samp'));
  const grid = rows.map((row, k) => {
    const f = formats[k]!, cells: HTMLElement[] = [];
    row.querySelectorAll('samp').forEach((part, p) => {
      const text = part.textContent!;
      part.textContent = '';
      for (const d of text) {
        const b = element('span', 'display:inline-block;cursor:pointer', d), place = width(f) - 1 - cells.length;
        b.className = 'halftone-bit';
        b.tabIndex = k || cells.length ? -1 : 0;
        b.setAttribute('role', 'switch');
        b.setAttribute('aria-checked', String(d === '1'));
        b.setAttribute('aria-label', `${f.name} ${['sign', `exponent bit ${place - f.fraction + 1}`, `fraction bit ${place + 1}`][p]}`);
        b.onclick = () => flip(k, place);
        b.onkeydown = e => move(e, k, cells.indexOf(b));
        part.append(b);
        cells.push(b);
      }
    });
    return cells;
  });

  /** Changes one bit of a format: the value is then that format's, and the other rows follow. */
  const flip = (k: number, place: number): void => {
    const one = 2 ** place, bits = parseInt(grid[k]!.map(b => b.textContent).join(''), 2), now = bits + (Math.floor(bits / one) % 2 ? -one : one);
    show(decode(now, formats[k]!), k, now);
  };

  const show = (v: number, of = -1, given = 0): void => {
    rows.forEach((row, k) => {
      const f = formats[k]!, d = describe(v, f, k === of ? given : encode(v, f)), c = row.cells, all = digits(d.bits, f);
      grid[k]!.forEach((b, n) => {
        b.textContent = all[n]!;
        b.setAttribute('aria-checked', String(all[n] === '1'));
      });
      c[1]!.firstChild!.textContent = d.text;
      c[1]!.lastChild!.textContent = d.note;
      c[5]!.textContent = d.error;
      c[6]!.textContent = d.relative;
      c[7]!.innerText = d.neighbors.join('\n');
      if (k === of) says.textContent = `${f.name} is now ${d.text}${d.note ? `, ${d.note}` : ''}.`;
    });
    back.hidden = Object.is(v, asked);
  };

  const move = (e: KeyboardEvent, k: number, n: number): void => {
    const b = grid[k]![n]!, to = { ArrowLeft: [k, n - 1], ArrowRight: [k, n + 1], ArrowUp: [k - 1, n], ArrowDown: [k + 1, n] }[e.key];
    if (e.key === 'Enter' || e.key === ' ') b.click();
    else if (!to) return;
    e.preventDefault();
    e.stopPropagation();
    const row = to ? grid[to[0]!] : undefined, go = row?.[Math.min(to![1]!, row.length - 1)];
    if (!go) return;
    b.tabIndex = -1;
    go.tabIndex = 0;
    go.focus();
  };

  const input = field('a number or a pattern of bits', '0.1, 2^-14, inf, 0x3c00', '190px');
  let as = 0;
  const read = (): void => {
    if (!input.value.trim()) return;
    const t = typed(input.value, as ? formats[as - 1]! : null);
    if ('error' in t) {
      says.textContent = t.error;
      return;
    }
    says.textContent = `${decimal(t.value, 9)} in all formats.`;
    show(t.value, t.format ? formats.indexOf(t.format) : -1, t.bits);
  };
  input.onchange = read;
  const back = button(`back to ${decimal(asked, 9)}`, () => {
    show(asked);
    input.value = '';
    says.textContent = back.textContent;
  });
  back.hidden = true;
  const bar = own(element('div', 'display:flex;flex-wrap:wrap;gap:4px 8px;align-items:center;margin:4px 0'));
  bar.className = 'halftone-type';
  bar.append(input, choice('as', ['number', ...formats.map(f => `${f.name} bits`)], i => {
    as = i;
    read();
  }), back);
  if (table.tBodies.length > 1) { // below the number that it is about
    const row = element('tr', 'background-color:transparent'), cell = element('td', 'text-align:left;padding:0 8px');
    cell.colSpan = 8;
    cell.append(bar);
    row.append(cell);
    body.rows[0]!.after(row);
  } else says.after(bar);
}

const table = figure()?.querySelector<HTMLTableElement>('table.halftone-bits');
if (table) {
  paged();
  start(table);
}
