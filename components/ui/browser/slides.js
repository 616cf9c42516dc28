// Each slide's HTML, null for one that stays; its plots have their figures in them, and are drawn as often as it comes.
const shown = [], draw = (box) => drawPlot(box, () => box.lastElementChild.textContent, () => {});
const fill = (html, place) => {
  if (html === null || html === shown[place]) return;
  element.children[place].innerHTML = shown[place] = html;
  requestAnimationFrame(() => html === shown[place] && element.children[place].querySelectorAll(".plot").forEach(draw));
};
watch("value", () => props.value.forEach(fill));
