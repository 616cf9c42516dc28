// Says when something else is set than what is shown was asked.
const note = element.querySelector("[role=status]");
const status = document.getElementById("compare-status");
let set = null; // what is set now, as a link would hold it
let asked = null; // and what the comparison that is shown was asked
let keys = []; // of the controls that ask it

const told = (link) => JSON.stringify(keys.map((key) => link.getAll(key)));
const compare = () => {
  note.hidden = !(set && asked && !status.querySelector("progress")) || told(set) === told(asked);
};
new MutationObserver(() => {
  const now = status.querySelector("[data-asked]");
  if (now) { // a refusal leaves what is shown as it is
    asked = new URLSearchParams(now.dataset.asked);
    keys = now.dataset.keys.split(" ");
  }
  compare();
}).observe(status, { childList: true, subtree: true, attributeFilter: ["data-asked"] });
document.addEventListener("poolscope:set", ({ detail }) => { set = detail; compare(); });
