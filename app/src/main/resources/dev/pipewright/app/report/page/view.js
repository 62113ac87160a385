// What is shown: the data, which part of it is in view, and the colours.
const data = JSON.parse(document.getElementById("data").textContent);
const chart = document.getElementById("chart");
const view = { from: 0, to: data.parts };
const painters = [];
let queued = false;
let colours = {};

const rows = data.runs.flatMap(run => run.lanes); // a lane of a rank, or of a link
const strips = data.runs.flatMap(run => run.memory);
const rankCount = Math.max(...data.runs.map(run => run.memory.length));

/** Four numbers for each slice become columns; times count from the start of the run. */
function columns(run, lane) {
  const packed = lane.slices, count = packed.length / 4;
  lane.run = run;
  lane.kind = new Uint8Array(count);
  lane.stage = new Int32Array(count);
  lane.microBatch = new Int32Array(count);
  lane.start = new Float64Array(count);
  lane.end = new Float64Array(count);
  lane.foot = new Uint8Array(count); // whether it is below the others
  lane.part = new Uint8Array(count); // of the row's height
  lane.parts = new Uint8Array(count);
  let longest = 0;
  for (let i = 0, at = 0; i < count; i++) {
    const code = packed[4 * i];
    lane.kind[i] = code & 15;
    lane.foot[i] = code >> 4 & 1;
    lane.part[i] = code >> 5 & 7;
    lane.parts[i] = 1 + (code >> 8 & 7);
    lane.stage[i] = lane.stages[code >> 11];
    lane.microBatch[i] = packed[4 * i + 1];
    lane.start[i] = at + packed[4 * i + 2];
    lane.end[i] = at = lane.start[i] + packed[4 * i + 3];
    longest = Math.max(longest, packed[4 * i + 3]);
  }
  lane.longest = longest; // how far before the view a visible slice may begin
  delete lane.slices;
}

function exchanges(lane, i) { return data.kinds[lane.kind[i]].exchanges; }

/** Two numbers for each step become columns. */
function steps(run, memory) {
  const packed = memory.steps, count = packed.length / 2;
  memory.run = run;
  memory.start = new Float64Array(count);
  memory.held = new Float64Array(count);
  memory.peak = memory.fixed;
  for (let i = 0, at = 0; i < count; i++) {
    memory.start[i] = at += packed[2 * i];
    memory.held[i] = packed[2 * i + 1];
    memory.peak = Math.max(memory.peak, memory.held[i]);
  }
  delete memory.steps;
}

for (const run of data.runs) {
  run.lanes.forEach(lane => columns(run, lane));
  run.memory.forEach(memory => steps(run, memory));
}

/** The first index whose value is above `limit`, in an array that rises. */
function firstAbove(values, limit) {
  let low = 0, high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] > limit) high = middle; else low = middle + 1;
  }
  return low;
}

/** Brings a part of the time into view, as much of it as exists, and no less than a few nanoseconds of a step. */
function show(from, to) {
  const span = Math.min(data.parts, Math.max(data.parts / 1e6, to - from));
  view.from = Math.max(0, Math.min(data.parts - span, from));
  view.to = view.from + span;
  redraw();
}

function zoom(factor, around = (view.from + view.to) / 2) {
  show(around - (around - view.from) * factor, around + (view.to - around) * factor);
}

function move(share) {
  const by = share * (view.to - view.from);
  show(view.from + by, view.to + by);
}

function isWhole() {
  return view.to - view.from >= data.parts;
}

function redraw() {
  if (queued) return;
  queued = true;
  requestAnimationFrame(() => {
    queued = false;
    for (const paint of painters) paint();
  });
}

function readColours() {
  const style = getComputedStyle(document.documentElement);
  const read = name => style.getPropertyValue(name).trim();
  colours = {
    kinds: data.kinds.map(kind => read("--" + kind.style)),
    idle: read("--idle"), panel: read("--panel"), ink: read("--ink"), soft: read("--soft"),
    page: read("--page"), grid: read("--grid"), held: read("--held"), fixed: read("--fixed"), limit: read("--limit"),
  };
  redraw();
}

/** A colour with a share of white mixed in. */
function paler(colour, white) {
  if (white === 0) return colour;
  const part = at => Math.round(parseInt(colour.slice(at, at + 2), 16) * (1 - white) + 255 * white).toString(16).padStart(2, "0");
  return "#" + part(1) + part(3) + part(5);
}

/** Black or white, whichever can be read better on a colour: contrast as WCAG 2.2 defines it. */
function readable(colour) {
  const linear = [1, 3, 5].map(at => parseInt(colour.slice(at, at + 2), 16) / 255).map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
  const luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  return (luminance + 0.05) / 0.05 > 1.05 / (luminance + 0.05) ? "#000000" : "#ffffff";
}

const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";

// Pixels, measured once per change of the page's width, for asking is slow: the chart, its labels, its plot.
let chartWidth = 0, gutter = 0, plotWidth = 0;

function measure() {
  chartWidth = chart.clientWidth;
  gutter = chartWidth < 600 ? 62 : 128;
  plotWidth = Math.max(40, chartWidth - gutter - 1);
  redraw();
}

/** Where a time is, in pixels from the chart's left. */
function xOf(time) { return gutter + (time - view.from) / (view.to - view.from) * plotWidth; }

function timeAt(x) { return view.from + (x - gutter) / plotWidth * (view.to - view.from); }

/** A canvas of so many pixels in height, sharp on every screen, cleared. */
function prepare(canvas, height) {
  const ratio = window.devicePixelRatio || 1, width = chartWidth;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.height = height + "px";
  }
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  pen.textBaseline = "alphabetic";
  return pen;
}

/** Up to six digits after the point. */
function plain(value) { return String(Number(value.toFixed(6))); }

/** Three significant digits and a unit; a number where times are multiples of an op's. */
function duration(seconds) {
  if (!data.seconds) return plain(seconds);
  const size = Math.abs(seconds);
  if (size === 0) return "0 s";
  const [scale, unit] = size >= 1 ? [1, "s"] : size >= 1e-3 ? [1e3, "ms"] : size >= 1e-6 ? [1e6, "µs"] : [1e9, "ns"];
  const value = seconds * scale;
  return value.toFixed(Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2) + " " + unit;
}

/** What a rank holds, in bytes or activations. */
function amount(value, whole = value) { return data.bytes ? bytes(value, whole) : plain(Math.round(value * 100) / 100); }

const BINARY = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

function bytes(value, whole = value) {
  let power = 0;
  for (let size = Math.abs(whole); size >= 1024 && power < BINARY.length - 1; size /= 1024) power++;
  return (value / 1024 ** power).toFixed(power ? 1 : 0) + " " + BINARY[power];
}

/** Round times in view, about one for every `pixels`. */
function ticks(pixels) {
  const perPart = data.step / data.parts, span = (view.to - view.from) * perPart;
  const least = span * pixels / plotWidth;
  if (!(least > 0)) return { times: [0], label: () => duration(0) };
  const power = 10 ** Math.floor(Math.log10(least));
  const apart = power * [1, 2, 5, 10].find(step => step * power >= least * 0.9999);
  const [scale, unit] = !data.seconds ? [1, ""] : data.step >= 1 ? [1, "s"] : data.step >= 1e-3 ? [1e3, "ms"] : data.step >= 1e-6 ? [1e6, "µs"] : [1e9, "ns"];
  const digits = Math.max(0, -Math.floor(Math.log10(apart * scale) + 1e-9));
  const times = [];
  for (let i = Math.ceil(view.from * perPart / apart - 1e-9); i * apart <= view.to * perPart * (1 + 1e-12); i++) times.push(i * apart / perPart);
  return { times, label: time => ((time === 0 ? "0" : (time * perPart * scale).toFixed(digits)) + " " + unit).trimEnd() };
}

/** A moment of the run, finer than the axis. */
function moment(time) { return data.seconds ? ticks(1).label(time) : plain(time * data.step / data.parts); }

/** Grid lines from `top` to `bottom` and their times upon `baseline`. */
function axis(pen, top, bottom, baseline) {
  const { times, label } = ticks(chartWidth < 600 ? 70 : 100);
  const right = chartWidth - 1;
  pen.fillStyle = colours.grid;
  for (const time of times) pen.fillRect(Math.round(xOf(time)), top, 1, bottom - top);
  pen.fillStyle = colours.soft;
  pen.font = "11px " + FONT;
  pen.textAlign = "center";
  for (const time of times) {
    const words = label(time), half = pen.measureText(words).width / 2;
    pen.fillText(words, Math.min(right - half, Math.max(half, xOf(time))), baseline);
  }
}
