// The lanes: one for each rank, thin ones for links.
const AXIS = 24, HEAD = 26;
const laneCanvas = document.getElementById("lanes");
const several = data.runs.length > 1;
const hasFeet = rows.some(lane => lane.foot.some((foot, i) => foot === 1 && isSeen(lane, i)));
const size = { ...(rankCount <= 8 ? { lane: 30, link: 8, gap: 5 } : rankCount <= 24 ? { lane: 22, link: 5, gap: 3 } : { lane: 15, link: 3, gap: 2 }), foot: hasFeet ? 7 : 0 };
let lanesHeight = AXIS;
for (const run of data.runs) {
  lanesHeight += several ? HEAD : 0;
  run.top = lanesHeight;
  for (const lane of run.lanes) {
    const isRank = lane.rank !== undefined;
    lane.top = lanesHeight + (isRank ? size.gap : 0);
    lane.height = isRank ? size.lane : size.link - 1;
    lanesHeight = lane.top + (isRank ? size.lane + size.foot : size.link);
  }
}

/** Work that takes no time is not, except for states that arrive. */
function isSeen(lane, i) { return lane.end[i] > lane.start[i] || data.kinds[lane.kind[i]].style === "hand-on"; }

painters.push(() => {
  const pen = prepare(laneCanvas, lanesHeight + 2);
  axis(pen, AXIS - 6, lanesHeight, 12);
  for (const run of data.runs) {
    if (several) paintHead(pen, run.name, run.top - 6);
    for (const lane of run.lanes) {
      const whole = data.parts * run.step / data.step;
      pen.fillStyle = colours.idle;
      pen.fillRect(gutter, lane.top, Math.max(0, Math.min(plotWidth, xOf(whole) - gutter)), lane.height);
    }
    paintArrows(pen, run);
    run.lanes.forEach(lane => paintLane(pen, lane));
  }
});

function paintLane(pen, lane) {
  const from = firstAbove(lane.start, view.from - lane.longest - 1);
  const to = firstAbove(lane.start, view.to);
  pen.save();
  pen.beginPath();
  pen.rect(gutter, lane.top, plotWidth, lane.height + size.foot);
  pen.clip();
  if ((to - from) * 3 > plotWidth) paintShares(pen, lane, from, to);
  else paintSlices(pen, lane, from, to);
  pen.restore();
  if (lane.rank !== undefined) paintName(pen, lane);
}

function paintHead(pen, words, baseline) {
  pen.textAlign = "left";
  pen.fillStyle = colours.ink;
  pen.font = "600 13px " + FONT;
  pen.fillText(words, 0, baseline);
}

function paintName(pen, lane) {
  const baseline = lane.top + lane.height / 2 + 4;
  pen.textAlign = "left";
  pen.fillStyle = colours.ink;
  pen.font = "600 12px " + FONT;
  pen.fillText(lane.name, 0, baseline);
  if (gutter < 100) return;
  pen.textAlign = "right";
  pen.fillStyle = colours.soft;
  pen.font = "11px " + FONT;
  const words = lane.note.length > 11 ? lane.note.slice(0, 10) + "…" : lane.note;
  pen.fillText(words, gutter - 8, baseline);
}

/** States that arrive, from the lane of the rank before. */
function paintArrows(pen, run) {
  const middle = rank => { const lane = run.lanes.find(lane => lane.rank === rank); return lane.top + lane.height + size.foot / 2; };
  pen.save();
  pen.beginPath();
  pen.rect(gutter, run.top, plotWidth, lanesHeight - run.top);
  pen.clip();
  pen.strokeStyle = pen.fillStyle = colours.soft;
  for (const [from, to, start, end] of run.arrows) {
    const x1 = xOf(start), y1 = middle(from), x2 = xOf(end), y2 = middle(to), length = Math.hypot(x2 - x1, y2 - y1);
    const alongX = 5 * (x2 - x1) / length, alongY = 5 * (y2 - y1) / length;
    pen.beginPath();
    pen.moveTo(x1, y1);
    pen.lineTo(x2, y2);
    pen.stroke();
    pen.beginPath();
    pen.moveTo(x2, y2);
    pen.lineTo(x2 - alongX - alongY / 2, y2 - alongY + alongX / 2);
    pen.lineTo(x2 - alongX + alongY / 2, y2 - alongY - alongX / 2);
    pen.fill();
  }
  pen.restore();
}

/** The top and the height of a slice. */
function box(lane, i) {
  if (lane.foot[i]) return [lane.top + lane.height + 1, size.foot - 2];
  const height = lane.height / lane.parts[i];
  return [lane.top + lane.part[i] * height, height];
}

/** Later stages of a rank are paler. */
function colourOf(lane, i) {
  const colour = colours.kinds[lane.kind[i]], run = lane.run;
  const shade = data.kinds[lane.kind[i]].numbered && run.mostShade > 0 ? run.shades[lane.stage[i]] / run.mostShade : 0;
  return paler(colour, 0.55 * shade);
}

/** Its stage where a rank runs all of them, else its micro-batch. */
function numberOf(lane, i) {
  const { depth, chains, bothWays, ofStages } = lane.run;
  if (ofStages) return lane.stage[i] % depth;
  const inTurn = chains > 1 && !bothWays && data.kinds[lane.kind[i]].style !== "update";
  return inTurn ? lane.microBatch[i] * chains + Math.floor(lane.stage[i] / depth) : lane.microBatch[i];
}

function paintSlices(pen, lane, from, to) {
  const perPart = plotWidth / (view.to - view.from), left = gutter - view.from * perPart;
  pen.textAlign = "center";
  for (let i = from; i < to; i++) {
    if (!isSeen(lane, i)) continue;
    const x = left + lane.start[i] * perPart, width = (lane.end[i] - lane.start[i]) * perPart;
    const [top, height] = box(lane, i), colour = colourOf(lane, i);
    pen.fillStyle = colour;
    pen.fillRect(x, top, width > 5 ? width - 1 : Math.max(lane.foot[i] ? 2 : 0.6, width * 0.9), height - (lane.parts[i] > 1 ? 0.5 : 0));
    if (height < 11 || !data.kinds[lane.kind[i]].numbered || lane.microBatch[i] < 0) continue;
    const start = Math.max(view.from, lane.start[i]), end = Math.min(view.to, lane.end[i]);
    const words = String(numberOf(lane, i)), seen = (end - start) * perPart;
    if (seen < words.length * 5.6 + 2) continue;
    pen.font = (seen < words.length * 6.8 + 4 ? "9px " : "11px ") + FONT;
    pen.fillStyle = readable(colour);
    pen.fillText(words, left + (start + end) / 2 * perPart, top + height / 2 + 4);
  }
}

/** Too many slices to see: of every two pixels, how much each kind takes, stacked. */
function paintShares(pen, lane, from, to) {
  const bins = Math.ceil(plotWidth / 2), perPart = plotWidth / (view.to - view.from) / 2;
  const filled = new Float32Array(bins);
  let floor = new Float32Array(bins);
  for (let kind = 0; kind < data.kinds.length; kind++) {
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
  const lane = rows.find(lane => y >= lane.top && y < lane.top + lane.height + (lane.rank !== undefined ? size.foot : 0) + 1);
  if (!lane || x < gutter) return "";
  const time = timeAt(x), slack = timeAt(x + 2) - time;
  let found = -1;
  for (let i = firstAbove(lane.start, time + slack) - 1; i >= 0 && lane.start[i] >= time - lane.longest - slack; i--) {
    const [top, height] = box(lane, i);
    if (lane.end[i] < time - slack || y < top - 1 || y > top + height + 1 || !isSeen(lane, i)) continue;
    if (found < 0 || (lane.start[i] <= time && lane.end[i] > time)) found = i;
    if (lane.start[i] <= time && lane.end[i] > time) break;
  }
  const where = (several ? lane.run.name + ", " : "") + lane.name;
  return found < 0 ? where + "\nidle" : describe(lane, found, where);
}

function describe(lane, i, where) {
  const perPart = data.step / data.parts, { depth, chains, bothWays, mostShade, shades } = lane.run, stage = lane.stage[i];
  const batch = lane.microBatch[i] < 0 ? "" : "\n" + (exchanges(lane, i) ? "number " : "micro-batch ") + lane.microBatch[i];
  const chain = chains === 1 ? "" : (bothWays ? " in direction " : " of pipeline ") + Math.floor(stage / depth);
  const chunk = mostShade > 0 && !bothWays ? ", chunk " + shades[stage] : "";
  const own = lane.name.startsWith("rank") ? "\nstage " + stage % depth + chain + chunk : "";
  return data.kinds[lane.kind[i]].word + "\n" + where + own + batch + "\nstart " + moment(lane.start[i])
    + "\nduration " + duration((lane.end[i] - lane.start[i]) * perPart);
}
