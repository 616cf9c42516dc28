"""An analyst in another language: its catalogue has other names, its answers are the same."""

from components.analyst import Translated
from components.fitting import Fit, Plan, Table
from components.importance import Importance
from components.patching import Patched
from components.texts import load_texts
from components.types import Query
from tests.exhibits.questions.asking import shipped
from tests.ui.fake import FakeAnalyst
from tests.ui.fake_kinds import POOLINGS

QUERY = Query("bert-sentiment", "a good film")


def chinese(analyst: FakeAnalyst) -> Translated:
    """The analyst with two names."""
    say = load_texts("zh")
    names = {"names.BERT-SENTIMENT": "情感模型", f"names.pooling.{POOLINGS[0].key}.summary": "说明"}
    return Translated(analyst, type(say)(say.language, {**say.entries, **names}))


def test_what_has_a_name_goes_by_it() -> None:
    analyst = chinese(shipped())
    titles = {spec.key: spec.title for spec in analyst.backbones()}
    assert titles["bert-sentiment"] == analyst.find("bert-sentiment").title == "情感模型"
    assert titles["gpt2-sentiment"] == "GPT2-SENTIMENT"
    assert analyst.poolings()[0].summary == "说明"
    assert [spec.key for spec in analyst.poolings()] == [spec.key for spec in POOLINGS]
    assert [task.labels for task in analyst.tasks()] == [task.labels for task in shipped().tasks()]
    assert (analyst.takes_ids, analyst.online) == (shipped().takes_ids, shipped().online)


def test_answers_are_the_same() -> None:
    analyst, plain = chinese(shipped()), shipped()
    for given, expected in (
        (analyst.analyze(QUERY), plain.analyze(QUERY)),
        (analyst.anatomy(QUERY).analysis, plain.anatomy(QUERY).analysis),
        (analyst.lens(QUERY).analysis, plain.lens(QUERY).analysis),
        (analyst.importance(QUERY, "", True).analysis, plain.importance(QUERY, "", True).analysis),
        (analyst.padding(QUERY).analysis, plain.padding(QUERY).analysis),
        (analyst.trace(QUERY, "bad", "").first, plain.trace(QUERY, "bad", "").first),
        (analyst.trace(QUERY, "bad", "").second, plain.trace(QUERY, "bad", "").second),
    ):
        assert given.backbone.title == "情感模型"
        assert (given.query, given.predicted) == (expected.query, expected.predicted)
        assert given.logits.tolist() == expected.logits.tolist()
    *_, traced = analyst.trace_in_parts(QUERY, "bad", "")
    *_, weighed = analyst.importance_in_parts(QUERY, "")
    assert isinstance(traced, Patched)
    assert isinstance(weighed, Importance)
    for answer in (traced.first, traced.second, weighed.analysis):
        assert answer.backbone.title == "情感模型"
    assert analyst.detect(QUERY, "1 2", "").backbone.title == "情感模型"
    assert analyst.passport(QUERY.backbone).backbone.title == "情感模型"
    table = Table(("good", "bad"), (), ("positive", "negative"))
    *_, fit = analyst.fit(table, Plan(("bert-sentiment",)))
    assert isinstance(fit, Fit)
    assert fit.ranking[0].backbone == "bert-sentiment"
    (compared,) = analyst.compare([QUERY])
    assert compared.backbone.title == "情感模型"
    assert compared.cells[0].analysis is not None
    assert compared.cells[0].analysis.predicted == plain.analyze(QUERY).predicted


def test_who_closes_a_comparison_closes_that_of_the_analyst() -> None:
    closed = []

    class Watched(FakeAnalyst):
        def compare(self, queries):  # type: ignore[no-untyped-def]  # as in FakeAnalyst
            try:
                yield from super().compare(queries)
            finally:
                closed.append(True)

    answers = chinese(Watched()).compare([Query("first", "good"), Query("last", "good")])
    next(answers)
    answers.close()
    assert closed == [True]
