// Runs once, when the button is there. On a phone the answer comes first: below it, this folds the question out.

const button = element.querySelector("button");
const asking = element.closest("#asking");
const fold = (open) => {
  asking.toggleAttribute("data-open", open); // which gradio leaves alone, unlike classes
  button.setAttribute("aria-expanded", String(open));
  if (open) document.querySelector("#verdict").scrollIntoView(); // which then answers above what is typed
};
button.addEventListener("click", () => fold(!asking.hasAttribute("data-open")));
asking.addEventListener("click", (event) => {
  if (event.target.closest("#examples button")) fold(false); // that is a whole question
});
