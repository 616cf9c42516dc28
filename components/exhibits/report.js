// Draws every figure of a document, and what its reader chooses to look at, where it brings the frames of that.
const again = []; // what draws a figure where it has changed
for (const box of document.querySelectorAll(".plot")) drawPlot(box, () => box.lastElementChild.textContent, (_, draw) => again.push(draw));
const [look, packed] = ["look", "frames"].map((id) => document.getElementById(id));
if (packed) unpacked(packed).then((frames) => {
  const places = document.querySelectorAll("[data-parts]");
  look.addEventListener("input", () => {
    const shown = drawFrames(0, frames, "", look.layer.valueAsNumber, look.centred.value);
    for (const place of places) place.innerHTML = shown.splice(0, place.dataset.parts).join("");
    again.forEach((draw) => draw());
  });
  look.hidden = false;
});
