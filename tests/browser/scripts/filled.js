() => {
  const shown = document.querySelector('#talk .slide.current .shown');
  return shown.getBoundingClientRect().height > innerHeight / 2;
}
