() => new Promise((failed) => {
    const last = new Image();
    last.onerror = () => setTimeout(failed);
    last.src = "/theme.css?no-image";
})
