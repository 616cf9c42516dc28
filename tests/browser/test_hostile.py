"""Markup in every text that reaches the page: from a visitor, and from a checkpoint and a catalogue."""

import json
import re
import tomllib

from playwright.sync_api import Route, expect

from tests.browser.conftest import Open
from tests.browser.visitor import PATIENCE, Visitor
from tests.serving import ROOT

TRICKS: list[str] = tomllib.loads((ROOT / "tests" / "xss.toml").read_text(encoding="utf-8"))["tricks"]
ALL = " ".join(TRICKS)
ODD = (
    "script, iframe, object, embed, base, meta, link, style, math, video, audio, marquee, template, form, "
    "img, animate, use, a[href^='javascript:'], [onerror], [onload], [onfocus], [onmouseover], "
    "[ontoggle], [onbegin]"
)


def test_markup_from_a_checkpoint_a_catalogue_and_a_visitor_stays_text(fake: Open) -> None:
    visitor = fake(query="&backbone=hostile")  # whose title, class and labels are markup
    page = visitor.page
    page.on("dialog", lambda dialog: visitor.faults.append(f"dialog: {dialog.message}"))
    page.on("response", lambda answer: answer.ok or visitor.faults.append(f"{answer.status}: {answer.url}"))
    visitor.sees_an_answer()
    visitor.type(ALL)
    visitor.type(f"good {ALL}", "pair")
    expect(visitor.ticks("similarity", "y").filter(has_text="onerror")).not_to_have_count(0, timeout=PATIENCE)
    expect(visitor.ticks("similarity", "y").filter(has_text="good")).to_have_count(1)
    expect(visitor.verdict).to_contain_text("onerror=pwn()")
    for name, part in (("similarity", ".point path"), ("heatmap", ".nsewdrag")):
        visitor.plot(name).locator(part).first.hover(force=True)
        expect(visitor.plot(name).locator(".hoverlayer .hovertext")).to_have_count(1)
    for menu in ("backbone", "reference"):
        page.locator(f"#{menu} input").click()
        expect(page.get_by_role("option").filter(has_text="pwn()").first).to_be_visible()
        page.keyboard.press("Escape")
    page.get_by_role("button", name="The same numbers as a table").click()
    expect(page.locator("#numbers td").filter(has_text="<svg/onload").first).to_be_visible()
    visitor.looks_at("head")
    expect(visitor.plot("lens").locator(".main-svg").first).to_be_visible()
    visitor.looks_at("tokens")
    is_refused_in_text(visitor)
    visitor.has_loaded_its_images()
    injected = page.locator(f"main :is({ODD})").evaluate_all(
        "found => found.filter(one => one.outerHTML.includes('pwn')).map(one => one.outerHTML.slice(0, 120))"
    )
    assert injected == []


def is_refused_in_text(visitor: Visitor) -> None:
    """What a server says of a request is shown in a corner of the page: there, too, as text."""
    visitor.type("good", "pair")
    visitor.waits_for_the_server()

    def spoil(route: Route) -> None:
        sent = json.loads(route.request.post_data or "{}")
        route.continue_(post_data=json.dumps({**sent, "data": [{"x": TRICKS[3]}, *sent["data"][1:]]}))

    visitor.page.route("**/queue/join*", spoil, times=1)  # and not what is asked after it
    with visitor.page.expect_response("**/queue/join*") as refused:
        visitor.type("good good")
    assert refused.value.status == 400
    expect(visitor.page.get_by_text(TRICKS[3]).first).to_be_visible()
    visitor.faults[:] = [
        fault for fault in visitor.faults if not re.search(r"^400: |400 \(Bad Request\)", fault)
    ]
