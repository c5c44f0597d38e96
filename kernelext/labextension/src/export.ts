// Figures as files. A chart is saved as it stands on the page; where there is none, the picture that the kernel stored is.
import type { Rows } from './view';

/** The faces that a notebook stores beside the data. */
export interface Faces { png?: string; svg?: string }

/** Gives the browser a file to save. Nothing leaves the page. */
function save(name: string, content: Blob): string {
  const url = URL.createObjectURL(content);
  const a = document.createElement('a');
  a.href = url; // an address that was made in the line above
  a.download = name;
  a.click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
  return `Saved ${name}.`;
}

export function saveCSV(name: string, rows: Rows): string {
  const field = (v: string | number): string => {
    let t = String(v);
    if (typeof v === 'string' && /^[=+\-@\t\r]/.test(t)) t = `'${t}`; // spreadsheets run what begins so
    return /[",\n\r]/.test(t) ? `"${t.replace(/"/g, '""')}"` : t;
  };
  return save(`${name}.csv`, new Blob([rows.map(r => r.map(field).join(',')).join('\r\n') + '\r\n'], { type: 'text/csv;charset=utf-8' }));
}

const drawn = ['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'opacity', 'fill-opacity', 'stroke-opacity', 'font-family', 'font-size', 'font-weight', 'visibility'];

/** A copy of a chart that looks the same without the page's styles. */
export function standalone(svg: SVGSVGElement): string {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  const from = [svg, ...svg.querySelectorAll('*')], to = [copy, ...copy.querySelectorAll('*')];
  from.forEach((e, i) => {
    const style = getComputedStyle(e), t = to[i]!;
    for (const p of drawn) {
      const v = style.getPropertyValue(p);
      if (v) t.setAttribute(p, v);
    }
    t.removeAttribute('class');
  });
  const paper = document.createElementNS('http://www.w3.org/2000/svg', 'rect');
  paper.setAttribute('width', '100%');
  paper.setAttribute('height', '100%');
  paper.setAttribute('fill', ground(svg));
  copy.prepend(paper);
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  return new XMLSerializer().serializeToString(copy);
}

/** The color that a chart stands on. */
function ground(e: Element | null): string {
  for (; e; e = e.parentElement) {
    const c = getComputedStyle(e).backgroundColor;
    if (c && c !== 'transparent' && !/, 0\)$/.test(c)) return c;
  }
  return '#fff';
}

export function saveSVG(name: string, svg: SVGSVGElement | null, faces: Faces): string {
  const content = svg ? standalone(svg) : faces.svg;
  if (!content) throw new Error('This figure has no drawing: save it as CSV.');
  return save(`${name}.svg`, new Blob([content], { type: 'image/svg+xml' }));
}

export async function savePNG(name: string, svg: SVGSVGElement | null, faces: Faces): Promise<string> {
  if (svg) {
    try {
      return save(`${name}.png`, await raster(svg));
    } catch (e) {
      if (!faces.png) throw e;
    }
  }
  if (!faces.png) throw new Error('This figure has no picture: save it as CSV.');
  const bytes = Uint8Array.from(atob(faces.png.replace(/\s+/g, '')), c => c.charCodeAt(0));
  return save(`${name}.png`, new Blob([bytes], { type: 'image/png' }));
}

/** Paints a chart at twice its size. */
async function raster(svg: SVGSVGElement): Promise<Blob> {
  const box = svg.getBoundingClientRect();
  const url = URL.createObjectURL(new Blob([standalone(svg)], { type: 'image/svg+xml' }));
  try {
    const image = new Image();
    image.src = url;
    await image.decode().catch(() => { throw new Error('This page does not allow pictures to be made: save it as SVG.'); });
    const canvas = document.createElement('canvas');
    canvas.width = Math.min(Math.ceil(2 * box.width), 8192);
    canvas.height = Math.min(Math.ceil(2 * box.height), 8192);
    canvas.getContext('2d')!.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve, reject) => canvas.toBlob(b => (b ? resolve(b) : reject(new Error('The picture could not be made: save it as SVG.'))), 'image/png'));
  } finally {
    URL.revokeObjectURL(url);
  }
}
