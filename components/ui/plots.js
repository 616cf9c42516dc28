// Draws every plot of the page: into the same element whenever its figure changes, and not before it is shown.
// Stands in the page's head. Plotly is gradio's own, which comes with the page's one gr.Plot.

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
const copied = (layout) => Object.fromEntries(Object.entries(layout).map(
  ([key, value]) => [key, typeof value === "object" && !Array.isArray(value) ? { ...value } : value],
));

// The lines, frames and names on a plot where nothing but these has changed; else null. They are drawn ten times
// faster than the plot: a step of the layer moves one frame in the heat map.
const MARKS = ["shapes", "annotations"];
const marks = (before, now) => {
  if (!before || now === before || now.data !== before.data) return null;
  const keys = Object.keys({ ...before.layout, ...now.layout });
  const changed = keys.filter((key) => before.layout[key] !== now.layout[key]);
  if (!changed.every((key) => MARKS.includes(key) && now.layout[key])) return null;
  return Object.fromEntries(changed.map((key) => [key, now.layout[key]]));
};

const REST = 3; // times as long as a drawing took, the page has its turn before the next: a slider stays live
const LONGEST = 100; // milliseconds of that rest

window.drawPlot = (element, props, watch) => {
  const box = element.closest(".plot");
  const name = box.id.replace(/-plot$/, "");
  const plot = element.firstElementChild;
  let drawn = null; // the figure as it stands there
  let value; // its JSON
  let width = 0, wide = 0; // of the box: now, and when it was drawn

  plot.setAttribute("role", "img");
  plot.setAttribute("aria-labelledby", `${name}-heading`);
  plot.setAttribute("aria-describedby", `${name}-description`);
  box.tabIndex = 0; // long plots scroll in their box, also by keyboard

  let due = 0, rested = 0;
  const soon = () => { // once all parts of the page have changed that change with it
    due ||= requestAnimationFrame(begin);
  };
  const begin = (now) => {
    due = 0;
    if (!width) return; // hidden: drawn when it is shown
    if (!window.Plotly || now < rested) return soon();
    draw();
    const after = performance.now();
    rested = after + Math.min(REST * (after - now), LONGEST);
  };
  const draw = () => {
    if (value === props.value) {
      if (drawn && wide !== width) window.Plotly.relayout(plot, { autosize: true });
    } else if (props.value) {
      const before = drawn;
      drawn = kept(before, JSON.parse(props.value));
      const moved = wide === width && marks(before, drawn);
      if (moved) window.Plotly.relayout(plot, moved);
      else if (drawn !== before || wide !== width) {
        window.Plotly.react(plot, drawn.data, { ...copied(drawn.layout), autosize: true });
      }
      if (!before) plot.on("plotly_click", ({ points: [{ x, y }] }) => {
        plot.dispatchEvent(new CustomEvent("poolscope:picked", { bubbles: true, detail: { name, x, y } }));
      });
    } else {
      if (drawn) window.Plotly.purge(plot);
      plot.classList.remove("js-plotly-plot"); // which Plotly leaves there
      drawn = null;
    }
    value = props.value;
    wide = width;
  };
  watch("value", soon);
  new ResizeObserver(([{ contentRect }]) => {
    width = contentRect.width;
    soon();
  }).observe(box);
};
