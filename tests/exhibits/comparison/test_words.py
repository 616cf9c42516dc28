"""The words of a comparison: what is shown is what was aligned."""

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

from components.exhibits.exhibit import Shown, csv_link, to_csv
from components.exhibits.view import number
from components.exhibits.words import WORDS, align, mean
from components.texts import load_texts
from components.types import Analysis
from tests.exhibits.comparison.test_alignment import FAMILIES, HOSTILE, analysis, comparison

SAY = load_texts()


class Columns(HTMLParser):
    """The cells under each word, as they are read, and the classes of each."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.columns: list[list[str]] = []
        self.classes: list[list[str]] = []
        self._depth: int | None = None  # of spans, inside a label
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "label":
            self._depth = 0
            self.columns.append([])
            self.classes.append([])
        if tag == "span" and self._depth is not None:
            if self._depth == 0:
                self.columns[-1].append("")
                self.classes[-1].append(dict(attrs).get("class") or "")
            self._depth += 1

    def handle_endtag(self, tag: str) -> None:
        if tag == "label":
            self._depth = None
        elif tag == "span" and self._depth is not None:
            self._depth -= 1

    def handle_data(self, data: str) -> None:
        if self._depth:
            self.columns[-1][-1] += data


def shown(*answers: Analysis, depth: Any = 100, centring: str = "plain") -> Shown:
    """What the card shows of these answers."""
    return WORDS.shown(comparison(*answers), {"words_depth": depth, "words_centred": centring}, SAY)


def saved(given: Shown) -> list[dict[str, str]]:
    """The rows of the file."""
    assert given.data is not None
    assert csv_link(given.data, "poolscope-words.csv", SAY("table.download")) in given.html
    return list(csv.DictReader(io.StringIO(to_csv(given.data), newline="")))


def answers(text: str, text_pair: str = "") -> list[Analysis]:
    return [analysis(family, text, text_pair) for family in FAMILIES]


@pytest.mark.parametrize("pair", ["", "not so bad"])
def test_a_column_holds_a_word_and_what_each_backbone_makes_of_it(pair: str) -> None:
    made = answers("Ein Café, 你好 don't", pair)
    found = align(comparison(*made), 50, "centred")
    assert found
    html = shown(*made, depth=50, centring="centred").html
    columns = Columns(html).columns
    places = [(text, place) for text, cut in enumerate(found.words) for place in range(len(cut))]
    assert [column[0] for column in columns] == [found.surface(*place) for place in places]
    for (text, place), (_, *cells) in zip(places, columns, strict=True):
        for line, cell in zip(found.backbones.values(), cells, strict=True):
            value = mean(line.words[text][place])
            assert (SAY("words.unseen") if value is None else number(value)) in cell
    assert html.count("layer 2 of 4") == len(FAMILIES)
    assert "centred cosine similarity" in html
    assert ("first text" in html) == bool(pair)


def test_what_is_read_and_what_stands_for_cls_is_marked() -> None:
    made = answers("good film")
    html = shown(*made).html
    last = Columns(html).classes[-1]
    assert last == ["head", *["cell"] * 4, "cell read reference"]  # GPT-2 has no [CLS], and reads its last
    assert len(re.findall(r'class="cell read"', html)) == 4  # the others read theirs, which stands apart
    assert SAY("words.key_read", pooling="native") in html
    other = replace(made[0], query=replace(made[0].query, pooling="mean"))
    two = comparison(made[1], other)
    assert "distilbert under native, bert under mean" in WORDS.shown(two, {}, SAY).html


def test_the_most_similar_word_of_each_backbone_is_said() -> None:
    (one,) = (analysis("gpt2", "a good film"),)
    similarity = np.tile(np.array([0.1, 0.83, 1.0], dtype=np.float32), (5, 1))
    told = shown(replace(one, similarity=similarity)).words
    assert "gpt2: “good” 0.83." in told  # the last stands for [CLS] itself
    alone = replace(analysis("gpt2", "film"), similarity=similarity[:, -1:])
    assert shown(alone).words == SAY("words.nothing")


def test_words_that_nobody_sees_share_a_column() -> None:
    html = shown(*answers(HOSTILE["cut off"])).html
    columns = Columns(html).columns
    rest = re.search(r"and (\d+) words that no backbone sees", html)
    assert rest
    assert len(columns) + int(rest[1]) == 60 * 6
    assert SAY("words.unseen") in columns[-1][1] or SAY("words.unseen") in columns[-1][4]
    assert len(html) < 400_000


def test_rows_of_backbones_that_have_not_come_keep_their_place() -> None:
    whole = comparison(*answers("a good film"))
    for come in range(1, len(FAMILIES) + 1):
        html = WORDS.shown(replace(whole, compared=whole.compared[:come]), {}, SAY).html
        assert f"--rows: {len(FAMILIES)}" in html
        cells = {len([cell for cell in column[1:] if cell]) for column in Columns(html).columns}
        assert cells == {come}
    assert WORDS.shown(replace(whole, compared=()), {}, SAY).heading == ""


def test_a_tokenizer_that_does_not_tell_is_named() -> None:
    one, other = answers("don't go")[:2]
    silent = replace(other, tokens=replace(other.tokens, span=0 * other.tokens.span))
    html = shown(one, silent).html
    assert "where in the text a token stands: distilbert." in html
    assert html.count(SAY("words.unaligned")) == 1
    assert [column[2] for column in Columns(html).columns] == [""] * len(Columns(html).columns)
    only = shown(silent)
    assert "distilbert." in only.html
    assert "fieldset" not in only.html
    assert only.data is None


def test_the_file_holds_every_word_and_token() -> None:
    made = answers("=not bad, 你好", "don't")
    found = align(comparison(*made), 100, "plain")
    assert found
    rows = saved(shown(*made))
    for one, (key, line) in zip(made, found.backbones.items(), strict=True):
        own = [row for row in rows if row["backbone"] == key]
        values = [
            part for row in own if row["pieces"] for part in row["similarity of each piece"].split(" + ")
        ]
        expected = one.similarity[-1].tolist()
        assert [float(value.removeprefix("'")) for value in values] == pytest.approx(expected, abs=1e-6)
        held = [pieces for text in line.words for pieces in text]
        spoken = [row for row in own if row["number"]]
        for row, pieces in zip(spoken, held, strict=True):
            value = mean(pieces)
            assert row["mean similarity"] == ("" if value is None else f"{value:.7g}")
            assert row["read"] == ("yes" if any(p.read for p in pieces) else "no" if pieces else "")
    assert {row["text"] for row in rows} == {"first text", "second text", ""}
    assert rows[1]["word"] == "'="
    assert rows[1]["characters"] == "0–1"


def balanced(html: str) -> Sequence[str]:
    """Elements that are not closed in their order."""
    open_: list[str] = []
    for end, tag in re.findall(r"<(/?)(\w+)", re.sub(r"<input[^>]*>", "", html)):
        if not end:
            open_.append(tag)
        elif open_.pop() != tag:
            return [tag]
    return open_
