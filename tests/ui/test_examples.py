import re

from components.ui.examples import Example, load_examples, suited
from tests.ui.fake import FakeAnalyst

BACKBONES = FakeAnalyst().backbones()


def test_the_examples_cover_what_a_visitor_may_wonder_about() -> None:
    texts = [example.text for example in load_examples()]
    assert any(re.search(r"\bnot\b", text) for text in texts)
    assert any(re.search(r"\b(\w+),? \1\b", text) for text in texts)
    assert any(len(text.split()) >= 80 for text in texts)
    assert any(not text.isascii() for text in texts)
    assert sum(bool(example.text_pair) for example in load_examples()) >= 2
    assert not any("\n" in text or text != text.strip() for text in texts)


def test_examples_have_short_and_different_labels() -> None:
    labels = [example.label for example in load_examples()]
    assert len(set(labels)) == len(labels)
    assert max(map(len, labels)) <= 28


def test_the_chosen_backbone_stays_if_it_takes_as_many_texts() -> None:
    assert suited(Example("", "a"), "untrained", BACKBONES) == "untrained"
    assert suited(Example("", "a", "b"), "untrained", BACKBONES) == "pair"
    assert suited(Example("", "a"), "pair", BACKBONES) == "first"


def test_an_example_may_name_its_backbone() -> None:
    assert suited(Example("", "a", backbone="last"), "first", BACKBONES) == "last"
    assert suited(Example("", "a", backbone="not in this catalogue"), "first", BACKBONES) == "first"
