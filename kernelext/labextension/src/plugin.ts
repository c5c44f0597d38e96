// The plugins: a renderer for figures, and a side panel.
import type { Shared } from './container';
import { s } from './dom';
import { Hub } from './hub';
import type { Application, NotebookPanel, NotebookTracker, Palette, Registry, WidgetClass } from './jupyter';
import type { KernelSource } from './kernel';
import { PanelView } from './panel';
import { factory } from './renderer';

/** The way to a notebook's kernel. */
function source(panel: NotebookPanel): KernelSource {
  const context = panel.sessionContext;
  return {
    current: () => context.session?.kernel ?? null,
    changed(l) {
      const changed = (): void => l();
      const status = (_: unknown, now: string): void => { if (/restarting|dead|terminating/.test(now)) l(); };
      context.sessionChanged.connect(changed);
      context.kernelChanged.connect(changed);
      context.statusChanged.connect(status);
      return () => {
        context.sessionChanged.disconnect(changed);
        context.kernelChanged.disconnect(changed);
        context.statusChanged.disconnect(status);
      };
    },
    watch(l) {
      const status = (_: unknown, now: string): void => l(now);
      context.statusChanged.connect(status);
      return () => { context.statusChanged.disconnect(status); };
    },
  };
}

/** One hub for each notebook. */
class Hubs {
  private readonly all = new Map<string, Hub>();

  of(panel: NotebookPanel): Hub {
    let hub = this.all.get(panel.id);
    if (!hub) {
      hub = new Hub(source(panel));
      this.all.set(panel.id, hub);
      panel.disposed.connect(() => this.all.delete(panel.id));
    }
    return hub;
  }
}

/** The panel's icon: a bar that is cut short. */
const icon = {
  render(host: HTMLElement): void {
    host.replaceChildren(s('svg', { class: 'ht-tab-icon', width: 16, height: 16, viewBox: '0 0 16 16', 'aria-hidden': true }, s('rect', { x: 2, y: 3, width: 5, height: 10, class: 'ht-icon' }), s('rect', { x: 9, y: 8, width: 5, height: 5, class: 'ht-icon' })));
  },
  unrender(host: HTMLElement): void {
    host.replaceChildren();
  },
};

const panelId = 'halftone-precision';

function addPanel(app: Application, Widget: WidgetClass, hubs: Hubs, tracker: NotebookTracker, palette: Palette | null): void {
  const view = new PanelView();
  class Panel extends Widget {
    constructor() {
      super();
      this.id = panelId;
      this.title.caption = 'Precision: figures and the running kernel';
      this.title.icon = icon;
      this.addClass('ht-side');
      this.node.append(view.node);
    }
    protected onAfterShow(): void { view.show(); }
    protected onAfterHide(): void { view.hide(); }
    protected onAfterAttach(): void { if (this.isVisible) view.show(); }
    protected onBeforeDetach(): void { view.hide(); }
  }
  app.shell.add(new Panel(), 'right', { rank: 900 });
  const follow = (): void => {
    const p = tracker.currentWidget;
    view.follow(p, p && hubs.of(p));
  };
  tracker.currentChanged.connect(follow);
  follow();
  const command = 'halftone:precision';
  app.commands.addCommand(command, {
    label: 'Show the Precision Panel',
    caption: 'The figures of this notebook, and how precision stands in its kernel',
    execute: () => {
      app.shell.expandRight?.(); // Notebook 7
      app.shell.activateById(panelId);
    },
  });
  palette?.addItem({ command, category: 'Halftone' });
}

export async function plugins(shared: Shared): Promise<object[]> {
  const token = (module: string, name: string): Promise<unknown> => shared(module).then(m => (m as Record<string, unknown>)[name] ?? null, () => null);
  const [lumino, registry, tracker, palette] = await Promise.all([
    shared('@lumino/widgets'), token('@jupyterlab/rendermime', 'IRenderMimeRegistry'), token('@jupyterlab/notebook', 'INotebookTracker'), token('@jupyterlab/apputils', 'ICommandPalette'),
  ]);
  const { Widget } = lumino as { Widget: WidgetClass }, hubs = new Hubs();
  const drawer = {
    id: '@halftone/figures:renderer',
    description: 'Draws Halftone’s figures.',
    autoStart: true,
    requires: [registry],
    optional: tracker ? [tracker] : [],
    activate: (_: Application, registry: Registry, notebooks: NotebookTracker | null) => {
      const hubOf = (node: HTMLElement): Hub | null => {
        const panel = notebooks?.find(p => p.node.contains(node));
        return panel ? hubs.of(panel) : null;
      };
      registry.addFactory(factory(Widget, hubOf, registry), 45);
    },
  };
  const side = {
    id: '@halftone/figures:panel',
    description: 'A side panel with the notebook’s figures and the kernel’s device, memory and loss scale.',
    autoStart: true,
    requires: [tracker],
    optional: palette ? [palette] : [],
    activate: (app: Application, notebooks: NotebookTracker, commands: Palette | null) => addPanel(app, Widget, hubs, notebooks, commands),
  };
  return tracker ? [drawer, side] : [drawer];
}
