// The decisions: rows in other groups than modules, a filter, keys to move between rows, and the row in words with its override.
var tree = root.querySelector('.halftone-tree');
if (!tree) return;
var modules = [].slice.call(tree.querySelectorAll('.halftone-module'));

// rows are what belongs together: an op's row and its casts, with what it can be grouped by and the module's body that they are of.
var rows = [], number = 0;
modules.forEach(function (m) {
  var module = m.querySelector('summary strong').textContent, home = m.querySelector('tbody');
  [].forEach.call(home.rows, function (r) {
    var head = r.querySelector('th'), last = rows[rows.length - 1];
    if (!head) return void last.tr.push(r);
    var op = head.querySelector('code'), chip = [].filter.call(r.cells[1].querySelectorAll('span'), function (s) { return s.style.backgroundColor; })[0];
    rows.push({ tr: [r], n: number++, head: head, home: home, module: module, op: op ? op.textContent : 'backward', dtype: chip ? chip.textContent.trim() : 'backward', changed: r.classList.contains('halftone-changed') });
  });
});
if (!rows.length) return;
var by = 'module', only = false, other = element('div');
tree.insertBefore(other, modules[0]);

// fold makes what can be folded, as a module is, with an empty table.
function fold(name, n) {
  var m = modules[0].cloneNode(true), s = m.querySelector('summary');
  m.open = true;
  m.className = 'halftone-group';
  m.querySelector('tbody').replaceChildren();
  m.querySelector('caption').textContent = 'Ops in the group ' + name;
  s.replaceChildren(element('strong', '', name), element('span', 'opacity:0.75', ' ' + n + (n === 1 ? ' row' : ' rows')));
  return m;
}

// arrange puts the rows in groups and shows those that are asked for.
function arrange() {
  var order = [], groups = {};
  rows.forEach(function (r) {
    var k = r[by];
    if (!groups[k]) order.push(groups[k] = { name: k, rows: [] });
    groups[k].rows.push(r);
    if (r.label) r.label.remove();
    if (by !== 'module') r.head.insertBefore(r.label = element('span', 'display:block;opacity:0.75', r.module), r.head.firstChild);
    r.tr.forEach(function (tr) { tr.hidden = only && !r.changed; r.home.appendChild(tr); });
  });
  other.replaceChildren();
  modules.forEach(function (m) { m.hidden = by !== 'module' || only && !m.querySelector('.halftone-changed'); });
  if (by !== 'module') order.forEach(function (g) {
    var shown = g.rows.filter(function (r) { return !only || r.changed; }), m = fold(g.name, shown.length);
    shown.forEach(function (r) { r.tr.forEach(function (tr) { m.querySelector('tbody').appendChild(tr); }); });
    if (shown.length) other.appendChild(m);
  });
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
    var list = [].filter.call(tree.querySelectorAll('.halftone-row'), function (x) { return x.onkeydown && x.offsetParent; }), k = list.indexOf(tr);
    var to = { ArrowDown: list[k + 1], ArrowUp: list[k - 1], Home: list[0], End: list[list.length - 1] }[e.key];
    if (e.target !== tr || !to) return;
    e.preventDefault();
    e.stopPropagation();
    tr.tabIndex = -1;
    to.tabIndex = 0;
    to.focus();
  };
});
tree.parentNode.parentNode.insertBefore(bar, tree.parentNode);
tree.parentNode.parentNode.insertBefore(says, tree.parentNode.nextSibling);
