// The document is in the language whose link is the current one; another one keeps all else in the address.
const links = element.querySelector("#languages");
document.documentElement.lang = links.querySelector("[aria-current]").lang;
element.querySelector(".skip").onclick = (event) => { event.preventDefault(); document.querySelector("#verdict .prose").focus(); };
links.addEventListener("click", ({ target }) => {
  const link = target.closest("a"), address = new URLSearchParams(location.search);
  address.set("lang", link?.lang);
  if (link) link.search = address;
});
