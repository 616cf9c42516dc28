watch("value", () => requestAnimationFrame(() => element.parentElement.checkVisibility() && trigger("select")));
