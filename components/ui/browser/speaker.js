// The speaker's window: this page opens it, fills it and drives it; no server is asked once the talk has been shown.

const talk = document.getElementById("talk");
const status = document.querySelector("#talk-bar [role=status]");
const NAMED = /^talk-(\d+)$/; // the name of a window whose talk has a speaker's window: it outlives a reload
const WALKS = /^(arrow(left|right)|page(up|down)|home|end|enter|[0-9b. ])$/;
const told = () => [...talk.querySelectorAll(".slide[data-told]")];
const here = () => Math.max(0, told().findIndex((slide) => slide.classList.contains("current")));
const isOn = () => talk.classList.contains("on");
const isDark = () => document.body.classList.contains("dark");
const press = (key) => { // as if it were pressed here; a talk that was left is shown again, where it was
  document.querySelector("#talk-bar dialog[open]")?.close();
  talk.dispatchEvent(new KeyboardEvent("keydown", { key: isOn() ? key : "t", bubbles: true }));
};

// A picture of a slide is a copy of it within copies of what it stands in, in a frame in which nothing runs.
const prepare = (paper) => {
  const style = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]).map((rule) => rule.cssText);
  paper.head.append(Object.assign(paper.createElement("style"), { textContent: style.join("\n") }));
};
const picture = (slide, paper) => {
  let whole = paper.importNode(slide, true);
  whole.classList.add("current");
  whole.classList.remove("asking"); // the speaker sees what is hidden
  for (let around = slide.parentElement; around !== document.documentElement; around = around.parentElement) {
    const copy = paper.importNode(around, false);
    if (around === talk) copy.className = `${talk.className.replace("blank", "")} on`;
    copy.append(whole);
    whole = copy;
  }
  return whole;
};
const draw = (frame, slide) => {
  const inside = frame.querySelector("iframe"), paper = inside.contentDocument;
  frame.parentElement.classList.toggle("behind-last", !slide);
  if (!slide || !paper?.querySelector("style")) return; // it is loaded, or closed
  const drawn = picture(slide, paper);
  if (!drawn.isEqualNode(paper.body)) paper.body.replaceWith(drawn);
  Object.assign(inside.style, { width: `${innerWidth}px`, height: `${innerHeight}px` });
  inside.style.transform = `scale(${frame.clientWidth / slide.clientWidth})`;
  frame.classList.add("drawn");
};

const clock = (seconds) => `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;
const say = (text, values) => text.replace(/{(\w+)}/g, (_, name) => values[name]);
const notesIn = (paper) => [...paper.querySelectorAll(`[data-talk="${CSS.escape(talk.dataset.name)}"] section`)];
const tell = (paper) => { // the time since the first step, beside what is planned
  const began = Number(talk.dataset.began ?? 0), notes = notesIn(paper), place = here();
  const find = (selector) => paper.querySelector(selector);
  const planned = (slides) => 60 * notes.slice(0, slides).reduce((sum, one) => sum + Number(one.dataset.minutes), 0);
  const seconds = began && Math.max(0, (Date.now() - began) / 1000);
  const [from, until, total] = [place, place + 1, notes.length].map(planned);
  const plan = find("#planned"), pace = find("#pace");
  find("#elapsed").textContent = clock(seconds);
  plan.hidden = pace.hidden = !total;
  plan.textContent = say(plan.dataset.text, { until: clock(until), total: clock(total) });
  const [how, by] = seconds > until ? ["behind", seconds - until] : seconds < from ? ["ahead", from - seconds] : ["on", 0];
  pace.textContent = began ? say(pace.dataset[how], { time: clock(by) }) : pace.dataset.stands;
  pace.className = began ? how : "";
};
const update = (paper) => {
  const slides = told(), place = here(), { dataset } = paper.body;
  if (isOn() && dataset.place && Number(dataset.place) !== place) talk.dataset.began ??= Date.now();
  if (isOn()) dataset.place = place;
  for (const one of paper.querySelectorAll("#notes section")) one.hidden = one !== notesIn(paper)[place];
  paper.getElementById("state").textContent = isOn() ? status.textContent : "";
  const black = talk.classList.contains("blank"), asking = slides[place].classList.contains("asking");
  const notices = { black: isOn() && black, asking: isOn() && !black && asking, left: !isOn(), gone: false };
  for (const [id, shown] of Object.entries(notices)) paper.getElementById(id).hidden = !shown;
  draw(paper.getElementById("now"), slides[place]);
  draw(paper.getElementById("next"), slides[place + 1]);
  tell(paper);
};

let whole; // the window's HTML, with notes for who may have them
const bring = () => (whole ??= fetch("./speaker").then((answer) => answer.text(), () => { whole = null; }));
new MutationObserver(() => isOn() && bring()).observe(talk, { attributes: true, attributeFilter: ["class"] });
const fill = async (popup) => {
  const html = await bring(), paper = popup.document, kept = paper.body?.dataset.began; // of this page before it was loaded again
  if (!html) return popup.close();
  view = popup;
  if (kept) talk.dataset.began ??= kept;
  paper.open();
  paper.write(html);
  paper.close();
  paper.documentElement.dataset.theme = isDark() ? "dark" : "light";
  const isOpen = () => view === popup && !popup.closed;
  const now = () => isOpen() && update(paper);
  for (const frame of paper.querySelectorAll("iframe")) frame.addEventListener("load", () => { prepare(frame.contentDocument); now(); });
  paper.addEventListener("keydown", (event) => {
    const key = event.key.toLowerCase();
    if (event.ctrlKey || event.metaKey || event.altKey || !WALKS.test(key)) return;
    if ((key === " " || (key === "enter" && !status.textContent.startsWith("→"))) && event.target.closest("button, a")) return;
    event.preventDefault();
    press(key);
  });
  paper.addEventListener("click", ({ target, detail }) => {
    const button = target.closest("button");
    if (button?.dataset.key) press(button.dataset.key);
    if (button?.id === "reset") delete talk.dataset.began;
    now();
    if (detail) button?.blur(); // it was the mouse: the next key is for the talk
  });
  new MutationObserver(now).observe(talk, { attributes: true, childList: true, characterData: true, subtree: true });
  for (const one of [window, popup]) one.addEventListener("resize", now);
  setInterval(() => isOpen() && tell(paper), 1000);
};

let view = null; // the window, from when it is opened until this page is left
const attach = (id) => {
  const popup = window.open("", `speaker-${id}`, "popup,width=1100,height=720");
  if (popup) fill(popup);
};
if (NAMED.test(window.name)) attach(NAMED.exec(window.name)[1]); // this page was loaded again
document.addEventListener("poolscope:speaker", () => {
  view?.close();
  window.name = `talk-${Date.now()}`; // a new name: a window that is just being closed still has its own
  attach(NAMED.exec(window.name)[1]);
});
window.addEventListener("pagehide", () => { // the notes of all slides stay, and the way back to this one
  if (!view || view.closed) window.name = "";
  else {
    const paper = view.document;
    paper.body.dataset.began = talk.dataset.began ?? "";
    for (const one of notesIn(paper)) one.hidden = false;
    Object.assign(paper.querySelector("#gone a"), { href: location.href, target: window.name });
    paper.getElementById("gone").hidden = false;
    view = null;
  }
});
