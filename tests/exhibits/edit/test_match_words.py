"""Words of two versions, matched by hand."""

from components.exhibits.edit.versions import match_words


def told(before: list[str], after: list[str]) -> list[str]:
    """Every match as a word of the texts, one line of words for each: "a" kept, "-a" dropped, "+a" new."""
    old, new = [text.split() for text in before], [text.split() for text in after]
    said = []
    for was, now in match_words(old, new):
        if now is None:
            assert was is not None
            said.append("-" + old[was[0]][was[1]])
        elif was is None:
            said.append("+" + new[now[0]][now[1]])
        else:
            assert old[was[0]][was[1]] == new[now[0]][now[1]]
            said.append(new[now[0]][now[1]])
    return said


def test_words_are_kept_dropped_and_new_where_they_stand() -> None:
    assert told(["a b c"], ["a b c"]) == ["a", "b", "c"]
    assert told(["it is not good"], ["it is good"]) == ["it", "is", "-not", "good"]
    assert told(["a good film"], ["a very bad film"]) == ["a", "-good", "+very", "+bad", "film"]
    assert told(["a"], ["b"]) == ["-a", "+b"]


def test_the_same_word_twice_is_two_words() -> None:
    assert match_words([["so", "so"]], [["so"]]) == (
        ((0, 0), (0, 0)),
        ((0, 1), None),
    )
    assert told(["very very slow"], ["very slow"]).count("very") == 1


def test_each_text_of_a_pair_is_matched_with_where_it_went() -> None:
    assert told(["a b", "c d"], ["c d", "a b"]) == ["c", "d", "a", "b"]
    assert match_words([["a"], ["c"]], [["c"], ["a"]]) == (
        ((1, 0), (0, 0)),
        ((0, 0), (1, 0)),
    )
    assert told(["a b", "c d"], ["a x", "c d"]) == ["a", "-b", "+x", "c", "d"]


def test_a_text_more_or_less_is_new_or_dropped() -> None:
    assert told(["a"], ["a", "b c"]) == ["a", "+b", "+c"]
    assert told(["a", "b"], ["a"]) == ["a", "-b"]
    assert match_words([["a"], ["b"]], [["a"]])[-1] == ((1, 0), None)
