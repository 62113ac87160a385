// Pointer, wheel, keys and buttons.
const tip = document.getElementById("tip"), cursor = document.getElementById("cursor"), band = document.getElementById("band");
const selectButton = document.getElementById("select"), range = document.getElementById("range");
let drag = null;

function press(id, action) { document.getElementById(id).addEventListener("click", action); }
press("in", () => zoom(0.5));
press("out", () => zoom(2));
press("left", () => move(-0.25));
press("right", () => move(0.25));
press("reset", () => show(0, data.parts));
press("select", () => {
  const on = selectButton.getAttribute("aria-pressed") !== "true";
  selectButton.setAttribute("aria-pressed", String(on));
  chart.classList.toggle("selecting", on);
});

const KEYS = {
  "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), "0": () => show(0, data.parts),
  ArrowLeft: () => move(-0.1), ArrowRight: () => move(0.1), Home: () => move(-1e9), End: () => move(1e9),
};
chart.addEventListener("keydown", event => {
  const action = event.ctrlKey || event.metaKey || event.altKey ? null : KEYS[event.key];
  if (!action) return;
  action();
  event.preventDefault();
});

function place(event) {
  const box = chart.getBoundingClientRect();
  return { x: event.clientX - box.left, y: event.clientY - box.top };
}

// At the whole step, turning the wheel further out scrolls the page.
chart.addEventListener("wheel", event => {
  const { x } = place(event);
  if (x < gutter) return;
  const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
  if (isWhole() && (sideways || event.deltaY > 0)) return;
  event.preventDefault();
  hideTip();
  if (sideways) move(event.deltaX / plotWidth);
  else zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY * 0.002))), timeAt(x));
}, { passive: false });

chart.addEventListener("pointerdown", event => {
  const { x, y } = place(event);
  if (event.button !== 0 || x < gutter) return;
  const selects = event.shiftKey || y < AXIS || selectButton.getAttribute("aria-pressed") === "true";
  drag = { x, from: view.from, to: view.to, selects };
  chart.setPointerCapture(event.pointerId);
  chart.classList.toggle("moving", !selects);
  hideTip();
});

chart.addEventListener("pointermove", event => {
  const { x, y } = place(event);
  if (!drag) return hover(event, x, y);
  if (drag.selects) {
    const left = Math.max(gutter, Math.min(x, drag.x)), right = Math.min(gutter + plotWidth, Math.max(x, drag.x));
    band.hidden = false;
    band.style.left = left + "px";
    band.style.width = right - left + "px";
  } else {
    const by = (drag.x - x) / plotWidth * (drag.to - drag.from);
    show(drag.from + by, drag.to + by);
  }
});

function release(event, zooms) {
  if (!drag) return;
  const { x } = place(event);
  const { x: origin, selects } = drag;
  drag = null;
  band.hidden = true;
  chart.classList.remove("moving");
  if (zooms && selects && Math.abs(x - origin) > 4) show(timeAt(Math.max(gutter, Math.min(x, origin))), timeAt(Math.max(x, origin)));
}
chart.addEventListener("pointerup", event => release(event, true));
chart.addEventListener("pointercancel", event => release(event, false));
chart.addEventListener("pointerleave", hideTip);
chart.addEventListener("dblclick", () => show(0, data.parts));

function hideTip() {
  tip.hidden = true;
  cursor.hidden = true;
}

function hover(event, x, y) {
  cursor.hidden = x < gutter;
  cursor.style.left = x + "px";
  const words = y < memoryCanvas.offsetTop ? sliceAt(x, y) : memoryAt(x, y - memoryCanvas.offsetTop);
  tip.hidden = words === "";
  if (words === "") return;
  tip.textContent = words;
  const right = event.clientX + 16, below = event.clientY + 16;
  tip.style.left = (right + tip.offsetWidth > innerWidth - 8 ? Math.max(8, event.clientX - 16 - tip.offsetWidth) : right) + "px";
  tip.style.top = (below + tip.offsetHeight > innerHeight - 8 ? Math.max(8, event.clientY - 16 - tip.offsetHeight) : below) + "px";
}

painters.push(() => {
  range.textContent = isWhole() ? data.whole + ", " + duration(data.step) : moment(view.from) + " to " + moment(view.to);
});

const used = new Set(rows.flatMap(lane => [...new Set(lane.kind.filter((kind, i) => isSeen(lane, i)))]));
const legend = document.getElementById("legend");
function explain(background, words) {
  const entry = legend.appendChild(document.createElement("li"));
  entry.appendChild(document.createElement("i")).style.background = background;
  entry.append(words);
}
for (const kind of [...used].sort((a, b) => a - b)) explain("var(--" + data.kinds[kind].style + ")", data.kinds[kind].word);
if (data.shades) explain("color-mix(in srgb, var(--forward) 45%, white)", data.shades);

measure();
readColours();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", readColours);
new ResizeObserver(measure).observe(chart);
