// What the walk over all figures measures, in JupyterLab and in a page of nbconvert: window.visual.
window.visual = (() => {
  const squeeze = (s) => s.replace(/\s+/g, ' ').trim();
  const figures = () => [...document.querySelectorAll(':is(.jp-OutputArea-output, .output_area) :is(.halftone-figure, .ht-card)')];
  const output = (f) => f.closest('.jp-OutputArea-output, .output_area');
  const scrolls = (e) => /auto|scroll/.test(getComputedStyle(e).overflowX);

  // scroller is the element within the figure that an element can be scrolled in; null for none.
  function scroller(e, f) {
    for (let p = e; p && p !== f.parentElement; p = p.parentElement) if (scrolls(p)) return p;
    return null;
  }

  // texts lists the pieces of text that can be seen, with where they are.
  function texts(f) {
    const out = [], walk = document.createTreeWalker(f, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
      const node = walk.currentNode, e = node.parentElement;
      if (!squeeze(node.nodeValue) || e.closest('script, style, title, option, [aria-hidden=true]') || !e.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      for (const r of range.getClientRects()) if (r.width > 1 && r.height > 1) out.push({ text: squeeze(node.nodeValue).slice(0, 50), e, r });
    }
    return out;
  }

  // overlaps lists texts that lie on each other: by more than a third of the lower one's height, since lines may touch.
  function overlaps(list) {
    const out = [];
    const sorted = [...list].sort((a, b) => a.r.top - b.r.top);
    for (let i = 0; i < sorted.length; i++) {
      for (let k = i + 1; k < sorted.length && sorted[k].r.top < sorted[i].r.bottom; k++) {
        const [a, b] = [sorted[i], sorted[k]];
        const high = Math.min(a.r.bottom, b.r.bottom) - Math.max(a.r.top, b.r.top), wide = Math.min(a.r.right, b.r.right) - Math.max(a.r.left, b.r.left);
        if (wide > 1.5 && high > Math.min(a.r.height, b.r.height) / 3) out.push(a.text + ' | ' + b.text);
      }
    }
    return out;
  }

  // look measures a figure: what leaves its output, what is cut off, what overlaps, what is wider than its place.
  function look(i) {
    const f = figures()[i], box = output(f).getBoundingClientRect(), seen = texts(f);
    const outside = [], cut = [], wide = [];
    for (const e of f.querySelectorAll('*')) {
      const r = e.getBoundingClientRect();
      if (r.width && !scroller(e.parentElement, f) && (r.right > box.right + 1.5 || r.left < box.left - 1.5)) outside.push('<' + e.tagName.toLowerCase() + '> ' + squeeze(e.textContent).slice(0, 40) + ' ' + Math.round(r.right - box.right));
      if (e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0 && scrolls(e)) wide.push('<' + e.tagName.toLowerCase() + '> ' + e.scrollWidth + ' > ' + e.clientWidth);
    }
    for (const t of seen) {
      for (let p = t.e; p && p !== f.parentElement; p = p.parentElement) {
        const s = getComputedStyle(p);
        if (scrolls(p)) break;
        if (s.overflowX === 'hidden' || s.overflowX === 'clip') {
          const r = p.getBoundingClientRect();
          if ((t.r.right > r.right + 1.5 || t.r.left < r.left - 1.5) && s.clip === 'auto') cut.push(t.text);
        }
      }
    }
    const look = probe.look(f, output(f));
    const folded = new Set([...f.querySelectorAll('option, [hidden]')].map((e) => squeeze(e.textContent))); // what nobody is meant to see now
    return {
      text: squeeze(f.textContent).length, texts: seen.length, outside: [...new Set(outside)].slice(0, 8), cut, wide, overlaps: overlaps(seen).slice(0, 8), faint: look.faint, hidden: look.hidden.filter((t) => !folded.has(t)),
      images: [...f.querySelectorAll('img')].map((m) => ({ alt: m.alt, drawn: m.naturalWidth > 0 && m.getBoundingClientRect().width > 100 })),
      scripted: f.querySelectorAll('.halftone-bit, .halftone-search input, .halftone-whatif input, .halftone-chart svg').length,
    };
  }

  // show opens what is folded and waits until a figure is laid out.
  async function show(i) {
    const f = figures()[i];
    f.querySelectorAll('details').forEach((d) => { d.open = true; });
    f.scrollIntoView({ block: 'start' });
    await Promise.all([...f.querySelectorAll('img')].map((m) => m.decode().catch(() => {})));
    await probe.place(f);
    return true;
  }

  return { figures, output, look, show };
})();
true
