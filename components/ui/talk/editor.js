// A talk that is made in the page. It is kept in this browser, as the tables of the file that it is saved as; the
// server is asked what of it can be had, and for its files. `element` is gradio's.

const root = element.querySelector("[data-shows]");
const said = root.dataset;
const shows = new Map(Object.entries(JSON.parse(said.shows))); // by name, where each stands, its title and its element
const arrivals = new Map(JSON.parse(document.querySelector("#share [data-controls]").dataset.controls));
const KEPT = "poolscope-talk";
const ABOUT = ["show", "caption", "ask", "choices", "notes", "minutes"]; // keys of a step that are no control
const dialog = element.querySelector("dialog"), list = dialog.querySelector("ol");
const status = dialog.querySelector("[role=status]"), menu = dialog.querySelector("select");
const [title, added, file] = ["[data-field=title]", "[data-field=added]", "[type=file]"]
  .map((selector) => dialog.querySelector(selector));
const opener = element.querySelector("[data-editor=show]");
document.querySelector("#share [data-share=talk]").after(opener); // among the other buttons

let talk = { step: [] }; // as in a file
const before = []; // talks that were there until something of them was deleted; in JSON, the latest last
let lost = {}; // by the number of a step, why it cannot be had
let state = new URLSearchParams(); // what is shown on the page
document.addEventListener("poolscope:set", ({ detail }) => { state = detail; });
const fill = (text, values) => text.replace(/{(\w+)}/g, (_, name) => values[name]);
const say = (text, place = status) => { place.textContent = text; };
const keep = () => {
  try {
    localStorage.setItem(KEPT, JSON.stringify(talk));
  } catch {
    say(said.unkept); // a frame of another site, or a full store
  }
};
const written = (texts, text) => { // in the language of the page, or where there is none the first that there is
  const all = { ...texts };
  const tag = all[said.lang] === undefined ? Object.keys(all)[0] ?? said.lang : said.lang;
  return [all[tag] ?? "", (now) => ({ ...all, [tag]: now })][text];
};
const textOf = (texts) => written(texts, 0);

// The server is asked with what the page's other requests say of it.
const ask = async (path, more, place = status) => {
  try {
    const body = { session_hash: window.__gradio_session_hash__, ...more }; // gradio's name of this visitor
    const answer = await fetch(path, { method: "POST", body: JSON.stringify(body) });
    if (answer.ok) return answer;
    const { detail } = await answer.json();
    say(new DOMParser().parseFromString(detail, "text/html").body.textContent, place); // runs nothing
  } catch {
    say(said.unreached, place);
  }
  return null;
};
const save = (blob, name) => {
  const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
};
const remember = () => {
  before.push(JSON.stringify(talk));
};
const open = async (text) => { // a file in the place of the talk that is here
  const answer = await ask("talk/open", { talk: text });
  if (!answer) return;
  remember();
  ({ talk, lost } = await answer.json());
  keep();
  draw();
};
let checks = 0;
const check = async (place = status) => { // what is wrong is said there; what is typed meanwhile stays
  const turn = ++checks;
  say("", place);
  const answer = talk.step.length ? await ask("talk/check", { talk: JSON.stringify(talk) }, place) : null;
  const now = answer ? (await answer.json()).lost : lost;
  if (turn !== checks || JSON.stringify(now) === JSON.stringify(lost)) return; // of other slides, or as before
  lost = now;
  draw();
};
const renew = () => { // other slides, or in another order
  lost = {};
  keep();
  draw();
  check();
};

const part = (name, properties, ...children) => {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
};
const field = (step, key, kind) => { // a box for one of a step's texts
  const box = part(kind, { value: textOf(step[key]) });
  box.addEventListener("input", () => {
    if (box.value || key === "caption") step[key] = written(step[key], 1)(box.value);
    else delete step[key];
    keep();
  });
  return part("label", {}, `${said[key]} `, box);
};
const choices = (step) => { // a line for each
  const box = part("textarea", { value: [textOf(step.choices)].flat().join("\n") });
  box.addEventListener("input", () => {
    const lines = box.value.split("\n").map((line) => line.trim()).filter(Boolean);
    if (lines.length) step.choices = written(step.choices, 1)(lines);
    else delete step.choices;
    keep();
  });
  return part("label", {}, `${said.choices} `, box);
};
const minutes = (step) => {
  const box = part("input", { type: "number", min: 0.1, max: 600, step: "any", value: step.minutes ?? "" });
  box.addEventListener("input", () => {
    if (box.value && box.checkValidity()) step.minutes = Number(box.value);
    else delete step.minutes;
    keep();
  });
  return part("label", {}, `${said.minutes} `, box);
};
const linkOf = (step) => {
  const there = new URLSearchParams(Object.entries(shows.get(step.show)?.[0] ?? {}));
  for (const [key, value] of Object.entries(step)) {
    if (ABOUT.includes(key)) continue;
    there.delete(key);
    const texts = Array.isArray(value) ? (value.length ? value : [""]) : [value];
    for (const text of texts) there.append(key, typeof text === "boolean" ? Number(text) : text);
  }
  there.set("lang", said.lang);
  return `?${there}`;
};
const item = (step, place) => {
  const caption = textOf(step.caption);
  const button = (name, sign, disabled) => part("button", {
    type: "button", textContent: sign, disabled, ariaLabel: fill(said[name], { caption }),
    onclick: () => change(name, place),
  });
  const why = lost[place + 1];
  const wrong = part("p", { className: "wrong", ariaLive: "polite" }); // with what is written below
  return part("li", {},
    field(step, "caption", "input"),
    part("span", { className: "row" },
      part("a", { href: linkOf(step), textContent: said.open }),
      button("up", "↑", place === 0),
      button("down", "↓", place === talk.step.length - 1),
      button("remove", "✕", false)),
    ...(why ? [part("p", { className: "lost", textContent: fill(said.lost, { reason: why }) })] : []),
    part("details", { onchange: () => check(wrong) }, part("summary", { textContent: said.more }),
      field(step, "ask", "input"), choices(step), wrong, field(step, "notes", "textarea"), minutes(step)));
};
const draw = () => {
  title.value = textOf(talk.title);
  list.replaceChildren(...talk.step.map(item));
  dialog.querySelector("[data-editor=undo]").hidden = !before.length;
};
const change = (name, place) => {
  if (name === "remove") remember();
  const [step] = talk.step.splice(place, 1);
  if (name !== "remove") talk.step.splice(place + (name === "up" ? -1 : 1), 0, step);
  renew();
  list.querySelectorAll("li button:not(:disabled)")[0]?.focus();
};

// What is shown, by name: what of the page can be seen, wherever it is scrolled to.
const seen = (name) => document.getElementById(shows.get(name)[2]);
const named = (name) => seen(name).querySelector("h2")?.textContent || shows.get(name)[1];
const here = () => [...shows.keys()].filter((name) => seen(name)?.checkVisibility() && seen(name).textContent.trim());
const suggest = () => { added.value = menu.value && named(menu.value); };
const show = () => {
  menu.replaceChildren(...here().map((value) => part("option", { value, textContent: named(value) })));
  menu.form.hidden = !menu.value; // where nothing that is seen can be a slide
  suggest();
  draw();
  check();
  dialog.showModal();
};
const add = () => {
  if (!menu.value) return;
  const step = { show: menu.value, caption: { [said.lang]: added.value } };
  for (const key of new Set(state.keys())) {
    if (arrivals.has(key) && !(key in shows.get(menu.value)[0])) step[key] = state.getAll(key);
  }
  talk.step.push(step);
  renew();
  say(fill(said.added, { count: talk.step.length }));
};
const handout = async (name, place) => {
  const now = new URLSearchParams(location.search);
  const asked = { text: now.get("text") ?? "", pair: now.get("pair") ?? "" };
  const page = location.origin + location.pathname;
  say(said.making, place);
  const body = { talk: JSON.stringify(talk), name, page, ...(name ? asked : {}) };
  const answer = await ask("talk/handout", body, place);
  if (!answer) return;
  save(await answer.blob(), "poolscope-talk.html");
  say("", place);
};
const DOES = {
  show,
  close: () => dialog.close(),
  pick: () => file.click(),
  save: async () => {
    if (!talk.step.length) return say(said.nothing);
    const answer = await ask("talk/save", { talk: JSON.stringify(talk) });
    if (answer) save(await answer.blob(), said.name);
  },
  handout: () => (talk.step.length ? handout("", status) : say(said.nothing)),
  clear: () => {
    if (!talk.step.length && !talk.title) return;
    remember();
    talk = { step: [] };
    renew();
  },
  undo: () => {
    talk = JSON.parse(before.pop());
    renew();
  },
};
const during = async (button, work) => { // a button does one thing at a time, and keeps the keys
  button.disabled = true;
  await work();
  button.disabled = false;
  if (document.activeElement === document.body) button.focus();
};
const clicked = ({ target }) => {
  const button = target.closest("button[data-editor]");
  if (button) during(button, DOES[button.dataset.editor]);
};
dialog.addEventListener("click", clicked);
opener.addEventListener("click", clicked);
document.addEventListener("click", ({ target }) => { // a talk that is there already, in its list of slides
  const button = target.closest("button[data-handout]");
  if (button) during(button, () => handout(button.dataset.handout, button.nextElementSibling));
});
menu.addEventListener("change", suggest);
dialog.querySelector("form").addEventListener("submit", (event) => {
  event.preventDefault();
  add();
});
title.addEventListener("input", () => {
  if (title.value) talk.title = written(talk.title, 1)(title.value);
  else delete talk.title;
  keep();
});
file.addEventListener("change", async () => {
  const [chosen] = file.files;
  if (chosen) await open(await chosen.text());
  file.value = "";
});
try {
  const kept = JSON.parse(localStorage.getItem(KEPT));
  if (kept?.step?.every?.((one) => one && typeof one === "object")) talk = kept;
} catch {
  say(said.unkept);
}
