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

// What the server drew before it is chosen comes as JSON, deflated, in base64.
const unpacked = (text) => {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
};
const SAME = { __type__: "update" }; // leaves a component as it is

// Poolings: "focus" brings the answer with each once their menu is opened. One that is chosen is drawn from here, and
// asked all the same, for whatever else depends on it; where the text or a control has changed since, it only is asked.
let poolings = null; // what came last
let overdrawn = ""; // the answer in whose place another pooling is drawn, until that is answered
const answered = () => document.querySelector("#answered textarea")?.value;
const seen = (part) => document.querySelector(part)?.checkVisibility();
const alone = () => seen("#tokens-view") && !seen("#numbers table"); // what is drawn from here, and nothing besides
const fits = (answer, besides) => poolings?.answered.includes(answer) && poolings.besides === JSON.stringify(besides);
window.poolings = { // called by gradio
  opened: (answer, _, ...besides) => {
    if (alone() && !fits(answer, besides)) trigger("focus");
  },
  came: async (sent) => {
    if (!sent) return;
    const { besides, ...rest } = await unpacked(sent);
    poolings = { ...rest, besides: JSON.stringify(besides) };
  },
  chosen: async (plots, answer, pooling, ...besides) => {
    const one = alone() && fits(answer, besides) ? poolings.poolings.indexOf(pooling) : -1;
    const same = plots.map(() => SAME);
    overdrawn = one < 0 || poolings.answered[one] === answer ? "" : answer;
    if (one < 0) return same;
    const values = poolings.parts.map(({ values, at }) => values[at[one]]);
    const first = plots.findIndex(Boolean), box = document.getElementById(plots[first]);
    const ahead = (detail) => box.dispatchEvent(new CustomEvent("poolscope:ahead", { detail }));
    ahead(values[first]);
    await new Promise((painted) => requestAnimationFrame(() => setTimeout(painted))); // the rest takes longer
    if (answered() === answer) return values;
    ahead(null); // an answer has come meanwhile
    return same;
  },
  refused: (plots) => { // what is shown is the answer before again, all of it
    const one = overdrawn ? poolings.answered.indexOf(overdrawn) : -1;
    overdrawn = "";
    return one < 0 ? plots.map(() => SAME) : poolings.parts.map(({ values, at }) => values[at[one]]);
  },
};

// Looks at the answer: drawn by the server once somebody goes near the controls, chosen from here. Events of the
// bridge bring them: "expand" every layer and centring, "like" the same from another reference, "select" every
// reference at one layer and centring. "input" asks for one that cannot be brought.
let packed = "", all = null; // what came last, as it came; and all that came of one answer
let chosen = null; // the look that the controls say, as far as they were moved
let asking = "", missed = false, wanted = false; // what is under way; since when controls were moved; to be drawn
const keep = ({ looks, complete, around, parts, ...sent }) => {
  if (all?.answered !== sent.answered || all.besides !== sent.besides) {
    all = { ...sent, values: new Map(), known: new Set(), complete: new Set(), around: new Set() };
  }
  looks.forEach((look, place) => {
    all.values.set(look, parts.map(({ values, at }) => values[at[place]]));
    all.known.add(look.split(" ", 1)[0]);
  });
  complete.forEach((reference) => all.complete.add(reference));
  around.forEach((layer) => all.around.add(layer));
};
const looked = (answered, reference, layer, centred) => { // what is chosen by now
  const last = all?.answered === answered ? all.last : 0, typed = Number.isFinite(layer) ? Math.trunc(layer) : last;
  chosen = { answered, reference, at: `${centred} ${Math.min(Math.max(typed, 0), last)}` };
  return chosen;
};
const lacking = ({ answered, reference, at }) => { // the event that brings a look; "" where it is here
  if (answered === overdrawn) return "input";
  if (all?.answered !== answered) return "expand";
  if (all.values.has(`${reference} ${at}`)) return "";
  if (!all.known.has(reference)) return all.around.has(at) ? "input" : "select";
  if (all.complete.has(reference)) return "input";
  return reference === all.own ? "expand" : "like";
};
const bring = (event) => {
  missed = Boolean(asking);
  if (asking) return;
  if (event !== "input") asking = event; // that one brings an answer
  else wanted = false;
  trigger(event);
};
const drawn = (count, { reference, at }, event) => {
  if (event) return Array(count).fill(SAME);
  wanted = false;
  return all.values.get(`${reference} ${at}`);
};
const around = () => { // whoever is at the menu of references may choose any of them
  const answer = answered();
  const layer = document.querySelector("#layer input[type=range]")?.value;
  const centred = document.querySelector("#centred input:checked")?.value;
  if (asking || all?.answered !== answer || !document.activeElement?.closest("#reference")) return;
  if (!all.around.has(`${centred} ${layer}`)) bring("select");
};
let before = Promise.resolve(); // what was called before has found its look
const inTurn = (step) => (...given) => { // to unpack takes time, in which another call must wait
  const found = before.then(() => step(...given));
  before = found.catch(() => {}); // whoever called that one hears of it
  return found;
};
window.looks = { // called by gradio
  moved: inTurn((count, ...given) => {
    const look = looked(...given), event = lacking(look);
    wanted = Boolean(event);
    if (event) bring(event);
    return drawn(count, look, event);
  }),
  came: inTurn(async (count, sent, ...given) => {
    if (sent && sent !== packed) {
      packed = sent;
      keep(await unpacked(sent));
    }
    const look = looked(...given), event = lacking(look), repeated = event === asking && !missed;
    asking = "";
    missed = false;
    if (event && wanted && !repeated) bring(event); // one that is repeated cannot be had
    else around();
    return drawn(count, look, event);
  }),
};
const near = ({ target }) => {
  const answer = answered();
  if (asking || !target.closest?.("#view, #heatmap-plot")) return;
  if (all?.answered !== answer) return bring("expand");
  const reference = chosen?.answered === answer ? chosen.reference : all.own;
  if (!target.closest("#reference") && !all.complete.has(reference)) bring(reference === all.own ? "expand" : "like");
};
document.addEventListener("pointerover", near);
document.addEventListener("focusin", near);
document.addEventListener("focusin", around);

// What is called importance, and padding, is asked after an answer where its view is open; opening it asks, too.
// The head comes with the answer where its view was open by then.
const ASKED = 60; // frames after an answer in which its views may come to be in sight
const look = (frames) => requestAnimationFrame(() => {
  if (seen("#head-view") && !document.querySelector("#head-lead")?.textContent.trim()) trigger("edit");
  else if (seen("#importance-view")) trigger("apply");
  else if (seen("#padding-view")) trigger("tick");
  else if (frames && !seen("#views")) look(frames - 1);
});
window.answered = () => { // called by gradio
  overdrawn = "";
  look(ASKED);
};

// A click on a row of the heat map chooses that layer.
document.addEventListener("poolscope:picked", ({ detail: { name, y } }) => {
  if (name !== "heatmap") return;
  const slider = document.querySelector("#layer input[type=range]");
  slider.value = y;
  slider.dispatchEvent(new Event("input", { bubbles: true }));
});
