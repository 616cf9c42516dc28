"""The head that was fitted on a visitor's table: it answers as it was fitted, whatever it is asked for."""

import json
from dataclasses import asdict, replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, PredefinedSplit, StratifiedGroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from components.analyses.fit.classifier import STRENGTHS
from components.analyses.fit.rows import equal_rows
from components.errors import PoolscopeError
from components.fitting import MINE, Fit, OwnHead, Plan, Table, packed, read_head, write_head
from components.inference.engine import Engine
from components.inference.jobs import Job
from components.model.query import Asked
from components.types import Query
from tests.tables import reviews

KEY = "bert-sentiment"


def fitted(engine: Engine, table: Table, plan: Plan) -> Fit:
    *_, fit = engine.fit(table, plan)
    assert isinstance(fit, Fit)
    return fit


def query_of(head: OwnHead, text: str, pair: str = "") -> Query:
    return Query(head.backbone, text, pair, head.pooling, MINE, pool_layer=head.layer, mine=write_head(head))


def test_it_answers_as_the_best_combination_was_fitted(engine: Engine) -> None:
    table = reviews(90)
    fit = fitted(engine, table, Plan((KEY,), ("mean", "cls"), all_layers=True, folds=2))
    head, best = read_head(fit.head), fit.ranking[0]
    assert (head.backbone, head.pooling, head.labels, head.texts) == (KEY, best.pooling, fit.classes, 1)
    assert head.layer == (-1 if best.layer == 4 else best.layer)
    found = engine.features(KEY, table.texts, [best.pooling], best.layer)[best.pooling]
    labels = np.array([fit.classes.index(label) for label in table.labels])
    groups = equal_rows(table)
    folds = StratifiedGroupKFold(6, shuffle=True, random_state=0)
    held_out = [test for _others, test in folds.split(found, labels, groups)][1]  # the first one is tested
    search = GridSearchCV(
        LogisticRegression(max_iter=5000),
        {"C": STRENGTHS},
        scoring="neg_log_loss",
        cv=PredefinedSplit(np.where(np.isin(np.arange(90), held_out), 0, -1)),
    )
    expected = make_pipeline(StandardScaler(), search).fit(found, labels).decision_function(found)
    right = 0
    for row, text in enumerate(table.texts[:12]):
        answer = engine.ask("analyze", query_of(head, text))
        np.testing.assert_allclose(np.diff(answer.logits), expected[row], rtol=0.02, atol=0.02)  # not padded
        right += answer.predicted == (table.labels[row],)
    assert right >= 11


@pytest.fixture(scope="module")
def head(engine: Engine) -> OwnHead:
    return read_head(fitted(engine, reviews(60), Plan((KEY,), ("mean",), folds=2)).head)


def test_everything_can_be_asked_of_it(engine: Engine, head: OwnHead) -> None:
    query = query_of(head, "a fine film")
    anatomy = engine.ask("anatomy", query)
    assert [weight.origin for weight in anatomy.weights] == ["probe", "probe"]
    assert "components.lab" in anatomy.program
    looked = engine.ask("lens", query)
    np.testing.assert_allclose(looked.lens.pooled[-1], anatomy.analysis.logits, atol=1e-4)
    assert engine.ask("trace", query, other="a dull film", other_pair="").first.labels == head.labels
    assert engine.ask("importance", query, label="", integrated=False).analysis.labels == head.labels
    others = [query, replace(query, pooling="cls"), replace(query, backbone="gpt2-sentiment")]
    one, refused, elsewhere = [cell for found in engine.compare(others) for cell in found.cells]
    assert one.analysis is not None
    assert "fitted for mean" in str(refused.refusal)
    assert f"fitted for {KEY}" in str(elsewhere.refusal)


def test_a_head_of_pairs_takes_pairs(engine: Engine, head: OwnHead) -> None:
    pairs = replace(head, texts=2)
    assert engine.ask("analyze", query_of(pairs, "a fine film", "a good one")).labels == head.labels
    with pytest.raises(PoolscopeError, match="two texts"):
        engine.ask("analyze", query_of(pairs, "a fine film"))
    with pytest.raises(PoolscopeError, match="one text"):
        engine.ask("analyze", query_of(head, "a fine film", "a good one"))


def with_values(**values: object) -> str:
    numbers = packed(np.eye(2, dtype=np.float32), np.zeros(2, np.float32))
    return json.dumps({**asdict(OwnHead(KEY, "mean", -1, 1, ("a", "b"), numbers)), **values})


@pytest.mark.parametrize(
    ("mine", "said"),
    [
        ("", "no link and in no other session"),
        ("{", "it is none that the Lab"),
        ("[" * 100_000, "it is none that the Lab"),
        (with_values(labels=["a"]), "it is none that the Lab"),
        (with_values(numbers="?"), "it is none that the Lab"),
        (with_values(numbers="AAAA"), "it is none that the Lab"),
        (with_values(numbers="AACAfwAAgH8AAIB/AACAfw=="), "it is none that the Lab"),  # infinite
        (with_values(more=1), "it is none that the Lab"),
        (with_values(numbers="A" * 2_000_001), "it is none that the Lab"),
        (with_values(), "where the vector has 128"),
        (with_values(layer=2), "fitted for 2"),
        (with_values(backbone="gpt2-sentiment"), "fitted for gpt2-sentiment"),
        (with_values(pooling="cls"), "fitted for cls"),
    ],
)
def test_what_is_no_head_for_the_question_gets_a_sentence(engine: Engine, mine: object, said: str) -> None:
    query = Query(KEY, "a fine film", pooling="mean", head=MINE, mine=mine)  # type: ignore[arg-type]  # as sent
    with pytest.raises(PoolscopeError, match=said):
        engine.ask("analyze", query)


def test_no_answer_of_it_is_kept(engine: Engine, head: OwnHead) -> None:
    spec = engine.backbones()[0]
    mine, own = Asked(query_of(head, "a"), None), Asked(Query(KEY, "a"), None)
    for asked, kept in ((mine, False), (own, True)):
        assert Job("analyze", spec, (), (asked,)).kept is kept
        assert Job("compare", spec, (), (own, asked)).kept is kept
