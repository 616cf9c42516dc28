"""What is said of importance: every case is reached, and each fact is what was measured."""

from components.analyses.importance import Importance
from components.exhibits.importance.methods import Methods
from components.exhibits.questions.importance_facts import CASES, importance_facts
from components.texts import Sentence, load_texts
from components.types import Query
from tests.exhibits.importance.made import alike, made
from tests.ui.fake import FakeAnalyst

SAY = load_texts()
FALLS = [0.9, 0.8, 0.7, 0.6, 0.5, 0.4]


def given(backbone: str = "first", text: str = "a b c d e f") -> Importance:
    return made(FakeAnalyst().ask("analyze", Query(backbone, text)))


def test_every_case_is_reached() -> None:
    one = given()
    every = [
        importance_facts(each, SAY)
        for each in (
            alike(one, FALLS, FALLS),
            alike(one, FALLS, FALLS[::-1]),
            alike(one, FALLS, [0.3, 0.0, 0.1, 0.2, 0.4, 0.05]),
            given(text="one"),
            given("untrained"),
            Sentence("errors.died"),
        )
    ]
    found = {(case, facts[case]) for facts in every for case in CASES}
    assert found == {(case, value) for case, values in CASES.items() for value in values}


def test_both_tokens_are_named_with_what_the_output_is_without_them() -> None:
    one = alike(given(), [0.1, 0.9, 0.2, 0.3, 0.4, 0.5], [0.0, 0.1, 0.0, 0.0, 0.2, 0.05])
    facts, methods, before = importance_facts(one, SAY), Methods(one), float(one.analysis.probabilities.max())
    assert (facts["similar"], facts["erased"]) == ("b", "e")
    assert facts["before"] == methods.text(before)
    assert facts["similar_after"] == methods.text(before - 0.1)
    assert facts["erased_after"] == methods.text(before - 0.2)
    assert facts["explained"] == one.analysis.predicted[0]
