watch("value", () => requestAnimationFrame(() => drawPlots(element)));
