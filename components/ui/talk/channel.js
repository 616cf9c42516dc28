// The talk's end of the channel to the speaker's window. What is told there is read from the page: which slide
// is seen, and how it looks. What comes from there are keys, as if they were pressed here.

const talk = document.getElementById("talk");
const told = () => [...talk.querySelectorAll(".slide[data-told]")]; // the slides of the talk that is shown
const status = document.querySelector("#talk-bar [role=status]");
const address = () => // of the speaker's window
  element.querySelector(`[data-talk="${CSS.escape(talk.dataset.name)}"]`).dataset.address;
const NAMED = /^talk-([0-9a-f]+)$/; // the name of a window whose talk has a speaker's window: it outlives a reload

let channel = null;
let began = null; // when the clock began, in milliseconds of Date.now(); null while it stands
let last = {}; // what was told last
const tell = (message) => channel.postMessage(message);
const isOn = () => talk.classList.contains("on");
const state = () => ({
  step: isOn() ? 1 + told().findIndex((slide) => slide.classList.contains("current")) : 0,
  blank: talk.classList.contains("blank"),
  asking: talk.querySelector(".slide.current.asking") !== null, // the audience sees a question, not yet the slide
  counts: JSON.parse(talk.querySelector(".slide.current")?.dataset.counts ?? "null"), // of votes: see room.js
  status: status.textContent,
  search: location.search,
  talk: talk.dataset.name,
  address: address(),
});
const update = () => {
  const now = state();
  if (now.step && last.step && now.step !== last.step) began ??= Date.now(); // with the first slide that is left
  now.began = began;
  if (JSON.stringify(now) === JSON.stringify(last)) return;
  last = now;
  tell({ is: "at", ...now });
};

// A picture of a slide is its HTML within what it stands in, for a document with the same styles and as large.
const styles = () => [...document.styleSheets]
  .flatMap((sheet) => [...sheet.cssRules].map((rule) => rule.cssText)).join("\n");
const picture = (slide) => {
  const paper = document.implementation.createHTMLDocument(""); // where nothing runs
  let whole = paper.importNode(slide, true);
  whole.classList.add("current");
  whole.classList.remove("asking"); // the speaker sees what is hidden
  for (let around = slide.parentElement; around; around = around.parentElement) {
    const copy = paper.importNode(around, false);
    if (around === talk) copy.className = `${talk.className.replace("blank", "")} on`;
    copy.append(whole);
    whole = copy;
  }
  return {
    is: "picture", slide: told().indexOf(slide) + 1, html: whole.outerHTML,
    window: [innerWidth, innerHeight], size: [slide.clientWidth, slide.clientHeight],
  };
};

const press = (key) => talk.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
const HEARD = { // from the speaker's window
  hello: ({ began: since, step }) => { // it has come, or is told that this page has; where it went alone, if it did
    began ??= since;
    tell({ is: "styles", css: styles() });
    if (step) [...(isOn() ? "" : "t"), ...String(step), "Enter"].forEach(press);
    last = {};
    update();
  },
  key: ({ key }) => {
    document.querySelector("#talk-bar dialog[open]")?.close();
    press(isOn() ? key : "t"); // a talk that was left is shown again, where it was
  },
  want: ({ slide }) => tell(picture(told()[slide - 1])),
  reset: () => {
    began = null;
    update();
  },
};
const listen = (id) => {
  if (channel) return;
  window.name = `talk-${id}`;
  channel = new BroadcastChannel(`poolscope-${id}`);
  channel.onmessage = ({ data }) => HEARD[data.is]?.(data);
  const changes = new MutationObserver(update);
  changes.observe(talk, { attributeFilter: ["class", "data-counts"], subtree: true });
  changes.observe(status, { childList: true, characterData: true, subtree: true });
  new MutationObserver((records) => {
    const changed = new Set(records.filter(({ target }) => !target.closest?.(".votes")) // which are told as counts
      .map(({ target }) => target.parentElement?.closest(".slide[data-told]")).filter(Boolean));
    if (changed.size) tell({ is: "changed", slides: [...changed].map((slide) => told().indexOf(slide) + 1) });
  }).observe(talk, { childList: true, characterData: true, attributeFilter: ["style"], subtree: true });
  window.addEventListener("pagehide", () => tell({ is: "gone" }));
  last = state();
  tell({ is: "here" });
};
const before = NAMED.exec(window.name);
if (before) listen(before[1]);
document.addEventListener("poolscope:speaker", () => {
  const random = [...crypto.getRandomValues(new Uint32Array(4))].map((one) => one.toString(16)).join("");
  const id = NAMED.exec(window.name)?.[1] ?? random;
  const theme = document.body.classList.contains("dark") ? "dark" : "light";
  listen(id);
  window.open(`${address()}#${new URLSearchParams({ talk: id, theme })}`, `speaker-${id}`, "popup,width=1100,height=720");
});

// It is fetched as soon as there is a talk: later it needs no network.
const fetched = new MutationObserver(() => {
  if (!isOn()) return;
  fetched.disconnect();
  document.head.append(Object.assign(document.createElement("link"), { rel: "prefetch", href: address() }));
});
fetched.observe(talk, { attributeFilter: ["class"] });
if (isOn()) talk.classList.add("on"); // which is a change
