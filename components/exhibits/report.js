// Draws every figure of the report into its box.
for (const figure of document.querySelectorAll("script[data-figure]")) {
  const { data, layout } = JSON.parse(figure.textContent);
  const box = document.querySelector(`#${figure.dataset.figure}-plot > div`);
  Plotly.newPlot(box, data, { ...layout, autosize: true }, { responsive: true, displayModeBar: false });
}
