// Runs once, when the buttons of the link are there. `element` and `trigger` are gradio's: `trigger` fires an
// event of that component on the server.

const controls = JSON.parse(element.querySelector("[data-controls]").dataset.controls); // [[key, [text]]]
const ours = new Set(controls.map(([key]) => key));
const arrived = new URLSearchParams(location.search); // what the API calls otherwise gets the page's name
const aliases = Object.entries(JSON.parse(element.querySelector("[data-aliases]").dataset.aliases));
if (aliases.some(([alias]) => arrived.has(alias))) {
  for (const [alias, key] of aliases) {
    if (arrived.has(alias) && !arrived.has(key)) arrived.set(key, arrived.get(alias));
    arrived.delete(alias);
  }
  history.replaceState(history.state, "", `?${arrived}`);
}
const SAID = 4000; // milliseconds that "copied" is said
const TOGETHER = 100; // milliseconds; browsers refuse more than 200 new addresses in half a minute
let followed = false; // whether the link that led here has been followed
let arriving = true; // what changes is no step of the visitor, but the link that is followed

const texts = (value) => {
  if (Array.isArray(value)) return value.length ? value : [""];
  return [typeof value === "boolean" ? String(Number(value)) : String(value ?? "")];
};
const tab = (tabs) => document.querySelector(`${tabs} > .tab-wrapper [aria-selected=true]`)?.dataset.tabId;
const seen = { // what gradio hands to no event
  tab: () => tab("#tabs"),
  panel: () => tab("#views"),
  question: () => document.querySelector("#asked [data-question]")?.dataset.question,
  answered: () => [...document.querySelectorAll("#question-cards [data-question]")]
    .filter((card) => card.checkVisibility()).map((card) => card.dataset.question)
    .filter((key) => key !== seen.question()),
};
const answered = () => document.querySelector("#answer") !== null; // after a refusal no layer is shown
const last = () => document.querySelector("#layer input[type=range]")?.max;

let state = new URLSearchParams();
const remember = (values) => {
  state = new URLSearchParams();
  for (const [index, [key, arrival]] of controls.entries()) {
    let value = key in seen ? (seen[key]() ?? arrival[0]) : values[index];
    if (key === "layer" && (!answered() || Number(value) >= Number(last()))) value = -1; // whichever is last
    const now = texts(value);
    if (String(now) !== String(arrival)) for (const text of now) state.append(key, text);
  }
};
const address = () => { // with what others have put there, the theme for example
  const all = new URLSearchParams(location.search);
  for (const key of ours) all.delete(key);
  for (const [key, text] of state) all.append(key, text);
  return all.size ? `?${all}` : location.pathname;
};
const link = () => {
  const all = new URLSearchParams(state);
  const language = new URLSearchParams(location.search).get("lang");
  if (language) all.set("lang", language);
  return location.origin + location.pathname + (all.size ? `?${all}` : "");
};

// Called by gradio: `changed` whenever a control changes; `set` and `followed` with the values of all, in order.
let due = 0;
window.poolscope = {
  changed: () => { // an answer changes many at once, a slider every frame: values are collected once for all
    due ||= setTimeout(() => {
      due = 0;
      trigger("select");
    }, TOGETHER);
  },
  set: (...values) => {
    if (!followed) return;
    requestAnimationFrame(() => { // a tab is marked as chosen after it says so
      const before = state.get("tab");
      remember(values);
      if (arriving || state.get("tab") === before) history.replaceState(history.state, "", address());
      else history.pushState(history.state, "", address()); // the browser's Back leads to the tab before
      arriving = false;
      document.dispatchEvent(new CustomEvent("poolscope:set", { detail: state }));
    });
  },
  followed: (...values) => {
    followed = true;
    arriving = true;
    window.poolscope.set(...values);
  },
};

const status = element.querySelector("[role=status]");
const field = element.querySelector("input");
const copy = async () => {
  try {
    await navigator.clipboard.writeText(link());
    field.hidden = true;
    status.textContent = status.dataset.copied;
    setTimeout(() => { status.textContent = ""; }, SAID);
  } catch { // a frame may forbid it
    field.hidden = false;
    field.value = link();
    field.select();
    status.textContent = status.dataset.select;
  }
};
// A report is some megabytes: the server makes it while it is sent, and keeps none.
const bring = async (button, path, name) => {
  button.disabled = true;
  status.textContent = "";
  try {
    const asked = {
      query: String(state),
      page: location.origin + location.pathname,
      session_hash: window.__gradio_session_hash__, // gradio's name of this visitor
    };
    const answer = await fetch(path, { method: "POST", body: JSON.stringify(asked) });
    if (answer.ok) save(await answer.blob(), name);
    else status.textContent = plain((await answer.json()).detail);
  } catch {
    status.textContent = status.dataset.unreached;
  }
  button.disabled = false;
};
const save = (blob, name) => {
  const saved = document.createElement("a");
  saved.href = URL.createObjectURL(blob);
  saved.download = name;
  saved.click();
  setTimeout(() => URL.revokeObjectURL(saved.href), 60_000);
};
const plain = (html) => new DOMParser().parseFromString(html, "text/html").body.textContent; // runs nothing
element.addEventListener("click", (event) => {
  const asked = event.target.closest("button")?.dataset.share;
  if (asked === "copy") copy();
  if (asked === "code") trigger("expand", { link: link() });
  if (asked === "report") bring(event.target.closest("button"), "report", "poolscope.html");
  if (asked === "passport") bring(event.target.closest("button"), "passport.html", "poolscope-passport.html");
});

// A link to another state of the page keeps what others have put into the address, the theme for example.
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href^='?']");
  if (!link) return;
  const there = new URLSearchParams(link.search);
  for (const [key, text] of new URLSearchParams(location.search)) {
    if (key.startsWith("__")) there.set(key, text);
  }
  link.search = there;
});

window.addEventListener("popstate", () => {
  followed = false;
  trigger("apply", { query: location.search, whole: true });
});

trigger("apply", { query: location.search });
