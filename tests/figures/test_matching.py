"""Words of two versions, matched by hand."""

from components.figures.matching import Match, Place, matched


def told(before: list[str], after: list[str]) -> list[str]:
    """Every match as a word of the texts, one line of words for each: "a" kept, "-a" dropped, "+a" new."""
    old, new = [text.split() for text in before], [text.split() for text in after]
    said = []
    for match in matched(old, new):
        if match.after is None:
            assert match.before is not None
            said.append("-" + old[match.before.text][match.before.word])
        elif match.before is None:
            said.append("+" + new[match.after.text][match.after.word])
        else:
            word = new[match.after.text][match.after.word]
            assert old[match.before.text][match.before.word] == word
            said.append(word)
    return said


def test_words_are_kept_dropped_and_new_where_they_stand() -> None:
    assert told(["a b c"], ["a b c"]) == ["a", "b", "c"]
    assert told(["it is not good"], ["it is good"]) == ["it", "is", "-not", "good"]
    assert told(["a good film"], ["a very bad film"]) == ["a", "-good", "+very", "+bad", "film"]
    assert told(["a"], ["b"]) == ["-a", "+b"]


def test_the_same_word_twice_is_two_words() -> None:
    assert matched([["so", "so"]], [["so"]]) == (
        Match(Place(0, 0), Place(0, 0)),
        Match(Place(0, 1), None),
    )
    assert told(["very very slow"], ["very slow"]).count("very") == 1


def test_each_text_of_a_pair_is_matched_with_where_it_went() -> None:
    assert told(["a b", "c d"], ["c d", "a b"]) == ["c", "d", "a", "b"]
    assert matched([["a"], ["c"]], [["c"], ["a"]]) == (
        Match(Place(1, 0), Place(0, 0)),
        Match(Place(0, 0), Place(1, 0)),
    )
    assert told(["a b", "c d"], ["a x", "c d"]) == ["a", "-b", "+x", "c", "d"]


def test_a_text_more_or_less_is_new_or_dropped() -> None:
    assert told(["a"], ["a", "b c"]) == ["a", "+b", "+c"]
    assert told(["a", "b"], ["a"]) == ["a", "-b"]
    assert matched([["a"], ["b"]], [["a"]])[-1] == Match(Place(1, 0), None)
