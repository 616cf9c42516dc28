// Saves a plot as an image, by Plotly's own export: the plot as it stands, under its heading, on a solid
// background. Runs once, on the page and in a report; a button says by its data which plot it saves, and how.

const HEADING = 17, WORDS = 13, BASE = 15; // pixels, of letters; the base sets the distance of lines
const LINE = 1.3 * BASE;
const EDGE = 16; // around the words
const GAP = "\u2003"; // between two entries of a legend
const SCALE = 96; // pixels that a colour scale takes at the right
const CLEAR = /^(transparent|rgba\(.*, 0\))$/;

const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

// Lines that fit; what is too long for one is cut where it must be.
const wrapped = (text, fits) => {
  const lines = [""];
  for (const part of text.split(/(\s+)/).flatMap((word) => (fits(word) ? [word] : [...word]))) {
    if (fits(lines.at(-1) + part)) lines[lines.length - 1] += part;
    else lines.push(part.trimStart());
  }
  return lines.map((line) => line.trim()).filter(Boolean);
};

// The colour behind an element: the first that can be seen of those it stands on.
const behind = (element) => {
  for (let one = element; one; one = one.parentElement) {
    const colour = getComputedStyle(one).backgroundColor;
    if (!CLEAR.test(colour)) return colour;
  }
  return "#ffffff";
};

const small = (line) => `<span style="font-size:${WORDS}px">${escaped(line)}</span>`;

// The card's legend: what each of its colours means.
const legend = (card) =>
  [...(card?.querySelectorAll(".legend li") ?? [])].map((item) => {
    const key = item.querySelector(".key");
    const colour = key ? getComputedStyle(key).backgroundColor : "";
    return { colour: CLEAR.test(colour) ? "" : colour, words: item.innerText.trim() };
  });

// What is written above an image, as Plotly reads it, and how high that is.
const above = (button, width, family) => {
  const pen = document.createElement("canvas").getContext("2d");
  const fitting = (weight, size) => (line) => {
    pen.font = `${weight} ${size}px ${family}`;
    return pen.measureText(line).width <= width - 2 * EDGE;
  };
  const fits = fitting(400, WORDS);
  const heading = document.getElementById(`${button.dataset.plot}-heading`)?.innerText ?? "";
  const lines = [
    ...wrapped(heading, fitting(700, HEADING)).map((line) => `<b style="font-size:${HEADING}px">${escaped(line)}</b>`),
    ...wrapped(button.dataset.about ?? "", fits).map(small),
  ];
  let last = ""; // the words of the last line, if it is the legend's
  for (const { colour, words } of legend(button.closest(".card"))) {
    const dot = colour ? "● " : "";
    const [first, ...rest] = wrapped(dot + words, fits);
    const entry = dot ? `<span style="color:${colour}">●</span>${small(first.slice(1))}` : small(first);
    const beside = last && !rest.length && fits(last + GAP + first);
    if (beside) lines[lines.length - 1] += GAP + entry;
    else lines.push(entry, ...rest.map(small));
    last = beside ? last + GAP + first : rest.at(-1) ?? first;
  }
  return { text: lines.join("<br>"), height: Math.ceil(lines.length * LINE + 2 * EDGE) };
};

const image = (plot, button) => {
  const { width, height } = plot._fullLayout;
  const { color, fontFamily } = getComputedStyle(plot);
  const title = above(button, width, fontFamily);
  const data = structuredClone(plot.data);
  const margin = { ...plot.layout.margin, t: plot.layout.margin.t + title.height };
  const layout = {
    ...structuredClone(plot.layout),
    width,
    height: height + title.height,
    margin,
    paper_bgcolor: behind(plot),
    font: { ...plot.layout.font, color, family: fontFamily.replaceAll('"', "'") },
    title: {
      text: title.text,
      font: { size: BASE },
      x: EDGE / width, xref: "container", xanchor: "left",
      y: 1 - (EDGE + HEADING / 2) / (height + title.height), yref: "container", yanchor: "top", // of the first line's middle
    },
  };
  if (button.dataset.scale) { // on the page it stands beside the plot
    const words = { text: escaped(button.dataset.scale), side: "right", font: { size: WORDS } };
    Object.assign(data[0], { showscale: true, colorbar: { ...data[0].colorbar, title: words, thickness: 12, outlinewidth: 0 } });
    layout.width += SCALE;
    margin.r += SCALE;
  }
  return { data, layout };
};

document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-export]");
  const plot = button && document.querySelector(`#${button.dataset.plot}-plot .js-plotly-plot`);
  if (!plot) return;
  const format = button.dataset.export, { data, layout } = image(plot, button), { width, height } = layout;
  const filename = `poolscope-${button.dataset.plot}`;
  window.Plotly.downloadImage({ data, layout }, { format, filename, width, height, scale: format === "png" ? 2 : 1 });
});
