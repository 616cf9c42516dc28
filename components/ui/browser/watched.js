watch("value", () => window.allDrawn().then(() => element.parentElement.checkVisibility() && trigger("select")));
