// The talk's end of the room: if this browser leads, tells the server where the talk is, and shows what it says of
// votes. Nothing waits for it: a step is there at once, whatever becomes of the network.

const talk = document.getElementById("talk");
const { choices, said } = JSON.parse(element.querySelector("[data-room]").dataset.room);
const SECOND = 1000; // milliseconds between two looks at the votes
const told = () => [...talk.querySelectorAll(".slide[data-told]")];
const fill = (text, values) => text.replace(/{(\w+)}/g, (_, name) => values[name]);
const place = () => {
  const slides = told(), step = 1 + slides.findIndex((slide) => slide.classList.contains("current"));
  const on = talk.classList.contains("on");
  return { talk: talk.dataset.name, step: on ? step : 0, asking: on && (slides[step - 1]?.classList.contains("asking") ?? false) };
};
const line = (tag, text, share) => {
  const one = document.createElement(tag);
  one.textContent = text;
  if (share !== undefined) one.style.setProperty("--share", share);
  return one;
};
const drawn = (offered, { asking, tally, votes }) => {
  const box = document.createElement("div"), list = document.createElement("ul");
  box.className = "room";
  const total = tally?.reduce((sum, one) => sum + one, 0);
  list.append(...offered.map((choice, at) => (asking ? line("li", choice)
    : line("li", fill(said.share, { choice, votes: tally[at], total }), tally[at] / Math.max(total, 1)))));
  list.setAttribute("aria-label", said.tally);
  const code = asking && document.querySelector("#slide-end .invitation svg")?.cloneNode(true);
  if (code) box.append(code);
  box.append(list);
  if (asking) box.append(line("p", `${said.join} ${fill(said.votes, { votes })}`));
  return box;
};
const draw = (answer) => {
  const offered = choices[answer.talk]?.[answer.step - 1] ?? [];
  const slide = told()[answer.step - 1];
  talk.querySelectorAll(".slide .room").forEach((one) => { if (!slide?.contains(one)) one.remove(); });
  const old = slide?.querySelector(".room");
  const box = offered.length && (answer.round || (answer.tally && !answer.asking)) ? drawn(offered, answer) : null;
  if (!slide || (old && box && old.isEqualNode(box))) return;
  old?.remove();
  if (box) slide.firstElementChild.append(box);
};
let busy = false, sent = "";
const tell = async (again = false) => { // one at a time, and the last place at last
  if (busy || (!again && JSON.stringify(place()) === sent)) return;
  busy = true;
  const here = JSON.stringify(place());
  try {
    const answer = await fetch("./room/at", { method: "POST", body: here });
    if (answer.ok && here === JSON.stringify(place())) draw(await answer.json());
    sent = here;
  } catch { setTimeout(tell, SECOND); return; } // no network: try again
  finally { busy = false; }
  tell();
};
fetch("./room/lead").then((answer) => answer.json()).then(({ leads }) => {
  if (!leads) return;
  new MutationObserver(() => tell()).observe(talk, { attributeFilter: ["class", "data-name"], subtree: true });
  setInterval(() => { if (place().asking) tell(true); }, SECOND);
  tell(true);
});
