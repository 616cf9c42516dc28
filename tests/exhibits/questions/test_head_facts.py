"""Facts of heads: each is computed here once more, from the analysis or from the head itself."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from components.analyses.anatomy import Anatomy, Declared, Step, Weight
from components.analyses.lens import Lens
from components.exhibits.questions.head_facts import CASES, against_facts, head_facts, heads_facts
from components.exhibits.view import percent
from components.texts import load_texts
from components.types import Query
from tests.ui.fake import FakeAnalyst

EN, ZH = load_texts("en"), load_texts("zh")

TEXT = "a very slow film"


def anatomy(key: str = "first", text: str = TEXT, read: list[int] | None = None, **query: Any) -> Anatomy:
    """A made-up head, which reads the tokens ``read``."""
    whole = FakeAnalyst().ask("anatomy", Query(key, text, **query))
    if read is None:
        return whole
    positions = np.zeros(len(whole.analysis.tokens.text), dtype=bool)
    positions[read] = True
    share = (positions / max(positions.sum(), 1)).astype(np.float32)
    reads = replace(whole.analysis.reads, positions=positions, share=share)
    return replace(whole, analysis=replace(whole.analysis, reads=reads))


def along(start: float, end: float) -> Anatomy:
    """A head beneath which the cosine of [CLS] goes from ``start`` to ``end``."""
    whole = anatomy()
    similarity = np.full_like(whole.analysis.similarity, 0.5)
    similarity[[0, -1], whole.analysis.tokens.cls] = start, end
    return replace(whole, analysis=replace(whole.analysis, similarity=similarity))


def seen_as(*pooled: float) -> Anatomy:
    """A head that gives its second label these probabilities, layer by layer."""
    whole = anatomy()
    assert isinstance(whole.lens, Lens)
    seen = np.array([[1 - one, one] for one in pooled], dtype=np.float32)
    analysis = replace(whole.analysis, probabilities=seen[-1])
    return replace(whole, analysis=analysis, lens=replace(whole.lens, pooled_probabilities=seen))


def unsure() -> Anatomy:
    """A head of several labels that may hold, of which none does."""
    given = anatomy("emotions")
    low = np.full_like(given.analysis.probabilities, 0.1)
    return replace(given, analysis=replace(given.analysis, probabilities=low))


def with_weights(*origins: Any) -> Anatomy:
    return replace(anatomy(), weights=tuple(Weight(f"w.{n}", (2, 3), one) for n, one in enumerate(origins)))


def only_token() -> Anatomy:
    """A head that reads a text of one token."""
    whole = anatomy(read=[0])
    tokens, reads = whole.analysis.tokens, whole.analysis.reads
    one = replace(
        tokens,
        text=tokens.text[:1],
        span=tokens.span[:1],
        segment=tokens.segment[:1],
        special=tokens.special[:1],
    )
    read = replace(reads, positions=reads.positions[:1], share=reads.share[:1])
    return replace(whole, analysis=replace(whole.analysis, tokens=one, reads=read))


def facts(given: Anatomy, say: Any = EN) -> dict[str, str]:
    return head_facts(given, say)


@pytest.mark.parametrize(
    ("read", "named", "place", "case"),
    [
        ([0], "[CLS]", "the first token", "cls"),
        ([5], "[SEP]", "the last token", "one"),
        ([2], "“very”", "token number 3", "one"),
        ([0, 3], "[CLS], “slow”", "the first token, token number 4", "some"),
        (
            [0, 1, 2, 3, 4],
            "[CLS], “a”, “very”, “slow” and 1 more",
            "the first token, token number 2, token number 3, token number 4 and 1 more",
            "some",
        ),
        (
            [0, 1, 2, 3, 4, 5],
            "[CLS], “a”, “very”, “slow” and 2 more",
            "the first token, token number 2, token number 3, token number 4 and 2 more",
            "all",
        ),
        ([], "none", "none", "none"),
    ],
)
def test_what_is_read_is_named_counted_and_placed(read: list[int], named: str, place: str, case: str) -> None:
    given = anatomy(read=read)
    found = facts(given)
    assert (found["read"], found["place"]) == (named, place)
    assert (found["count"], found["total"]) == (str(len(read)), "6")
    assert found["cls"] == "[CLS]"
    assert found["reads"] == case


def test_steps_are_those_that_ran() -> None:
    found = facts(anatomy())
    assert found["steps"] == "pick one token → dense → tanh → dropout → classifier"
    assert found["classes"] == "BodyPooler (pick one token → dense → tanh) → dropout → classifier"
    assert found["between"] == "dense → tanh → dropout"
    assert found["core"] == "linear → tanh → linear"
    assert found["printed"] == "dense, classifier, dropout"
    assert facts(anatomy(), ZH)["steps"].startswith("取出一个词元 → dense")


def test_a_layer_before_the_pick_is_part_of_the_core() -> None:
    values = np.zeros((3, 2), dtype=np.float32)
    score = Step("linear", "score", "M", ("score.weight",), 6, "checkpoint", False, False, values, values)
    pick = Step("getitem", "", "M", (), 0, None, False, True, values, values[0])
    cut = Step("getitem", "", "M", (), 0, None, False, False, values, values[1:])
    mean = Step("mean", "", "M", (), 0, None, False, True, values, values[0])
    given = replace(anatomy(), steps=(score, pick))
    assert facts(given)["core"] == "linear"
    assert facts(given)["between"] == "none"
    assert facts(given)["direct"] == "yes"
    assert facts(replace(anatomy(), steps=(cut, mean, score)))["steps"] == "getitem → mean → score"


def test_weights_are_counted_by_where_they_come_from() -> None:
    given = anatomy("untrained")
    found = facts(given)
    shapes = [weight.shape for weight in given.weights]
    assert found["parameters"] == str(sum(int(np.prod(shape)) for shape in shapes)) == "90"
    assert found["new_parameters"] == "18"
    assert (found["weight_count"], found["new_count"], found["kept_count"]) == ("4", "2", "2")
    assert found["new"] == "classifier.weight, classifier.bias"
    assert found["kept"] == "body.pooler.dense.weight, body.pooler.dense.bias"
    assert found["unused"] == "lm_head.weight"
    assert (facts(anatomy())["new"], facts(anatomy())["unused"]) == ("none", "none")


def test_what_was_drawn_at_random_is_told_from_what_was_set_to_a_constant() -> None:
    found = facts(with_weights("checkpoint", "new", "constant", "reshaped"))  # of six numbers each
    assert (found["new"], found["new_parameters"]) == ("w.1, w.2, w.3", "18")
    assert (found["random"], found["random_parameters"]) == ("w.1, w.3", "12")
    assert (found["constant"], found["constant_parameters"]) == ("w.2", "6")
    assert (found["origin"], found["drawn"], found["set"]) == ("mixed", "some", "some")
    found = facts(with_weights("checkpoint", "constant"))
    assert (found["random"], found["drawn"], found["kept"]) == ("none", "none", "w.0")


def test_the_pooling_compared_with_has_the_same_facts() -> None:
    own, mean = anatomy(), anatomy(pooling="mean")
    found = against_facts(own, mean, EN)
    assert {f"against_{name}" for name in facts(own)} <= found.keys()
    assert (facts(own)["count"], found["against_count"]) == ("1", "6")
    assert found["against_says"] == facts(mean)["says"]
    assert not any(name.startswith("against_") for name in facts(own))


def reached() -> list[dict[str, str]]:
    """Facts of heads that are in every case there is."""
    opposite = replace(
        anatomy().analysis,
        logits=-anatomy().analysis.logits,
        probabilities=anatomy().analysis.probabilities[::-1],
    )
    in_order = (
        Declared("body.pooler.dense", 0, "x"),
        Declared("dropout", 0, "x"),
        Declared("classifier", 0, "x"),
    )
    heads = [
        *(anatomy(read=read) for read in ([0], [2], [0, 2], list(range(6)), [])),
        anatomy("untrained"),
        replace(anatomy(), steps=anatomy().steps[-1:]),
        replace(anatomy(), declared=in_order),
        with_weights("checkpoint"),
        with_weights("new", "reshaped"),
        with_weights("checkpoint", "new"),
        with_weights("checkpoint", "constant"),
        *(along(*ends) for ends in ((0.1, 0.9), (0.9, 0.1), (0.301, 0.299))),
        *(seen_as(*pooled) for pooled in ((0.2, 0.3, 0.9), (0.2, 0.6, 0.9), (0.6, 0.7, 0.9))),
        *(unsure(), anatomy("score"), anatomy(head="probe", pooling="attention")),
    ]
    pairs = [
        (anatomy(), anatomy()),
        (anatomy(), replace(anatomy(), analysis=opposite)),
        (anatomy("untrained"),) * 2,
    ]
    several = [[anatomy()], [anatomy(), anatomy()], [anatomy(), anatomy("last")], [anatomy(), heads[6]]]
    several += [[only_token(), only_token()], [with_weights("checkpoint"), with_weights("new")]]
    several += [[with_weights("new"), with_weights("new")]]
    measured = [facts(one) for one in heads] + [against_facts(one, two, EN) for one, two in pairs]
    return measured + [heads_facts(some, EN) for some in several]


def test_every_case_of_a_head_is_reached() -> None:
    found = {(case, measured[case]) for measured in reached() for case in CASES.keys() & measured.keys()}
    assert found == {(case, value) for case, values in CASES.items() for value in values}


def test_a_regression_agrees_where_it_shows_the_same() -> None:
    own, mean = anatomy("score"), anatomy("score", pooling="mean")
    assert against_facts(own, own, EN)["agree"] == "yes"
    assert against_facts(own, mean, EN)["agree"] == "no"


@pytest.mark.parametrize(
    ("pooled", "case", "since"),
    [((0.2, 0.3, 0.9), "last", "2"), ((0.2, 0.6, 0.9), "later", "1"), ((0.6, 0.7, 0.9), "every", "0")],
)
def test_since_which_layer_the_head_says_so(pooled: tuple[float, ...], case: str, since: str) -> None:
    given = seen_as(*pooled)
    assert isinstance(given.lens, Lens)
    found = facts(given)
    assert (found["knows"], found["since"], found["label"]) == (case, since, "positive")
    assert found["depths"] == " → ".join(map(percent, pooled))
    says = sum(int(row[1] > row[0]) for row in given.lens.probabilities[-1])
    assert found["pointed"] == str(says)
