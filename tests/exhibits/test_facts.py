"""Facts and cases: each is computed here once more, from the analysis, the head or what was measured."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from components.analyses.anatomy import Anatomy, HeadStep, PrintedLine, Weight
from components.analyses.importance import Importance
from components.exhibits import facts as telling
from components.exhibits.evidence import Evidence
from components.exhibits.facts import head_facts, heads_facts, importance_facts, padding_facts
from components.exhibits.view import percent
from components.results import Row, Table, beside, holm
from components.texts import Sentence, load_texts
from components.types import Reads
from tests.exhibits import showing
from tests.exhibits.answers import alike, made
from tests.exhibits.asking import cases
from tests.exhibits.showing import CASES, analysis, leaning, lens, reading
from tests.measured import having, measured
from tests.ui.fake_answers import fake_padding
from tests.ui.fake_results import fake_results

EN, ZH = load_texts("en"), load_texts("zh")
RESULTS = fake_results()


def anatomy(key: str = "first", read: list[int] | None = None, **query: Any) -> Anatomy:
    """A made-up head of six tokens, which reads the tokens ``read``."""
    whole = showing.anatomy(key, "a very slow film", **query)
    return whole if read is None else replace(whole, analysis=reading(whole.analysis, *read))


def with_analysis(whole: Anatomy, **others: Any) -> Anatomy:
    return replace(whole, analysis=replace(whole.analysis, **others))


def unsure() -> Anatomy:
    """A head of several labels that may hold, of which none does."""
    given = anatomy("emotions")
    return with_analysis(given, probabilities=np.full_like(given.analysis.probabilities, 0.1))


def with_weights(*origins: Any) -> Anatomy:
    """A head with weights of six numbers each."""
    return replace(anatomy(), weights=tuple(Weight(f"w.{n}", (2, 3), one) for n, one in enumerate(origins)))


def only_token() -> Anatomy:
    """A head that reads a text of one token."""
    tokens = anatomy().analysis.tokens
    first = {name: getattr(tokens, name)[:1] for name in ("text", "span", "segment", "special")}
    reads = Reads(np.array([True]), np.ones(1, np.float32))
    return with_analysis(anatomy(), tokens=replace(tokens, **first), reads=reads)


def reaches(found: Iterable[Mapping[str, str]], *measures: str) -> None:
    """Check that the facts ``found`` are in every case of these measures."""
    wanted = cases(measures)
    reached = {(key, one[key]) for one in found for key in wanted.keys() & one.keys()}
    assert reached == {(key, value) for key, values in wanted.items() for value in values}


@pytest.mark.parametrize(("read", "named", "place", "case"), CASES["read"])
def test_what_is_read_is_named_counted_and_placed(read: list[int], named: str, place: str, case: str) -> None:
    found = head_facts(anatomy(read=read), EN)
    told = [found[name] for name in ("read", "place", "count", "total", "cls", "reads")]
    assert told == [named, place, str(len(read)), "6", "[CLS]", case]


def test_steps_are_those_that_ran() -> None:
    assert CASES["order"].items() <= head_facts(anatomy(), EN).items()
    assert head_facts(anatomy(), ZH)["classes"].startswith("BodyPooler（取出一个词元 → dense → tanh） → ")


def test_a_layer_before_the_pick_is_part_of_the_core() -> None:
    values = np.zeros((3, 2), dtype=np.float32)
    score = HeadStep("linear", "score", "M", ("score.weight",), 6, "checkpoint", False, False, values, values)
    pick = HeadStep("getitem", "", "M", (), 0, None, False, True, values, values[0])
    found = head_facts(replace(anatomy(), steps=(score, pick)), EN)
    assert (found["core"], found["between"], found["direct"]) == ("linear", "none", "yes")
    cut, mean = replace(pick, picks=False), replace(pick, kind="mean")
    assert head_facts(replace(anatomy(), steps=(cut, mean, score)), EN)["steps"] == "getitem → mean → score"


def test_weights_are_counted_by_where_they_come_from() -> None:
    found = head_facts(anatomy("untrained"), EN)
    counts = ("parameters", "new_parameters", "weight_count", "new_count", "kept_count")
    assert [found[name] for name in counts] == ["90", "18", "4", "2", "2"]
    assert found["new"] == "classifier.weight, classifier.bias"
    assert found["kept"] == "body.pooler.dense.weight, body.pooler.dense.bias"
    assert found["unused"] == "lm_head.weight"
    found = head_facts(with_weights("checkpoint", "new", "constant", "reshaped"), EN)
    assert (found["new"], found["new_parameters"]) == ("w.1, w.2, w.3", "18")
    assert (found["random"], found["random_parameters"]) == ("w.1, w.3", "12")
    assert (found["constant"], found["constant_parameters"]) == ("w.2", "6")
    assert (found["origin"], found["drawn"], found["set"]) == ("mixed", "some", "some")


def test_every_case_of_a_head_is_reached() -> None:
    own = anatomy()
    in_order = tuple(PrintedLine(path, 0, "x") for path in ("body.pooler.dense", "dropout", "classifier"))
    last_step = replace(own, steps=own.steps[-1:])
    heads = [
        *(anatomy(read=read) for read in ([0], [2], [0, 2], list(range(6)), [])),
        *(anatomy("untrained"), last_step, replace(own, declared=in_order)),
        *map(with_weights, ("checkpoint", "new")),
        *(with_weights("checkpoint", other) for other in ("new", "constant")),
        *(leaning(anatomy(), *pooled) for pooled in ((0.2, 0.3, 0.9), (0.2, 0.6, 0.9), (0.6, 0.7, 0.9))),
        *(unsure(), anatomy("score"), anatomy(head="probe", pooling="attention")),
    ]
    several = [[own], [own, own], [own, anatomy("last")], [own, last_step], [only_token()] * 2]
    several += [[with_weights("checkpoint"), with_weights("new")], [with_weights("new")] * 2]
    reaches([*(head_facts(one, EN) for one in heads), *(heads_facts(some, EN) for some in several)], "head")


def test_since_which_layer_the_head_says_so() -> None:
    given = leaning(anatomy(), 0.2, 0.6, 0.9)
    found = head_facts(given, EN)
    assert (found["knows"], found["since"], found["label"]) == ("later", "1", "positive")
    assert found["depths"] == " → ".join(map(percent, (0.2, 0.6, 0.9)))
    assert found["pointed"] == str(sum(int(row[1] > row[0]) for row in lens(given).probabilities[-1]))
    alike = replace(given, analysis=replace(given.analysis, labels=("same", "same")))
    assert head_facts(alike, EN)["knows"] == "every"


def test_heads_are_named_by_where_they_read_what_they_do_and_what_they_go_on_with() -> None:
    first, last = anatomy(), anatomy("last")
    one = replace(last, steps=last.steps[-1:])
    titles = [given.analysis.backbone.title for given in (first, one)]
    found = heads_facts([first, one], EN)
    assert (found["first_names"], found["last_names"]) == tuple(titles)
    assert found["core_names"] == f"linear → tanh → linear ({titles[0]}); linear ({titles[1]})"
    found = heads_facts([with_weights("checkpoint", "new"), with_weights("new", "constant")], EN)
    assert (found["inherited"], found["inheriting_names"], found["inheriting"]) == ("some", titles[0], "1")


def test_steps_that_only_move_numbers_make_no_head_different() -> None:
    first, *rest = anatomy().steps
    moved = HeadStep("view", "", "", (), 0, None, False, False, first.given, first.given[None], moves=True)
    longer, other = (
        replace(anatomy(), steps=(first, one, *rest)) for one in (moved, replace(moved, moves=False))
    )
    assert head_facts(longer, EN)["core"] == "linear → tanh → linear"
    assert [heads_facts([anatomy(), one], EN)["same"] for one in (longer, other)] == ["yes", "no"]


def test_of_one_token_the_first_is_the_last_and_tells_nothing() -> None:
    """As GPT-2, which adds none, reads a word: at the end, and at the beginning."""
    alone, first, last = only_token(), anatomy(), anatomy("last")
    assert head_facts(alone, EN)["place"] == "the only token"
    several = {"short": [first, alone], "yes": [first, first], "no": [alone, first, last]}
    assert {case: heads_facts(heads, EN)["alike"] for case, heads in several.items()} == {
        case: case for case in several
    }
    found = heads_facts(several["no"], EN)
    assert (found["firsts"], found["lasts"]) == ("1", "1")


def given(backbone: str = "first", text: str = "a b c d e f") -> Importance:
    return made(analysis(backbone, text))


def test_every_case_of_importance_is_reached() -> None:
    one, falls = given(), [0.9, 0.8, 0.7, 0.6, 0.5, 0.4]
    others = (falls, falls[::-1], [0.3, 0.0, 0.1, 0.2, 0.4, 0.05])
    few = alike(given(text="a b c d"), falls[:4], falls[:4])
    asked = (few, given(text="one"), given("untrained"), Sentence("errors.died"))
    every = (*(alike(one, falls, other) for other in others), *asked)
    reaches([importance_facts(each, EN) for each in every], "importance")


def test_both_tokens_are_named_with_what_the_output_is_without_them() -> None:
    one = alike(given(), [0.1, 0.9, 0.2, 0.3, 0.4, 0.5], [0.0, 0.1, 0.0, 0.0, 0.2, 0.05])
    facts, before = importance_facts(one, EN), float(one.analysis.probabilities.max())
    assert (facts["similar"], facts["erased"]) == ("b", "e")
    outputs = [percent(before - fall) for fall in (0, 0.1, 0.2)]
    assert [facts[name] for name in ("before", "similar_after", "erased_after")] == outputs
    assert facts["explained"] == one.analysis.predicted[0]


def test_padding_is_told_as_it_was_audited_and_every_case_is_reached() -> None:
    one = fake_padding(analysis())  # left padding moves
    batch, right, left = one.cases
    calm = replace(left, name="left_positions", reads_padding=False, cause="")
    moved = replace(batch, largest=0.1234, cause="positions")
    ways = ((batch, right, calm), (moved, right), (replace(moved, reads_padding=True),), ())
    audits = (one, *(replace(one, cases=cases) for cases in ways), Sentence("errors.died"))
    reaches([padding_facts(each, EN) for each in audits], "padding")
    facts = padding_facts(replace(one, cases=(moved, right, left)), EN)
    assert (facts["side"], facts["largest"]) == ("on the right", "0.12")
    assert facts["why"] == "positions are counted from the padding"
    assert facts["unsafe"] == "on the left (by 0.5: the head reads other positions)"


def measured_of(key: str, results: Table = RESULTS) -> dict[str, str]:
    """Facts of one backbone, with two poolings that are named."""
    return telling.result_facts(Evidence(results, "sentiment", (key,), {}), key, ("cls", "mean"), EN)


def together(*backbones: str, results: Table = RESULTS) -> dict[str, str]:
    """Facts of several backbones, with the first token for the one classifier."""
    return telling.results_facts(Evidence(results, "sentiment", backbones, {}), "cls", EN)


def told(row: Row) -> str:
    return f"{100 * row.value:.1f} % ({100 * row.low:.1f} to {100 * row.high:.1f})"


def test_results_are_those_of_the_file() -> None:
    key = "gpt2-sentiment"
    rows = {row.pooling: row for row in measured(RESULTS, "probe", backbone=key, task="sentiment")}
    (own,) = measured(RESULTS, "head", backbone=key)
    others = [row for row in rows.values() if row.pooling != "cls"]
    p = dict(zip((row.pooling for row in others), holm([row.p for row in others]), strict=True))["mean"]
    side = "better" if rows["mean"].better > rows["mean"].worse else "worse"
    told_of = {"better": "none", "worse": "none", **({side: "mean"} if p < 0.05 else {})}
    expected = {
        **{"level": "0.05", "confidence": "95 %", "examples": "872", "own": told(own), **told_of},
        "accuracies": f"cls {told(rows['cls'])}, mean {told(rows['mean'])}",
    }
    assert expected.items() <= measured_of(key).items()
    sides = [
        measured_of(key, having(RESULTS, probe=[beside(row, p=0.0, **counts) for row in rows.values()]))
        for counts in ({"better": 9, "worse": 1}, {"better": 1, "worse": 9})
    ]
    assert [(one["better"], one["worse"]) for one in sides] == [("mean", "none"), ("none", "mean")]


def test_own_heads_and_probes_are_compared() -> None:
    keys = ("bert-sentiment", "xlnet-sentiment", "gpt2-sentiment")
    own = measured(RESULTS, "head", backbone=keys)
    probes = measured(RESULTS, "probe", task="sentiment", pooling="cls", backbone=keys)
    found = together(*keys)
    for name, rows in (("own", own), ("probe", probes)):
        low, *_, high = sorted(rows, key=lambda row: row.value)
        ends = f"from {low.backbone} with {told(low)} to {high.backbone} with {told(high)}"
        assert found[f"{name}_ends"] == ends
    assert (found["probe_pooling"], found["pairs"], found["tests"]) == ("cls", "3", "6")
    alone = together("bert-pretrained")  # without a head of its own
    assert (alone["counts"], alone["pairs"]) == ("alone", "0")
    assert alone["own_ends"] == measured_of("bert-pretrained")["own"] == "not measured"


def test_every_case_of_results_is_reached() -> None:
    keys = ("bert-sentiment", "roberta-sentiment")
    probes = measured(RESULTS, "probe")

    def paired(p: float) -> Table:
        return having(RESULTS, pair=[beside(row, p=p) for row in measured(RESULTS, "pair")])

    heads = {(row.backbone, row.task) for row in measured(RESULTS, "head")}
    tuning = [beside(row, better=9, worse=1, p=float((row.backbone, row.task) in heads)) for row in probes]
    # Of two tests with a p of 0.03 none counts, of two with 0.02 both do.
    results = (RESULTS, having(RESULTS, probe=tuning), paired(0.02), paired(0.03))
    every = [measured_of(key, one) for one in results for key in keys]
    several = [together(*keys, results=one) for one in results]
    reaches([*every, *several, together("bert-pretrained")], "results")
