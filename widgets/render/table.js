// The decisions: groups that fold, a filter, keys to move between rows, and the row in words with its override.
var t = root.querySelector('table.halftone-table');
if (!t) return;
var body = t.tBodies[0], wide = t.tHead.rows[0].cells.length;

// rows are what belongs together: an op's row and its casts, with what it can be grouped by.
var rows = [], rest = [], module = '', number = 0;
[].forEach.call(body.rows, function (r) {
  if (!r.classList.contains('halftone-row')) return void rest.push(r);
  var head = r.querySelector('th'), last = rows[rows.length - 1];
  if (!head) return void last.tr.push(r);
  var strong = head.querySelector('strong'), op = head.querySelector('code');
  if (strong) module = strong.textContent;
  var chip = [].filter.call(r.cells[1].querySelectorAll('span'), function (s) { return s.style.backgroundColor; })[0];
  rows.push({ tr: [r], n: number++, head: head, first: !!strong, module: module, op: op ? op.textContent : 'backward', dtype: chip ? chip.textContent.trim() : 'backward', changed: r.classList.contains('halftone-changed') });
});
if (!rows.length) return;
var by = 'module', only = false, closed = {};

// arrange puts the rows in groups and shows those that are asked for.
function arrange() {
  [].slice.call(body.querySelectorAll('.halftone-group')).forEach(function (g) { g.remove(); });
  var order = [], groups = {};
  rows.forEach(function (r) {
    var k = r[by];
    if (!groups[k]) order.push(groups[k] = { name: k, rows: [] });
    groups[k].rows.push(r);
  });
  order.forEach(function (g) {
    var key = by + ' ' + g.name, shown = g.rows.filter(function (r) { return !only || r.changed; });
    if (by !== 'module' && shown.length) {
      var tr = element('tr', 'background:transparent;border-top:1px solid gray'), th = element('th', 'text-align:left'), b = button((closed[key] ? '▸ ' : '▾ ') + g.name, function () { closed[key] = !closed[key]; arrange(); });
      tr.className = 'halftone-group';
      th.colSpan = wide;
      th.scope = 'rowgroup';
      b.setAttribute('aria-expanded', String(!closed[key]));
      b.style.fontWeight = 'bold';
      th.appendChild(b);
      th.appendChild(element('span', 'font-weight:normal;opacity:0.75;margin-left:8px', shown.length + (shown.length === 1 ? ' row' : ' rows')));
      tr.appendChild(th);
      body.appendChild(tr);
    }
    g.rows.forEach(function (r) {
      if (r.label) r.label.remove();
      if (by !== 'module' && !r.first) r.head.insertBefore(r.label = element('span', 'display:block;opacity:0.75', r.module), r.head.firstChild);
      r.tr.forEach(function (tr) { tr.hidden = only && !r.changed || by !== 'module' && closed[key]; body.appendChild(tr); });
    });
  });
  rest.forEach(function (r) { body.appendChild(r); });
}

// bar holds the controls.
var bar = element('div', 'display:flex;flex-wrap:wrap;gap:6px 18px;align-items:center;margin:8px 0 2px 0');
bar.className = 'halftone-controls';
bar.onkeydown = function (e) { e.stopPropagation(); };
bar.appendChild(choice('group by', [['module', 'module'], ['op', 'op'], ['dtype', 'dtype']], function (v) { by = v; arrange(); }));
if (rows.some(function (r) { return r.changed; }) && !rows.every(function (r) { return r.changed; })) {
  var label = element('label'), check = element('input', 'margin:0 6px 0 0');
  check.type = 'checkbox';
  check.onchange = function () { only = check.checked; arrange(); };
  label.appendChild(check);
  label.appendChild(document.createTextNode('only what autocast changed'));
  bar.appendChild(label);
}

// says is the row that has the focus, in words, with the option that would decide otherwise.
var says = element('div', 'position:sticky;bottom:0;padding:6px 8px;border-top:1px solid gray;background:var(--jp-layout-color1,Canvas)');
says.className = 'halftone-detail';
says.setAttribute('aria-live', 'polite');
says.textContent = 'Arrow keys move between rows; the one with the focus is explained here.';
function explain(r) {
  var words = function (i) { return r.tr[0].cells[i] ? r.tr[0].cells[i].innerText.replace(/\s*\n\s*/g, ' · ').trim() : ''; };
  says.replaceChildren(element('strong', '', r.module + ' ' + r.op + ' '), document.createTextNode(words(1) + ' — ' + words(2) + (words(3) ? ' · backward: ' + words(3).replace(/ · /g, ' ') : '')));
  if (/[▮▯]/.test(r.dtype) && r.op !== 'backward' && r.op !== 'cast') {
    var option = 'amp.Force(' + JSON.stringify(r.op) + ', amp.FP32)', b = copier(option, 'copy ' + option);
    b.style.marginLeft = '8px';
    says.appendChild(b);
  }
}

rows.forEach(function (r) {
  var tr = r.tr[0];
  tr.tabIndex = r.n ? -1 : 0;
  tr.onfocus = function () { explain(r); };
  tr.onclick = function (e) { if (!e.target.closest('button,a,summary')) tr.focus(); };
  tr.onkeydown = function (e) {
    var list = [].filter.call(body.rows, function (x) { return x.onkeydown && !x.hidden; }), k = list.indexOf(tr);
    var to = { ArrowDown: list[k + 1], ArrowUp: list[k - 1], Home: list[0], End: list[list.length - 1] }[e.key];
    if (e.target !== tr || !to) return;
    e.preventDefault();
    e.stopPropagation();
    tr.tabIndex = -1;
    to.tabIndex = 0;
    to.focus();
  };
});
t.parentNode.parentNode.insertBefore(bar, t.parentNode);
t.parentNode.parentNode.insertBefore(says, t.parentNode.nextSibling);
