// Draws every plot, of the page or of a document: into the same element whenever its figure changes, and not before
// it is shown. Plotly is gradio's own on the page, which comes with its one gr.Plot.

// What is now, with those parts of before that are equal: Plotly draws anew what is another array or object.
const kept = (before, now) => {
  if (before === now || typeof now !== "object" || typeof before !== "object" || !before || !now) return now;
  const keys = Object.keys(now);
  let same = Array.isArray(before) === Array.isArray(now) && Object.keys(before).length === keys.length;
  for (const key of keys) {
    now[key] = kept(before[key], now[key]);
    same &&= now[key] === before[key];
  }
  return same ? before : now;
};

// Plotly writes into what it is given: its defaults for axes, for example.
const own = (value) => (typeof value === "object" && !Array.isArray(value) ? { ...value } : value);
const copied = (layout) => Object.fromEntries(Object.entries(layout).map(([key, value]) => [key, own(value)]));

// The lines, frames and names on a plot where nothing but these has changed; else null. They are drawn ten times
// faster than the plot: a step of the layer moves one frame in the heat map.
const marks = (before, now) => {
  if (!before || now === before || now.data !== before.data) return null;
  const changed = Object.keys({ ...before.layout, ...now.layout }).filter((key) => before.layout[key] !== now.layout[key]);
  if (!changed.every((key) => ["shapes", "annotations"].includes(key) && now.layout[key])) return null;
  return Object.fromEntries(changed.map((key) => [key, now.layout[key]]));
};

// One plot is drawn for each frame, the uppermost in sight first: it waits for no other, nor does the page.
const REST = 3, LONGEST = 100; // times as long as a drawing took, and milliseconds at most, the page has its turn: a slider stays live
const undrawn = new Set(), inSight = new Set(); // in sight: boxes, as last painted; to ask now would lay the page out once more
const sight = new IntersectionObserver((changes) => { for (const { target, isIntersecting } of changes) inSight[isIntersecting ? "add" : "delete"](target); });
let coming = false; // whether a drawing is
const drawSoon = (plot) => { // before the next frame, once all parts of the page have changed that change with it
  undrawn.add(plot);
  if (!coming) queueMicrotask(drawNext);
  coming = true;
};
const drawNext = () => {
  for (const plot of undrawn) if (!plot.due()) undrawn.delete(plot);
  const begun = performance.now();
  const ready = window.Plotly ? [...undrawn].filter((plot) => plot.rested <= begun) : [];
  const first = ready.find(({ box }) => inSight.has(box)) ?? ready[0]; // they stand in this order
  if (first) undrawn.delete(first);
  coming = undrawn.size > 0;
  if (coming) requestAnimationFrame(() => setTimeout(drawNext)); // this one is seen first
  if (!first) return;
  first.draw();
  const took = performance.now() - begun;
  first.rested = begun + took + Math.min(REST * took, LONGEST);
};
window.nextFrame = () => new Promise((go) => (document.hidden ? go() : requestAnimationFrame(() => setTimeout(go)))); // a page in the background has none
window.allDrawn = (...given) => new Promise(requestAnimationFrame).then(() => (window.Plotly && undrawn.size ? window.allDrawn(...given) : given)); // then the rest is asked

window.drawPlot = (box, figure, watch) => {
  const name = box.id.replace(/-plot$/, "");
  const plot = box.firstElementChild;
  let drawn = null; // the figure as it stands there
  let value; // its JSON
  let width = 0, wide = 0; // of the box: now, and when it was drawn

  const told = { role: "img", "aria-labelledby": `${name}-heading`, "aria-describedby": `${name}-description` };
  for (const [key, text] of Object.entries(told)) plot.setAttribute(key, text);
  box.tabIndex = 0; // long plots scroll in their box, also by keyboard

  const draw = () => {
    const now = figure();
    if (value === now) {
      if (drawn && wide !== width) window.Plotly.relayout(plot, { autosize: true });
    } else if (now) {
      const before = drawn;
      drawn = kept(before, JSON.parse(now));
      box.style = `--least: ${drawn.least}px; direction: ${drawn.direction}`; // a style sheet of its own would be read anew with each answer
      const moved = wide === width && marks(before, drawn);
      if (moved) window.Plotly.relayout(plot, moved);
      else if (drawn !== before || wide !== width) window.Plotly.react(plot, drawn.data, { ...copied(drawn.layout), autosize: true }, ...(before ? [] : [{ displayModeBar: false }])); // said again, that is copied and compared
      if (!before && name === "heatmap") plot.on("plotly_click", ({ points: [{ y: value }] }) => { // a row chooses its layer
        Object.assign(document.querySelector("#layer input[type=range]"), { value }).dispatchEvent(new Event("input", { bubbles: true }));
      });
    } else {
      if (drawn) window.Plotly.purge(plot);
      plot.classList.remove("js-plotly-plot"); // which Plotly leaves there
      drawn = null;
    }
    value = now;
    wide = width;
  };
  const due = () => width && (value !== figure() || wide !== width); // a hidden one is, once it is shown
  const own = { box, due, draw, rested: 0 };
  watch("value", () => drawSoon(own));
  new ResizeObserver(([{ contentRect }]) => {
    width = contentRect.width;
    undrawn.add(own);
    requestAnimationFrame(() => drawSoon(own)); // what is drawn has another height, and is observed
  }).observe(box);
  sight.observe(box);
};
