"""What is said of padding: every case is reached, and each fact is what was measured."""

from dataclasses import replace

from components.analyses.padding import Padding
from components.exhibits.questions.padding_facts import CASES, padding_facts
from components.texts import Sentence, load_texts
from components.types import Query
from tests.ui.fake import FakeAnalyst
from tests.ui.fake_anatomy import fake_padding

SAY = load_texts()


def given() -> Padding:
    """A made-up audit that left padding moves."""
    return fake_padding(FakeAnalyst().ask("analyze", Query("first", "not good")))


def test_every_case_is_reached() -> None:
    one = given()
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
    every = [padding_facts(each, SAY) for each in audits]
    found = {(case, facts[case]) for facts in every for case in CASES}
    assert found == {(case, value) for case, values in CASES.items() for value in values}


def test_the_facts_are_those_of_the_audit() -> None:
    one = given()
    batch, *others = one.cases
    moved = replace(one, cases=(replace(batch, largest=0.1234, cause="positions"), *others))
    facts = padding_facts(moved, SAY)
    assert facts["side"] == "on the right"
    assert facts["largest"] == "0.12"
    assert facts["why"] == "positions are counted from the padding"
    assert facts["unsafe"] == "on the left (by 0.5: the head reads other positions)"
    chinese = padding_facts(moved, load_texts("zh"))
    assert not any("the " in fact for fact in chinese.values())
