// Charts by ECharts, with zoom and tooltips. The library is the page's own, or comes from the page's own server.
import { sup } from '../format';
import { copiers, element, figure, styled } from './page';

type Any = any;

/** The figure's kind and ECharts' option for it. */
declare const data: { kind: string; option: Any };

const page = window as unknown as { echarts?: Any; __halftoneECharts?: Promise<Any> };

/** Gives ECharts; it is asked for once per page. */
function library(): Promise<Any> {
  if (page.echarts?.init) return Promise.resolve(page.echarts);
  return (page.__halftoneECharts ??= new Promise((resolve, reject) => {
    const config = document.getElementById('jupyter-config-data');
    if (!config) return reject();
    const c = JSON.parse(config.textContent!), base = c.fullLabextensionsUrl || `${(c.baseUrl || '/').replace(/\/?$/, '/')}lab/extensions`;
    const url = new URL(`${base}/@halftone/figures/static/echarts.min.js`, location.href), s = element('script');
    if (url.origin !== location.origin) return reject();
    s.src = url.href;
    s.onload = () => (page.echarts ? resolve(page.echarts) : reject());
    s.onerror = reject;
    document.head.append(s);
  }));
}

const power = (v: number, base: number): string => base + sup(Math.round(v * 10) / 10);

/** What follows the page's theme by itself: text has the color of the text around it, lines are gray on any ground. */
function themed(root: HTMLElement, height: number): Any {
  const color = 'currentColor', line = { lineStyle: { color: 'rgba(128,128,128,0.4)' } }, o = data.option;
  const axis = { nameTextStyle: { color, align: 'left' }, axisLabel: { color }, axisLine: line, axisTick: line, splitLine: line }, quiet = { silent: true, label: { color } };
  return {
    series: o.series.map((s: Any) => ({ label: { color }, markArea: s.markArea && quiet, markLine: s.markLine && quiet })),
    textStyle: { fontFamily: getComputedStyle(root).fontFamily }, legend: { textStyle: { color } },
    yAxis: o.yAxis.map(() => axis),
    xAxis: o.xAxis.map(() => ({ ...axis, nameTextStyle: { color }, splitLine: { show: false } })),
    dataZoom: [{ height: 18, top: height - 28, brushSelect: false, handleSize: '130%', textStyle: { color }, borderColor: line.lineStyle.color }],
  };
}

function draw(root: HTMLElement, box: HTMLElement, echarts: Any): void {
  const o = data.option, scale = data.kind === 'scale_history', height = o.xAxis[1] ? 450 : 340; // taller with a second plot below the first
  const host = element('div', `width:100%;max-width:960px;height:${height}px`);
  const instance = echarts.init(host, null, { renderer: 'svg', width: Math.min(box.clientWidth || 720, 960), height });
  // ECharts tells the tooltip the nearest point, however far: where the mouse is, it does not.
  let mouse = 0;
  host.addEventListener('mousemove', e => { mouse = e.clientX - host.getBoundingClientRect().left; }, true);
  o.tooltip.confine = true;
  o.tooltip.formatter = (at: Any[]): HTMLElement => {
    const tip = element('div'), step = scale ? Math.round(instance.convertFromPixel({ xAxisIndex: 0 }, mouse)) : at[0].value[0];
    at.forEach((p, i) => {
      const skip = p.seriesType === 'scatter';
      let v = p.value[1];
      if (skip && p.value[0] !== step) return;
      // The scale is stored where it changes and holds until the next point.
      if (scale && !skip) for (const d of o.series[p.seriesIndex].data) if (d.value[0] <= step) v = d.value[1];
      if (!skip && p.value.length > 2) return tip.append(element('div', 'color:#666', `${p.seriesName} differs by ${p.value[2]}`));
      if (!i) tip.append(element('div', '', `step ${step}`));
      const words = skip ? `× ${p.value[2]}` : `${p.seriesName} ${scale && !p.seriesIndex ? `${power(v, 2)} = ${2 ** v}` : v}`;
      tip.append(element('div', `font-weight:bold;color:${skip ? '#b04a00' : '#222'}`, words));
    });
    return tip;
  };
  o.dataZoom[1].zoomOnMouseWheel = o.dataZoom[1].moveOnMouseWheel = 'ctrl';
  if (scale) {
    o.xAxis[0].axisPointer = { snap: false };
    o.yAxis[0].axisLabel = { formatter: (v: number) => power(v, 2) };
    if (o.series[1]) {
      o.series[1].z = 5;
      o.series[1].label.position = [12, -9];
    }
  }
  if (o.yAxis[1]) {
    if (!scale) o.yAxis[1].axisLabel = { formatter: (v: number) => power(v, 10) };
    o.xAxis[0].axisLabel = { show: false };
  }
  instance.setOption(o);
  instance.setOption(themed(root, height));
  box.replaceChildren(host);
  if (window.ResizeObserver) new ResizeObserver(() => host.isConnected && host.clientWidth && instance.resize({ width: host.clientWidth })).observe(host);
}

const root = figure();
if (root) {
  copiers(root);
  styled();
  const box = root.querySelector<HTMLElement>('.halftone-chart');
  if (box) library().then(echarts => draw(root, box, echarts)).catch(() => { /* the picture stays */ });
}
