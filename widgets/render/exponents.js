// What the gradients would be at other loss scales and in other formats, in the place of the drawn chart.
var box = root.querySelector('.halftone-chart');
if (!box) return;
var colors = { zero: '#8a8a8a', subnormal: '#56b4e9', normal: '#0072b2', overflow: '#d55e00' };
var format = data.formats[0], source = data.sources[0], k = data.now, best = format.best, safe, lowest = -44, highest = 24, height = 230;

// power writes 2 with a raised exponent.
function power(v) {
  return '2' + String(v).replace(/[-0-9]/g, function (d) { return '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'['-0123456789'.indexOf(d)]; });
}

// scale writes a loss scale.
function scale(v) { return v > 30 || v < 0 ? power(v) : Math.pow(2, v).toLocaleString('en'); }

// fate says what the format makes of numbers from 2^e on.
function fate(e) {
  return e < format.zero ? 'zero' : e < format.normal ? 'subnormal' : e < format.top ? 'normal' : 'overflow';
}

// percent never calls something nothing, nor all what is not all.
function percent(n, all) {
  var p = 100 * n / all;
  return !n ? '0%' : n === all ? '100%' : p < 0.1 ? 'under 0.1%' : p > 99.9 ? 'over 99.9%' : (p < 10 ? Math.round(p * 10) / 10 : Math.floor(p)) + '%';
}

// shape adds an SVG element with attributes.
function shape(to, name, attributes, text) {
  var e = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (var a in attributes) e.setAttribute(a, attributes[a]);
  if (text != null) e.textContent = text;
  return to.appendChild(e);
}

var panel = element('div', 'max-width:960px;margin:8px 0'), said = element('div'), says = element('strong', 'font-size:15px'), sums = element('div', 'display:flex;flex-wrap:wrap;gap:2px 22px;margin:2px 0 6px');
said.setAttribute('aria-live', 'polite');
panel.className = 'halftone-whatif';
var line = element('div', 'display:flex;flex-wrap:wrap;gap:8px 12px;align-items:center;margin:4px 0'), slider = element('input', 'flex:1 1 200px;min-width:0;margin:0');
slider.type = 'range';
slider.min = Math.min(-8, k, best);
slider.max = Math.max(24, k, best + 4);
slider.setAttribute('aria-label', 'loss scale to try, as a power of two');
var svg = shape(panel, 'svg', { role: 'img', 'aria-label': data.alt, style: 'display:block;width:100%;height:' + height + 'px', fill: 'currentColor', 'font-size': 12 });

function draw() {
  var width = svg.clientWidth || 720, base = height - 22, unit = width / (highest - lowest), sum = { zero: 0, subnormal: 0, normal: 0, overflow: 0 }, bars = {}, all = 0, most = 1;
  var x = function (e) { return (Math.max(Math.min(e, highest), lowest) - lowest) * unit; };
  source.counts.forEach(function (n, i) {
    var e = source.low + i + k, at = Math.max(Math.min(e, highest - 1), lowest);
    sum[fate(e)] += n;
    all += n;
    bars[at] = (bars[at] || 0) + n;
    most = Math.max(most, bars[at]);
  });
  svg.replaceChildren();
  [[lowest, format.zero, 0, '○ lost'], [format.zero, format.normal, 0.1, '░ fewer digits'], [format.normal, format.top, 0.2, '═ kept'], [format.top, highest, 0, '× overflow']].forEach(function (b) {
    var w = x(b[1]) - x(b[0]);
    if (w <= 0) return;
    shape(svg, 'rect', { x: x(b[0]), y: 0, width: w, height: base, fill: 'rgba(86,180,233,' + b[2] + ')' });
    if (w > 7 * b[3].length) shape(svg, 'text', { x: x(b[0]) + w / 2, y: 14, 'text-anchor': 'middle', opacity: 0.8 }, b[3]);
  });
  for (var e in bars) {
    var h = Math.max((base - 24) * bars[e] / most, 1.5);
    shape(svg, 'rect', { x: x(+e) + 0.5, y: base - h, width: Math.max(unit - 1, 1), height: h, fill: colors[fate(+e)] });
  }
  shape(svg, 'rect', { x: 0, y: base, width: width, height: 1, opacity: 0.5 });
  for (var t = lowest + 4; t < highest; t += width < 500 ? 16 : 8) shape(svg, 'text', { x: x(t), y: height - 5, 'text-anchor': 'middle' }, power(t));
  slider.value = k;
  slider.setAttribute('aria-valuetext', scale(k));
  var n = scale(k), p = power(k);
  says.textContent = (k ? 'Scaled by ' + n + (n === p ? '' : ' = ' + p) : 'Unscaled') + ' in ' + format.name + (k === data.now && k ? ': the present scale' : data.below == null && k === format.best ? ': the largest safe scale' : '');
  safe.textContent = (data.below == null ? 'largest safe ' : 'below ∞ ') + scale(format.best);
  sums.replaceChildren();
  [['zero', '○ lost to zero'], ['subnormal', '░ fewer digits'], ['normal', '═ kept whole'], ['overflow', '× overflow']].forEach(function (s) {
    var one = element('span', 'white-space:nowrap');
    one.appendChild(element('strong', '', percent(sum[s[0]], all)));
    one.appendChild(element('span', 'opacity:0.8', ' ' + s[1]));
    sums.appendChild(one);
  });
}

// The page's own keys are not for who is at a control.
panel.onkeydown = function (e) { e.stopPropagation(); };
slider.oninput = function () { k = Number(slider.value); draw(); };
said.appendChild(says);
said.appendChild(sums);
panel.insertBefore(said, svg);
line.appendChild(element('span', '', 'loss scale'));
line.appendChild(slider);
line.appendChild(button('none', function () { k = 0; draw(); }));
if (data.now) line.appendChild(button('now ' + scale(data.now), function () { k = data.now; draw(); }));
line.appendChild(safe = button('', function () { k = Math.max(Math.min(format.best, +slider.max), +slider.min); draw(); }));
line.appendChild(choice('format', data.formats.map(function (f, i) { return [i, f.name]; }), function (i) { format = data.formats[i]; draw(); }));
if (data.sources.length > 2) line.appendChild(choice('of', data.sources.map(function (s, i) { return [i, s.name]; }), function (i) { source = data.sources[i]; draw(); }));
panel.appendChild(line);
box.replaceChildren(panel);
draw();
if (window.ResizeObserver) new ResizeObserver(draw).observe(svg);
