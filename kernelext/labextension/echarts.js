// The parts of Apache ECharts that Halftone's figures use, as the global `echarts`, as its own builds do.
import * as core from 'echarts/core';
import { BarChart, LineChart, ScatterChart } from 'echarts/charts';
import {
  AriaComponent,
  DataZoomComponent,
 
  GridComponent,
  LegendComponent,
  MarkAreaComponent,
  MarkLineComponent,
  MarkPointComponent,
  TooltipComponent,
} from 'echarts/components';
import { LabelLayout } from 'echarts/features';
import { SVGRenderer } from 'echarts/renderers';

core.use([
  BarChart, LineChart, ScatterChart,
  AriaComponent, DataZoomComponent, GridComponent, LegendComponent,
  MarkAreaComponent, MarkLineComponent, MarkPointComponent, TooltipComponent,
  LabelLayout, SVGRenderer,
]);

// Never shadow an ECharts that the page already has.
if (!globalThis.echarts) globalThis.echarts = core;
