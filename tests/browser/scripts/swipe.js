([x, y]) => {
  const shown = document.querySelector('#talk .slide.current .shown');
  const at = (clientX, clientY) => new Touch({ identifier: 1, target: shown, clientX, clientY });
  const say = (name, touches, changedTouches) =>
    shown.dispatchEvent(new TouchEvent(name, { touches, changedTouches, bubbles: true }));
  say('touchstart', [at(150, 300)], []);
  say('touchend', [], [at(150 + x, 300 + y)]);
}
