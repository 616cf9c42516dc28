() => {
  const words = document.querySelector('#talk .slide.current .words');
  const cell = words.querySelector('.cell');
  return {
    size: parseFloat(getComputedStyle(cell).fontSize) * words.closest('.shown').style.zoom / innerHeight,
    lines: new Set([...words.querySelectorAll('.head')].map((head) => head.getBoundingClientRect().y)).size,
    named: words.querySelectorAll('.names').length,
  };
}
