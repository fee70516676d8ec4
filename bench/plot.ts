/** A growth curve as an SVG file with one element per line, so that a changed figure is a changed line. */
import { LineChart } from 'echarts/charts';
import { GridComponent, LegendComponent, TitleComponent } from 'echarts/components';
import { init, use } from 'echarts/core';
import { SVGRenderer } from 'echarts/renderers';

export interface Series {
  readonly name: string;
  /** In any order; x above 0. */
  readonly points: readonly { readonly x: number; readonly y: number }[];
}

export interface Plot {
  readonly title: string;
  /** The label of x; its axis is logarithmic. */
  readonly x: string;
  /** The label of y, with its unit; its axis begins at 0. */
  readonly y: string;
  readonly series: readonly Series[];
}

use([LineChart, GridComponent, LegendComponent, TitleComponent, SVGRenderer]);

/** Also distinguishable without colour, by their marks (Okabe and Ito's palette). */
const COLOURS = ['#0072b2', '#d55e00', '#009e73'];
const MARKS = ['circle', 'rect', 'triangle'] as const;

/** Draws the curve. The same figures give the same file. */
export function draw({ title, x, y, series }: Plot): string {
  const measured = [...new Set(series.flatMap(({ points }) => points.map((point) => point.x)))];
  const chart = init(null, null, { renderer: 'svg', ssr: true, width: 640, height: 360 });
  chart.setOption({
    animation: false,
    backgroundColor: '#fff',
    color: COLOURS,
    textStyle: { fontFamily: 'sans-serif' },
    title: { text: title, subtext: y, textStyle: { fontSize: 15 } },
    legend: { bottom: 0, left: 0, selectedMode: false },
    grid: { left: 48, right: 24, top: 64, bottom: 72 },
    xAxis: {
      type: 'log',
      name: x,
      nameLocation: 'middle',
      nameGap: 28,
      min: 'dataMin',
      max: 'dataMax',
      axisTick: { customValues: measured },
      axisLabel: { customValues: measured, formatter: (value: number) => value.toLocaleString('en') },
      splitLine: { show: false },
    },
    yAxis: { type: 'value', min: 0 },
    series: series.map(({ name, points }, index) => ({
      type: 'line',
      name,
      silent: true,
      symbol: MARKS[index % MARKS.length] ?? 'circle',
      symbolSize: 8,
      data: points.toSorted((a, b) => a.x - b.x).map((point) => [point.x, point.y]),
    })),
  });
  const svg = chart.renderToSVGString();
  chart.dispose();
  // Its ids and classes contain numbers that continue from one chart to the next.
  const names = [...new Set(svg.match(/\bzr\d+-[\w-]+/g))];
  return `${svg.replace(/\bzr\d+-[\w-]+/g, (name) => `id${names.indexOf(name)}`).trimEnd()}\n`;
}
