// The treemap of memory and the picture of step time against memory.
import { axis, colour, draw, tooltip } from '/assets/charts.js';
import { bytes, seconds } from '/assets/units.js';

// Colours by category: of the area and of what is written on it.
const categories = {
  parameters: ['forward', 'on-forward'], gradients: ['backward', 'on-backward'], optimizer: ['backward-weight', 'on-backward'],
  activations: ['held', 'on-backward'], workspace: ['fixed', 'on-backward'], buffers: ['all-gather', 'on-backward'],
};

function treemap(element, stages) {
  const data = () => stages.map((stage, number) => ({
    name: `stage ${number}`,
    children: Object.entries(categories)
      .map(([name, [area, ink]]) => ({
        name, value: stage.memory[`${name}_bytes`], itemStyle: { color: colour(area) }, label: { color: colour(ink) },
      }))
      .filter(part => part.value > 0),
  }));
  draw(element, () => ({
    tooltip: tooltip(item => item.treePathInfo.length > 2
      ? `${item.treePathInfo[1].name}\n${item.name}: ${bytes(item.value)}`
      : `${item.name}: ${bytes(item.value)}`),
    series: [{
      type: 'treemap', data: data(), roam: false, nodeClick: false, breadcrumb: { show: false },
      left: 0, right: 0, top: 0, bottom: 0, sort: false,
      label: { formatter: item => `${item.name}\n${bytes(item.value)}`, fontSize: 12, lineHeight: 16, overflow: 'truncate' },
      upperLabel: { show: true, height: 20, formatter: item => `${item.name}  ${bytes(item.value)}`, color: colour('ink'), backgroundColor: colour('panel') },
      itemStyle: { borderColor: colour('page'), gapWidth: 1 },
      levels: [{ itemStyle: { gapWidth: 3, borderWidth: 0 }, upperLabel: { show: false } }, { itemStyle: { gapWidth: 1, borderWidth: 1, borderColor: colour('panel') } }],
    }],
  }));
}

function scatter(element, plans, front) {
  const points = plans
    .map((plan, number) => ({ number: number + 1, step: plan.step_s ?? plan.simulated_s ?? plan.estimate_s, peak: plan.peak_bytes, kind: plan.kind }))
    .filter(point => point.step > 0 && point.peak > 0);
  draw(element, () => ({
    grid: { left: 8, right: 28, top: 40, bottom: 34, containLabel: true },
    xAxis: axis('step time', seconds, { nameGap: 30 }),
    yAxis: axis('peak memory of a device', bytes, { nameLocation: 'end', nameGap: 16, nameTextStyle: { color: colour('soft'), align: 'left' } }),
    tooltip: tooltip(item => {
      const point = points[item.dataIndex];
      return `plan ${point.number}: ${point.kind}\n${seconds(point.step)}, ${bytes(point.peak)}`;
    }),
    series: [{
      type: front ? 'line' : 'scatter', step: front ? 'end' : false, symbolSize: 12, symbol: 'circle',
      data: points.map(point => [point.step, point.peak]),
      itemStyle: { color: colour('forward') }, lineStyle: { color: colour('forward') },
      label: { show: true, formatter: item => points[item.dataIndex].number, position: 'top', color: colour('ink') }, labelLayout: { hideOverlap: true },
    }],
  }));
}

const memory = document.getElementById('treemap');
const pareto = document.getElementById('scatter');
const id = (memory ?? pareto)?.dataset.id;
if (id) {
  const answer = await (await fetch(`/study/${id}/answer.json`)).json();
  if (memory) treemap(memory, answer.plan.stages);
  if (pareto) scatter(pareto, answer.front ?? answer.candidates, Boolean(answer.front));
  document.documentElement.dataset.drawn = 'true';
}
