// A card that is pressed waits for its answer, which fills it and comes in sight above the tabs.
const asked = []; // keys, in the order of their answers
const card = (key) => document.getElementById(`question-${key}`);
const fill = () => { for (const [key, html] of props.value) card(key).lastElementChild.innerHTML = html; };
fill();
watch("value", fill);
element.addEventListener("click", ({ target }) => {
  const { ask: key, own } = target.closest("button")?.dataset ?? {};
  if (!key || asked.includes(key)) return;
  card(key).ariaBusy = Boolean(asked.push(key));
  trigger(own === undefined ? "select" : "input", { question: key });
});
document.addEventListener("poolscope:told", () => requestAnimationFrame(() => {
  const [key] = asked.splice(0, 1);
  card(key).ariaBusy = null;
  document.querySelector(`#asked [data-question="${key}"]`)?.scrollIntoView();
}));
