addEventListener("beforeunload", (event) => event.stopImmediatePropagation(), true); // gradio's closes the streams, takes them for lost and loads this page again: who leaves for a slow page stays
const { language, region } = new Intl.Locale(/(?<=\/)\w\w$|$/.exec(location.pathname)[0] || "en").maximize(); // of the page, by its address
Object.defineProperty(navigator, "language", { value: `${language}-${region}` }); // gradio's own words are in the same
