async () => {
    for (let frame = 0; frame < 4; frame++) await new Promise(requestAnimationFrame);  // an answer is drawn
    const seen = (part) => [...document.querySelectorAll(part)].filter((one) => one.checkVisibility());
    const name = (one) => one.closest(".block[id], .plot[id]")?.id;
    const value = (one) => one.type === "radio" || one.type === "checkbox" ? one.checked : "";
    const values = (part) => seen(part).map((one) => `${name(one)}: ${one.value} ${value(one)}`);
    const axes = (layout) => Object.keys(layout).filter((key) => /^[xy]axis/.test(key)).sort()
        .map((key) => [key, layout[key].title?.text, layout[key].ticktext]);
    return {
        tabs: seen("[role=tab][aria-selected=true]").map((one) => one.innerText),
        asked: values(":is(#compare-texts, #compare-choice, #compare-versions) :is(input, textarea)"),
        chosen: seen("#tabs .block[id]:has(input) .token").map((one) => `${name(one)}: ${one.innerText}`),
        text: seen("#asked, #tabs").map((one) => one.innerText),
        values: values("#tabs :is(input, textarea)"),
        plots: seen(".js-plotly-plot").map((one) => [name(one), one.data, axes(one.layout)]),
    };
}
