() => {
  const [slide, ...others] = document.querySelectorAll('#talk .slide.current');
  const plots = [...slide.querySelectorAll('.shown .js-plotly-plot')];
  return !others.length && slide.checkVisibility() && plots.every((plot) => plot.querySelector('.main-svg'));
}
