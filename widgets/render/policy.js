// The body of function(data): a field that searches the op table. data.ops are [name, class on the CUDA, CPU and Apex lists, why, note].
'use strict';
var script = document.currentScript, root = script && script.parentNode;
var folded = root && root.querySelector && root.querySelector('.halftone-policy');
if (!folded) return;

// element makes an element with text; nothing here ever parses HTML.
function element(tag, style, text) {
  var e = document.createElement(tag);
  e.style.cssText = style || '';
  if (text != null) e.textContent = text;
  return e;
}

var box = element('div', 'margin:8px 0'), label = element('label', 'display:block'), field = element('input', 'font:inherit;width:420px;max-width:calc(100% - 80px);box-sizing:border-box;padding:5px 8px;margin-left:8px;color:inherit;background-color:transparent;border:1px solid rgba(128,128,128,0.7);border-radius:4px');
var says = element('div', 'margin:4px 0;opacity:0.75'), found = element('div', 'overflow-x:auto');
field.type = 'search';
field.placeholder = 'conv, fp32, overflows, bool';
field.setAttribute('aria-label', 'search the op table');
says.setAttribute('aria-live', 'polite');
label.appendChild(document.createTextNode('Search'));
label.appendChild(field);
box.appendChild(label);
box.appendChild(says);
box.appendChild(found);
box.className = 'halftone-search';
folded.parentNode.insertBefore(box, folded);
['keydown', 'keyup', 'keypress'].forEach(function (k) { field.addEventListener(k, function (e) { e.stopPropagation(); }); });

// cells are the words of a row.
function cells(op) { return [op[0], data.classes[op[1]], data.classes[op[2]], data.classes[op[3]], data.whys[op[4]] || '', op[5]]; }

var rows = data.ops.map(function (op) {
  var c = cells(op);
  return { cells: c, text: c.join(' ').toLowerCase() };
});

// search shows the rows that hold every word; those whose name begins with the first come first.
function search() {
  var words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  folded.hidden = words.length > 0;
  found.textContent = '';
  says.textContent = '';
  if (!words.length) return;
  var hits = rows.filter(function (r) { return words.every(function (w) { return r.text.indexOf(w) >= 0; }); });
  var named = function (r) { var at = r.cells[0].indexOf(words[0]); return at < 0 ? 2 : at > 0 ? 1 : 0; };
  hits.sort(function (a, b) { return named(a) - named(b) || (a.cells[0] < b.cells[0] ? -1 : 1); });
  says.textContent = hits.length + ' of ' + rows.length + ' rows' + (hits.length ? '' : ': try part of a name, a class such as fp32, or a word of a reason');
  if (!hits.length) return;
  var table = element('table', 'border-collapse:collapse;margin:0;font-size:12.5px'), head = element('tr', 'background-color:transparent');
  table.appendChild(element('caption', 'caption-side:top;text-align:left;opacity:0.75', 'Ops that match'));
  ['Op', 'CUDA lists', 'CPU lists', 'Apex', 'Why', ''].forEach(function (h) {
    var th = element('th', 'text-align:left;padding:4px 8px', h);
    th.scope = 'col';
    head.appendChild(th);
  });
  var body = element('tbody');
  table.appendChild(element('thead')).appendChild(head);
  hits.forEach(function (r) {
    var tr = element('tr', 'background-color:transparent;border-top:1px solid rgba(128,128,128,0.35)');
    r.cells.forEach(function (c, i) {
      var other = i > 1 && i < 4 && c === r.cells[1];
      tr.appendChild(element('td', 'text-align:left;vertical-align:top;padding:4px 8px' + (i ? '' : ';font-weight:bold') + (other ? ';opacity:0.75' : ''), c));
    });
    body.appendChild(tr);
  });
  table.appendChild(body);
  found.appendChild(table);
}
field.addEventListener('input', search);
