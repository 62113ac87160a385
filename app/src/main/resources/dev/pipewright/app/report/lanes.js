// The lanes: one for each stage, thin ones for its links.
const AXIS = 24;
const laneCanvas = document.getElementById("lanes");
const stageCount = data.lanes.filter(lane => lane.stage !== undefined).length;
const size = stageCount <= 8 ? { lane: 30, link: 8, gap: 5 } : stageCount <= 24 ? { lane: 22, link: 5, gap: 3 } : { lane: 15, link: 3, gap: 2 };
let lanesHeight = AXIS;
for (const lane of data.lanes) {
  const isStage = lane.stage !== undefined;
  lane.top = lanesHeight + (isStage ? size.gap : 0);
  lane.height = isStage ? size.lane : size.link - 1;
  lanesHeight = lane.top + (isStage ? size.lane : size.link);
}

painters.push(() => {
  const pen = prepare(laneCanvas, lanesHeight + 2);
  axis(pen, AXIS - 6, lanesHeight, 12);
  for (const lane of data.lanes) {
    pen.fillStyle = colours.idle;
    pen.fillRect(gutter, lane.top, plotWidth, lane.height);
    const from = firstAbove(lane.start, view.from - lane.longest - 1);
    const to = firstAbove(lane.start, view.to);
    pen.save();
    pen.beginPath();
    pen.rect(gutter, lane.top, plotWidth, lane.height);
    pen.clip();
    if ((to - from) * 3 > plotWidth) paintShares(pen, lane, from, to);
    else paintSlices(pen, lane, from, to);
    pen.restore();
    if (lane.stage !== undefined) paintName(pen, lane);
  }
});

function paintName(pen, lane) {
  const baseline = lane.top + lane.height / 2 + 4;
  pen.textAlign = "left";
  pen.fillStyle = colours.ink;
  pen.font = "600 12px " + FONT;
  pen.fillText("stage " + lane.stage, 0, baseline);
  if (gutter < 100) return;
  pen.textAlign = "right";
  pen.fillStyle = colours.soft;
  pen.font = "11px " + FONT;
  const words = lane.devices.length > 9 ? lane.devices.slice(0, 8) + "…" : lane.devices;
  pen.fillText(words, gutter - 8, baseline);
}

/** Slices that a pass overlaps take the lower edge of the lane. */
function edge(lane, i) {
  const beside = lane.kind[i] > BACKWARD && i > 0 && lane.start[i] < lane.end[i - 1] - 1;
  return beside ? 0.35 : 1;
}

function paintSlices(pen, lane, from, to) {
  const perPart = plotWidth / (view.to - view.from), left = gutter - view.from * perPart;
  for (let kind = 0; kind < PAINTS.length; kind++) {
    pen.fillStyle = colours.kinds[kind];
    for (let i = from; i < to; i++) {
      if (lane.kind[i] !== kind) continue;
      const x = left + lane.start[i] * perPart, width = (lane.end[i] - lane.start[i]) * perPart;
      const height = lane.height * edge(lane, i);
      pen.fillRect(x, lane.top + lane.height - height, width > 5 ? width - 1 : Math.max(0.6, width * 0.9), height);
    }
  }
  if (lane.height >= 14) paintNumbers(pen, lane, from, to, left, perPart);
}

function paintNumbers(pen, lane, from, to, left, perPart) {
  pen.font = "11px " + FONT;
  pen.textAlign = "center";
  for (let i = from; i < to; i++) {
    if (lane.kind[i] > BACKWARD || lane.microBatch[i] < 0) continue;
    const start = Math.max(view.from, lane.start[i]), end = Math.min(view.to, lane.end[i]);
    const words = String(lane.microBatch[i]);
    if ((end - start) * perPart < words.length * 6.8 + 4) continue;
    pen.fillStyle = lane.kind[i] === FORWARD ? colours.onForward : colours.onBackward;
    pen.fillText(words, left + (start + end) / 2 * perPart, lane.top + lane.height / 2 + 4);
  }
}

/** Too many slices to see: of every two pixels, how much each kind takes, stacked. */
function paintShares(pen, lane, from, to) {
  const bins = Math.ceil(plotWidth / 2), perPart = plotWidth / (view.to - view.from) / 2;
  const filled = new Float32Array(bins);
  let floor = new Float32Array(bins);
  for (let kind = 0; kind < PAINTS.length; kind++) {
    let found = false;
    for (let i = from; i < to; i++) {
      if (lane.kind[i] !== kind) continue;
      found = true;
      const start = Math.max(0, (lane.start[i] - view.from) * perPart), end = Math.min(bins, (lane.end[i] - view.from) * perPart);
      for (let bin = Math.floor(start); bin < end; bin++) filled[bin] += Math.min(end, bin + 1) - Math.max(start, bin);
    }
    if (!found) continue;
    const ceiling = filled.map(share => Math.round(Math.min(1, share) * lane.height));
    pen.fillStyle = colours.kinds[kind];
    for (let bin = 0; bin < bins;) {
      let next = bin + 1;
      while (next < bins && ceiling[next] === ceiling[bin] && floor[next] === floor[bin]) next++;
      if (ceiling[bin] > floor[bin]) pen.fillRect(gutter + 2 * bin, lane.top + lane.height - ceiling[bin], 2 * (next - bin), ceiling[bin] - floor[bin]);
      bin = next;
    }
    floor = ceiling;
  }
}

/** What is at a point of the canvas, in words; empty where nothing is. */
function sliceAt(x, y) {
  const lane = data.lanes.find(lane => y >= lane.top && y < lane.top + lane.height + 1);
  if (!lane || x < gutter) return "";
  const time = timeAt(x), slack = timeAt(x + 2) - time;
  let found = -1;
  for (let i = firstAbove(lane.start, time + slack) - 1; i >= 0 && lane.start[i] >= time - lane.longest - slack; i--) {
    if (lane.end[i] < time - slack) continue;
    if (found < 0 || (lane.start[i] <= time && lane.end[i] > time)) found = i;
    if (lane.start[i] <= time && lane.end[i] > time) break;
  }
  const where = lane.stage !== undefined ? "stage " + lane.stage : "stage " + lane.from + " → " + lane.to;
  return found < 0 ? where + "\nidle" : describe(lane, found, where);
}

function describe(lane, i, where) {
  const perPart = data.step / data.parts;
  const batch = lane.microBatch[i] < 0 ? "" : "\nmicro-batch " + lane.microBatch[i];
  return data.kinds[lane.kind[i]] + "\n" + where + batch + "\nstart " + ticks(1).label(lane.start[i])
    + "\nduration " + duration((lane.end[i] - lane.start[i]) * perPart);
}
