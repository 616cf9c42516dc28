"""Where answers reach the browser late: what is asked meanwhile is answered, too."""

from playwright.sync_api import BrowserContext, expect

from tests.browser.lag import lagging
from tests.browser.visitor import PATIENCE, visit

LATE = 0.6  # seconds
NOTE = """() => {
    const card = document.querySelector("#detective-card");
    window.said = [];
    new MutationObserver(() => said.push(card.textContent)).observe(card, { childList: true, subtree: true });
}"""  # all that is said of a vector: the answer to another text empties that again


def test_what_is_asked_while_an_answer_is_on_its_way_is_answered(
    browser: BrowserContext, fake_url: str
) -> None:
    """The server has told the page to close its stream by then, which the page has not read yet."""
    with lagging(fake_url, LATE) as address:
        visitor = visit(browser, address, "light", 1366, 900)
        page = visitor.page
        visitor.sees_an_answer()
        visitor.looks_at("padding")
        visitor.type("1 2", "vector")
        visitor.waits_for_the_server()
        page.evaluate(NOTE)
        page.locator("#detect").click()
        page.wait_for_timeout(500 * LATE)
        visitor.type("two words")
        page.locator("#text textarea").press("Enter")
        expect(visitor.verdict).to_contain_text("1 of 4 tokens", timeout=PATIENCE)
        assert page.evaluate("said.some((one) => one.includes('This vector is cls'))")
        page.close()
    assert not visitor.faults
