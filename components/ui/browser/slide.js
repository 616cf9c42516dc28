// A slide's plots have their figures in them, and are drawn as often as it comes.
watch("value", () => requestAnimationFrame(() => element.querySelectorAll(".plot").forEach((box) => drawPlot(box, () => box.lastElementChild.textContent, () => {}))));
