// The beginning of every script, the body of function(data). Whatever goes wrong, the static face stays.
'use strict';
var script = document.currentScript, root = script && script.parentNode;
if (!root || !root.querySelector) return;

// element makes an element with text; nothing here ever parses HTML, since names come from users' programs.
function element(tag, style, text) {
  var e = document.createElement(tag);
  e.style.cssText = style || '';
  if (text != null) e.textContent = text;
  return e;
}

// look is that of a control on any page.
var look = 'font:inherit;font-size:12px;padding:2px 8px;border-radius:3px;color:inherit;border:1px solid var(--jp-border-color1,gray)';

// button makes a button that looks like the page's.
function button(text, does) {
  var b = element('button', look + ';cursor:pointer;background:transparent', text);
  b.type = 'button';
  b.onclick = does;
  return b;
}

// choice makes a labeled list to choose from: [value, words] each.
function choice(label, options, does) {
  var l = element('label', 'display:inline-flex;gap:6px;align-items:center', label + ' ');
  var s = element('select', look + ';background:var(--jp-layout-color1,Canvas)');
  options.forEach(function (o) { var e = element('option', '', o[1]); e.value = o[0]; s.appendChild(e); });
  s.onchange = function () { does(s.value); };
  l.appendChild(s);
  return l;
}
