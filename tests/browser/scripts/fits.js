() => [...document.querySelectorAll('#talk .slide[data-told]')].every((slide) => {
  const shown = slide.querySelector('.shown'), place = shown.getBoundingClientRect();
  const boxes = [...shown.querySelectorAll('*')].filter((box) => box.clientWidth > 1); // less: not for eyes
  const cut = boxes.some((box) => box.scrollWidth > box.clientWidth + 1 &&
    getComputedStyle(box).overflowX !== 'visible');
  const right = place.left + shown.scrollWidth * shown.style.zoom;
  return !cut && place.bottom <= slide.getBoundingClientRect().bottom + 1 && right <= innerWidth + 1;
})
