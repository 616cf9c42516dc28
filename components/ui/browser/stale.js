// Says when something else is set than what is shown was asked.
const note = element.querySelector("[role=status]");
const status = document.getElementById("compare-status");
let set = null; // what is set now, as a link would hold it
let shown = null; // and what the comparison that is shown was asked, with the keys of the controls that ask it

const told = (link) => JSON.stringify(shown.keys.split(" ").map((key) => link.getAll(key)));
const compare = () => {
  const waits = !set || !shown || status.querySelector("progress");
  note.hidden = waits || told(set) === told(new URLSearchParams(shown.asked));
};
new MutationObserver(() => {
  shown = status.querySelector("[data-asked]")?.dataset ?? shown; // a refusal leaves what is shown as it is
  compare();
}).observe(status, { childList: true, subtree: true, attributeFilter: ["data-asked"] });
document.addEventListener("poolscope:set", ({ detail }) => { set = detail; compare(); });
