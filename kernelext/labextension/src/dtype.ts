// Dtypes as figures show them: a color of the Okabe-Ito set, and always a mark and a word beside it.
import { h } from './dom';

interface Look { short: string; mark: string; tone: string }

const looks: Record<string, Look> = {
  float16: { short: 'fp16', mark: '▮', tone: 'half' },
  bfloat16: { short: 'bf16', mark: '▯', tone: 'brain' },
  float32: { short: 'fp32', mark: '■', tone: 'single' },
  float64: { short: 'fp64', mark: '□', tone: 'other' },
  int64: { short: 'int64', mark: '#', tone: 'other' },
  bool: { short: 'bool', mark: '?', tone: 'other' },
  none: { short: '–', mark: '', tone: 'other' },
};

/** A dtype that is known, "none" for any other word. */
export const dtype = (v: unknown): string => (typeof v === 'string' && Object.prototype.hasOwnProperty.call(looks, v) ? v : 'none');

export const short = (name: string): string => looks[dtype(name)]!.short;
export const sign = (name: string): string => looks[dtype(name)]!.mark || '▢';
export const tone = (name: string): string => looks[dtype(name)]!.tone;

/** A small box with the dtype's mark and name, or with other text and color. */
export function chip(name: string, words = short(name), color = tone(name)): HTMLElement {
  const l = looks[dtype(name)]!;
  return h('span', { class: `ht-chip ht-is-${color}` }, h('span', { 'aria-hidden': true }, l.mark ? l.mark + ' ' : ''), words);
}

/** "fp32 → fp16", or one chip where both are the same. */
export function change(from: string, to: string): HTMLElement {
  return from === to || from === 'none' ? chip(to) : h('span', { class: 'ht-change' }, chip(from), h('span', { 'aria-label': 'to' , role: 'img' }, ' → '), chip(to));
}
