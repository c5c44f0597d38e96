// The renderer that JupyterLab asks to draw a figure.
import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { card, type Card } from './card';
import { MIME, read, Refusal, type Figure } from './figure';
import { Hub } from './hub';
import { clip } from './read';
import { styled } from './style';
import type { View } from './view';
import type { Registry, WidgetClass } from './jupyter';
import { views } from './views';
import { words } from './views/words';

/** Where a figure is shown: the hub of its notebook. */
export type FindHub = (node: HTMLElement) => Hub | null;

/** The faces that come with a figure, as far as they are texts of a sensible size. */
function face(model: { readonly data: { [type: string]: unknown } }, type: string): string {
  let v = model.data[type];
  if (Array.isArray(v)) v = v.filter(l => typeof l === 'string').join('');
  return typeof v === 'string' && v.length < 4 << 20 ? v : '';
}

/** Draws figures into an element, one state after the other. */
export class Drawing {
  readonly node: HTMLElement;
  private readonly frame: Card;
  private readonly faces: { png?: string; svg?: string } = {};
  private view: View | null = null;
  private kind = '';

  constructor(private readonly hub: Hub, private readonly registry: Registry | null = null) {
    styled(document);
    this.frame = card(this.faces);
    this.node = this.frame.node;
  }

  show(model: { readonly data: { [type: string]: unknown } }): void {
    this.faces.png = face(model, 'image/png');
    this.faces.svg = face(model, 'image/svg+xml');
    const plain = face(model, 'text/plain');
    try {
      const f = read(model.data[MIME]);
      if (!views.has(f.kind)) throw new Refusal(`Figures of the kind “${clip(f.kind, 40)}” are not drawn by this version of Halftone: update it.`);
      this.draw(f);
    } catch (e) {
      const why = e instanceof Refusal ? e.message : 'This figure could not be drawn; its text is here.';
      if (!(e instanceof Refusal)) console.warn('halftone: a figure could not be drawn', e);
      this.replace({ kind: '', title: 'Figure', alt: '', data: null, volatile: { wall: 0, overhead: 0, ns: [], rate: 0, left: 0, bytes: 0, peak: 0, peaks: [] } },
        { node: words(why, plain), rows: () => plain.split('\n').slice(0, 400).map(l => [l]) });
    }
  }

  private draw(f: Figure): void {
    if (this.view?.update && this.kind === f.kind && this.view.update(f)) {
      this.frame.show(f, this.view);
      return;
    }
    this.replace(f, views.get(f.kind)!(f, { hub: this.hub, announce: this.frame.announce, html: t => this.html(t) }));
  }

  /** HTML through JupyterLab's own renderer, as that of a notebook that is not trusted: sanitized. */
  private html(text: string): HTMLElement {
    if (!this.registry) return document.createElement('div');
    const r = this.registry.createRenderer('text/html');
    void r.renderModel({ data: { 'text/html': text }, metadata: {}, trusted: false, setData: () => {} });
    return r.node;
  }

  private replace(f: Figure, v: View): void {
    const old = this.view;
    this.view = v;
    this.kind = f.kind;
    this.frame.show(f, v);
    old?.dispose?.();
  }

  dispose(): void {
    this.view?.dispose?.();
    this.view = null;
  }
}

/** Makes the factory. The base class comes from the page: it must be the one that JupyterLab itself uses. */
export function factory(Widget: WidgetClass, hubOf: FindHub, registry: Registry | null): IRenderMime.IRendererFactory {
  class Renderer extends Widget {
    private drawing: Drawing | null = null;
    private model: IRenderMime.IMimeModel | null = null;

    renderModel(model: IRenderMime.IMimeModel): Promise<void> {
      this.model = model;
      // Which notebook it is in is known once it is in the page; a drawing that is needed before is made again there.
      this.draw();
      return Promise.resolve();
    }

    private draw(): void {
      if (!this.model) return;
      const hub = hubOf(this.node);
      if (!this.drawing || (hub && hub !== this.hub)) {
        this.drawing?.dispose();
        this.hub = hub;
        this.drawing = new Drawing(hub ?? new Hub(), registry);
        this.node.replaceChildren(this.drawing.node);
      }
      this.drawing.show(this.model as unknown as { data: { [type: string]: unknown } });
    }
    private hub: Hub | null = null;

    protected onAfterAttach(): void {
      if (!this.hub) this.draw();
    }

    override dispose(): void {
      this.drawing?.dispose();
      this.drawing = null;
      super.dispose();
    }
  }
  return {
    safe: true,
    mimeTypes: [MIME],
    defaultRank: 45,
    createRenderer: () => {
      const r = new Renderer();
      r.addClass('ht-output');
      return r as unknown as IRenderMime.IRenderer;
    },
  };
}
