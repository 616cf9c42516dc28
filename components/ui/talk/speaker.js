// The speaker's window: shows where the talk is and what comes next, and sends the keys that are pressed here.
// Without a talk it walks through the notes alone.

const given = new URLSearchParams(location.hash.slice(1));
const id = given.get("talk"); // of the talk's window
const dark = given.has("theme") ? given.get("theme") === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
document.documentElement.dataset.theme = dark ? "dark" : "light";

const find = (selector) => document.querySelector(selector);
const notes = [...document.querySelectorAll("#notes section")]; // of each slide
const captions = notes.map((one) => one.querySelector("h2").textContent);
const minutes = notes.map((one) => Number(one.dataset.minutes));
const frames = [find("#now"), find("#next")];

let { step, began, search } = { step: 1, began: null, search: "", ...history.state };
let status = ""; // what the talk says of where it is
let shown = true; // whether the talk is on its window, and was not left
let black = false; // whether it shows nothing for a while
let asking = false; // whether it shows a question, not yet the slide
let counts = null; // the votes for each choice, in a room that has been asked
let together = false; // with a talk's window
let alone = null; // the slide that was reached without it
let typed = ""; // the number of a slide, as far as it was typed here alone
const pictures = new Map(); // of slides by their numbers
const stale = new Set(); // those that have changed since
const wanted = new Set(); // those that were asked for

const clock = (seconds) => `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;
const fill = (text, values) => text.replace(/{(\w+)}/g, (_, name) => values[name]);
const planned = (slides) => 60 * minutes.slice(0, slides).reduce((sum, one) => sum + one, 0); // seconds
const tick = () => {
  const seconds = began === null ? 0 : Math.max(0, (Date.now() - began) / 1000);
  const [from, until, total] = [step - 1, step, notes.length].map(planned);
  find("#elapsed").textContent = clock(seconds);
  const plan = find("#planned"), pace = find("#pace");
  plan.hidden = pace.hidden = !total;
  plan.textContent = fill(plan.dataset.text, { until: clock(until), total: clock(total) });
  const [how, by] = seconds > until ? ["behind", seconds - until] : seconds < from ? ["ahead", from - seconds] : ["on", 0];
  pace.textContent = began === null ? pace.dataset.stands : fill(pace.dataset[how], { time: clock(by) });
  pace.className = began === null ? "" : how;
};

const choices = notes.map((one) => [...one.querySelectorAll(".choices li")]);
const offered = choices.map((all) => all.map((one) => one.textContent)); // as they are without votes
const tally = () => {
  const total = counts?.reduce((sum, one) => sum + one, 0);
  choices[step - 1].forEach((one, place) => {
    const choice = offered[step - 1][place];
    one.textContent = counts ? fill(one.parentElement.dataset.share, { choice, votes: counts[place], total }) : choice;
  });
};

const scale = (frame) => {
  const [width, height] = frame.size ?? [16, 9];
  frame.style.setProperty("--ratio", width / height);
  frame.querySelector("iframe").style.transform = `scale(${frame.clientWidth / width})`;
};
const draw = (frame, slide) => {
  frame.parentElement.classList.toggle("behind-last", slide > notes.length);
  frame.querySelector("p").textContent = captions[slide - 1];
  const picture = pictures.get(slide);
  frame.classList.toggle("drawn", Boolean(picture));
  if (together && slide <= notes.length && !wanted.has(slide) && (!picture || stale.has(slide))) {
    wanted.add(slide);
    tell({ is: "want", slide });
  }
  if (!picture || frame.picture === picture) return;
  const inside = frame.querySelector("iframe"), paper = inside.contentDocument;
  const parsed = new DOMParser().parseFromString(`<!doctype html>${picture.html}`, "text/html");
  for (const { name, value } of parsed.documentElement.attributes) paper.documentElement.setAttribute(name, value);
  paper.body.replaceWith(paper.adoptNode(parsed.body));
  [inside.style.width, inside.style.height] = picture.window.map((length) => `${length}px`);
  [frame.picture, frame.size] = [picture, picture.size];
  scale(frame);
};
const render = () => {
  notes.forEach((one, index) => { one.hidden = index + 1 !== step; });
  find("#state").textContent = together && shown ? status : typed ? `→ ${typed}` : `${step} / ${notes.length}`;
  find("#black").hidden = !together || !black;
  find("#asking").hidden = !together || !shown || black || !asking;
  find("#left").hidden = !together || shown;
  find("#gone").hidden = together || !id;
  find("#none").hidden = Boolean(id);
  const back = new URLSearchParams(search);
  back.set("talk", `${document.documentElement.dataset.talk}.${step}`);
  if (!back.has("lang")) back.set("lang", document.documentElement.lang);
  find("#gone a").href = `./?${back}`;
  find("#gone a").target = `talk-${id}`;
  frames.forEach((frame, more) => draw(frame, step + more));
  tally();
  history.replaceState({ step, began, search }, "");
  tick();
};

const walk = (to) => { // without a talk
  alone = Math.min(Math.max(to, 1), notes.length);
  if (alone !== step) began ??= Date.now();
  [step, typed, counts] = [alone, "", null];
};
const ALONE = {
  arrowright: () => walk(step + 1), pagedown: () => walk(step + 1), " ": () => walk(step + 1),
  arrowleft: () => walk(step - 1), pageup: () => walk(step - 1), home: () => walk(1), end: () => walk(notes.length),
  enter: () => typed && walk(Number(typed)), b: () => {}, ".": () => {}, // there is nothing to make black
};
for (let digit = 0; digit < 10; digit++) ALONE[digit] = () => { typed += digit; };
const press = (key) => {
  if (together) return tell({ is: "key", key });
  ALONE[key]();
  render();
};

const HEARD = { // from the talk's window
  here: () => {
    pictures.forEach((_, slide) => stale.add(slide));
    wanted.clear();
    tell({ is: "hello", began, step: alone });
  },
  styles: ({ css }) => {
    for (const frame of frames) {
      const { head } = frame.querySelector("iframe").contentDocument;
      head.replaceChildren(Object.assign(document.createElement("style"), { textContent: css }));
    }
  },
  at: (now) => {
    if (now.talk !== new URLSearchParams(location.search).get("talk")) { // another talk has other notes
      location.replace(now.address + location.hash);
      return;
    }
    [together, alone, typed] = [true, null, ""];
    ({ status, search, began, counts } = now);
    shown = now.step > 0;
    step = now.step || step;
    [black, asking] = [now.blank, now.asking];
    render();
  },
  picture: (picture) => {
    pictures.set(picture.slide, picture);
    wanted.delete(picture.slide);
    stale.delete(picture.slide);
    render();
  },
  changed: ({ slides }) => {
    slides.forEach((slide) => stale.add(slide));
    render();
  },
  gone: () => {
    together = false;
    render();
  },
};
const channel = id && new BroadcastChannel(`poolscope-${id}`);
const tell = (message) => channel.postMessage(message);

document.addEventListener("keydown", (event) => {
  const key = event.key.toLowerCase();
  if (event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(ALONE, key)) return;
  const typing = typed || (together && status.startsWith("→"));
  if ((key === " " || (key === "enter" && !typing)) && event.target.closest("button, a")) return;
  event.preventDefault();
  press(key);
});
document.addEventListener("click", ({ target, detail }) => {
  const button = target.closest("button");
  if (button?.dataset.key) press(button.dataset.key);
  if (button?.id === "reset") {
    began = null;
    if (together) tell({ is: "reset" });
    render();
  }
  if (detail) button?.blur(); // it was the mouse: the next key is for the talk
});
window.addEventListener("resize", () => frames.forEach(scale));
window.addEventListener("load", () => { // the frames have their documents by now
  if (channel) {
    channel.onmessage = ({ data }) => HEARD[data.is]?.(data);
    HEARD.here();
  }
  setInterval(tick, 1000);
  render();
});
