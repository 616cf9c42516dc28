// A phone in the room: follows the talk, and votes. What it voted is kept on the phone alone, so that a reload
// gives no second vote; each question gets a new random token.

const { talks, said } = JSON.parse(document.getElementById("talks").textContent);
const find = (id) => document.getElementById(id);
const fill = (text, values) => text.replace(/{(\w+)}/g, (_, name) => values[name]);
const asked = new URLSearchParams(location.search).get("__theme");
const dark = asked ? asked === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
document.documentElement.dataset.theme = dark ? "dark" : "light";

const KEPT = "poolscope-room";
let memory = "{}"; // where the browser keeps nothing
const read = () => {
  try { return JSON.parse(localStorage.getItem(KEPT) ?? memory); } catch { return JSON.parse(memory); }
};
const write = (vote) => {
  memory = JSON.stringify(vote);
  try { localStorage.setItem(KEPT, memory); } catch { /* then it is kept until the page is left */ }
};
const token = () => [...crypto.getRandomValues(new Uint32Array(4))].map((one) => one.toString(16)).join("");
const own = (name) => { // this phone's token and vote in a round
  const kept = read();
  return kept.round === name ? kept : { round: name, phone: token(), choice: null };
};

let now = null; // where the talk is, as the server says
let stream = null; // null while the phone does not follow
const vote = async (choice) => {
  const mine = { ...own(now.round), choice };
  write({ ...mine, choice: own(now.round).choice }); // the token, whatever becomes of the vote
  try {
    const answer = await fetch("./room/vote", { method: "POST", body: JSON.stringify(mine) });
    if (!answer.ok) { find("voted").textContent = (await answer.json()).detail; return; }
    write({ ...mine, step: now.step, talk: now.talk });
    render();
  } catch { find("voted").textContent = said.unreached; }
};
const button = (text, place) => {
  const one = document.createElement("button");
  one.type = "button";
  one.textContent = text;
  one.setAttribute("aria-pressed", own(now.round).choice === place);
  one.addEventListener("click", () => vote(place));
  return one;
};
const bar = (text, place) => {
  const one = document.createElement("p"), line = document.createElement("i"), kept = read();
  const total = now.tally.reduce((sum, count) => sum + count, 0);
  one.textContent = fill(said.share, { choice: text, votes: now.tally[place], total });
  if (kept.talk === now.talk && kept.step === now.step && kept.choice === place) one.className = "own";
  line.style.width = `${100 * now.tally[place] / Math.max(total, 1)}%`;
  one.append(line);
  return one;
};
const render = () => {
  find("follow").textContent = stream ? said.leave : said.follow;
  const slides = talks[now?.talk] ?? [], slide = slides[(now?.step ?? 0) - 1];
  find("slide").hidden = !stream || !slide;
  if (!stream) find("where").textContent = said.away;
  else if (!slide) find("where").textContent = said.before;
  if (!stream || !slide) return;
  find("where").textContent = fill(said.slide, { step: now.step, total: slides.length });
  find("caption").textContent = now.asking && slide.ask ? slide.ask : slide.caption;
  const drawn = now.round ? slide.choices.map(button) : now.tally ? slide.choices.map(bar) : [];
  find("choices").replaceChildren(...drawn);
  const mine = now.round && own(now.round).choice !== null;
  find("voted").textContent = mine ? said.counted : now.round ? said.vote : now.asking ? said.aloud : "";
  find("try").hidden = now.asking; // it would show the answer
  find("try").href = slide.link;
};
const follow = () => {
  stream = new EventSource("./room/now");
  stream.onmessage = ({ data }) => { now = JSON.parse(data); render(); };
  stream.onerror = () => { // the browser tries again by itself, unless it was refused
    find("where").textContent = said.unreached;
    if (stream?.readyState === EventSource.CLOSED) setTimeout(() => { if (stream) follow(); }, 3000);
  };
};
find("follow").addEventListener("click", () => {
  if (stream) { stream.close(); stream = null; } else follow();
  render();
});
find("theme").addEventListener("click", () => {
  const { dataset } = document.documentElement;
  dataset.theme = dataset.theme === "dark" ? "light" : "dark";
});
follow();
render();
