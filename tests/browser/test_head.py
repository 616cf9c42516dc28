"""The Head tab in a browser."""

from playwright.sync_api import expect

from tests.browser.visitor import Visitor

PLOTS = ("flow", "strips", "depth")


def opened(visitor: Visitor, width: int = 1366) -> Visitor:
    """A visitor at the tab, both figures drawn."""
    visitor.in_a_window("light", width)
    visitor.looks_at("head")
    drawn(visitor, *PLOTS)
    return visitor


def drawn(visitor: Visitor, *plots: str) -> None:
    """Wait until each of the plots fills its box."""
    for name in plots:
        expect(visitor.plot(name).locator(".main-svg").first).to_be_visible()
        visitor.page.wait_for_function(
            """name => {
                const [box, plot] = [`#${name}-plot`, `#${name}-plot .main-svg`]
                    .map((one) => document.querySelector(one).getBoundingClientRect().width);
                return plot > 100 && Math.abs(box - plot) < 2;
            }""",
            arg=name,
        )


def test_the_tab_shows_the_way_of_the_data_its_source_and_programs(visitor: Visitor) -> None:
    opened(visitor)
    drawn(visitor, "lens")  # which scrolls in its box on a phone
    expect(visitor.page.locator("#head-lead")).to_contain_text("[CLS] → dense → activation (tanh) → dropout")
    names = visitor.plot("flow").locator(".textpoint")
    expect(names.filter(has_text="1. takes one position")).to_have_count(1)
    expect(names.filter(has_text="16,512 parameters")).to_have_count(1)
    expect(visitor.page.locator("#orders")).to_contain_text("(pooler): BertPooler(")
    expect(visitor.page.locator("#weights")).to_contain_text("bert.pooler.dense.weight")
    expect(visitor.page.get_by_role("img", name="The way from the tokens to the classes")).to_be_visible()
    visitor.page.get_by_role("button", name="The source that ran").click()
    expect(visitor.page.locator("#sources .line.picks")).to_contain_text("hidden_states[:, 0]")
    visitor.page.get_by_role("button", name="Take it home").click()
    expect(visitor.page.locator("#program .cm-content")).to_contain_text("import torch")
    expect(visitor.page.locator("#module .cm-content")).to_contain_text("import")
    visitor.in_a_window("light", 360)
    visitor.page.wait_for_function("document.documentElement.scrollWidth <= 360")


def test_an_untrained_head_is_grey_says_why_and_can_be_read_anywhere(fake_visitor: Visitor) -> None:
    visitor = opened(fake_visitor, width=360)
    visitor.choose("backbone", "First token · untrained")
    expect(visitor.page.locator("#head-lead")).to_contain_text("they were drawn at random")
    expect(visitor.page.locator("#weights strong.random")).to_have_count(2)
    for name in ("The source that ran", "Take it home"):
        visitor.page.get_by_role("button", name=name).click()
    expect(visitor.page.locator("#program .cm-content")).to_be_visible()
    visitor.can_read_it_anywhere()
