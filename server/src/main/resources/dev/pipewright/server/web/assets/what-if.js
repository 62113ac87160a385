// Each move of a slider asks for the best plan there; an answer that is late for its move is dropped.
import { axis, colour, draw, tooltip } from '/assets/charts.js';
import { bytes } from '/assets/units.js';

const form = document.getElementById('what-if');
const moved = document.getElementById('moved');
const back = document.getElementById('back');
const ranges = [...form.querySelectorAll('input[type=range]')];
form.querySelector('.search-again').hidden = true;

function peaks() {
  const data = document.getElementById('sentence')?.dataset;
  return { bytes: JSON.parse(data?.peaks ?? '[]'), capacity: Number(data?.capacity ?? 0) };
}
const option = () => {
  const now = peaks();
  return {
    grid: { left: 8, right: 28, top: 20, bottom: 34, containLabel: true },
    xAxis: { ...axis('stage', String, { nameGap: 28 }), type: 'category', data: now.bytes.map((_, stage) => stage), splitLine: { show: false } },
    yAxis: axis('', bytes, { scale: false, max: now.capacity || null }),
    tooltip: tooltip(item => `stage ${item.name}: ${bytes(item.value)}\nof ${bytes(now.capacity)}`),
    series: [{ type: 'bar', data: now.bytes, itemStyle: { color: colour('forward') }, barMaxWidth: 40 }],
  };
};
const chart = draw(document.getElementById('peaks'), option);

let asked;
async function ask() {
  asked?.abort();
  asked = new AbortController();
  const fields = new URLSearchParams(new FormData(form));
  try {
    const response = await fetch(`/what-if/moved?${fields}`, { signal: asked.signal });
    moved.innerHTML = await response.text();
    history.replaceState(null, '', `/what-if?${fields}`);
    chart.setOption(option());
    document.documentElement.dataset.moves = Number(document.documentElement.dataset.moves ?? 0) + 1;
  } catch (e) {
    if (e.name !== 'AbortError') {
      moved.textContent = 'The server does not answer; is it still running?';
    }
  }
}
function show(range) {
  const word = range.dataset.words.split('|')[range.value];
  range.previousElementSibling.value = word;
  range.setAttribute('aria-valuetext', word);
  back.hidden = ranges.every(each => each.value === each.dataset.usual);
}
for (const range of ranges) {
  show(range);
  range.addEventListener('input', () => {
    show(range);
    ask();
  });
}
back.addEventListener('click', () => {
  for (const range of ranges) {
    range.value = range.dataset.usual;
    show(range);
  }
  ranges[0].focus();
  ask();
});
document.documentElement.dataset.drawn = 'true';
