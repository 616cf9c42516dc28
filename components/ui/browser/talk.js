const talk = document.getElementById("talk");
const every = [...talk.querySelectorAll(".slide")]; // of all talks, and the one behind the last step of each
const all = [...element.querySelectorAll("a")]; // to what each of them shows
const status = element.querySelector("[role=status]");
const [overview, shortcuts] = ["overview", "shortcuts"].map((name) => element.querySelector(`dialog.${name}`));
const lists = [...overview.querySelectorAll("[data-slides-of]")]; // one for each talk
const talks = lists.map((list) => list.dataset.slidesOf); // the first need not be named in an address
let name, slides; // of the talk that is shown
const choose = (asked) => {
  name = talks.includes(asked) ? asked : talks[0];
  slides = every.filter((_, place) => [name, undefined].includes(all[place].dataset.of));
  talk.dataset.name = name;
  every.forEach((slide) => slide.toggleAttribute("data-told", slides.includes(slide)));
  lists.forEach((list) => { list.hidden = list.dataset.slidesOf !== name; });
};
choose(talks[0]);
const own = () => { // the sentence that the visitor asked about, or two; "" where it is the page's first one
  const here = new URLSearchParams(location.search);
  const pair = here.get("pair") ?? here.get("text_pair"); // as the API calls it, until the address is put right
  return here.get("text") ? [here.get("text"), pair ?? ""] : ["", ""];
};
const kept = (to, ...keys) => { // as in the talk
  const here = new URLSearchParams(location.search);
  for (const key of keys) if (here.has(key)) to.set(key, here.get(key));
  return to;
};
const aim = (texts) => { // links lead to the sentences that the slides are about
  for (const link of all) {
    const there = kept(new URLSearchParams(link.search), "lang", "__theme");
    link.dataset.texts.split(" ").forEach((key, place) => key && texts[place] && there.set(key, texts[place]));
    link.search = there;
  }
};
const invitation = (texts) => {
  const there = kept(new URLSearchParams(), "lang"); // each phone has its own theme
  ["text", "pair"].forEach((key, place) => texts[place] && there.set(key, texts[place]));
  return location.origin + location.pathname + (there.size ? `?${there}` : "");
};
let step = 0; // counted from 1; 0 outside of a talk
let last = 1; // where the talk was left
let typed = ""; // the number of a slide, as far as it was typed
const prepared = new Map(); // by the name of a talk, the sentences that its slides are made for
let preparing = false; // until the last slide has come

// A slide is as large as its window allows, and is so before it is seen.
const SMALLEST = 0.2, LARGEST = 2.4, TURNS_OF_FIT = 8;
const HIGH = 300; // pixels of a window that need no more than the page's own size: higher ones need more
const SPARE = 12, MARGIN = 0.03; // pixels below; and of the window's width, as in the style sheet
const fits = (shown, width, height, zoom) => { // measured without zoom: what is narrower may be higher
  shown.style.zoom = 1;
  shown.style.width = `${width / zoom}px`;
  return shown.scrollHeight * zoom <= height && shown.scrollWidth * zoom <= width + zoom; // it is a whole number
};
const grow = (slide) => { // gives how much larger
  const shown = slide.querySelector(".shown");
  const width = slide.clientWidth - 2 * MARGIN * window.innerWidth;
  const height = slide.clientHeight - slide.querySelector(".said").offsetHeight - SPARE;
  let zoom = SMALLEST, most = Math.max(LARGEST, window.innerHeight / HIGH);
  for (let turn = 0; turn < TURNS_OF_FIT; turn++) {
    const middle = turn ? (zoom + most) / 2 : most;
    if (fits(shown, width, height, middle)) zoom = middle;
    else most = middle;
  }
  shown.style.width = `${width / zoom}px`;
  shown.style.zoom = zoom;
  return zoom;
};

// Words stand side by side, in as many lines as make them largest; the rows have their names on every line.
const MOST_LINES = 6;
const breakLines = (words, lines) => {
  words.querySelectorAll(".again").forEach((part) => part.remove());
  const columns = [...words.querySelectorAll(".scroll > .apart, .text > ol > li")];
  const each = Math.ceil(columns.length / lines);
  for (let place = each; place < columns.length; place += each) {
    const line = Object.assign(document.createElement("li"), { className: "again", ariaHidden: "true" });
    line.append(document.createElement("br"), words.querySelector(".names").cloneNode(true));
    columns[place].before(line);
  }
};
const fit = (slide) => {
  const words = slide.querySelector(".words");
  if (!words) return slide.firstChild && grow(slide);
  const sizes = Array.from({ length: MOST_LINES }, (_, more) => {
    breakLines(words, more + 1);
    return grow(slide);
  });
  breakLines(words, 1 + sizes.indexOf(Math.max(...sizes)));
  return grow(slide);
};
const waiting = new Set(); // slides that have changed since they were fitted
const refit = (changed) => {
  if (!step) return;
  if (!waiting.size) requestAnimationFrame(() => {
    waiting.forEach(fit);
    waiting.clear();
    filled.takeRecords(); // what fitting itself has changed
  });
  for (const slide of changed) waiting.add(slide);
};
const filled = new MutationObserver((records) => refit(new Set(
  records.map(({ target }) => target.closest(".slide")).filter(Boolean),
)));
filled.observe(talk, { childList: true, subtree: true });
window.addEventListener("resize", () => refit(slides));

const keep = () => { // the address says where the talk is
  const here = new URLSearchParams(location.search);
  if (step) here.set("talk", name === talks[0] ? step : `${name}.${step}`);
  else here.delete("talk");
  history.replaceState(history.state, "", here.size ? `?${here}` : location.pathname);
};
const prepare = () => {
  const texts = own();
  if (preparing || prepared.get(name) === texts.join("\n")) return;
  prepared.set(name, texts.join("\n"));
  preparing = true;
  aim(texts);
  trigger("apply", { fresh: !every[0].firstChild, talk: name, step, text: texts[0], pair: texts[1], link: invitation(texts) });
  refit(slides);
};
new MutationObserver(() => { // meanwhile the visitor may have asked about another sentence
  if (!every.at(-1).querySelector("[data-made]")) return;
  preparing = false;
  if (step) prepare();
}).observe(every.at(-1), { childList: true, subtree: true, characterData: true });
document.addEventListener("poolscope:set", () => step && prepare()); // or before the talk, which came sooner than the answer
const hides = () => slides[step - 1].classList.contains("asking"); // a question stands there, not yet the answer
const go = (to, answered = false) => {
  last = step = Math.min(Math.max(to, 1), slides.length);
  typed = "";
  for (const one of [talk, document.body]) one.classList.add("on"); // what lies below does not scroll
  talk.classList.remove("blank");
  for (const other of talk.parentElement.children) other.inert = other !== talk;
  for (const one of overview.querySelectorAll("[data-slide]")) one.setAttribute("aria-current", one.dataset.slide === `${step}`);
  every.forEach((slide, place) => {
    const here = slide === slides[step - 1];
    slide.classList.toggle("current", here);
    slide.inert = !here;
    slide.classList.toggle("asking", !answered && here && "asks" in all[place].dataset);
    all[place].hidden = !here;
  });
  if (!talk.contains(document.activeElement)) Object.assign(talk, { tabIndex: -1 }).focus(); // which was elsewhere, or nowhere
  status.textContent = `${step} / ${slides.length}`;
  prepare();
  keep();
};
const next = () => go(hides() ? step : step + 1, hides());
const previous = () => go(step - 1, step > 1); // whose answer has been seen
const leave = () => {
  step = 0;
  for (const one of [talk, document.body]) one.classList.remove("on", "blank");
  for (const other of talk.parentElement.children) other.inert = false;
  document.querySelector("[data-share=talk]").focus(); // which may have shown it
  keep();
};

const list = () => { // of the slides, at this one
  overview.showModal();
  overview.querySelector("[data-slides-of]:not([hidden]) [aria-current=true][data-slide]").focus();
};
const fill = () => { // the screen
  if (document.fullscreenElement) document.exitFullscreen();
  else if (document.fullscreenEnabled) document.documentElement.requestFullscreen();
};
const type = (digit) => { status.textContent = `→ ${typed += digit}`; };
const blank = () => talk.classList.toggle("blank");
const TURNS = {
  arrowright: next, pagedown: next, " ": next, arrowleft: previous, pageup: previous,
  home: () => go(1), end: () => go(slides.length), escape: leave, t: leave,
  o: list, "?": () => shortcuts.showModal(), b: blank, ".": blank, f: fill,
  enter: () => typed && go(Number(typed)), s: () => document.dispatchEvent(new CustomEvent("poolscope:speaker")),
};
const BUTTONS = { next, previous, leave, overview: list, print: () => print(), shortcuts: TURNS["?"] };
for (let digit = 0; digit < 10; digit++) TURNS[digit] = () => type(digit);
const TYPING = "input, textarea, [role=listbox], [contenteditable]";
document.addEventListener("keydown", (event) => {
  const key = event.key.toLowerCase();
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest(TYPING)) return;
  if (document.querySelector("dialog[open]")) return; // its keys are its own
  if ((key === " " || (key === "enter" && !typed)) && event.target.closest("button, a")) return;
  if (step ? !Object.hasOwn(TURNS, key) : key !== "t") return;
  event.preventDefault();
  if (step) TURNS[key]();
  else go(last);
});
talk.addEventListener("click", ({ target }) => {
  const { talk: asked, slide, open: other } = target.closest("button")?.dataset ?? {};
  BUTTONS[asked]?.();
  if (slide) go(Number(slide));
  if (other) { choose(other); go(1); }
  if (slide || ((other || asked === "close") && target.closest("dialog")) || target.matches("dialog")) target.closest("dialog").close(); // or beside it
});

// A printed page is as large as this window, so that each slide is printed as it is seen; then paper scales it.
const paper = document.head.appendChild(document.createElement("style")); // gradio's own sheets reach none of these
window.addEventListener("beforeprint", () => {
  paper.textContent = !step ? "" : `@page { size: ${innerWidth}px ${innerHeight}px; margin: 0 }
    @media print { footer { display: none !important } .gradio-container, .main { overflow: visible !important; padding: 0 !important } }`;
});

const SWIPE = 60; // pixels, and twice as far to a side as up or down
let touched = null;
const touch = ({ touches }) => { touched = touches.length === 1 ? touches[0] : null; }; // two fingers enlarge
talk.addEventListener("touchstart", touch, { passive: true });
talk.addEventListener("touchend", ({ changedTouches: [end] }) => {
  if (!touched) return;
  const [x, y] = [end.clientX - touched.clientX, end.clientY - touched.clientY];
  touched = null;
  if (Math.abs(x) > SWIPE && Math.abs(x) > 2 * Math.abs(y)) (x < 0 ? next : previous)();
}, { passive: true });
document.addEventListener("click", ({ target }) => target.closest("[data-share=talk]") && go(last));

const asked = new URLSearchParams(location.search).get("talk"); // 3, pairs or pairs.3
if (asked !== null) {
  const [, called, number] = /^(?:(.*?)\.)?(\d+)$/.exec(asked) ?? [null, asked, 1];
  choose(called);
  go(Number(number));
}
