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
const part = (tag, className, ...children) => {
  const one = Object.assign(document.createElement(tag), { className });
  one.append(...children);
  return one;
};
const sum = (counts) => counts.reduce((total, one) => total + one, 0);
const votes = (counts) => { // below a question that stands alone: how to vote, and how many have
  const code = document.querySelector("#slide-end .invitation svg")?.cloneNode(true) ?? "";
  const line = part("p", "", `${said.join} ${fill(said.votes, { votes: sum(counts) })}`);
  return part("div", "room votes", code, line);
};
const tally = (counts, offered) => { // beside the answer
  const total = sum(counts), list = part("ul", "");
  list.setAttribute("aria-label", said.tally);
  list.append(...offered.map((choice, at) => {
    const one = part("li", "", fill(said.share, { choice, votes: counts[at], total }));
    one.style.setProperty("--share", counts[at] / Math.max(total, 1));
    return one;
  }));
  return part("div", "room", list);
};
const draw = ({ talk: name, step, asking, counts }) => {
  const slide = told()[step - 1];
  talk.querySelectorAll(".slide .room").forEach((one) => { if (!slide?.contains(one)) one.remove(); });
  if (!slide) return;
  slide.dataset.counts = JSON.stringify(counts); // for the speaker's window
  const old = slide.querySelector(".room");
  const box = counts && (asking ? votes(counts) : sum(counts) ? tally(counts, choices[name][step - 1]) : null);
  if (!box || old?.className !== box.className) old?.remove();
  if (box && !old?.isConnected) slide.firstElementChild.append(box);
  else if (box && !old.isEqualNode(box)) old.replaceChildren(...box.childNodes);
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
  talk.classList.add("led"); // questions leave room for how to vote
  new MutationObserver(() => tell()).observe(talk, { attributeFilter: ["class", "data-name"], subtree: true });
  setInterval(() => { if (place().asking) tell(true); }, SECOND);
  tell(true);
});
