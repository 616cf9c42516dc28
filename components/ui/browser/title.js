// The document is in the language whose link is the current one.
const links = element.querySelector("#languages");
document.documentElement.lang = links.querySelector("[aria-current]").lang;

element.querySelector(".skip").onclick = (event) => { event.preventDefault(); document.querySelector("#verdict .prose").focus(); };

// Another language keeps everything else that stands in the address.
links.addEventListener("click", (event) => {
  const link = event.target.closest("a");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return; // those open another window
  event.preventDefault();
  const address = new URL(location.href);
  address.searchParams.set("lang", link.lang);
  location.assign(address);
});
