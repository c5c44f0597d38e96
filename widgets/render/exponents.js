// The body of function(data): a slider that moves the loss scale, below the drawn chart. Whatever goes wrong, the static face stays.
'use strict';
var script = document.currentScript, root = script && script.parentNode;
var chart = root && root.querySelector && root.querySelector('.halftone-chart');
if (!chart) return;
var all = data.counts.reduce(function (a, b) { return a + b; }, 0), most = Math.max.apply(null, data.counts);
var colors = { zero: '#8a8a8a', subnormal: '#56b4e9', normal: '#0072b2', overflow: '#d55e00' };
var lowest = -40, highest = 24, k = data.now, format = 'float16';

// element makes an element with text; nothing here ever parses HTML.
function element(tag, style, text) {
  var e = document.createElement(tag);
  e.style.cssText = style || '';
  if (text != null) e.textContent = text;
  return e;
}

// fate says what a format makes of numbers from 2^e on.
function fate(e) {
  var f = data.formats[format];
  return e < f[0] ? 'zero' : e < f[1] ? 'subnormal' : e < f[2] ? 'normal' : 'overflow';
}

// percent never calls something nothing, nor all what is not all.
function percent(n) {
  var p = 100 * n / all;
  return !n ? '0%' : n === all ? '100%' : p < 0.1 ? 'under 0.1%' : p > 99.9 ? 'over 99.9%' : (p < 10 ? Math.round(p * 10) / 10 : Math.floor(p)) + '%';
}

var panel = element('div', 'max-width:960px;margin:4px 0 10px 0');
panel.className = 'halftone-whatif';
var line = element('div', 'display:flex;flex-wrap:wrap;gap:10px;align-items:center'), slider = element('input', 'flex:1 1 220px');
slider.type = 'range';
slider.min = Math.min(-8, data.now, data.best);
slider.max = Math.max(24, data.now, data.best);
slider.step = 1;
slider.setAttribute('aria-label', 'loss scale to try, as a power of two');
var choose = element('select');
choose.setAttribute('aria-label', 'format to try');
Object.keys(data.formats).sort().reverse().forEach(function (name) { choose.appendChild(element('option', '', name)); });
line.appendChild(element('span', '', 'try a loss scale'));
line.appendChild(slider);
[['now', data.now], ['largest safe', data.best], ['none', 0]].forEach(function (b) {
  var button = element('button', 'cursor:pointer;font-size:12px', b[0]);
  button.onclick = function () { k = b[1]; draw(); };
  line.appendChild(button);
});
line.appendChild(choose);
var says = element('div', 'margin:6px 0'), plot = element('div', 'position:relative;height:96px;overflow:hidden;border-bottom:1px solid rgba(128,128,128,0.6)');
says.setAttribute('aria-live', 'polite');
panel.appendChild(line);
panel.appendChild(says);
panel.appendChild(plot);

// column is a box over a part of the axis.
function column(from, to, height, style) {
  var unit = 100 / (highest - lowest);
  return element('div', 'position:absolute;bottom:0;left:' + (from - lowest) * unit + '%;width:calc(' + (to - from) * unit + '% - 1px);height:' + height + '%;' + style);
}

function draw() {
  slider.value = k;
  var f = data.formats[format], sum = { zero: 0, subnormal: 0, normal: 0, overflow: 0 };
  plot.replaceChildren(column(Math.max(f[0], lowest), Math.min(f[1], highest), 100, 'background:rgba(128,128,128,0.10)'),
    column(Math.max(f[1], lowest), Math.min(f[2], highest), 100, 'background:rgba(128,128,128,0.20)'));
  data.counts.forEach(function (n, i) {
    var e = data.low + i + k, what = fate(e);
    sum[what] += n;
    if (n && e >= lowest && e < highest) plot.appendChild(column(e, e + 1, Math.max(92 * n / most, 1.5), 'background:' + colors[what]));
  });
  says.textContent = '× 2^' + k + ' = ' + Math.pow(2, k).toLocaleString('en') + ' in ' + format + ': ' + percent(sum.zero) + ' lost to zero, ' + percent(sum.subnormal) +
    ' with fewer digits, ' + percent(sum.normal) + ' kept whole, ' + percent(sum.overflow) + ' overflow';
}

slider.oninput = function () { k = Number(slider.value); draw(); };
choose.onchange = function () { format = choose.value; draw(); };
draw();
chart.parentNode.insertBefore(panel, chart.nextSibling);
