"""Facts and cases: each is computed here once more, from the analysis, the head or what was measured."""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from components.analyses.anatomy import Anatomy, Declared, Step, Weight
from components.analyses.importance import Importance
from components.analyses.lens import Lens
from components.analyses.padding import Padding
from components.exhibits.evidence import Evidence, select
from components.exhibits.facts import (
    against_facts,
    cases,
    head_facts,
    heads_facts,
    importance_facts,
    padding_facts,
    result_facts,
    results_facts,
)
from components.exhibits.importance import Methods
from components.exhibits.view import percent
from components.results import Table, beside, holm
from components.texts import Sentence, load_texts
from components.types import Query
from tests.exhibits.answers import alike, made
from tests.measured import having, measured
from tests.ui.fake import FakeAnalyst
from tests.ui.fake_anatomy import fake_padding
from tests.ui.fake_results import fake_results

HEAD_CASES, RESULT_CASES = cases("head"), cases("evidence")
IMPORTANCE_CASES, PADDING_CASES = (
    {case: values for case, values in cases(view).items() if case not in HEAD_CASES}
    for view in ("importance", "padding")
)
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
    found = {(case, measured[case]) for measured in reached() for case in HEAD_CASES.keys() & measured.keys()}
    assert found == {(case, value) for case, values in HEAD_CASES.items() for value in values}


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


def test_heads_are_named_by_where_they_read_and_by_what_they_do() -> None:
    first, last = anatomy(), anatomy("last")
    one = replace(last, steps=last.steps[-1:])
    titles = [given.analysis.backbone.title for given in (first, one)]
    found = heads_facts([first, one], EN)
    assert (found["first_names"], found["last_names"]) == tuple(titles)
    assert found["core_names"] == f"linear → tanh → linear ({titles[0]}); linear ({titles[1]})"
    assert heads_facts([anatomy(read=[0, 1]), last], EN)["first_names"] == "none"


def test_heads_that_go_on_with_weights_of_the_checkpoint_are_named() -> None:
    kept, new = with_weights("checkpoint", "new"), with_weights("new", "constant")
    title = kept.analysis.backbone.title
    for heads, several, names in (
        ([kept, new], "some", title),
        ([new, new], "none", "none"),
        ([kept, kept], "all", f"{title}, {title}"),
    ):
        found = heads_facts(heads, EN)
        assert (found["inherited"], found["inheriting_names"]) == (several, names)
        assert found["inheriting"] == str(heads.count(kept))
    assert heads_facts([kept], EN)["inherited"] == "alone"


def test_steps_that_only_move_numbers_make_no_head_different() -> None:
    first, *rest = anatomy().steps
    moved = Step("view", "", "", (), 0, None, False, False, first.given, first.given[None], moves=True)
    again = Step("getitem", "", "", (), 0, None, False, False, first.given[None], first.given, moves=True)
    longer = replace(anatomy(), steps=(first, moved, again, *rest))
    assert facts(longer)["core"] == facts(anatomy())["core"] == "linear → tanh → linear"
    assert heads_facts([anatomy(), longer], EN)["same"] == "yes"
    assert (
        heads_facts(
            [anatomy(), replace(longer, steps=(first, replace(moved, moves=False), *rest))],
            EN,
        )["same"]
        == "no"
    )


def test_of_one_token_the_first_is_the_last_and_tells_nothing() -> None:
    """As GPT-2, which adds none, reads a word: at the end, and at the beginning."""
    alone = only_token()
    assert facts(alone)["place"] == "the only token"
    for others, expected in (
        ([anatomy(), alone], "short"),
        ([alone, anatomy("last")], "short"),
        ([alone, alone], "short"),
        ([alone, anatomy(), anatomy("last")], "no"),
        ([alone, anatomy(read=[0, 1])], "no"),
        ([anatomy(), anatomy()], "yes"),
    ):
        assert heads_facts(others, EN)["alike"] == expected
    found = heads_facts([alone, anatomy(), anatomy("last")], EN)
    assert (found["firsts"], found["lasts"]) == ("1", "1")


FALLS = [0.9, 0.8, 0.7, 0.6, 0.5, 0.4]


def given(backbone: str = "first", text: str = "a b c d e f") -> Importance:
    return made(FakeAnalyst().ask("analyze", Query(backbone, text)))


def test_every_case_of_importance_is_reached() -> None:
    one = given()
    every = [
        importance_facts(each, EN)
        for each in (
            alike(one, FALLS, FALLS),
            alike(one, FALLS, FALLS[::-1]),
            alike(one, FALLS, [0.3, 0.0, 0.1, 0.2, 0.4, 0.05]),
            given(text="one"),
            given("untrained"),
            Sentence("errors.died"),
        )
    ]
    found = {(case, facts[case]) for facts in every for case in IMPORTANCE_CASES}
    assert found == {(case, value) for case, values in IMPORTANCE_CASES.items() for value in values}


def test_both_tokens_are_named_with_what_the_output_is_without_them() -> None:
    one = alike(given(), [0.1, 0.9, 0.2, 0.3, 0.4, 0.5], [0.0, 0.1, 0.0, 0.0, 0.2, 0.05])
    facts, methods, before = importance_facts(one, EN), Methods(one), float(one.analysis.probabilities.max())
    assert (facts["similar"], facts["erased"]) == ("b", "e")
    assert facts["before"] == methods.text(before)
    assert facts["similar_after"] == methods.text(before - 0.1)
    assert facts["erased_after"] == methods.text(before - 0.2)
    assert facts["explained"] == one.analysis.predicted[0]


def audit() -> Padding:
    """A made-up audit that left padding moves."""
    return fake_padding(FakeAnalyst().ask("analyze", Query("first", "not good")))


def test_every_case_of_padding_is_reached() -> None:
    one = audit()
    batch, right, left = one.cases
    calm = replace(left, name="left_positions", reads_padding=False, cause="")
    moved = replace(batch, largest=0.25, cause="attention")
    audits = (
        one,
        replace(one, cases=(batch, right, calm)),
        replace(one, cases=(moved, right)),
        replace(one, cases=(replace(moved, reads_padding=True),)),
        replace(one, cases=()),
        Sentence("errors.died"),
    )
    every = [padding_facts(each, EN) for each in audits]
    found = {(case, facts[case]) for facts in every for case in PADDING_CASES}
    assert found == {(case, value) for case, values in PADDING_CASES.items() for value in values}


def test_the_facts_are_those_of_the_audit() -> None:
    one = audit()
    batch, *others = one.cases
    moved = replace(one, cases=(replace(batch, largest=0.1234, cause="positions"), *others))
    facts = padding_facts(moved, EN)
    assert facts["side"] == "on the right"
    assert facts["largest"] == "0.12"
    assert facts["why"] == "positions are counted from the padding"
    assert facts["unsafe"] == "on the left (by 0.5: the head reads other positions)"
    chinese = padding_facts(moved, load_texts("zh"))
    assert not any("the " in fact for fact in chinese.values())


RESULTS = fake_results()


def evidence(*backbones: str, results: Table = RESULTS) -> Evidence:
    return select(results, "sentiment", backbones, {})


def measured_of(key: str, results: Table = RESULTS) -> dict[str, str]:
    """Facts of one backbone, with two poolings that are named."""
    return result_facts(evidence(key, results=results), key, ("cls", "mean"), EN)


def together(*backbones: str, results: Table = RESULTS) -> dict[str, str]:
    """Facts of several backbones, with the first token for the one classifier."""
    return results_facts(evidence(*backbones, results=results), "cls", EN)


@pytest.mark.parametrize("key", ["bert-pretrained", "gpt2-sentiment"])
def test_results_are_those_of_the_file(key: str) -> None:
    rows = {
        row.pooling: row
        for row in measured(RESULTS, "probe")
        if (row.backbone, row.task) == (key, "sentiment")
    }
    ordered = sorted(rows.values(), key=lambda row: row.value)
    others = [row.p for row in rows.values() if row.pooling != "cls"]
    found = measured_of(key)
    low, high = ordered[0], ordered[-1]
    assert (found["lowest"], found["highest"]) == (low.pooling, high.pooling)
    for name, row in (("lowest_accuracy", low), ("highest_accuracy", high)):
        assert found[name] == f"{100 * row.value:.1f} % ({100 * row.low:.1f} to {100 * row.high:.1f})"
    assert (found["measured"], found["others"]) == (str(len(rows)), str(len(rows) - 1))
    assert found["differ"] == str(sum(p < 0.05 for p in holm(others)))
    assert (found["base"], found["level"], found["confidence"]) == ("cls", "0.05", "95 %")
    cells = [f"{name} {100 * rows[name].value:.1f} % (" for name in ("cls", "mean")]
    assert re.findall(r"\w+ [\d.]+ % \(", found["accuracies"]) == cells
    assert found["examples"] == str(rows["cls"].measured) == "872"


def test_own_heads_and_probes_are_compared() -> None:
    keys = ("bert-sentiment", "xlnet-sentiment", "gpt2-sentiment")
    own = {row.backbone: row.value for row in measured(RESULTS, "head") if row.backbone in keys}
    probe = {
        row.backbone: row.value
        for row in measured(RESULTS, "probe")
        if (row.task, row.pooling) == ("sentiment", "cls") and row.backbone in keys
    }
    found = together(*keys)
    for name, accuracies in (("own", own), ("probe", probe)):
        shown = [round(100 * accuracy, 1) for accuracy in accuracies.values()]
        assert found[f"{name}_spread"] == f"{max(shown) - min(shown):.1f}"
        low, high = min(accuracies, key=accuracies.__getitem__), max(accuracies, key=accuracies.__getitem__)
        ends = rf"from {low} with {min(shown)} % \(.*\) to {high} with {max(shown)} % \(.*\)"
        assert re.fullmatch(ends, found[f"{name}_ends"])
    assert (found["probe_pooling"], found["pairs"]) == ("cls", "3")
    (row,) = (row for row in measured(RESULTS, "head") if row.backbone == keys[0])
    value, low, high = (f"{100 * one:.1f}" for one in (row.value, row.low, row.high))
    assert measured_of(keys[0])["own"] == f"{value} % ({low} to {high})"


def test_a_backbone_without_an_own_result_is_not_compared() -> None:
    found = together("bert-pretrained")
    assert (found["counts"], found["pairs"], found["probe_spread"]) == ("alone", "0", "0.0")
    assert found["own_ends"] == found["probe_ends"] == "not measured"
    assert measured_of("bert-pretrained")["own"] == "not measured"


def test_every_case_of_results_is_reached() -> None:
    keys = ("bert-sentiment", "roberta-sentiment")

    def with_p(p: float) -> Table:
        return having(RESULTS, probe=[beside(row, p=p) for row in measured(RESULTS, "probe")])

    def own(*accuracies: float) -> Table:
        rows = zip(keys, accuracies, strict=True)
        head = measured(RESULTS, "head")[0]
        return having(RESULTS, head=[beside(head, backbone=key, value=one) for key, one in rows])

    alone = having(RESULTS, probe=[row for row in measured(RESULTS, "probe") if row.pooling == "cls"])
    level = [beside(row, value=0.5) for row in measured(RESULTS, "probe")]
    given = (RESULTS, with_p(0), with_p(1), alone, own(0.1, 0.9), having(own(0.5, 0.51), probe=level))
    every = [measured_of(key, results) for results in given for key in keys]
    every += [together(*keys, results=results) for results in given] + [together("bert-pretrained")]
    found = {(case, one[case]) for one in every for case in RESULT_CASES.keys() & one.keys()}
    assert found == {(case, value) for case, values in RESULT_CASES.items() for value in values}
