slide => [...slide.querySelectorAll('*')]
  .filter((one) => !one.childElementCount && one.textContent.trim() && one.checkVisibility())
  .map((one) => {
    const { x, y, width, height } = one.getBoundingClientRect();
    return [one.textContent, ...[x, y, width, height].map(Math.round), getComputedStyle(one).color];
  })
