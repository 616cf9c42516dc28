() => {
    window.drawings = 0;
    document.querySelector("#heatmap-plot .js-plotly-plot").on("plotly_react", () => window.drawings++);
}
