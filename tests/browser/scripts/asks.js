() => {
  const words = document.createRange();
  words.selectNodeContents(document.querySelector('#talk .slide.current .question'));
  const at = words.getBoundingClientRect();
  const below = document.querySelector('#talk .slide.current .asked')?.getBoundingClientRect().bottom ?? 0;
  const middle = (at.top + at.bottom) / 2 / innerHeight;
  return at.top >= below && at.left >= 0 && at.right <= innerWidth && middle > 0.3 && middle < 0.7;
}
