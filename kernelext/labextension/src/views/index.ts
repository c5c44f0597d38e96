import type { Maker } from '../view';
import { bits } from './bits';
import { compare } from './compare';
import { custom } from './custom';
import { decisions } from './decisions';
import { exponents } from './exponents';
import { flow } from './flow';
import { live } from './live';
import { policy } from './policy';
import { rounding } from './rounding';
import { scale } from './scale';

/** The kinds of figures that are drawn here. */
export const views = new Map<string, Maker>([
  ['decisions', decisions], ['scale_history', scale], ['exponents', exponents], ['gradient_flow', flow], ['rounding', rounding], ['bits', bits], ['compare', compare], ['policy', policy], ['live', live],
  ['custom', custom],
]);
