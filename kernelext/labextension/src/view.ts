// What draws one kind of figure, and what it may use.
import type { Figure } from './figure';
import type { Hub } from './hub';

/** A rows-and-columns copy of a figure, for CSV. */
export type Rows = (string | number)[][];

export interface View {
  readonly node: HTMLElement;
  /** Shows another state of the same figure; false where it must be made anew. */
  update?(f: Figure): boolean;
  /** The data as a table. */
  rows(): Rows;
  /** The chart as it stands, where there is one. */
  svg?(): SVGSVGElement | null;
  dispose?(): void;
}

export interface Context {
  /** The notebook's selection and kernel. */
  readonly hub: Hub;
  /** Says something to screen readers. */
  announce(text: string): void;
  /** HTML of the user's own through JupyterLab's sanitizer. */
  html?(text: string): HTMLElement;
}

export type Maker = (f: Figure, c: Context) => View;
