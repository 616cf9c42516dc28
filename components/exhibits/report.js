// Draws every figure of the report into its box.
for (const plot of document.querySelectorAll(".plot > div")) {
  const { data, layout } = JSON.parse(plot.nextElementSibling.textContent);
  Plotly.newPlot(plot, data, { ...layout, autosize: true }, { responsive: true, displayModeBar: false });
}
