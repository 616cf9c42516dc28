// A card that is pressed waits for its answer, which fills it and comes in sight above the tabs. One is asked at a time.
const asked = []; // buttons
const fill = () => { for (const [key, html] of props.value) document.getElementById(`question-${key}`).lastElementChild.innerHTML = html; };
fill();
watch("value", fill);
const ask = () => {
  const { ask: question, own } = asked[0]?.dataset ?? {};
  if (question) own === undefined ? trigger("select", { question }) : trigger("input", { question });
};
element.addEventListener("click", ({ target }) => {
  const button = target.closest("[data-ask]");
  if (!button || asked.includes(button)) return;
  button.parentElement.ariaBusy = "true";
  if (asked.push(button) === 1) ask();
});
document.addEventListener("poolscope:told", () => requestAnimationFrame(() => {
  const button = asked.shift();
  button.parentElement.ariaBusy = null;
  document.querySelector(`#asked [data-question="${button.dataset.ask}"]`)?.scrollIntoView();
  ask();
}));
