// What `page.py` measures in the page itself.

const measured = window.measured = {};

// From here a click counts: a script clicks an option only once its menu, which slides in, stands still.
addEventListener("pointerdown", () => { measured.pressed = performance.now(); }, true);

// Seconds from pressing a key to the second frame after it.
measured.press = async (key) => {
  const start = performance.now();
  document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  await new Promise((painted) => requestAnimationFrame(() => requestAnimationFrame(painted)));
  return (performance.now() - start) / 1000;
};

// Seconds from the last click to the first frame in which the effect is as expected.
measured.see = (effect, expected) => new Promise((there) => {
  const look = () => {
    if (effect(expected)) there((performance.now() - measured.pressed) / 1000);
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
});

// Seconds for each frame, while the slider of the layer moves by one in each, or nothing happens.
measured.slide = async (steps, seconds) => {
  const slider = document.querySelector("#layer input[type=range]");
  const start = performance.now();
  let frames = 0;
  while (performance.now() - start < 1000 * seconds) {
    if (steps) {
      slider.value = frames % (Number(slider.max) + 1);
      slider.dispatchEvent(new Event("input", { bubbles: true }));
    }
    await new Promise(requestAnimationFrame);
    frames += 1;
  }
  return (performance.now() - start) / 1000 / frames;
};
