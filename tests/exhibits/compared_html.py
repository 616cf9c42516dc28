"""HTML as it is read."""

import re
from html import unescape
from html.parser import HTMLParser


class Table(HTMLParser):
    """The texts of a table's cells, and their classes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.classes: list[list[str]] = []
        self._inside = False
        self.feed(str(html))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "tr":
            self.rows.append([])
            self.classes.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
            self.classes[-1].append(dict(attrs).get("class") or "")
            self._inside = True

    def handle_endtag(self, tag: str) -> None:
        self._inside = self._inside and tag not in ("td", "th")

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.rows[-1][-1] += data


def words(html: str) -> str:
    return unescape(re.sub(r"<[^>]+>", "", html))
