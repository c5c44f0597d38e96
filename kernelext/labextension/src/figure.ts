// What every figure has, read from JSON that may come from anywhere.
import { clip, member, text, whole, number, list } from './read';

export const MIME = 'application/vnd.halftone.figure.v1+json';
export const schema = 'halftone.figure/1';

/** Measurements, which differ from run to run. */
export interface Volatile { wall: number; overhead: number; ns: number[]; rate: number; left: number; bytes: number; peak: number; peaks: number[] }

export interface Figure {
  kind: string;
  title: string;
  alt: string;
  data: unknown; // read by the view of the kind
  volatile: Volatile;
}

/** Why a figure is not drawn. */
export class Refusal extends Error {}

/** Reads the envelope, or throws a Refusal that says what to do. */
export function read(value: unknown): Figure {
  let v = value;
  if (typeof v === 'string') { // of a kernel that carries JSON as text
    if (v.length > 1 << 20) throw new Refusal('This figure is larger than 1 MB, which no figure is.');
    try {
      v = JSON.parse(v);
    } catch {
      throw new Refusal('This figure is not valid JSON.');
    }
  }
  if (typeof v !== 'object' || v === null || Array.isArray(v)) throw new Refusal('This figure has no data.');
  const named = text(v, 'schema', 60);
  if (named !== schema) {
    throw new Refusal(named.startsWith('halftone.figure/')
      ? `This figure is of version ${clip(named.slice(16), 20)}, and only version 1 is known here: update Halftone to see it drawn.`
      : 'This is not a figure of Halftone.');
  }
  const m = member(v, 'volatile');
  return {
    kind: text(v, 'kind', 60),
    title: text(v, 'title', 120) || 'Figure',
    alt: text(v, 'alt', 600),
    data: member(v, 'data'),
    volatile: {
      wall: whole(m, 'wall_ns'), overhead: whole(m, 'overhead_ns'), left: whole(m, 'left_ns'), bytes: whole(m, 'bytes'), peak: whole(m, 'peak_bytes'),
      rate: Math.min(Math.max(number(m, 'rate') || 0, 0), 1e12),
      peaks: list(m, 'peaks', 12, x => (typeof x === 'number' && x > 0 && Number.isFinite(x) ? x : 0)),
      ns: list(m, 'ns', 2000, x => (typeof x === 'number' && x > 0 && Number.isFinite(x) ? x : 0)),
    },
  };
}
