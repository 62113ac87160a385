// What each rank holds over time, one area for each, on the lanes' time axis.
const memoryCanvas = document.getElementById("memory");
const MEMORY_HEAD = 42;
const row = !data.bytes ? (rankCount <= 8 ? { height: 26, gap: 4 } : { height: 18, gap: 3 })
  : rankCount <= 4 ? { height: 60, gap: 8 } : rankCount <= 24 ? { height: 32, gap: 5 } : { height: 18, gap: 3 };
let memoryHeight = MEMORY_HEAD;
for (const run of data.runs) {
  memoryHeight += several ? HEAD : 0;
  run.memoryTop = memoryHeight;
  for (const memory of run.memory) {
    memory.top = memoryHeight;
    memoryHeight += row.height + row.gap;
  }
}

painters.push(() => {
  if (strips.length === 0) return;
  const pen = prepare(memoryCanvas, memoryHeight + AXIS);
  paintMemoryHead(pen);
  for (const run of data.runs) if (several) paintHead(pen, run.name, run.memoryTop - 6);
  strips.forEach(memory => paintMemory(pen, memory));
  axis(pen, MEMORY_HEAD, memoryHeight, memoryHeight + 14);
});

function paintMemoryHead(pen) {
  paintHead(pen, data.memory, 30);
  let x = pen.measureText(data.memory).width + 18;
  pen.font = "12px " + FONT;
  const short = chartWidth < 600;
  const parts = !data.bytes ? [] : [[colours.held, "activations"], [colours.fixed, short ? "weights …" : "weights, gradients, optimizer state"]];
  for (const [colour, words] of parts) {
    pen.fillStyle = colour;
    pen.fillRect(x, 20, 12, 12);
    pen.fillStyle = colours.ink;
    pen.fillText(words, x + 17, 30);
    x += 17 + pen.measureText(words).width + 16;
  }
  if ((short && data.bytes) || !strips.some(shows)) return;
  dashes(pen, x, x + 16, 26);
  pen.fillText(data.bytes ? "capacity" : "cap", x + 21, 30);
}

/** Whether a strip has room for the capacity. */
function shows(memory) { return memory.capacity !== undefined && memory.capacity <= data.most; }

function dashes(pen, from, to, y) {
  pen.strokeStyle = colours.limit;
  pen.setLineDash([5, 3]);
  pen.beginPath();
  pen.moveTo(from, y);
  pen.lineTo(to, y);
  pen.stroke();
  pen.setLineDash([]);
}

function paintMemory(pen, memory) {
  const { top } = memory, bottom = top + row.height;
  const each = data.most > 0 ? (row.height - 2) / data.most : 0;
  const end = Math.max(gutter, Math.min(gutter + plotWidth, xOf(data.parts * memory.run.step / data.step)));
  pen.fillStyle = colours.panel;
  pen.fillRect(gutter, top, end - gutter, row.height);
  pen.save();
  pen.beginPath();
  pen.rect(gutter, top, end - gutter, row.height);
  pen.clip();
  pen.fillStyle = colours.held;
  paintSteps(pen, memory, bottom, each);
  pen.fillStyle = colours.fixed;
  pen.fillRect(gutter, bottom - memory.fixed * each, plotWidth, memory.fixed * each);
  pen.restore();
  if (shows(memory)) dashes(pen, gutter, end, bottom - memory.capacity * each);
  paintMemoryName(pen, memory, top + row.height / 2);
}

/** Runs of steps within a pixel are drawn as the highest of them. */
function paintSteps(pen, memory, bottom, each) {
  const from = Math.max(0, firstAbove(memory.start, view.from) - 1), to = firstAbove(memory.start, view.to);
  for (let i = from; i < to;) {
    const x = Math.max(gutter, xOf(memory.start[i]));
    let highest = memory.held[i], last = highest;
    for (i++; i < to && xOf(memory.start[i]) - x < 1; i++) {
      last = memory.held[i];
      highest = Math.max(highest, last);
    }
    const next = i < to ? xOf(memory.start[i]) : gutter + plotWidth;
    const crowded = last !== highest ? Math.min(next, x + 1) : next;
    column(pen, x, crowded, bottom, highest * each);
    column(pen, crowded, next, bottom, last * each);
  }
}

/** On whole pixels, or seams would show between neighbours. */
function column(pen, from, to, bottom, height) {
  const left = Math.round(from), width = Math.round(to) - left;
  if (width > 0) pen.fillRect(left, bottom - height, width, height);
}

function paintMemoryName(pen, memory, middle) {
  const twoLines = row.height >= 30, wide = gutter >= 100;
  pen.textAlign = "left";
  pen.fillStyle = colours.ink;
  pen.font = "600 12px " + FONT;
  pen.fillText(memory.name, 0, middle + (twoLines ? -3 : 4));
  if (!twoLines && !wide) return;
  pen.fillStyle = colours.soft;
  pen.font = "11px " + FONT;
  const peak = (memory.peak > memory.capacity ? "! " : "") + amount(memory.peak, data.bytes ? data.most : memory.peak);
  const words = wide && twoLines && memory.capacity ? peak.split(" ")[0] + " of " + amount(memory.capacity) : peak;
  if (!twoLines) pen.textAlign = "right";
  pen.fillText(words, twoLines ? 0 : gutter - 8, middle + (twoLines ? 12 : 4));
}

/** What is held at a point of the canvas, in words; empty where no row is. */
function memoryAt(x, y) {
  const memory = strips.find(memory => y >= memory.top && y < memory.top + row.height + row.gap);
  if (!memory || x < gutter) return "";
  const time = timeAt(x), step = firstAbove(memory.start, time) - 1;
  const held = step < 0 ? memory.fixed : memory.held[step];
  const limit = memory.capacity === undefined ? "" : (data.bytes ? "\ncapacity " : "\ncap ") + amount(memory.capacity);
  return (several ? memory.run.name + ", " : "") + memory.name + "\n" + (data.bytes ? "memory " : "activations ") + amount(held)
    + "\npeak " + amount(memory.peak) + limit + "\nat " + moment(time);
}
