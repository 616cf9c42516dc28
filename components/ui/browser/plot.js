drawPlot(element, props, watch);
