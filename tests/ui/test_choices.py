from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.errors import PoolscopeError
from components.types import Query
from components.ui.choices import Choices
from tests.ui.fake import KINDS, POOLINGS, TASKS, FakeAnalyst

CHOICES = Choices.of(FakeAnalyst())
PROBE = Query("first", "good", head="probe")


def test_a_backbone_without_probes_offers_only_its_own_head() -> None:
    assert CHOICES.heads(Query("untrained", "good")) == ("own",)
    assert CHOICES.heads(Query("first", "good")) == ("own", "probe")
    assert CHOICES.heads(Query("last", "good", "bad")) == ("own",)  # its probes take one text


def test_tasks_fit_backbone_and_number_of_texts() -> None:
    assert [task.key for task in CHOICES.tasks(PROBE)] == ["sentiment", "topic"]
    assert [task.key for task in CHOICES.tasks(replace(PROBE, text_pair="bad"))] == ["paraphrase"]
    assert [task.key for task in CHOICES.tasks(replace(PROBE, text_pair="  "))] == ["sentiment", "topic"]
    assert CHOICES.tasks(Query("unknown", "good")) == ()


def test_learned_poolings_are_offered_to_a_probe_only() -> None:
    def offered(head: str) -> list[str]:
        return [key for _, key in CHOICES.poolings(replace(PROBE, head=head))]

    assert offered("own") == [spec.key for spec in POOLINGS if not spec.learned]
    assert offered("probe") == [spec.key for spec in POOLINGS]


@pytest.mark.parametrize(
    ("given", "fitted"),
    [
        (replace(PROBE, task="topic"), replace(PROBE, task="topic")),
        (replace(PROBE, task="topic", text_pair="bad"), replace(PROBE, text_pair="bad")),
        (replace(PROBE, task="topic", backbone="untrained"), Query("untrained", "good")),
        (Query("first", "good", pooling="attention", task="topic"), Query("first", "good")),
        (Query("first", "good", pooling="x", head="y"), Query("first", "good", pooling="x", head="y")),
    ],
)
def test_what_no_longer_fits_is_given_up(given: Query, fitted: Query) -> None:
    assert CHOICES.fitted(given) == fitted


@given(
    st.builds(
        Query,
        st.sampled_from([kind.spec.key for kind in KINDS]),
        st.just("good"),
        st.sampled_from(["", " ", "bad"]),
        st.sampled_from([spec.key for spec in POOLINGS if spec.key != "pooler"]),
        st.sampled_from(["own", "probe"]),
        task=st.sampled_from(["", "nonsense", *(task.key for task in TASKS)]),
    )
)
def test_what_fits_is_never_refused(query: Query) -> None:
    fitted = CHOICES.fitted(replace(query, text_pair=query.text_pair.strip()))
    try:
        FakeAnalyst().analyze(fitted)
    except PoolscopeError as error:
        pytest.fail(str(error))
    assert CHOICES.fitted(fitted) == fitted
