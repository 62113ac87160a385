// Memory over time, one area for each stage, on the lanes' time axis.
const memoryCanvas = document.getElementById("memory");
const MEMORY_HEAD = 42;
const row = stageCount <= 4 ? { height: 60, gap: 8 } : stageCount <= 24 ? { height: 32, gap: 5 } : { height: 18, gap: 3 };
const memoryHeight = MEMORY_HEAD + data.memory.length * (row.height + row.gap);

painters.push(() => {
  if (data.memory.length === 0) return;
  const pen = prepare(memoryCanvas, memoryHeight + AXIS);
  paintMemoryHead(pen);
  data.memory.forEach((memory, i) => paintMemory(pen, memory, MEMORY_HEAD + i * (row.height + row.gap)));
  axis(pen, MEMORY_HEAD, memoryHeight, memoryHeight + 14);
});

function paintMemoryHead(pen) {
  pen.textAlign = "left";
  pen.fillStyle = colours.ink;
  pen.font = "600 13px " + FONT;
  pen.fillText("memory per device", 0, 30);
  let x = pen.measureText("memory per device").width + 18;
  pen.font = "12px " + FONT;
  const short = chartWidth < 600;
  for (const [colour, words] of [[colours.held, "activations"], [colours.fixed, short ? "weights …" : "weights, gradients, optimizer state"]]) {
    pen.fillStyle = colour;
    pen.fillRect(x, 20, 12, 12);
    pen.fillStyle = colours.ink;
    pen.fillText(words, x + 17, 30);
    x += 17 + pen.measureText(words).width + 16;
  }
  if (short || !data.memory.some(memory => memory.capacity)) return;
  dashes(pen, x, x + 16, 26);
  pen.fillText("capacity", x + 21, 30);
}

function dashes(pen, from, to, y) {
  pen.strokeStyle = colours.limit;
  pen.setLineDash([5, 3]);
  pen.beginPath();
  pen.moveTo(from, y);
  pen.lineTo(to, y);
  pen.stroke();
  pen.setLineDash([]);
}

function paintMemory(pen, memory, top) {
  const full = Math.max(memory.capacity || 0, memory.peak), bottom = top + row.height;
  const perByte = full > 0 ? (row.height - 2) / full : 0;
  pen.fillStyle = colours.panel;
  pen.fillRect(gutter, top, plotWidth, row.height);
  pen.save();
  pen.beginPath();
  pen.rect(gutter, top, plotWidth, row.height);
  pen.clip();
  pen.fillStyle = colours.held;
  paintSteps(pen, memory, bottom, perByte);
  pen.fillStyle = colours.fixed;
  pen.fillRect(gutter, bottom - memory.fixed * perByte, plotWidth, memory.fixed * perByte);
  pen.restore();
  if (memory.capacity) dashes(pen, gutter, gutter + plotWidth, bottom - memory.capacity * perByte);
  paintMemoryName(pen, memory, top + row.height / 2, full);
}

/** Runs of steps within a pixel are drawn as the highest of them. */
function paintSteps(pen, memory, bottom, perByte) {
  const from = Math.max(0, firstAbove(memory.start, view.from) - 1), to = firstAbove(memory.start, view.to);
  for (let i = from; i < to;) {
    const x = Math.max(gutter, xOf(memory.start[i]));
    let highest = memory.bytes[i], last = highest;
    for (i++; i < to && xOf(memory.start[i]) - x < 1; i++) {
      last = memory.bytes[i];
      highest = Math.max(highest, last);
    }
    const next = i < to ? xOf(memory.start[i]) : gutter + plotWidth;
    const crowded = last !== highest ? Math.min(next, x + 1) : next;
    column(pen, x, crowded, bottom, highest * perByte);
    column(pen, crowded, next, bottom, last * perByte);
  }
}

/** On whole pixels, or seams would show between neighbours. */
function column(pen, from, to, bottom, height) {
  const left = Math.round(from), width = Math.round(to) - left;
  if (width > 0) pen.fillRect(left, bottom - height, width, height);
}

function paintMemoryName(pen, memory, middle, full) {
  const twoLines = row.height >= 30, wide = gutter >= 100;
  pen.textAlign = "left";
  pen.fillStyle = colours.ink;
  pen.font = "600 12px " + FONT;
  pen.fillText("stage " + memory.stage, 0, middle + (twoLines ? -3 : 4));
  if (!twoLines && !wide) return;
  pen.fillStyle = colours.soft;
  pen.font = "11px " + FONT;
  const peak = bytes(memory.peak, full);
  const words = wide && twoLines && memory.capacity ? peak.split(" ")[0] + " of " + bytes(memory.capacity, full) : peak;
  if (!twoLines) pen.textAlign = "right";
  pen.fillText(words, twoLines ? 0 : gutter - 8, middle + (twoLines ? 12 : 4));
}

/** The memory at a point of the canvas, in words; empty where no row is. */
function memoryAt(x, y) {
  const index = Math.floor((y - MEMORY_HEAD) / (row.height + row.gap));
  const memory = data.memory[index];
  if (y < MEMORY_HEAD || !memory || x < gutter) return "";
  const time = timeAt(x), step = firstAbove(memory.start, time) - 1;
  const held = step < 0 ? memory.fixed : memory.bytes[step];
  const limit = memory.capacity ? "\ncapacity " + bytes(memory.capacity) : "";
  return "stage " + memory.stage + "\nmemory " + bytes(held) + "\npeak " + bytes(memory.peak) + limit
    + "\nat " + ticks(1).label(time);
}
