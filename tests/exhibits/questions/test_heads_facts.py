"""Facts of several heads together: each is computed here once more from the heads."""

from dataclasses import replace

from components.analyses.anatomy import Step
from components.exhibits.questions.head_facts import heads_facts
from components.texts import load_texts
from tests.exhibits.questions.test_head_facts import anatomy, facts, only_token, with_weights

EN = load_texts()


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
        heads_facts([anatomy(), replace(longer, steps=(first, replace(moved, moves=False), *rest))], EN)[
            "same"
        ]
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
