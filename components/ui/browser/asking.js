// Enter asks the question, and so does a pause in typing: a sentence is analysed once and not at every letter.
let pause;
const ask = (after) => { clearTimeout(pause); pause = setTimeout(() => trigger("input"), after); }; // milliseconds
document.addEventListener("input", ({ target }) => { if (target.closest("#text, #pair")) ask(700); });
document.addEventListener("keydown", ({ keyCode, shiftKey, target }) => { // 13: Enter, unless it ends a word that is composed
  if (keyCode === 13 && !shiftKey && target.closest("#text, #pair")) ask(0);
});

// On a phone the answer comes first: below it, the button folds the question out.
const button = element.querySelector("button"), asking = element.closest("#asking");
const fold = (open) => {
  button.setAttribute("aria-expanded", String(open));
  if (open) document.querySelector("#verdict").scrollIntoView(); // which then answers above what is typed
};
button.addEventListener("click", () => fold(button.ariaExpanded === "false"));
asking.addEventListener("click", ({ target }) => { if (target.closest("#examples button")) fold(false); });

// A menu opens for who presses it or an arrow key, not for who passes; one that chose asks and keeps the focus, and Tab closes it.
let by; // what moves the focus: a key, a choice, or a press
const isMenu = ({ target }, more = "") => target.matches?.(`[role=combobox]${more}`);
for (const name of ["keydown", "mousedown"]) document.addEventListener(name, (event) => {
  by = (event.key === "Enter" ? isMenu(event) : event.target.closest?.("[role=option]")) ? "choice" : event.key;
  if (name === "mousedown" && isMenu(event, "[aria-expanded=false]")) event.target.blur(); // then the press opens it
  if (/^Arrow(Up|Down)$/.test(event.key) && isMenu(event)) event.preventDefault(); // the page would scroll behind it
  if (!/^(Tab|Shift)$/.test(event.key) || !isMenu(event)) return;
  event.stopPropagation(); // gradio opens it at any key
  document.getElementById(event.target.getAttribute("aria-controls"))?.setAttribute("tabindex", "-1"); // it scrolls
}, true);
document.addEventListener("blur", (event) => {
  if (isMenu(event, "[aria-expanded=false]")) event.stopPropagation(); // nothing was asked
  if (!isMenu(event) || by !== "choice") return;
  if (event.target.closest(".asks")) trigger("input"); // gradio says the same of a menu that is only left
  setTimeout(() => { event.target.focus(); by = ""; }); // once the question is on its way
}, true);
document.addEventListener("focus", (event) => { if (/^(Tab|choice)$/.test(by) && isMenu(event)) event.stopPropagation(); }, true);

// Gradio's accordions do not say whether they are open, and the button that removes a choice says a number for its name.
new MutationObserver(() => {
  for (const one of document.querySelectorAll(".label-wrap")) one.ariaExpanded = one.classList.contains("open");
  for (const one of document.querySelectorAll(".token-remove")) one.title = one.title.replace(/(?<=^\S+ )\d+$/, one.parentElement.textContent.trim());
}).observe(document.body, { subtree: true, childList: true, attributeFilter: ["class"] });
// The verdict is heard when it changes, and the link that skips the question leads there.
Object.assign(document.querySelector("#verdict .prose"), { tabIndex: -1, ariaLive: "polite", ariaAtomic: "true" });
// A menu closes when the focus leaves it. Where an element with the focus goes away, the nearest one around it takes the focus.
document.addEventListener("focusout", ({ target, target: near, relatedTarget: next }) => {
  const menu = target.popoverTargetElement; // of its button, and of those in it
  if (next && next.popoverTargetElement !== menu) menu?.togglePopover(false);
  if (next || by === "choice") return;
  while (near && (!near.checkVisibility() || near.disabled || near.closest("[inert]"))) near = near.parentElement;
  if (near && near !== target) Object.assign(near, { tabIndex: -1 }).focus({ preventScroll: true });
});
