// The theme, before gradio chooses it; and where a link asks something else, the first answer goes at once.
{
  const asked = new URLSearchParams(location.search), dark = matchMedia("(prefers-color-scheme: dark)").matches;
  document.body.classList.toggle("dark", asked.has("__theme") ? asked.get("__theme") === "dark" : dark);
  if ([...asked.keys()].some((key) => !["lang", "__theme"].includes(key))) document.getElementById("arrival").remove();
}
