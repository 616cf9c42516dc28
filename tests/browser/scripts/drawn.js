([name, figure]) => {
    const plot = document.querySelector(`#${name}-plot .js-plotly-plot`);
    const { data, layout } = JSON.parse(figure);
    const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);
    for (const axis of [plot.layout.xaxis, plot.layout.yaxis]) delete axis?.type; // Plotly writes it there
    return same(plot.data, data) && Object.keys(layout).every((key) => same(plot.layout[key], layout[key]));
}
