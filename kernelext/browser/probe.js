// What the tests measure in a page: window.probe.
window.probe = (() => {
  const app = () => window.jupyterapp;
  const panel = () => app().shell.currentWidget;
  const cells = () => panel().content.widgets;
  const frames = (n) => new Promise((done) => { const next = () => (n-- > 0 ? requestAnimationFrame(next) : done()); next(); });
  const squeeze = (s) => s.replace(/\s+/g, ' ').trim();

  // outputs lists the rendered figures, and answers of magics, of the notebook, in order.
  const outputs = () => [...panel().content.node.querySelectorAll('.jp-OutputArea-output :is(.halftone-figure, .halftone-answer, .ht-card)')];

  // show brings a figure into view, opens what is folded, and waits until it is laid out and its images are decoded.
  async function show(i) {
    let f = outputs()[i];
    f.querySelectorAll('details').forEach((d) => { d.open = true; });
    f.scrollIntoView({ block: 'start' });
    panel().content.node.querySelector('.jp-WindowedPanel-outer').scrollTop -= 8;
    await Promise.all([...f.querySelectorAll('img')].map((m) => m.decode().catch(() => {})));
    await place(f);
    return true;
  }

  // said is the text of HTML without scripts and without what only the interactive layer adds.
  function said(node) {
    const copy = node.cloneNode(true);
    copy.querySelectorAll('script, style, label, button, .halftone-controls, .halftone-detail, .halftone-chart > *').forEach((e) => e.remove());
    const words = [];
    const walk = document.createTreeWalker(copy, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) words.push(walk.currentNode.nodeValue);
    return squeeze(words.join(' '));
  }

  // stored is what a face says that is read without a browser's or JupyterLab's help.
  const stored = (html) => said(new DOMParser().parseFromString(html, 'text/html').body);

  const number = (s) => { const m = s.match(/[\d.]+/g).map(Number); return m.length < 4 ? [...m, 1] : m; };
  const over = (top, under, alpha) => [0, 1, 2].map((k) => top[k] * alpha + under[k] * (1 - alpha));
  // backdrop is the color behind an element: the backgrounds of it and of what it lies in, blended.
  function backdrop(e) {
    if (!e) return [255, 255, 255];
    const c = number(getComputedStyle(e).backgroundColor);
    return c[3] >= 1 ? c.slice(0, 3) : over(c, backdrop(e.parentElement), c[3]);
  }
  const opacity = (e) => (e ? Number(getComputedStyle(e).opacity) * opacity(e.parentElement) : 1);
  const luminance = (c) => { const [r, g, b] = c.map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  function contrast(e) {
    const s = getComputedStyle(e), under = backdrop(e), c = number(e instanceof SVGElement ? s.fill : s.color);
    const top = over(c, under, c[3] * opacity(e));
    const [a, b] = [luminance(top), luminance(under)].sort((x, y) => y - x);
    return (a + 0.05) / (b + 0.05);
  }

  // measure looks at a figure that is in view and what it lies in.
  const measure = (i) => look(outputs()[i], outputs()[i].closest('.jp-OutputArea-output'));
  function look(f, out) {
    const box = out.getBoundingClientRect();
    const hidden = [], faint = [], clipped = [];
    const walk = document.createTreeWalker(f, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
      const text = squeeze(walk.currentNode.nodeValue), e = walk.currentNode.parentElement;
      if (!text || e.closest('script, style, option')) continue;
      const range = document.createRange();
      range.selectNodeContents(walk.currentNode);
      const rects = [...range.getClientRects()];
      if (!rects.length || !e.checkVisibility({ visibilityProperty: true, opacityProperty: true })) {
        hidden.push(text);
        continue;
      }
      if (rects.some((r) => r.left < box.left - 1 || r.right > box.right + 1)) clipped.push(text);
      const ratio = contrast(e);
      const least = /[\p{L}\p{N}]/u.test(text) ? 4.5 : 3; // marks and separators are graphics
      if (ratio < least) faint.push(text.slice(0, 60) + ' ' + ratio.toFixed(2));
    }
    for (const e of [out, ...f.querySelectorAll('*')]) {
      if (e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0 && getComputedStyle(e).overflowX !== 'visible') clipped.push('<' + e.tagName.toLowerCase() + '> ' + e.scrollWidth + ' > ' + e.clientWidth);
    }
    return {
      text: said(f), hidden, faint: [...new Set(faint)], clipped,
      images: [...f.querySelectorAll('img')].map((m) => ({ alt: m.alt, natural: m.naturalWidth, width: Math.round(m.getBoundingClientRect().width), height: Math.round(m.getBoundingClientRect().height), colors: colors(m) })),
      tables: [...f.querySelectorAll('table')].map((t) => ({ caption: squeeze(t.caption ? t.caption.textContent : ''), rows: t.tBodies[0] ? t.tBodies[0].rows.length : 0, heads: t.querySelectorAll('th[scope=col]').length })),
      charts: [...f.querySelectorAll('.halftone-chart svg')].map((c) => c.closest('[aria-label]')?.getAttribute('aria-label') || ''),
      scripts: f.querySelectorAll('script').length,
      controls: f.querySelectorAll('input, button').length,
    };
  }

  // colors counts the colors of an image, so that an empty one is noticed.
  function colors(img) {
    if (!img.naturalWidth) return 0;
    const c = document.createElement('canvas');
    c.width = img.naturalWidth;
    c.height = img.naturalHeight;
    const g = c.getContext('2d');
    g.drawImage(img, 0, 0);
    return new Set(new Uint32Array(g.getImageData(0, 0, c.width, c.height).data.buffer)).size;
  }

  // place is where an element is in the window, for pictures and the mouse, once the page has stopped moving it.
  async function place(e) {
    const at = () => { const r = e.getBoundingClientRect(); return { x: r.x, y: r.y, width: r.width, height: r.height }; };
    for (let now = at(), still = 0, n = 0; ; n++) {
      await frames(1);
      const next = at();
      still = Object.keys(now).every((k) => now[k] === next[k]) ? still + 1 : 0;
      if (still >= 10) return next;
      if (n > 300) throw new Error('it does not stop moving: ' + e.outerHTML.slice(0, 80));
      now = next;
    }
  }

  return {
    outputs, show, measure, look, stored, place, cells, panel, frames,
    ready: () => !!(window.jupyterapp && app().shell && panel() && panel().content && panel().content.widgets && panel().context.isReady && document.querySelector('.jp-NotebookPanel:not(.lm-mod-hidden) .jp-Cell')),
    trusted: () => cells().some((c) => c.model.type === 'code' && c.model.trusted),
    theme: (name) => app().commands.execute('apputils:change-theme', { theme: name }),
    isTheme: (light) => document.body.dataset.jpThemeLight === String(light),
    status: () => panel().sessionContext.session?.kernel?.status,
    output: (i) => cells()[i].outputArea.node,
    outputText: (i) => cells()[i].outputArea.node.textContent,
    count: (i) => cells()[i].model.executionCount,
  };
})();
true
