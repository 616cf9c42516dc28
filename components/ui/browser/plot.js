// A plot's value: HTML above it, its figure, HTML below it. Gradio would make all of it anew; here the plot stays.
const box = element.querySelector(".plot"), ends = [box.previousElementSibling, box.nextElementSibling], shown = ["", ""];
const fill = () => [props.value[0] ?? "", props.value[2] ?? ""].forEach((html, end) => {
  if (html !== shown[end]) ends[end].innerHTML = shown[end] = html;
});
fill();
watch("value", fill);
drawPlot(box, () => props.value[1] ?? "", watch);
