() => {
    const found = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node; (node = walker.nextNode()); ) {
        const parent = node.parentElement;
        if (parent.closest("script, style, code, pre, footer, textarea, .cm-editor, [lang=en]")) continue;
        if (parent.checkVisibility() && node.textContent.trim()) found.push(node.textContent.trim());
    }
    const named = document.querySelectorAll("[aria-label], [placeholder], [title]");
    for (const one of named)
        if (one.checkVisibility() && !one.closest("footer, code, pre, .cm-editor, .modebar"))
            found.push(...["placeholder", "title"].map((name) => one.getAttribute(name) || ""));
    return found;
}
