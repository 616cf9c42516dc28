([part, bright]) => {
    const colour = getComputedStyle(document.querySelector(part)).fill.match(/\d+/g).slice(0, 3);
    return colour.reduce((sum, one) => sum + Number(one), 0) > 3 * 128 === bright;
}
