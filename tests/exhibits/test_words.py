"""Words that tokenizers share, and what is shown of them: each character and each token in exactly one."""

import re
from collections import Counter
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from transformers import AutoTokenizer

from components.analyses.analyze import Cell, Compared
from components.exhibits.comparison import Comparison
from components.exhibits.exhibit import Shown
from components.exhibits.view import number
from components.exhibits.words import WORDS, Alignment, WordIndex, align, finest_words, holding
from components.model.encoding import encode
from components.types import Analysis, BackboneSpec, Query, Reads
from tests.exhibits.showing import CASES, SAY, plain
from tests.plain import SPECS
from tests.ui.fake import FakeAnalyst, fake_bands

FAMILIES = ("bert", "distilbert", "roberta", "xlnet", "gpt2")
LIMIT, LAYERS = 128, 4
CUT_OFF = "a very, very slow film " * 60 + "Donaudampfschifffahrtsgesellschaft" * 20
HOSTILE: dict[str, str] = {**CASES["hostile"], "cut off": CUT_OFF}
CHARACTERS = st.sampled_from(
    [*"ab1 .,'-\t\n", "\u00a0", "é", "\u0301", "你", "م", "😀", "\u200d", "🇩", "🏽", "\u200b"]
)
TEXTS = st.text(CHARACTERS | st.characters(exclude_categories=()), max_size=30)


@pytest.mark.parametrize(("text", "expected"), CASES["words"])
def test_a_text_alone(text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end in finest_words(text, ())] == expected


def joined(count: int, pieces: list[tuple[int, int]]) -> list[list[int]]:
    """``count`` things in groups such that each range of ``pieces`` lies in one, by merging sets."""
    groups = [{index} for index in range(count)]
    for start, end in pieces:
        touched = [group for group in groups if group & set(range(start, end))]
        groups = [group for group in groups if group not in touched]
        groups += [set().union(*touched)] if touched else []
    return sorted(sorted(group) for group in groups)


@given(TEXTS, st.lists(st.tuples(st.integers(0, 30), st.integers(0, 6)), max_size=12))
def test_words_are_as_fine_as_tokens_let_them_be(text: str, drawn: list[tuple[int, int]]) -> None:
    spans = [(start, start + length) for start, length in drawn if start + length <= len(text)]
    found = finest_words(text, spans)
    assert [list(range(start, end)) for start, end in found] == joined(
        len(text), [*finest_words(text, []), *spans]
    )
    for span in spans if found else ():
        start, end = found[holding(found, span)]
        assert start <= span[0]
        assert span[1] <= end
        assert span[0] < end or span[0] == len(text) or span[0] == span[1]


def test_a_token_of_no_character_goes_with_the_next() -> None:
    spans = [(0, 0), (1, 1), (2, 3), (9, 9)]
    assert [holding([(0, 1), (1, 3)], span) for span in spans] == [0, 1, 1, 1]


@cache
def tokenizer(family: str) -> Any:
    return AutoTokenizer.from_pretrained(SPECS[f"{family}-sentiment"].location)


def analysis(family: str, text: str, text_pair: str = "") -> Analysis:
    """Made-up similarities of what the tokenizer really makes of the texts."""
    tokens = encode(tokenizer(family), LIMIT, text, text_pair).tokens
    total = len(tokens.text)
    tokens = replace(tokens, cls=tokens.cls if tokens.cls >= 0 else total - 1)
    similarity = np.random.default_rng(total).uniform(-1, 1, (LAYERS + 1, total)).astype(np.float32)
    reads = Reads(np.arange(total) == tokens.cls, np.zeros(total, dtype=np.float32))
    made = FakeAnalyst().ask("analyze", Query("first", "any"))
    query = Query(family, text, text_pair)
    values = {"similarity": similarity, "centred": similarity / 2, "standardised": similarity / 3}
    return replace(
        made, query=query, tokens=tokens, reads=reads, layer=LAYERS, ordinary=fake_bands(LAYERS), **values
    )


def comparison(*answers: Analysis) -> Comparison:
    keys = [one.query.backbone for one in answers]
    specs = tuple(BackboneSpec(key, key, "", "", "local", "") for key in keys)
    cells = (Compared(spec, (Cell(one.query, one),)) for spec, one in zip(specs, answers, strict=True))
    return Comparison(specs, ("native",), tuple(cells), "done")


def of_all(text: str, text_pair: str = "") -> list[Analysis]:
    return [analysis(family, text, text_pair) for family in FAMILIES]


def aligned(*answers: Analysis) -> Alignment:
    found = align(comparison(*answers))
    assert found
    return found


@pytest.mark.parametrize("name", HOSTILE)
def test_every_character_and_every_token_belongs_to_one_word(name: str) -> None:
    """As the tokenizers library tells where tokens stand."""
    texts = (HOSTILE[name], HOSTILE["composed"])
    answers = of_all(*texts)
    found = aligned(*answers)
    for text, spans in zip(found.texts, found.words, strict=True):
        assert "".join(text[start:end] for start, end in spans) == text
        assert all(start < end for start, end in spans)
    for one, (family, line) in zip(answers, found.backbones.items(), strict=True):
        expected: Counter[WordIndex] = Counter()
        (made,) = tokenizer(family)(*texts, truncation=True, max_length=LIMIT).encodings
        own = zip(made.sequence_ids, made.offsets, made.special_tokens_mask, strict=True)
        for number_, (start, end) in ((number_, span) for number_, span, special in own if not special):
            covered = range(start, end) if start < end else [min(start, len(texts[number_]) - 1)]
            words = enumerate(found.words[number_])
            (place,) = {place for place, (a, b) in words for at in covered if a <= at < b}
            expected[number_, place] += 1
        assert {place: len(tokens) for place, tokens in line.held.items() if place[1] >= 0} == expected
        placed = [token for place in sorted(line.held) for token in line.held[place]]
        assert placed == list(range(len(one.tokens.text)))


def test_a_word_is_the_mean_of_its_pieces_at_the_last_layer() -> None:
    one = analysis("bert", "café delightful")
    first = [place for place, (start, end) in enumerate(one.tokens.span.tolist()) if 0 <= start < end <= 4]
    assert len(first) > 1
    line, values = aligned(one).backbones["bert"], one.similarity[-1]
    assert line.mean((0, 0)) == pytest.approx(sum(map(float, values[first])) / len(first))


def test_reads_are_those_of_native_where_there_is_an_answer() -> None:
    one = analysis("bert", "good")
    whole = comparison(one)
    of_mean, native = (
        Cell(query, replace(one, query=query))
        for query in (replace(one.query, pooling=pooling) for pooling in ("mean", "native"))
    )
    refused = Cell(native.query, None, "no")
    for cells, pooling in (((of_mean, native), "native"), ((refused, of_mean), "mean"), ((refused,), "")):
        found = align(replace(whole, compared=(Compared(whole.backbones[0], cells),)))
        assert (found.backbones["bert"].view.analysis.query.pooling if found else "") == pooling


def columns(html: str) -> list[list[tuple[str, str]]]:
    """The cells of each word, as they are read, each after its class."""
    labels = re.findall(r"<label>(.*?)</label>", html, re.DOTALL)
    cells = (re.split(r'<span class="(?=head|cell)', label)[1:] for label in labels)
    return [[(one.partition('"')[0], plain(f'<span class="{one}')) for one in column] for column in cells]


def shown(*answers: Analysis) -> Shown:
    """What the card shows of these answers."""
    return WORDS.shown(comparison(*answers), {}, SAY)


def test_a_column_holds_a_word_and_what_each_backbone_makes_of_it() -> None:
    made = of_all("Ein Café, 你好 don't", "not so bad")
    found, html = aligned(*made), shown(*made).html
    read = [[text for _, text in column] for column in columns(html)]
    assert [column[0] for column in read] == [word for words in found.surfaces for word in words]
    places = [(text, word) for text, cut in enumerate(found.words) for word in range(len(cut))]
    for place, (_, *cells) in zip(places, read, strict=True):
        for line, cell in zip(found.backbones.values(), cells, strict=True):
            value = line.mean(place)
            assert (SAY("words.unseen") if value is None else number(value)) in cell
    assert "cosine similarity" in html
    assert "first text" in html


def test_what_is_read_and_what_stands_for_cls_is_marked_and_the_nearest_word_is_said() -> None:
    made = of_all("good film")
    html = shown(*made).html
    last = [kind for kind, _ in columns(html)[-1]]
    assert last == ["head", *["cell"] * 4, "cell read reference"]  # GPT-2 has no [CLS], and reads its last
    assert len(re.findall(r'class="cell read"', html)) == 4  # the others read theirs, which stands apart
    assert SAY("words.key_read", pooling="native") in html
    other = replace(made[0], query=replace(made[0].query, pooling="mean"))
    assert "distilbert under native, bert under mean" in shown(made[1], other).html
    similarity = np.tile(np.array([0.1, 0.83, 1.0], dtype=np.float32), (5, 1))
    told = shown(replace(analysis("gpt2", "a good film"), similarity=similarity)).words
    assert "gpt2: “good” 0.83." in told  # the last stands for [CLS] itself
    alone = replace(analysis("gpt2", "film"), similarity=similarity[:, -1:])
    assert shown(alone).words == SAY("words.nothing")


def test_a_word_is_grey_where_it_is_as_near_as_tokens_of_others_are_and_green_where_it_is_nearer() -> None:
    similarity = np.tile(np.array([1.0, 0.39, 0.61, 0.79, 0.81, 1.0], dtype=np.float32), (5, 1))
    html = shown(replace(analysis("bert", "good bad film so"), similarity=similarity)).html  # 0.4 to 0.8
    styles = dict(
        zip(("good", "bad", "film", "so"), re.findall(r'class="cell" style="(.*?)"', html)[-5:], strict=False)
    )
    shades = [style.removeprefix("background:").partition(";")[0] for style in styles.values()]
    assert shades[1] == shades[2] == "rgba(128, 128, 128, 0.2)"
    less, more = ([int(shade[at : at + 2], 16) for at in (1, 3, 5)] for shade in (shades[0], shades[3]))
    assert less[1] < less[0]  # purple
    assert more[1] > more[0]  # green
    assert "below ordinary" in html


def test_words_that_nobody_sees_share_a_column() -> None:
    html = shown(*of_all("a very, very slow film " * 60)).html
    rest = re.search(r"and (\d+) words that no backbone sees", html)
    assert rest
    assert len(columns(html)) + int(rest[1]) == 60 * 6
    assert len(html) < 400_000


def test_rows_of_backbones_that_have_not_come_keep_their_place() -> None:
    whole = comparison(*of_all("a good film"))
    html = WORDS.shown(replace(whole, compared=whole.compared[:2]), {}, SAY).html
    assert f"--rows: {len(FAMILIES)}" in html
    assert {len([text for _, text in column[1:] if text]) for column in columns(html)} == {2}
    assert WORDS.shown(replace(whole, compared=()), {}, SAY).heading == ""


def test_a_tokenizer_that_does_not_tell_is_named() -> None:
    one, other = of_all("don't go")[:2]
    silent = replace(other, tokens=replace(other.tokens, span=0 * other.tokens.span))
    html, only = shown(one, silent).html, shown(silent)
    assert "where in the text a token stands: distilbert." in html
    assert html.count(SAY("words.unaligned")) == 1
    assert {column[2] for column in columns(html)} == {("cell", "")}
    assert "distilbert." in only.html
    assert "fieldset" not in only.html
