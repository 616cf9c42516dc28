// Makes what is on each sheet as large as fits; the arrow keys, a clicker and Space go from sheet to sheet.

const main = document.querySelector("main");
const sheets = [...document.querySelectorAll(".sheet")];
const LARGEST = 2.2, LARGEST_PLOT = 1.5, SMALLEST = 0.15, TURNS = 9;
const fit = (sheet) => {
  const stage = sheet.querySelector(".stage"), card = stage.firstElementChild;
  const fits = (zoom) => { // what is narrower may be higher
    card.style.width = `${stage.clientWidth / zoom}px`;
    return card.scrollHeight * zoom <= stage.clientHeight && card.scrollWidth * zoom <= stage.clientWidth + 1;
  };
  let zoom = SMALLEST, most = card.querySelector(".plot") ? LARGEST_PLOT : LARGEST;
  for (let turn = 0; turn < TURNS; turn++) {
    const middle = turn ? (zoom + most) / 2 : most;
    if (fits(middle)) zoom = middle;
    else most = middle;
  }
  fits(zoom);
  card.style.setProperty("--larger", zoom);
  for (const plot of card.querySelectorAll(".js-plotly-plot")) Plotly.Plots.resize(plot);
};
const all = () => { // a sheet has one size; a narrow window shows it smaller
  main.style.zoom = 1;
  sheets.forEach(fit);
  const width = sheets[0] ? sheets[0].offsetWidth + 32 : innerWidth; // and what is around it
  main.style.zoom = Math.min(1, document.documentElement.clientWidth / width);
};
all();
addEventListener("load", all);
addEventListener("resize", all);
document.getElementById("notes").addEventListener("change", all);
document.getElementById("print").addEventListener("click", () => print());

const WALKS = { arrowright: 1, pagedown: 1, " ": 1, arrowdown: 1, arrowleft: -1, pageup: -1, arrowup: -1 };
addEventListener("keydown", (event) => {
  const walk = WALKS[event.key.toLowerCase()];
  if (!walk || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("button, input, a, .plot")) return;
  event.preventDefault();
  const tops = sheets.map((sheet) => Math.abs(sheet.getBoundingClientRect().top));
  const there = sheets[tops.indexOf(Math.min(...tops)) + walk];
  (there ?? (walk < 0 ? main : sheets.at(-1))).scrollIntoView();
});
