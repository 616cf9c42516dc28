// The talk's end of the room: if this browser leads, the server is told where the talk is, and shows its votes.

const talk = document.getElementById("talk");
const AGAIN = 300; // milliseconds between two looks at where the talk is
const current = () => talk.querySelector(".slide.current[data-told]");
const isAsking = () => talk.classList.contains("on") && (current()?.classList.contains("asking") ?? false);
const place = () => {
  const slides = [...talk.querySelectorAll(".slide[data-told]")];
  const step = talk.classList.contains("on") ? 1 + slides.indexOf(current()) : 0;
  return JSON.stringify({ talk: talk.dataset.name, step, asking: isAsking() });
};
const show = (html) => { // how to vote, below a question that stands alone; the tally, beside the answer
  const slide = current(), old = slide?.querySelector(".room") ?? null;
  for (const one of talk.querySelectorAll(".slide .room")) if (one !== old) one.remove();
  if (!slide || !html) return old?.remove();
  const box = old ?? slide.querySelector(".said").appendChild(Object.assign(document.createElement("div"), { className: "room" }));
  if (box.dataset.votes !== html) box.innerHTML = box.dataset.votes = html;
  const code = document.querySelector("#slide-end .invitation :is(svg, .near)"); // comes last
  if (code && !box.querySelector(".votes :is(svg, .near)")) box.querySelector(".votes")?.prepend(code.cloneNode(true));
};
const lead = async () => {
  for (let sent = "", next = 0; ; await new Promise((later) => setTimeout(later, AGAIN))) {
    const now = place();
    if (now === sent && !(isAsking() && Date.now() > next)) continue;
    try {
      const answer = await fetch("./room/at", { method: "POST", body: now });
      if (answer.ok && now === place()) show(await answer.text());
      [sent, next] = [now, Date.now() + 1000]; // so often votes are counted
    } catch { /* no network: it is tried again */ }
  }
};
fetch("./room/lead").then((answer) => answer.json()).then(({ leads }) => {
  if (!leads) return;
  talk.classList.add("led"); // questions leave room for how to vote
  lead();
});
