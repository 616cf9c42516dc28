"""Hidden states one by one: cells, lines and findings are what the lens and the trace measured."""

import re
from dataclasses import replace

import numpy as np
import pytest

from components.analyses.trace import Patched
from components.exhibits import hidden_states
from components.exhibits.comparison import Comparison
from components.exhibits.exhibit import heading_html
from components.exhibits.hidden_states import DEPTH, LENS, TRACE, TRACED, traced, traced_backbone
from components.exhibits.view import LABEL
from components.texts import Sentence
from components.types import BackboneSpec, Query
from tests.exhibits.showing import CASES, SAY, anatomy, drawn, lens, numbers, plain, rows
from tests.ui.fake import FakeAnalyst


@pytest.mark.parametrize(("backbone", "label"), [("pair", ""), ("emotions", "fear")])
def test_each_cell_is_the_probability_of_the_likeliest_label_or_the_one_that_is_chosen(
    backbone: str, label: str
) -> None:
    given, state = anatomy(backbone, "not good", "a pair" if backbone == "pair" else ""), {LABEL.key: label}
    names, seen = given.analysis.labels, lens(given)
    place = names.index(label) if label else int(given.analysis.probabilities.argmax())
    shown, line = LENS.show(given, state, SAY), DEPTH.show(given, state, SAY)
    titles, *table = rows(shown)
    assert titles[2] == f"{names[place]}, layer 0"
    values = seen.probabilities[:, :, place]
    np.testing.assert_allclose(np.array([numbers(row[2:]) for row in table]).T, values, rtol=1e-5)
    cells = drawn(LENS, given, **state).data[0]
    np.testing.assert_allclose(cells.z, 2 * values - 1, atol=1e-4)  # a guess is one half
    assert cells.colorscale[-1][1] in line.html  # the label has one colour
    widths = [float(one) / 75 for one in re.findall(r"width: ([\d.]+)%", line.html)]
    np.testing.assert_allclose(widths[::-1], seen.pooled_probabilities[:, place], atol=1e-4)
    assert all(names[place] in one for one in (shown.heading, shown.words, line.heading, line.words))
    last = seen.probabilities[-1]
    said = last[:, place] > 0.5 if backbone == "emotions" else last.argmax(axis=-1) == place
    assert shown.heading.endswith(f"for {said.sum()} of {len(said)}")
    assert LENS.show(given, {LABEL.key: "hunger"}, SAY).words == LENS.show(given, {}, SAY).words


def test_a_regression_has_raw_values_and_an_untrained_head_no_finding_and_no_colour() -> None:
    given, random = anatomy("score"), anatomy("untrained")
    bound, z = float(np.abs(lens(given).logits).max()), np.asarray(drawn(LENS, given).data[0].z)
    assert float(np.abs(z).max()) == pytest.approx(1, abs=1e-4)
    np.testing.assert_allclose(z * bound, lens(given).logits[..., 0], atol=1e-3)
    assert "%" not in DEPTH.show(given, {}, SAY).heading
    for _, stop in drawn(LENS, random).data[0].colorscale:
        channels = bytes.fromhex(stop[1:])
        assert max(channels) - min(channels) < 12


def test_a_head_that_cannot_be_pointed_and_a_change_that_cannot_be_traced_say_why() -> None:
    given = anatomy("pair", "not good", "a pair", head="probe", pooling="attention")
    for exhibit, subject in ((LENS, given), (DEPTH, given), (TRACE, Sentence("errors.no_change"))):
        said = plain(heading_html(exhibit.shown(subject, {}, SAY), exhibit.name, SAY))
        assert SAY(f"errors.{'no_change' if exhibit is TRACE else 'widths'}") in said


def asked(query: Query, other: str = "not bad") -> Patched:
    return FakeAnalyst().ask("trace", query, other=other, other_pair="")


def made(*shares: list[float]) -> Patched:
    """A trace with these shares, (L + 1, P) of the first P tokens: [CLS], not, good, [SEP]."""
    found, given = asked(Query("first", "not good")), np.array(shares, dtype=np.float32)
    return replace(found, shares=given, pairs=found.pairs[: given.shape[1]])


def story(given: Patched) -> str:
    return plain(TRACE.show(given, {}, SAY).above)


@pytest.mark.parametrize(("shares", "told"), CASES["stories"])
def test_the_sentence_follows_the_change_up_the_layers(shares: list[list[float]], told: str) -> None:
    given = made(*shares)
    assert told in story(given)
    named = TRACE.show(given, {}, SAY).heading != SAY("trace.heading")
    assert named == (shares[-1][0] > 0.5)  # the head reads [CLS]


def test_of_tokens_that_are_called_alike_it_is_said_which() -> None:
    given = asked(Query("first", "bad bad film"), "bad bad plot")
    shares = np.zeros(given.shares.shape, np.float32)
    shares[:, 2] = 1
    assert "is in the 2nd bad from the embeddings to layer 2" in story(replace(given, shares=shares))


def test_the_cells_are_the_shares_and_a_token_without_a_counterpart_has_none() -> None:
    given = made(*[[0, -19.3, 1.2]] * 3)
    cells = drawn(TRACE, given).data[0]
    assert [row[3] for row in cells.z] == [None] * 3
    np.testing.assert_allclose([row[:3] for row in cells.z], given.shares, atol=1e-4)
    assert list(cells.customdata[0][:3]) == ["0 %", "−1930 %", "120 %"]
    table = rows(TRACE.show(given, {}, SAY))[1:]
    np.testing.assert_allclose([numbers(row[4:]) for row in table], given.shares.T, rtol=1e-5)
    assert [row[:4] for row in table[1:]] == [["1", "not", "1", "not"], ["2", "good", "2", "bad"]]
    left = replace(given, warnings=(Sentence("warnings.unpaired", tokens=("[SEP]",)),))
    assert "Blank columns: these tokens have" in story(left)
    assert "left alone: [SEP]." in story(left)


def test_the_trace_of_an_untrained_head_has_no_story() -> None:
    given = asked(Query("untrained", "not good"))
    assert "The difference" not in story(given) + TRACE.show(given, {}, SAY).words


def test_it_is_asked_of_the_backbone_that_is_set_and_else_of_the_first() -> None:
    given = Comparison(tuple(BackboneSpec(key, key, "", "", "local", "") for key in ("a", "b")), ("native",))
    assert traced_backbone(given, {}) == traced_backbone(given, {TRACED.key: "gone"}) == "a"
    assert traced_backbone(given, {TRACED.key: "b"}) == "b"
    assert traced(given) is None


def test_behind_a_lower_layer_nothing_is_told_of_those_above() -> None:
    given = asked(Query("first", "not good", pool_layer=1))
    given.shares[2:] = 0
    assert {len(shares) for shares in hidden_states.trace_claims(given).values()} == {2}
    assert SAY("trace.pooled", layer=1) in story(given)
    (frame, *_) = drawn(TRACE, given).layout.shapes
    assert frame.y0 == 0.5
    assert "is pooled:" not in story(asked(Query("first", "not good")))
