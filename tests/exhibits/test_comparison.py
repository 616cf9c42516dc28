"""Which combinations are held against each other, which stand out, and whether they can be read."""

import random
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from plotly.colors import hex_to_rgb

from components.exhibits.comparison import FAINT, STRONG, Comparison, majority, strength
from components.exhibits.draw import LABELS, set_apart
from components.exhibits.verdict import chosen_labels, output_bars
from components.texts import load_texts
from tests.exhibits.compared import HIGH, LESS, LOW, NO, YES, answer, comparison
from tests.exhibits.showing import CASES, contrast

BUSINESS = answer([0.1, 0.2, 0.7], ("world", "sports", "business"))
JOYS = ("joy", "anger", "trust")
TWINS = [answer([0.9, one], ("joy", "joy"), "multi_label") for one in (0.125, 0.625)]
JOYFUL = answer([0.75, 0.25, 0.625], JOYS, "multi_label")
PAGES = {"light": ("#ffffff", "#1e293b"), "dark": ("#1e293b", "#f1f5f9")}  # behind and of the page's text


def differs(given: Comparison) -> list[bool]:
    return [given.agrees.get(one.key) is False for one in given.combinations]


@pytest.mark.parametrize("seed", range(4))
def test_the_odd_ones_are_those_outside_the_majority(seed: int) -> None:
    drawn = random.Random(seed)
    said = [[drawn.choice("aaabc") for _ in range(4)] for _ in range(5)]
    outputs = {"a": [0.5, 0.3, 0.2], "b": [0.1, 0.8, 0.1], "c": [0.1, 0.1, 0.8]}
    grid = comparison([[answer(outputs[label], tuple("abc")) for label in row] for row in said])
    flat = [label for row in said for label in row]
    label, count = Counter(flat).most_common(1)[0]
    assert differs(grid) == [other != label and count > len(flat) / 2 for other in flat]
    (votes,) = grid.groups
    assert {labels[0]: len(found) for labels, found in votes.items()} == Counter(flat)


def test_only_trained_heads_with_the_same_labels_are_held_against_each_other() -> None:
    untrained, value = answer([0.1, 0.9], trained=False), answer([0.3], ("score",), "regression")
    other, turned = answer([0.1, 0.9], ("different", "same")), answer([0.8, 0.2], ("positive", "negative"))
    grid = comparison([[NO, NO, turned], [untrained, value, other]])
    assert [sum(map(len, votes.values())) for votes in grid.groups] == [3, 1]
    assert differs(grid) == [False, False, True, False, False, False]
    half = comparison([[NO, YES], [YES, NO]])
    assert (majority(half.groups[0]), half.agrees) == (None, {})
    several = [answer([0.9, 0.1, 0.6], JOYS, "multi_label"), answer([0.1] * 3, JOYS, "multi_label")]
    more = answer([0.6, 0.9, 0.1], ("trust", "joy", "anger"), "multi_label")
    grid = comparison([[several[0], more, several[1]]])
    assert differs(grid) == [False, False, True]
    assert majority(grid.groups[0]) == ("joy", "trust")


@pytest.mark.parametrize(
    ("before", "after", "output", "moved", "predicted", "flips"),
    [
        (NO, YES, 0, -0.7, True, True),  # the label that was predicted
        (YES, YES, 1, 0.0, True, False),
        (NO, LESS, 0, -0.3, True, False),
        (answer([0.9, 0.1], trained=False), answer([0.1, 0.9], trained=False), 0, -0.8, False, False),
        (JOYFUL, answer([0.625, 0.75, 0.625], JOYS, "multi_label"), 1, 0.5, True, True),  # what moved most
        (JOYFUL, answer([0.5625, 0.25, 0.625], JOYS, "multi_label"), 0, -0.1875, True, False),
        (*TWINS, 1, 0.5, True, False),  # of labels that are called the same
        (LOW, HIGH, 0, 2.75, False, False),
        (NO, BUSINESS, None, None, False, False),
        ("no", NO, None, None, False, False),
        (NO, "too long", None, None, False, False),
    ],
)
def test_of_two_versions_an_output_is_followed_and_a_trained_head_may_change_its_mind(
    before: Any, after: Any, output: int | None, moved: float | None, predicted: bool, flips: bool
) -> None:
    (one,) = comparison([[before]], after=[[after]]).combinations
    assert (one.output, bool(one.predicted), one.flips) == (output, predicted, flips)
    assert one.moved == (moved if moved is None else pytest.approx(moved))


def test_what_has_come_of_one_version_alone_is_not_there() -> None:
    whole = comparison([[NO, NO], [YES, YES]])
    some = replace(whole, after=whole.compared[:1])
    assert [one.key for one in some.combinations] == [("b0", "p0"), ("b0", "p1")]


def test_a_label_has_the_colour_that_it_has_alone_and_keeps_it_when_more_comes() -> None:
    both = answer([0.9, 0.1, 0.6], JOYS, "multi_label")
    for alone in (YES, BUSINESS, both):
        chosen = chosen_labels(alone)
        bars = [bar.colour for bar in output_bars(alone, load_texts())][: len(chosen)]
        compared = comparison([[alone]]).colours
        assert [compared[alone.labels[index]] for index in chosen] == bars == [LABELS[at] for at in chosen]
    before, after = comparison([[YES, BUSINESS]]), comparison([[YES, BUSINESS], [both, NO]])
    assert tuple(before.colours.items()) == tuple(after.colours.items())[:3]
    assert list(before.colours.values()) == list(LABELS[:3])
    assert len(set(after.colours.values())) == len(after.colours) == 5  # joy and trust had those of others
    assert set_apart((at, LABELS[at % 8]) for at in (8, 0, 8)) == {8: LABELS[0], 0: LABELS[1]}


@pytest.mark.parametrize(("outputs", "kind", "sure"), CASES["sure"])
def test_colour_is_as_strong_as_the_answer_is_sure(outputs: list[float], kind: Any, sure: float) -> None:
    given = answer(outputs, tuple("abcd"[: len(outputs)]), kind)
    assert strength(given) == pytest.approx(FAINT + sure * (STRONG - FAINT), abs=0.51)


def test_names_are_short_where_that_tells_them_apart() -> None:
    for titles, names in (
        (["BERT mini · sentiment", "GPT-2 mini · sentiment"], ["BERT mini", "GPT-2 mini"]),
        (["BERT mini · sentiment", "BERT mini · paraphrase"],) * 2,
    ):
        assert list(comparison([[YES], [NO]], titles).names.values()) == names


def test_text_can_be_read_on_every_colour() -> None:
    for behind, text in PAGES.values():
        for colour in LABELS:
            for share in (FAINT / 100, STRONG / 100):
                pairs = zip(hex_to_rgb(colour), hex_to_rgb(behind), strict=True)
                mixed = bytes(round(share * a + (1 - share) * b) for a, b in pairs)
                assert contrast(f"#{mixed.hex()}", text) >= 4.5
