() => {
    const card = document.querySelector("#detective-card");
    window.said = [];
    new MutationObserver(() => said.push(card.textContent)).observe(card, { childList: true, subtree: true });
}
