addEventListener("beforeunload", (event) => event.stopImmediatePropagation(), true); // gradio's closes the streams, takes them for lost and loads this page again: who leaves for a slow page stays
