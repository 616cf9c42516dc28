// A slide's plots have their figures in them, and are drawn as often as it comes.
const draw = (box) => drawPlot(box, () => box.lastElementChild.textContent, () => {});
watch("value", () => requestAnimationFrame(() => element.querySelectorAll(".plot").forEach(draw)));
