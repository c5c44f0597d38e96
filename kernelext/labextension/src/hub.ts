// What the figures of one notebook share: which op is selected, and the way to the kernel.
import { Kernel, type KernelSource } from './kernel';

/** An op in a module, as figures name it. A module may have * for numbers, where several share a row. */
export interface Selection {
  module: string;
  op: string;
  gradients: string[]; // the backward ops of it
}

export class Hub {
  readonly kernel: Kernel;
  private chosen: Selection | null = null;
  private readonly listeners = new Set<(s: Selection | null) => void>();

  constructor(source: KernelSource | null = null) {
    this.kernel = new Kernel(source);
  }

  get selection(): Selection | null { return this.chosen; }

  select(s: Selection | null): void {
    if (s === this.chosen) return;
    this.chosen = s;
    for (const l of [...this.listeners]) l(s);
  }

  /** Calls back now and at every change, until the returned function is called. */
  follow(l: (s: Selection | null) => void): () => void {
    this.listeners.add(l);
    l(this.chosen);
    return () => { this.listeners.delete(l); };
  }
}
