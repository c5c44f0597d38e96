// What reading shorter numbers would do to the loss, product by product.
import { breakable, h, table } from '../dom';
import { short } from '../dtype';
import { tiny } from '../format';
import { list, member, number, text, whole } from '../read';
import type { Data, If, Row } from './rounding';

/** Recipes of a figure or a row: what would be, under their names in place of a dtype's. */
export const recipes = (o: unknown): If[] => list(o, 'recipes', 8, v => {
  const spread = number(v, 'spread');
  return { dtype: text(v, 'recipe', 80), spread: spread > 0 && Number.isFinite(spread) ? spread : 0, lost: 0, over: member(v, 'over') === undefined ? 0 : whole(v, 'over') };
}).filter(x => x.dtype);

/** A dtype's short name, or a recipe's own. */
export const label = (name: string): string => (short(name) === '–' ? name : short(name));

const named = (all: If[], name: string): If | undefined => all.find(x => x.dtype === name);

interface Column { head: string; of: (r: Row) => If | undefined; all: number }

/** How products ran, or would in 16 bits, and what each recipe would do. */
function columns(d: Data, products: Row[], lower: string): Column[] {
  const casts = (r: Row): Row[] => d.rows.filter(c => c.for && c.for === r.op && c.module === r.module && c.where === r.where);
  const half = lower ? (products.every(r => named(r.if, 'bfloat16')) ? 'bfloat16' : lower) : '';
  const now = (r: Row): If | undefined => half ? named(r.if, half) : { dtype: r.dtype, spread: casts(r).reduce((a, c) => Math.hypot(a, c.spread), r.spread), lost: 0, over: 0 };
  return [{ head: half ? short(half) : 'now', of: now, all: products.reduce((a, r) => Math.hypot(a, now(r)?.spread ?? 0), 0) },
    ...d.recipes.map(x => ({ head: x.dtype, of: (r: Row) => named(r.recipes, x.dtype), all: x.spread }))];
}

/** The table of products; null where there is none. The stronger a color, the more of its column's error comes from there. */
export function recipeTable(d: Data, lower: string): HTMLElement | null {
  const products = d.rows.filter(r => r.recipes.length);
  if (!products.length || d.bad) return null;
  const all = columns(d, products, lower);
  const cell = (c: Column, r: Row): HTMLElement | string => {
    const x = c.of(r);
    if (!x) return '–';
    const node = h('span', { class: 'ht-heat' }, x.over ? 'overflows' : tiny(x.spread));
    node.style.setProperty('--ht-part', String(c.all ? Math.min(x.spread / c.all, 1) : 0));
    return node;
  };
  const place = (r: Row): HTMLElement => h('span', {}, h('code', {}, r.op), r.where ? h('span', { class: 'ht-quiet ht-where' }, ` ${r.where}`) : null);
  const t = table('What shorter numbers would do to the loss: operands read by the recipe, the result in 16 bits. The stronger the color, the more of its column’s error', ['product', 'module', ...all.map(c => c.head)],
    products.map(r => [place(r), h('span', {}, ...breakable(r.module)), ...all.map(c => cell(c, r))]), all.map((_, i) => i + 2));
  return h('div', { class: 'ht-scroll', tabindex: 0, role: 'group', 'aria-label': 'What shorter numbers would do' }, t);
}
