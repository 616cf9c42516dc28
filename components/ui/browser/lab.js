// A file is read here, in the browser, and its text put into the box of the table, as if it had been pasted: nothing
// is uploaded as a file. Notes what is cancelled.
const [input, said, encoding] = ["input[type=file]", "[role=status]", "select"].map((part) => element.querySelector(part));
const zone = document.getElementById("lab");
let last; // the file, to be read again in another encoding
const read = async (file) => {
  if (!file) return;
  if (file.size > Number(input.dataset.most)) return Object.assign(said, { textContent: said.dataset.large }); // it is not even looked at
  last = file;
  const box = document.querySelector("#lab-table textarea");
  const bytes = new Uint8Array(await file.arrayBuffer());
  const code = { "255,254": "utf-16le", "254,255": "utf-16be" }[bytes.slice(0, 2).join()] ?? encoding.value;
  box.value = new TextDecoder(code).decode(bytes); // what is none becomes U+FFFD, which the server speaks of
  box.dispatchEvent(new Event("input", { bubbles: true }));
  said.textContent = `${said.dataset.read} ${file.name}`;
};
const holdsFile = (event) => [...event.dataTransfer.types].includes("Files");
input.addEventListener("change", () => {
  read(input.files[0]);
  input.value = ""; // so that the same file can be chosen again once it has changed
});
encoding.addEventListener("change", () => read(last));
zone.addEventListener("click", (event) => { // a fit that is cancelled is a failure to gradio, as one that is refused
  const button = event.target.closest("#lab-start, #lab-cancel");
  if (button) zone.dataset.cancelled = button.id === "lab-cancel";
}, true);
zone.addEventListener("dragover", (event) => { if (holdsFile(event)) event.preventDefault(); }, true); // not to open it
zone.addEventListener("drop", (event) => {
  if (!holdsFile(event)) return;
  event.preventDefault();
  event.stopPropagation();
  read(event.dataTransfer.files[0]);
}, true);
