// Runs once, when the page's empty bridge component is there. `trigger` is gradio's: it fires that
// component's event on the server.

// A pause in typing asks the question; so a sentence is analysed once and not at every letter.
const PAUSE = 700; // milliseconds
let pause;
document.addEventListener("input", (event) => {
  if (!event.target.closest("#text, #pair")) return;
  clearTimeout(pause);
  pause = setTimeout(() => trigger("input"), PAUSE);
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || !event.target.closest("#text, #pair")) return;
  clearTimeout(pause);
  if (event.ctrlKey || event.metaKey) trigger("input"); // Enter alone is gradio's own submit
});

// Plotly follows the window, not its box: a plot that was drawn in a hidden tab has a width of its own until then.
let told;
const tell = () => {
  cancelAnimationFrame(told);
  told = requestAnimationFrame(() => window.dispatchEvent(new Event("resize")));
};
const widths = new WeakMap();
const boxes = new ResizeObserver((entries) => {
  for (const { target, contentRect: { width } } of entries) {
    if (width && widths.get(target) !== width) tell(); // shown for the first time, or again after being hidden
    widths.set(target, width);
  }
});

// Every redraw makes a new plot: give it its name, and let a click on a row of the heat map choose that layer.
const dress = (plot) => {
  const box = plot.closest(".plot");
  if (!box || plot.dataset.dressed) return;
  plot.dataset.dressed = "yes";
  const name = box.id.replace("-plot", "");
  boxes.observe(box);
  plot.setAttribute("role", "img");
  plot.setAttribute("aria-labelledby", `${name}-heading`);
  plot.setAttribute("aria-describedby", `${name}-description`);
  box.tabIndex = 0; // long plots scroll in their box, also by keyboard
  if (name === "heatmap") plot.on("plotly_click", (event) => trigger("select", { layer: event.points[0].y }));
};
const look = () => document.querySelectorAll(".plot .js-plotly-plot").forEach(dress);
new MutationObserver(look).observe(document.body, { childList: true, subtree: true });
look();
