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

// Every look at the answer: drawn by the server once somebody goes near the controls, chosen from here.
const SAME = { __type__: "update" }; // leaves a component as it is
let packed = "", all = null; // as they came, and unpacked
let asking = false, missed = false; // whether they are on their way, and the controls were moved meanwhile
const bring = () => {
  missed = asking;
  if (!asking) trigger("expand");
  asking = true;
};
const unpacked = (text) => {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
};
const at = async (sent, answered, layer, centred) => { // the values of what is drawn; null without looks
  if (sent && sent !== packed) [packed, all] = [sent, await unpacked(sent)];
  if (all?.answered !== answered) return null;
  const last = all.layers - 1, typed = Number.isFinite(layer) ? Math.trunc(layer) : last;
  const look = all.centrings.indexOf(centred) * all.layers + Math.min(Math.max(typed, 0), last);
  return all.parts.map(({ values, at: places }) => values[places[look]]);
};
window.looks = { // called by gradio
  moved: async (count, ...given) => {
    const values = await at(...given);
    if (!values) bring();
    return values ?? Array(count).fill(SAME);
  },
  came: async (count, ...given) => {
    asking = false;
    const values = await at(...given);
    if (!values && missed) bring(); // they are of an older answer
    return values ?? Array(count).fill(SAME);
  },
};
const near = ({ target }) => {
  const answered = document.querySelector("#answered textarea")?.value;
  if (target.closest?.("#layer, #centred, #heatmap-plot") && all?.answered !== answered && !asking) bring();
};
document.addEventListener("pointerover", near);
document.addEventListener("focusin", near);

// A click on a row of the heat map chooses that layer.
document.addEventListener("poolscope:picked", ({ detail: { name, y } }) => {
  if (name !== "heatmap") return;
  const slider = document.querySelector("#layer input[type=range]");
  slider.value = y;
  slider.dispatchEvent(new Event("input", { bubbles: true }));
});
