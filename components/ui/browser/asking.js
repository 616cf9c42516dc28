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

// A click on a row of the heat map chooses that layer.
document.addEventListener("poolscope:picked", ({ detail: { name, y } }) => {
  if (name !== "heatmap") return;
  const slider = document.querySelector("#layer input[type=range]");
  slider.value = y;
  slider.dispatchEvent(new Event("input", { bubbles: true }));
});

// On a phone the answer comes first: below it, the button folds the question out.
const button = element.querySelector("button");
const asking = element.closest("#asking");
const fold = (open) => {
  asking.toggleAttribute("data-open", open); // which gradio leaves alone, unlike classes
  button.setAttribute("aria-expanded", String(open));
  if (open) document.querySelector("#verdict").scrollIntoView(); // which then answers above what is typed
  else button.focus();
};
button.addEventListener("click", () => fold(!asking.hasAttribute("data-open")));
asking.addEventListener("click", (event) => {
  if (event.target.closest("#examples button")) fold(false); // that is a whole question
});

// Menus: gradio opens one again that Tab leaves, and gives the focus away with a choice. Who passes by asks nothing.
let chosen = false;
const isMenu = ({ target }) => target.matches?.("[role=combobox]");
for (const name of ["keydown", "mousedown"]) document.addEventListener(name, (event) => {
  chosen = event.key === "Enter" ? isMenu(event) : Boolean(event.target.closest?.("[role=option]"));
  if (event.key === "Tab" && isMenu(event)) event.stopPropagation();
}, true);
document.addEventListener("blur", (event) => {
  if (!isMenu(event)) return;
  if (event.target.ariaExpanded === "false") event.stopPropagation();
  if (chosen) queueMicrotask(() => { event.target.focus(); chosen = false; });
}, true);
document.addEventListener("focus", (event) => { if (chosen && isMenu(event)) event.stopPropagation(); }, true);
