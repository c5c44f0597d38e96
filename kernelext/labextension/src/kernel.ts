// The way to the kernel: one comm of the Jupyter protocol for each notebook, opened by the first thing that a user asks for, never
// before. Whatever a kernel answers is read as carefully as a figure.
import { member, text, whole } from './read';

export const target = 'halftone.v1';
/** Versions of the messages that are known here. */
export const versions = [1];

/** What is used of JupyterLab's comm. */
export interface Comm {
  open(data: object): unknown;
  send(data: object): unknown;
  close(): unknown;
  onMsg: (m: { content: { data?: unknown } }) => void;
  onClose: (m: { content: { data?: unknown } }) => void;
}

/** What is used of JupyterLab's kernel connection. */
export interface KernelConnection {
  readonly id: string;
  readonly name: string;
  readonly handleComms: boolean;
  readonly status: string;
  createComm(target: string): Comm;
}

export interface KernelSource {
  /** The notebook's kernel, null while it has none. */
  current(): KernelConnection | null;
  /** Calls back when it is another, or restarts. */
  changed(l: () => void): () => void;
  /** Calls back with what the kernel does now, whenever that changes. */
  watch(l: (status: string) => void): () => void;
}

/** An answer that says what is wrong, in a sentence with a fix. */
export class Unanswered extends Error {}

class Forgotten extends Unanswered {}

interface Waiting { resolve: (v: unknown) => void; reject: (e: Error) => void; timer: number }

const patience = 10000;

export class Kernel {
  private comm: Comm | null = null;
  private of = '';
  private greeted: Promise<void> | null = null;
  private next = 1;
  private readonly waiting = new Map<number, Waiting>();
  private readonly listeners = new Set<() => void>();

  constructor(private readonly source: KernelSource | null) {
    source?.changed(() => {
      this.drop('The kernel is another one now: ask again.');
      for (const l of [...this.listeners]) l();
    });
  }

  /** Why nothing can be asked, in a sentence; "" where it can. */
  missing(): string {
    const k = this.source?.current() ?? null;
    if (!this.source) return 'This needs the notebook that the figure is in.';
    if (!k) return 'This needs a running kernel: run a cell first.';
    if (k.name !== 'halftone') return 'This needs the kernel “Go (AMP)”; this notebook runs another.';
    if (!k.handleComms) return 'Another window of this notebook talks to the kernel: use that one.';
    return '';
  }

  /** Calls back when missing() may say something else. */
  follow(l: () => void): () => void {
    this.listeners.add(l);
    return () => { this.listeners.delete(l); };
  }

  /** What the kernel does, in Jupyter's words: "busy", "idle" …; "none" where there is none, "unknown" outside of a notebook. */
  status(): string {
    return this.source ? this.source.current()?.status ?? 'none' : 'unknown';
  }

  /** Calls back now and whenever status() changes, until the returned function is called. */
  watch(l: (status: string) => void): () => void {
    l(this.status());
    return this.source?.watch(l) ?? (() => {});
  }

  /** Asks for something and gives the answer, or throws what is wrong with it. */
  async ask(type: string, request: object = {}): Promise<unknown> {
    const why = this.missing();
    if (why) throw new Unanswered(why);
    const k = this.source!.current()!;
    if (this.of !== k.id) this.drop('The kernel is another one now: ask again.');
    if (!this.comm) this.open(k);
    await this.greeted;
    try {
      return await this.send({ ...request, type });
    } catch (e) {
      if (!(e instanceof Forgotten) || this.missing()) throw e;
      // The kernel keeps only so many connections: make a new one.
      this.drop('');
      this.open(this.source!.current()!);
      await this.greeted;
      return this.send({ ...request, type });
    }
  }

  private open(k: KernelConnection): void {
    const comm = k.createComm(target);
    this.comm = comm;
    this.of = k.id;
    comm.onMsg = m => this.receive(m.content.data);
    comm.onClose = m => {
      if (this.comm !== comm) return;
      this.comm = null;
      this.fail(text(member(m.content, 'data'), 'detail', 400) || 'The kernel does not talk to this version of the extension: update Halftone.');
    };
    this.greeted = this.wait(0).then(hello => {
      if (!versions.includes(whole(hello, 'version'))) throw new Unanswered('The kernel speaks another version of the messages: update Halftone.');
    });
    this.greeted.catch((e: Error) => this.comm === comm && this.drop(e.message));
    comm.open({ versions });
  }

  private send(message: object): Promise<unknown> {
    const id = this.next++;
    const answer = this.wait(id);
    this.comm?.send({ ...message, id });
    return answer;
  }

  private wait(id: number): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const timer = window.setTimeout(() => {
        this.waiting.delete(id);
        reject(new Unanswered('The kernel did not answer within 10 seconds.'));
      }, patience);
      this.waiting.set(id, { resolve, reject, timer });
    });
  }

  private receive(data: unknown): void {
    const id = text(data, 'type', 20) === 'hello' ? 0 : whole(data, 'id', 0, 2 ** 50, -1);
    const w = this.waiting.get(id);
    if (!w) return;
    this.waiting.delete(id);
    clearTimeout(w.timer);
    if (text(data, 'type', 20) !== 'error') return w.resolve(data);
    const E = text(data, 'name', 20) === 'closed' ? Forgotten : Unanswered;
    w.reject(new E([text(data, 'detail', 400), text(data, 'fix', 200)].filter(Boolean).join(': ') || 'The kernel refused.'));
  }

  private fail(why: string): void {
    const all = [...this.waiting.values()];
    this.waiting.clear();
    for (const w of all) {
      clearTimeout(w.timer);
      w.reject(new Unanswered(why));
    }
  }

  private drop(why: string): void {
    const old = this.comm;
    this.comm = null;
    this.greeted = null;
    this.of = '';
    this.fail(why);
    try {
      old?.close();
    } catch { /* its kernel is gone */ }
  }
}
