() => {
    const one = document.activeElement;
    const style = getComputedStyle(one);
    const width = style.outlineStyle === "solid" ? parseFloat(style.outlineWidth) : 0;
    const name = one.innerText?.trim() || one.ariaLabel || one.id || one.tagName;
    return [one === document.body ? "BODY" : name.slice(0, 40), width];
}
