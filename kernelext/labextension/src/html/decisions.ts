// The decisions: rows in other groups than modules, a filter, keys to move between rows, and the row in words with its override.
import { button, choice, copier, copiers, element, figure, ground, line, own, styled } from './page';

/** An op's row with its casts, what it can be grouped by, and the body of the module that it is of. */
interface Row { tr: HTMLTableRowElement[]; head: Element; home: HTMLElement; module: string; op: string; dtype: string; changed: boolean; label?: HTMLElement }

function read(modules: HTMLDetailsElement[]): Row[] {
  const rows: Row[] = [];
  for (const m of modules) {
    const module = m.querySelector('summary strong')!.textContent!, home = m.querySelector('tbody')!;
    for (const r of home.rows) {
      const head = r.querySelector('th');
      if (!head) {
        rows[rows.length - 1]!.tr.push(r);
        continue;
      }
      const chip = [...r.cells[1]!.querySelectorAll('span')].find(s => s.style.backgroundColor);
      rows.push({ tr: [r], head, home, module, op: head.querySelector('code')?.textContent ?? 'backward', dtype: chip?.textContent?.trim() ?? 'backward', changed: r.classList.contains('halftone-changed') });
    }
  }
  return rows;
}

type Grouping = 'module' | 'op' | 'dtype';

function start(tree: HTMLElement): void {
  const modules = [...tree.querySelectorAll<HTMLDetailsElement>('.halftone-module')], rows = read(modules);
  if (!rows.length) return;
  let by: Grouping = 'module', only = false;
  const other = element('div');
  modules[0]!.before(other);

  /** What can be folded, as a module is, with an empty table. */
  const fold = (name: string, n: number): HTMLDetailsElement => {
    const m = modules[0]!.cloneNode(true) as HTMLDetailsElement;
    m.hidden = false;
    m.open = true;
    m.className = 'halftone-group';
    m.querySelector('tbody')!.replaceChildren();
    m.querySelector('caption')!.textContent = `Ops in the group ${name}`;
    m.querySelector('summary')!.replaceChildren(element('strong', '', name), element('span', 'opacity:0.75', ` ${n === 1 ? '1 row' : `${n} rows`}`));
    return m;
  };

  const arrange = (): void => {
    const groups = new Map<string, Row[]>();
    for (const r of rows) {
      r.label?.remove();
      if (by !== 'module') r.head.prepend(r.label = element('span', 'display:block;opacity:0.75', r.module));
      for (const tr of r.tr) {
        tr.hidden = only && !r.changed;
        r.home.append(tr);
      }
      if (!only || r.changed) groups.set(r[by], [...(groups.get(r[by]) ?? []), r]);
    }
    for (const m of modules) m.hidden = by !== 'module' || (only && !m.querySelector('.halftone-changed'));
    other.replaceChildren(...(by === 'module' ? [] : [...groups].map(([name, list]) => {
      const m = fold(name, list.length);
      m.querySelector('tbody')!.append(...list.flatMap(r => r.tr));
      return m;
    })));
  };

  const bar = own(element('div', 'display:flex;flex-wrap:wrap;gap:6px 18px;align-items:center;margin:8px 0 2px 0')), groupings: Grouping[] = ['module', 'op', 'dtype'];
  bar.className = 'halftone-controls';
  bar.append(choice('group by', groupings, i => {
    by = groupings[i]!;
    arrange();
  }));
  if (rows.some(r => r.changed) && !rows.every(r => r.changed)) {
    const label = element('label'), check = element('input', 'margin:0 6px 0 0');
    check.type = 'checkbox';
    check.onchange = () => {
      only = check.checked;
      arrange();
    };
    label.append(check, 'only what autocast changed');
    bar.append(label);
  }
  const folds = button('fold all', () => {
    const all = [...tree.querySelectorAll('details')], open = !all.some(d => d.open);
    for (const d of all) d.open = open;
    folds.textContent = open ? 'fold all' : 'unfold all';
  });
  bar.append(folds);

  // The row that has the focus, in words, with the option that would decide otherwise.
  const says = line(`position:sticky;bottom:0;padding:6px 8px;border-top:1px solid gray;${ground}`);
  says.className = 'halftone-detail';
  says.textContent = 'Arrow keys move between rows; the one with the focus is explained here.';
  const explain = (r: Row): void => {
    const words = (i: number): string => r.tr[0]!.cells[i]?.innerText.replace(/\s*\n\s*/g, ' · ').trim() ?? '', back = words(3);
    says.replaceChildren(element('strong', '', `${r.module} ${r.op} `), `${words(1)} — ${words(2)}${back ? ` · backward: ${back.replace(/ · /g, ' ')}` : ''}`);
    if (!/[▮▯]/.test(r.dtype) || r.op === 'backward' || r.op === 'cast') return;
    const option = `amp.Force(${JSON.stringify(r.op)}, amp.FP32)`, b = copier(option, `copy ${option}`);
    b.style.marginLeft = '8px';
    says.append(b);
  };

  rows.forEach((r, n) => {
    const tr = r.tr[0]!;
    tr.tabIndex = n ? -1 : 0;
    tr.onfocus = () => explain(r);
    tr.onclick = e => (e.target as Element).closest('button,a,summary') || tr.focus();
    tr.onkeydown = e => {
      const list = [...tree.querySelectorAll<HTMLTableRowElement>('.halftone-row')].filter(x => x.onkeydown && x.offsetParent), k = list.indexOf(tr);
      const to = { ArrowDown: list[k + 1], ArrowUp: list[k - 1], Home: list[0], End: list[list.length - 1] }[e.key];
      if (e.target !== tr || !to) return;
      e.preventDefault();
      e.stopPropagation();
      tr.tabIndex = -1;
      to.tabIndex = 0;
      to.focus();
    };
  });
  tree.parentElement!.before(bar);
  tree.parentElement!.after(says);
}

const root = figure();
if (root) {
  copiers(root);
  styled();
  const tree = root.querySelector<HTMLElement>('.halftone-tree');
  if (tree) start(tree);
}
