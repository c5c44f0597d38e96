// The body of function(data): a field that searches the op table, which stands in the page.
'use strict';
var script = document.currentScript, root = script && script.parentNode;
var list = root && root.querySelector && root.querySelector('.halftone-policy');
if (!list) return;

var box = document.createElement('div'), label = document.createElement('label'), field = document.createElement('input'), says = document.createElement('div');
box.className = 'halftone-search';
box.style.cssText = 'margin:8px 0';
field.style.cssText = 'font:inherit;width:420px;max-width:calc(100% - 80px);box-sizing:border-box;padding:5px 8px;margin-left:8px;color:inherit;background-color:transparent;border:1px solid rgba(128,128,128,0.7);border-radius:4px';
field.type = 'search';
field.placeholder = 'conv, fp32, overflows, bool';
field.setAttribute('aria-label', 'search the op table');
says.style.cssText = 'margin:4px 0;opacity:0.75';
says.setAttribute('aria-live', 'polite');
label.append('Search', field);
box.append(label, says);
list.parentNode.insertBefore(box, list);
['keydown', 'keyup', 'keypress'].forEach((k) => field.addEventListener(k, (e) => e.stopPropagation()));

// ops are the entries, each with the words that it is found by: its own, its reason's and its class's.
var folds = [].slice.call(list.querySelectorAll('details')), reasons = [].slice.call(list.querySelectorAll('.halftone-reason')), before = null;
var ops = [].map.call(list.querySelectorAll('.halftone-reason :is(li, span)'), (e) => {
  var reason = e.closest('.halftone-reason');
  return { e: e, text: (e.textContent + ' ' + reason.firstChild.textContent + ' ' + e.closest('details').firstChild.textContent).toLowerCase() };
});

// search shows the ops that hold every word, below their classes and reasons.
function search() {
  var words = field.value.toLowerCase().split(/\s+/).filter(Boolean), n = 0;
  before = before || folds.map((d) => d.open);
  ops.forEach((o) => {
    o.e.hidden = !words.every((w) => o.text.indexOf(w) >= 0);
    n += !o.e.hidden;
  });
  reasons.forEach((r) => { r.hidden = !r.querySelector(':is(li, span):not([hidden])'); });
  folds.forEach((d, i) => {
    d.hidden = !d.querySelector('.halftone-reason:not([hidden])');
    d.open = words.length ? true : before[i];
  });
  if (!words.length) before = null;
  says.textContent = !words.length ? '' : n + ' of ' + ops.length + ' rows' + (n ? '' : ': try part of a name, a class such as fp32, or a word of a reason');
}
field.addEventListener('input', search);
