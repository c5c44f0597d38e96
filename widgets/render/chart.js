// Charts by ECharts, with zoom and tooltips: data.kind and data.option.
// height of a chart in pixels: taller with a second plot below the first
var height = data.option.xAxis[1] ? 450 : 340;
try { chart(); } catch (e) {}

// library gives ECharts: the page's, or ours from the page's own server. It is asked for once per page.
function library() {
  if (window.echarts && window.echarts.init) return Promise.resolve(window.echarts);
  var key = '__halftoneECharts';
  return window[key] || (window[key] = new Promise(function (resolve, reject) {
    var config = document.getElementById('jupyter-config-data');
    if (!config) return reject();
    var c = JSON.parse(config.textContent);
    var base = c.fullLabextensionsUrl || (c.baseUrl || '/').replace(/\/?$/, '/') + 'lab/extensions';
    var url = new URL(base + '/@halftone/figures/static/echarts.min.js', location.href);
    if (url.origin !== location.origin) return reject();
    var s = element('script');
    s.src = url.href;
    s.onload = function () { window.echarts ? resolve(window.echarts) : reject(); };
    s.onerror = reject;
    document.head.appendChild(s);
  }));
}

// power writes 2, or another base, with a raised exponent.
function power(v, base) {
  return (base > 2 ? base : '2') + String(Math.round(v * 10) / 10).replace(/[-0-9]/g, function (d) { return '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'['-0123456789'.indexOf(d)]; });
}

// themed is what follows the page's theme by itself: text has the color of the text around it, lines are gray on any ground.
function themed() {
  var text = 'currentColor', line = 'rgba(128,128,128,0.4)';
  var axis = { nameTextStyle: { color: text, align: 'left' }, axisLabel: { color: text }, axisLine: { lineStyle: { color: line } }, axisTick: { lineStyle: { color: line } }, splitLine: { lineStyle: { color: line } } };
  return {
    series: data.option.series.map(function (s) { return { label: { color: text }, markArea: s.markArea && { silent: true, label: { color: text } }, markLine: s.markLine && { silent: true, label: { color: text } } }; }),
    textStyle: { fontFamily: getComputedStyle(root).fontFamily }, legend: { textStyle: { color: text } },
    yAxis: data.option.yAxis.map(function () { return axis; }),
    xAxis: data.option.xAxis.map(function () { return Object.assign({}, axis, { nameTextStyle: { color: text }, splitLine: { show: false } }); }),
    dataZoom: [{ height: 18, top: height - 28, brushSelect: false, handleSize: '130%', textStyle: { color: text }, borderColor: line }]
  };
}

function chart() {
  var box = root.querySelector('.halftone-chart');
  if (box) library().then(function (echarts) {
    var o = data.option, scale = data.kind === 'scale_history';
    var host = element('div', 'width:100%;max-width:960px;height:' + height + 'px');
    var instance = echarts.init(host, null, { renderer: 'svg', width: Math.min(box.clientWidth || 720, 960), height: height });
    // ECharts tells the tooltip the nearest point, however far: where the mouse is, it does not.
    var mouse = 0;
    host.addEventListener('mousemove', function (e) { mouse = e.clientX - host.getBoundingClientRect().left; }, true);
    o.tooltip.confine = true;
    o.tooltip.formatter = function (at) {
      var tip = element('div'), step = scale ? Math.round(instance.convertFromPixel({ xAxisIndex: 0 }, mouse)) : at[0].value[0];
      at.forEach(function (p, i) {
        var skip = p.seriesType === 'scatter', v = p.value[1];
        if (skip && p.value[0] !== step) return;
        // The scale is stored where it changes and holds until the next point.
        if (scale && !skip) o.series[p.seriesIndex].data.forEach(function (d) { if (d.value[0] <= step) v = d.value[1]; });
        if (!skip && p.value.length > 2) return tip.appendChild(element('div', 'color:#666', p.seriesName + ' differs by ' + p.value[2]));
        if (!i) tip.appendChild(element('div', '', 'step ' + step));
        var text = skip ? '× ' + p.value[2] : p.seriesName + ' ' + (scale && !p.seriesIndex ? power(v) + ' = ' + Math.pow(2, v) : v);
        tip.appendChild(element('div', 'font-weight:bold;color:' + (skip ? '#b04a00' : '#222'), text));
      });
      return tip;
    };
    o.dataZoom[1].zoomOnMouseWheel = o.dataZoom[1].moveOnMouseWheel = 'ctrl';
    if (scale) {
      o.xAxis[0].axisPointer = { snap: false };
      o.yAxis[0].axisLabel = { formatter: function (v) { return power(v); } };
      if (o.series[1]) o.series[1].z = 5, o.series[1].label.position = [12, -9];
    }
    if (o.yAxis[1]) {
      if (!scale) o.yAxis[1].axisLabel = { formatter: function (v) { return power(v, 10); } };
      o.xAxis[0].axisLabel = { show: false };
    }
    instance.setOption(o);
    instance.setOption(themed());
    box.replaceChildren(host);
    if (window.ResizeObserver) new ResizeObserver(function () {
      if (host.isConnected && host.clientWidth) instance.resize({ width: host.clientWidth });
    }).observe(host);
  }).catch(function () {});
}
