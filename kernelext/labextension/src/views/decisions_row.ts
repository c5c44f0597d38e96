// What opens below a row of the decisions: its casts with what they cost, its backward, and how to decide otherwise.
import { h, table } from '../dom';
import { change, chip, short } from '../dtype';
import { bytes, count, magnitude, percent, plural } from '../format';
import { member, text } from '../read';
import type { Context } from '../view';
import { copyable, kernelButton, type Done } from './control';
import type { Cast, Data, Site } from './decisions';
import { eligible, inputs, perStep } from './decisions';
import type { Health } from './strip';

/** What decided, in words. */
const deciders: Record<string, string> = { class: 'the op’s class', input: 'its inputs', override: 'an override', rule: 'a rule of the op', program: 'the program' };

function castWords(c: Cast, d: Data): string {
  const made = Math.max(c.count - c.hits, 0);
  const how = made === 0 ? 'from the cache' : made === 1 ? `once, ${bytes(c.each)}` : `${count(perStep(d, made))}× a step, ${bytes(c.each)} each`;
  return how + (c.hits ? `, then cached ×${count(c.hits)}` : '') + (c.lost ? `; ${count(c.lost)} numbers became zero` : '') + (c.over ? `; ${count(c.over)} overflowed` : '');
}

const healthRow = (what: string, x: Health, format: string): string[] => {
  const all = x.zero + x.subnormal + x.normal + x.overflow;
  return [what, magnitude(x.amax), magnitude(x.amin), percent(x.zeros, x.n), percent(x.zero, all), percent(x.subnormal, all), percent(x.overflow, all), count(x.infs + x.nans), format];
};

/** Makes the ops forced in the kernel's session what they are to be. */
export function force(c: Context, op: string, to: string): Promise<Done> {
  return c.hub.kernel.ask('force', { op, to }).then(a => {
    const before = text(a, 'before', 20) || 'default';
    return {
      text: to === 'default' ? `${op} follows its class again.` : `${op} runs in ${to === 'lower' ? 'the scope’s 16 bits' : to} from the next scope on; %amp status lists it.`,
      ...(member(a, 'changed') === false ? {} : { undo: () => force(c, op, before).then(({ text: t }) => ({ text: t })) }),
    };
  });
}

export function details(s: Site, d: Data, c: Context): HTMLElement {
  const node = h('div', { class: 'ht-details' });
  const terms: [string, Node | string][] = [['precision', change(inputs(s), s.compute)], ['why', s.rule || 'not recorded']];
  if (Object.prototype.hasOwnProperty.call(deciders, s.by)) terms.push(['decided by', deciders[s.by]!]);
  if (s.shape) terms.push(['shapes', s.shape]);
  if (s.where) terms.push(['where', s.where]);
  if (s.dims) terms.push(['tensor cores', eligible(s) === '✓' ? `✓ ${s.dims.m} × ${s.dims.k} × ${s.dims.n} are multiples of 8` : `✗ of ${s.dims.m} × ${s.dims.k} × ${s.dims.n} not all are multiples of 8`]);
  if (s.saved) terms.push(['saved', `${bytes(perStep(d, s.saved))}${d.steps > 1 ? ' a step' : ''} against float32`]);
  for (const k of s.casts) terms.push([`cast of ${k.name || `input ${k.operand}`}`, h('span', {}, chip(k.from), ' → ', k.format || chip(k.to), ` ${castWords(k, d)}`)]);
  if (s.back.length) terms.push(['backward', h('span', {}, ...s.back.map((b, i) => h('span', {}, i ? ', ' : '', h('code', {}, b.op), ' ', chip(b.compute))))]);
  node.append(h('dl', { class: 'ht-terms' }, ...terms.map(([t, v]) => h('div', {}, h('dt', {}, t), h('dd', {}, v)))));
  const health = [...(s.health ? [healthRow('forward', s.health, d.format)] : []), ...s.back.filter(b => b.health).map(b => healthRow(`backward ${b.op}`, b.health!, d.format))];
  if (health.length) {
    node.append(table(`Magnitudes, and what ${d.format} makes of them`, ['', 'largest', 'smallest', 'zero', 'lost', 'fewer digits', 'overflow', 'not finite', 'in'], health, [1, 2, 3, 4, 5, 6, 7]));
  }
  if (s.phase === 'backward' || s.phase === 'optimizer') return node;
  const half = s.compute === 'float16' || s.compute === 'bfloat16';
  if (s.force) node.append(h('p', { class: 'ht-para' }, 'In the program: ', copyable(s.force, c.announce)));
  node.append(kernelButton(c.hub.kernel, half ? `run ${s.op} in float32 next time` : `run ${s.op} in 16 bits next time`, () => force(c, s.op, half ? 'float32' : 'lower'), c.announce));
  if (s.modules > 1) node.append(h('p', { class: 'ht-para' }, `${plural(s.modules, 'module')} share this row.`));
  if (!s.rule && !half) node.append(h('p', { class: 'ht-para' }, `It ran in ${short(s.compute)}.`));
  return node;
}
