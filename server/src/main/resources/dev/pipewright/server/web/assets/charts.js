// What all charts share: the page's colours, which follow light and dark, and its width.
import * as echarts from '/assets/echarts.esm.min.js';

const dark = matchMedia('(prefers-color-scheme: dark)');

/** The value of a colour of the style sheet. */
export const colour = name => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

/** Draws the chart that `option` describes, and anew when colours change. */
export function draw(element, option) {
  const chart = echarts.init(element, null, { renderer: 'canvas' });
  const paint = () => chart.setOption({
    animation: false,
    textStyle: { color: colour('ink'), fontFamily: 'system-ui, sans-serif' },
    ...option(),
  }, true);
  paint();
  dark.addEventListener('change', paint);
  new ResizeObserver(() => chart.resize()).observe(element);
  return chart;
}

/** An axis of amounts, with its name and lines in the page's colours. */
export function axis(name, format, more = {}) {
  return {
    type: 'value', name, nameLocation: 'middle', scale: true,
    nameTextStyle: { color: colour('soft') },
    axisLabel: { color: colour('soft'), formatter: format, hideOverlap: true },
    axisLine: { show: true, lineStyle: { color: colour('rule') } },
    splitLine: { lineStyle: { color: colour('grid') } },
    ...more,
  };
}

// In the canvas: as an element it would need styles within the page, which its policy forbids.
export const tooltip = formatter => ({
  renderMode: 'richText', confine: true, formatter,
  backgroundColor: colour('page'), borderColor: colour('rule'), textStyle: { color: colour('ink'), fontSize: 13 },
});
