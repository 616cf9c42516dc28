"""Which cells are held against each other, which stand out, and whether they can be read."""

import random
from collections import Counter

import pytest

from components.exhibits.comparison import FAINT, STRONG, strength
from components.exhibits.draw import LABELS, contrast, label_colour, rgb
from components.exhibits.verdict import chosen_labels, outputs_figure
from components.texts import load_texts
from components.types import Analysis
from tests.exhibits.compared import answer, comparison
from tests.exhibits.showing import checked

NO, YES = answer([0.9, 0.1]), answer([0.2, 0.8])
BUSINESS = answer([0.1, 0.2, 0.7], ("world", "sports", "business"))
PAGES = {"light": ("#ffffff", "#1e293b"), "dark": ("#1e293b", "#f1f5f9")}  # behind and of the page's text


@pytest.mark.parametrize("seed", range(8))
def test_the_odd_ones_are_those_outside_the_majority(seed: int) -> None:
    drawn = random.Random(seed)
    said = [[drawn.choice("aaabc") for _ in range(4)] for _ in range(5)]
    outputs = {"a": [0.5, 0.3, 0.2], "b": [0.1, 0.8, 0.1], "c": [0.1, 0.1, 0.8]}
    grid = comparison([[answer(outputs[label], tuple("abc")) for label in row] for row in said])
    flat = [label for row in said for label in row]
    label, count = Counter(flat).most_common(1)[0]
    odd = [other != label for other in flat] if count > len(flat) / 2 else [False] * len(flat)
    assert [grid.differs(cell) for cell in grid.cells] == odd
    (group,) = grid.groups
    assert {labels[0]: len(cells) for labels, cells in group.predictions.items()} == Counter(flat)


def test_only_trained_heads_with_the_same_labels_are_held_against_each_other() -> None:
    untrained, value = answer([0.1, 0.9], trained=False), answer([0.3], ("score",), "regression")
    other, turned = answer([0.1, 0.9], ("different", "same")), answer([0.8, 0.2], ("positive", "negative"))
    grid = comparison([[NO, NO, turned], [untrained, value, other]])
    assert [group.total for group in grid.groups] == [3, 1]
    assert [grid.differs(cell) for cell in grid.cells] == [False, False, True, False, False, False]
    half = comparison([[NO, YES], [YES, NO]])
    assert (half.groups[0].majority, half.agrees) == (None, {})
    labels, more = ("joy", "anger", "trust"), ("trust", "joy", "anger")
    several = [answer([0.9, 0.1, 0.6], labels, "multi_label"), answer([0.6, 0.9, 0.1], more, "multi_label")]
    grid = comparison([[*several, answer([0.1] * 3, labels, "multi_label")]])
    assert [grid.differs(cell) for cell in grid.cells] == [False, False, True]
    assert grid.groups[0].majority == ("joy", "trust")


def test_a_label_has_the_colour_that_it_has_alone_and_keeps_it_when_more_comes() -> None:
    both = answer([0.9, 0.1, 0.6], ("joy", "anger", "trust"), "multi_label")
    for alone in (YES, BUSINESS, both):
        chosen = chosen_labels(alone)
        bars = list(checked(outputs_figure(alone, load_texts())).data[0].marker.color[: len(chosen)])
        compared = comparison([[alone]]).colours
        assert [compared[alone.labels[index]] for index in chosen] == bars == list(map(label_colour, chosen))
    before, after = comparison([[YES, BUSINESS]]), comparison([[YES, BUSINESS], [both, NO]])
    assert tuple(before.colours.items()) == tuple(after.colours.items())[:3]
    assert list(before.colours.values()) == list(LABELS[:3])
    assert len(set(after.colours.values())) == len(after.colours) == 5  # joy and trust had those of others


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (answer([0.5, 0.5]), FAINT),
        (answer([0.0, 1.0]), STRONG),
        (answer([0.25, 0.75]), (FAINT + STRONG) / 2),
        (answer([0.25] * 4, tuple("abcd")), FAINT),
        (answer([0.1, 0.2], ("a", "b"), "multi_label"), FAINT),
        (answer([1.0], ("a",)), STRONG),
    ],
)
def test_colour_is_as_strong_as_the_answer_is_sure(given: Analysis, expected: float) -> None:
    assert strength(given) == pytest.approx(expected, abs=0.51)


def test_names_are_short_where_that_tells_them_apart() -> None:
    grid = comparison([[YES], [NO]], ["BERT mini · sentiment", "GPT-2 mini · sentiment"])
    assert list(grid.names.values()) == ["BERT mini", "GPT-2 mini"]
    alike = ["BERT mini · sentiment", "BERT mini · paraphrase"]
    assert list(comparison([[YES], [NO]], alike).names.values()) == alike


def test_text_can_be_read_on_every_colour() -> None:
    for behind, text in PAGES.values():
        for colour in LABELS:
            for share in (FAINT / 100, STRONG / 100):
                pairs = zip(rgb(colour), rgb(behind), strict=True)
                mixed = bytes(round(share * a + (1 - share) * b) for a, b in pairs)
                assert contrast(f"#{mixed.hex()}", text) >= 4.5
