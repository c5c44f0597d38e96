// The body of function(data): the bits of a number can be clicked. data.values are the numbers of the table's groups, NaN and infinities
// as words. Whatever goes wrong, the static face stays.
'use strict';
var two = (n) => Math.pow(2, n);
var script = document.currentScript, root = script && script.parentNode;
var table = root && root.querySelector && root.querySelector('table.halftone-bits');
if (!table) return;
// name, exponent and fraction bits, bias, and the largest number of the one that has no infinity
var formats = [['fp32', 8, 23, 127], ['fp16', 5, 10, 15], ['bf16', 8, 7, 127], ['fp8 e4m3', 4, 3, 7, 448], ['fp8 e5m2', 5, 2, 15]];
var largest = (f) => f[4] || (2 - two(-f[2])) * two(f[3]);

// power is the exponent of the leading digit, by the bits of the float64: exact where a logarithm is not.
function power(v) {
  var d = new DataView(new ArrayBuffer(8));
  d.setFloat64(0, v);
  return (d.getUint32(0) >>> 20 & 2047) - 1023;
}

// unit is the gap between a format's numbers around v.
function unit(f, v) { return two(Math.max(power(v), 1 - f[3]) - f[2]); }

// encode gives the bits of v rounded to nearest, ties to even.
function encode(f, v) {
  var p = two(f[2]), top = (two(f[1]) - 1) * p, sign = v < 0 || Object.is(v, -0) ? two(f[1] + f[2]) : 0;
  if (v !== v) return f[4] ? top + p - 1 : top + p / 2;
  var a = Math.abs(v), q = isFinite(a) ? a / unit(f, a) : a, n = Math.floor(q), rest = q - n;
  if (rest > 0.5 || rest === 0.5 && n % 2) n++;
  var r = isFinite(a) ? n * unit(f, a) : a;
  if (r > largest(f)) return sign + (f[4] ? top + p - 1 : top);
  var biased = power(r) + f[3];
  return sign + (r && biased >= 1 ? (biased - 1) * p : 0) + r / unit(f, r);
}

function decode(f, bits) {
  var p = two(f[2]), all = two(f[1]), m = bits % p, e = Math.floor(bits / p) % all, sign = bits >= p * all ? -1 : 1;
  if (e === all - 1 && (!f[4] || m === p - 1)) return f[4] || m ? NaN : sign * Infinity;
  return sign * (e ? (m + p) * two(e - f[3] - f[2]) : m * two(1 - f[3] - f[2]));
}

// next is the neighbor of a number of the format.
function next(f, v, up) {
  var half = two(f[1] + f[2]);
  if (!isFinite(v)) return v > 0 === up ? v : v > 0 ? largest(f) : -largest(f);
  if (!v) return (up ? 1 : -1) * decode(f, 1);
  var w = decode(f, encode(f, Math.abs(v)) + (v > 0 === up ? 1 : -1));
  return (w !== w ? Infinity : w) * (v > 0 ? 1 : -1);
}

// decimal writes a number with up to n digits.
function decimal(v, n) {
  if (v !== v) return 'NaN';
  if (!isFinite(v)) return v > 0 ? '∞' : '-∞';
  if (!v) return Object.is(v, -0) ? '-0' : '0';
  var [s, e] = v.toExponential(n - 1).split('e'), trim = (s) => s.indexOf('.') < 0 ? s : s.replace(/\.?0+$/, '');
  if (Math.abs(v) < 1e-4 || e >= 9) return trim(s) + 'e' + +e;
  return e >= n ? v.toFixed(0) : trim(v.toFixed(n - 1 - e));
}
function text(f, v) { var s = decimal(v, 7); return +s === v ? s : decimal(v, 1 + Math.ceil((f[2] + 1) * Math.log10(2))); }

// describe says what becomes of v in a format: the number, a note, error, relative error and neighbors.
function describe(f, v, bits) {
  var x = decode(f, bits), error = x - v, m = bits % two(f[2]), note = '', ulp = error / unit(f, x), relative = Math.abs(error / v);
  if (v !== v) note = 'not a number';
  else if (x !== x) note = 'NaN: there is no infinity, the largest is ' + decimal(largest(f), 6);
  else if (!isFinite(x)) note = isFinite(v) ? 'overflows to infinity: the largest is ' + decimal(largest(f), 6) : 'infinite';
  else if (!x && v) note = 'flushed to zero: the smallest is ' + decimal(decode(f, 1), 3);
  else if (x && Math.abs(x) < two(1 - f[3])) note = 'subnormal: ' + m.toString(2).length + ' of ' + (f[2] + 1) + ' digits left';
  var off = isFinite(v) && isFinite(x);
  return [text(f, x), note, !off ? '–' : error ? (error > 0 ? '+' : '') + decimal(+ulp.toPrecision(3), 3) + ' ulp' : '0',
    !off ? '–' : !error ? '0' : relative < 1e-4 ? decimal(relative, 2) : decimal(100 * relative, 2) + '%',
    x !== x ? ['–'] : [text(f, next(f, x, false)), text(f, next(f, x, true))]];
}

var says = document.createElement('div');
says.setAttribute('aria-live', 'polite');
says.style.cssText = 'margin:4px 0;opacity:0.8';
says.className = 'halftone-says';
says.textContent = 'Click a bit to change it; arrow keys move, Enter changes.';
table.parentNode.parentNode.insertBefore(says, table.parentNode);

table.querySelectorAll('tbody').forEach((body, i) => {
  var asked = Number(String(data.values[i]).replace('Inf', 'Infinity'));
  var rows = Array.from(body.rows).filter((r) => r.querySelector('samp'));
  var grid = rows.map((row, k) => {
    var f = formats[k], n = 0, cells = [];
    row.querySelectorAll('samp').forEach((field, part) => {
      var digits = field.textContent;
      field.textContent = '';
      digits.split('').forEach((d) => {
        var b = document.createElement('span'), place = f[1] + f[2] - n++;
        b.className = 'halftone-bit';
        b.textContent = d;
        b.style.cssText = 'display:inline-block;cursor:pointer';
        b.tabIndex = k + n === 1 ? 0 : -1;
        b.setAttribute('role', 'switch');
        b.setAttribute('aria-checked', d === '1');
        b.setAttribute('aria-label', f[0] + ' ' + ['sign', 'exponent bit ' + (place - f[2]), 'fraction bit ' + (place + 1)][part]);
        b.onclick = () => flip(k, place);
        b.onkeydown = (e) => move(e, k, cells.indexOf(b));
        field.appendChild(b);
        cells.push(b);
      });
    });
    return cells;
  });

  // flip changes one bit of a format: the value is then that format's, and the other rows follow.
  function flip(k, place) {
    var bits = parseInt(grid[k].map((b) => b.textContent).join(''), 2), one = two(place);
    bits += Math.floor(bits / one) % 2 ? -one : one;
    show(decode(formats[k], bits), k, bits);
  }

  function show(v, own, given) {
    rows.forEach((row, k) => {
      var f = formats[k], bits = k === own ? given : encode(f, v), d = describe(f, v, bits), c = row.cells;
      var all = ('0'.repeat(32) + bits.toString(2)).slice(-grid[k].length);
      grid[k].forEach((b, n) => { b.textContent = all[n]; b.setAttribute('aria-checked', all[n] === '1'); });
      c[1].firstChild.textContent = d[0];
      c[1].lastChild.textContent = d[1];
      c[5].textContent = d[2];
      c[6].textContent = d[3];
      c[7].innerText = d[4].join('\n');
      if (k === own) says.textContent = f[0] + ' is now ' + d[0] + (d[1] ? ', ' + d[1] : '') + '.';
    });
    undo.hidden = Object.is(v, asked);
  }

  function move(e, k, n) {
    var b = grid[k][n], to = { ArrowLeft: [k, n - 1], ArrowRight: [k, n + 1], ArrowUp: [k - 1, n], ArrowDown: [k + 1, n] }[e.key];
    if (e.key === 'Enter' || e.key === ' ') b.click();
    else if (!to) return;
    e.preventDefault();
    e.stopPropagation();
    var row = to && grid[to[0]], go = row && row[Math.min(to[1], row.length - 1)];
    if (!go) return;
    b.tabIndex = -1;
    go.tabIndex = 0;
    go.focus();
  }

  var undo = document.createElement('button');
  undo.textContent = 'back to ' + decimal(asked, 9);
  undo.style.cssText = 'cursor:pointer;margin:4px 8px 4px 0;font:inherit';
  undo.hidden = true;
  undo.onclick = () => { show(asked); says.textContent = undo.textContent; };
  table.parentNode.parentNode.insertBefore(undo, table.parentNode.nextSibling);
});
