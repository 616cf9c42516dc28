"""All that is in sight on the page, and when it has come to rest."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import unified_diff
from typing import Any

from playwright.sync_api import Request, TimeoutError

from tests.browser.visitor import PATIENCE, TICK, Visitor

PARTS = ("tabs", "question", "text", "values", "chosen", "plots")
SEEN = """() => {
    const seen = (part) => [...document.querySelectorAll(part)].filter((one) => one.checkVisibility());
    const name = (one) => one.closest(".block[id], .plot[id]")?.id;
    const axis = ({ title, tickvals, ticktext, autorange, range }) =>
        ({ title: title?.text, tickvals, ticktext, range: autorange ? null : range });
    const layout = (all) => [
        ...Object.keys(all).filter((key) => /^[xy]axis/.test(key)).sort().map((key) => [key, axis(all[key])]),
        (all.annotations ?? []).map(({ text, x, y }) => [text, x, y]),
        (all.shapes ?? []).map(({ x0, x1, y0, y1 }) => [x0, x1, y0, y1]),
    ];
    const value = (one) => one.type === "radio" || one.type === "checkbox" ? `${one.value} ${one.checked}`
        : one.value;
    return {
        tabs: seen("[role=tab][aria-selected=true]").map((one) => one.innerText),
        question: seen("#asked").map((one) => one.innerText),
        text: seen("#tabs").map((one) => one.innerText).join(),
        values: seen("#tabs :is(input, textarea)").map((one) => `${name(one)}: ${value(one)}`),
        asked: seen(":is(#compare-texts, #compare-choice, #compare-versions) :is(input, textarea)")
            .map((one) => `${name(one)}: ${value(one)}`),
        chosen: seen("#tabs .block[id]:has(input) .token").map((one) => `${name(one)}: ${one.innerText}`),
        plots: seen(".js-plotly-plot").map((one) => [name(one), one.data, layout(one.layout)]),
    };
}"""
LOOK = f"""async () => {{
    for (let frame = 0; frame < 4; frame++) await new Promise(requestAnimationFrame);
    return JSON.stringify(({SEEN})());
}}"""  # what an answer changes is drawn some frames after it


@dataclass
class Screen:
    """What a ``visitor`` sees; ``asked`` are requests to the server that have no answer yet."""

    visitor: Visitor
    asked: set[Request] = field(default_factory=set)

    def __post_init__(self) -> None:
        page = self.visitor.page
        page.on("request", self._note)
        page.on("requestfinished", self._forget)
        page.on("requestfailed", self._forget)

    def at_rest(self) -> str:
        """All of it, once nothing is asked and nothing changes any more; its parts as JSON."""
        before = ""
        for _ in range(PATIENCE // TICK):
            self.visitor.waits_for_the_server()
            now: str = self.visitor.page.evaluate(LOOK)
            if now == before and not self.asked and not self.visitor.asking:
                return now
            before = now
        raise AssertionError(f"not at rest: {[request.url for request in self.asked]}")

    def becomes(self, wanted: str, parts: Sequence[str] = PARTS) -> None:
        """Wait until ``parts`` of it are as ``wanted``."""
        same = f"""([wanted, parts]) => {{
            const [now, then] = [({SEEN})(), JSON.parse(wanted)];
            return parts.every((part) => JSON.stringify(now[part]) === JSON.stringify(then[part]));
        }}"""
        try:
            self.visitor.page.wait_for_function(same, arg=[wanted, list(parts)], timeout=PATIENCE)
        except TimeoutError as error:
            raise AssertionError("\n".join(differences(wanted, self.at_rest()))) from error

    def _note(self, request: Request) -> None:
        if request.method == "POST":
            self.asked.add(request)

    def _forget(self, request: Request) -> None:
        self.asked.discard(request)


def differences(wanted: str, found: str) -> Iterator[str]:
    """The lines in which two screens differ."""
    screens: list[dict[str, Any]] = [json.loads(wanted), json.loads(found)]
    for part in screens[0]:
        lines = [_lines(screen[part]) for screen in screens]
        yield from unified_diff(*lines, f"{part} wanted", f"{part} found", n=1, lineterm="")


def _lines(part: Any) -> list[str]:
    if isinstance(part, str):
        return part.splitlines()
    return [one if isinstance(one, str) else json.dumps(one, ensure_ascii=False) for one in part]
