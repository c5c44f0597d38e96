// What is used of JupyterLab, and no more: the page provides it at run time.
import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import type { KernelConnection } from './kernel';

export interface Signal<T> { connect(f: (sender: unknown, args: T) => void): unknown; disconnect(f: (sender: unknown, args: T) => void): unknown }

export interface Outputs { readonly length: number; get(i: number): { readonly data: { [type: string]: unknown } } }

export interface Cell { readonly node: HTMLElement; readonly model: { readonly type: string; readonly executionCount?: number | null; readonly outputs?: Outputs } }

export interface NotebookPanel {
  readonly id: string;
  readonly node: HTMLElement;
  readonly disposed: Signal<void>;
  readonly context: { readonly path: string };
  readonly content: {
    readonly widgets: readonly Cell[];
    readonly model: { readonly contentChanged: Signal<void> } | null;
    readonly modelContentChanged: Signal<void>;
    scrollToItem?(index: number, align?: string): Promise<void>;
  };
  readonly sessionContext: {
    readonly session: { readonly kernel: KernelConnection | null } | null;
    readonly sessionChanged: Signal<unknown>;
    readonly kernelChanged: Signal<unknown>;
    readonly statusChanged: Signal<string>;
  };
}

export interface NotebookTracker {
  readonly currentWidget: NotebookPanel | null;
  readonly currentChanged: Signal<NotebookPanel | null>;
  find(f: (p: NotebookPanel) => boolean): NotebookPanel | undefined;
}

export interface Registry {
  addFactory(f: IRenderMime.IRendererFactory, rank?: number): void;
  createRenderer(type: string): { readonly node: HTMLElement; renderModel(m: object): Promise<void>; dispose(): void };
}

export interface Title { label: string; caption: string; icon: unknown; iconClass: string }

export interface Widget { id: string; readonly node: HTMLElement; readonly title: Title; readonly isVisible: boolean; dispose(): void; addClass(name: string): void }
export type WidgetClass = new () => Widget;

export interface Application {
  readonly shell: { add(w: object, area: string, options: object): void; activateById(id: string): void; expandRight?(): void };
  readonly commands: { addCommand(id: string, options: object): unknown };
}

export interface Palette { addItem(item: { command: string; category: string }): unknown }
