() => Math.max(...[...document.querySelectorAll("*")].flatMap((one) => {
    const style = getComputedStyle(one);
    return `${style.transitionDuration},${style.animationDuration}`.split(",").map(parseFloat);
}))
