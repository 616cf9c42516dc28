// Unpacks the document in the element before this script, and becomes that document.
(async (packed) => {
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const html = await new Response(stream).text();
  document.open();
  document.write(html);
  document.close();
})(document.currentScript.previousElementSibling.textContent);
