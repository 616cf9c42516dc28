const told = element.querySelector("[data-controls]").dataset;
const controls = JSON.parse(told.controls); // [[key, [text]]]
const ours = new Set(controls.map(([key]) => key));
const arrived = new URLSearchParams(location.search); // what the API calls otherwise gets the page's name
for (const [alias, key] of Object.entries(JSON.parse(told.aliases))) {
  if (!arrived.has(alias)) continue;
  if (!arrived.has(key)) arrived.set(key, arrived.get(alias));
  arrived.delete(alias);
  history.replaceState(history.state, "", `?${arrived}`);
}
const SAID = 4000, TOGETHER = 100; // milliseconds; browsers refuse more than 200 new addresses in half a minute
let followed = false; // whether the link that led here has been followed
let arriving = true; // what changes is no step of the visitor, but the link that is followed

const text = (value) => (typeof value === "boolean" ? String(Number(value)) : String(value ?? ""));
const texts = (value) => (Array.isArray(value) && value.length ? value : [text(value)]);
const tab = (tabs) => document.querySelector(`${tabs} > .tab-wrapper [aria-selected=true]`)?.dataset.tabId;
const seen = { // what gradio hands to no event
  tab: () => tab("#tabs"), panel: () => tab("#views"),
  question: () => document.querySelector("#asked [data-question]")?.dataset.question,
  answered: () => [...document.querySelectorAll("#question-cards [data-question]")]
    .filter((card) => card.checkVisibility()).map((card) => card.dataset.question)
    .filter((key) => key !== seen.question()),
};
const lastLayer = () => Number(document.querySelector("#layer input[type=range]")?.max);
const isLast = (layer) => !document.querySelector("#answer") || Number(layer) >= lastLayer(); // after a refusal none is shown

let state = new URLSearchParams();
const remember = (values) => {
  state = new URLSearchParams();
  for (const [index, [key, arrival]] of controls.entries()) {
    let value = key in seen ? (seen[key]() ?? arrival[0]) : values[index];
    if (key === "layer" && isLast(value)) value = -1; // whichever is last
    const now = texts(value);
    if (String(now) !== String(arrival)) for (const text of now) state.append(key, text);
  } // elsewhere the page may begin with another backbone
  if (state.size && !state.has("backbone")) state.append(...controls.find(([key]) => key === "backbone").flat());
};
const others = (wanted) => [...new URLSearchParams(location.search)].filter(([key]) => wanted(key));
const written = (...all) => (all.length ? `?${new URLSearchParams(all)}` : "");
const address = () => written(...others((key) => !ours.has(key)), ...state) || location.pathname; // with the theme, for example
const query = () => written(...state, ...others((key) => key === "lang"));
const link = () => location.origin + location.pathname + query();

// An answer changes many at once, a slider every frame: values are collected once for all, behind the plots.
const collect = () => { changed.due = 0; document.querySelector("#verdict .pending") ? changed() : trigger("select"); }; // the answer may change them
const changed = () => { changed.due ||= setTimeout(() => window.allDrawn().then(collect), TOGETHER); };
for (const name of ["input", "change", "click", "keyup", "focusout"]) document.addEventListener(name, changed, true);
new MutationObserver((all) => all.some(({ target }) => !target.closest?.("svg, .plot")) && changed())
  .observe(document.body, { subtree: true, childList: true });
window.poolscope = { // called by gradio with the values of all controls, in order
  set: (...values) => {
    if (!followed) return;
    const before = state.get("tab");
    remember(values);
    const step = !arriving && state.get("tab") !== before; // the browser's Back leads to the tab before
    const to = new URL(address(), location).href; // to write the same takes longer than all else here
    if (to !== location.href) history[step ? "pushState" : "replaceState"](history.state, "", to);
    if (told.hub && parent !== window) parent.postMessage({ queryString: query().slice(1), hash: "" }, told.hub); // whose address people copy
    arriving = false;
    document.dispatchEvent(new CustomEvent("poolscope:set", { detail: state }));
  },
  followed: (...values) => {
    followed = arriving = true;
    document.getElementById("arrival")?.remove(); // the page has its own answer
    requestAnimationFrame(() => window.poolscope.set(...values)); // a tab is marked as chosen after it says so
  },
};

const [status, field] = ["[role=status]", "input"].map((part) => element.querySelector(part));
const copy = async (text, box, said) => {
  try {
    await navigator.clipboard.writeText(text);
    field.hidden = true;
    said.textContent = said.dataset.copied;
    setTimeout(() => { said.textContent = ""; }, SAID);
  } catch { // a frame may forbid it
    Object.assign(box, { hidden: false, value: text }).select();
    said.textContent = said.dataset.select;
  }
};
document.addEventListener("click", ({ target }) => { // in the dialog
  const box = target.closest("[data-cited]")?.previousElementSibling.control;
  if (box) copy(box.value, box, document.querySelector("#code [role=status]"));
});
const cards = () => [...document.querySelectorAll("h2[id$=-heading]")].filter((one) => one.checkVisibility()) // in sight
  .map((one) => [one.id.replace("-heading", ""), one.textContent, one.closest(".card")?.offsetHeight ?? 0]);
// A report is some megabytes: the server makes it while it is sent, and keeps none.
const bring = async (path, download) => {
  status.textContent = "";
  const page = location.origin + location.pathname;
  const body = JSON.stringify({ query: String(state), page, session_hash: window.__gradio_session_hash__ });
  try {
    const answer = await fetch(path, { method: "POST", body });
    if (answer.ok) {
      const href = URL.createObjectURL(await answer.blob());
      Object.assign(document.createElement("a"), { href, download }).click();
      setTimeout(() => URL.revokeObjectURL(href), 60_000);
    } else status.textContent = new DOMParser() // which runs nothing
      .parseFromString((await answer.json()).detail, "text/html").body.textContent;
  } catch {
    status.textContent = status.dataset.unreached;
  }
};
const asked = {
  copy: () => copy(link(), field, status),
  code: () => trigger("expand", { of: "code", link: link() }),
  cite: () => trigger("expand", { of: "cite", link: link() }),
  frame: () => trigger("expand", { of: "frame", link: link(), cards: cards() }),
  report: () => bring("report", "poolscope.html"),
  passport: () => bring("passport.html", "poolscope-passport.html"),
};
element.addEventListener("click", ({ target }) => asked[target.closest("button")?.dataset.share]?.());

// A link to another state of the page keeps the theme, for example.
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href^='?']");
  if (!link) return;
  const there = new URLSearchParams(link.search);
  for (const [key, text] of others((key) => key.startsWith("__"))) there.set(key, text);
  link.search = there;
  if (!link.closest("#verdict") || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault(); // what is answered stays until the next answer
  follow(history.pushState(history.state, "", link.search));
});

const follow = () => { followed = false; trigger("apply", { query: location.search, whole: true }); };
window.addEventListener("popstate", follow);
trigger("apply", { query: location.search });
