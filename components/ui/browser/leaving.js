addEventListener("beforeunload", (event) => event.stopImmediatePropagation(), true); // gradio's closes the streams, takes them for lost and loads this page again: who leaves for a slow page stays
Object.defineProperty(navigator, "language", { value: /\w*$/.exec(location.pathname)[0] || "en" }); // gradio's own words are in the language of the page, which its address names
