// A page that loads the extension as JupyterLab does, and gives it only what it takes from there.
'use strict';
(() => {
  const mime = 'application/vnd.halftone.figure.v1+json';

  // The part of Lumino's Widget that the renderer stands on.
  class Widget {
    constructor() { this.node = document.createElement('div'); this.isDisposed = false; }
    addClass(name) { this.node.classList.add(name); }
    dispose() { this.isDisposed = true; this.node.remove(); }
  }
  class Token { constructor(name) { this.name = name; } }
  const modules = {
    '@lumino/widgets': { Widget },
    '@jupyterlab/rendermime': { IRenderMimeRegistry: new Token('registry') },
  };
  const scope = Object.fromEntries(Object.entries(modules).map(([name, m]) => [name, { '1.0.0': { get: async () => () => m, loaded: 1 } }]));

  let found;
  // factory is the renderer's, as the extension registers it.
  const factory = () => (found ??= (async () => {
    const container = window._JUPYTERLAB['@halftone/figures'];
    await container.init(scope);
    const module = (await container.get('./extension'))();
    let registered;
    for (const p of module.default) {
      if (p.id.endsWith(':renderer')) await p.activate({}, { addFactory: (f, rank) => { registered = { f, rank }; } }, null);
    }
    return registered;
  })());

  // draw shows a bundle of faces and returns its element.
  async function draw(bundle) {
    const { f } = await factory();
    const r = f.createRenderer({ mimeType: mime });
    document.querySelector('main').append(r.node);
    await r.renderModel({ data: bundle, metadata: {}, trusted: false, setData() {} });
    if (r.onAfterAttach) r.onAfterAttach();
    return r;
  }

  window.page = { draw, factory, mime, figure: (figure, plain = 'the text face') => draw({ [mime]: figure, 'text/plain': plain }), clear: () => document.querySelectorAll('main > div').forEach((e) => e.remove()) };
})();
