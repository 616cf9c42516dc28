// A plot's value: HTML above it, its figure, HTML below it. Gradio would make all of it anew; here the plot stays.
element.innerHTML = `<div class="prose gradio-style"></div><div class="plot"><div></div></div><div class="prose gradio-style"></div>`;
const [above, box, below] = element.children;
box.id = `${element.parentElement.closest(".card").id}-plot`;
const put = (end, html = "") => { if (html !== end.shown) end.innerHTML = end.shown = html; };
const fill = () => { put(above, props.value[0]); put(below, props.value[2]); };
fill();
watch("value", fill);
drawPlot(box, () => props.value[1] ?? "", watch);
