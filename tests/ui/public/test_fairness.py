"""Whose question begins next."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from components.ui.public.rate_limit import FairTurns, Waiting


def served(turns: FairTurns, waiting: list[Waiting[str]]) -> list[str]:
    """In which order all who wait are served."""
    order, left = [], list(waiting)
    while left:
        taken = turns.take(left)
        assert taken is not None
        order.append(taken)
        left = [one for one in left if one.what != taken]
    return order


def test_who_asks_once_does_not_wait_behind_who_asks_a_hundred_times() -> None:
    many = [Waiting(f"a{number}", "1.1.1.1", "a") for number in range(100)]
    once = Waiting("b", "1.1.1.1", "b")
    order = served(FairTurns(), [*many, once])
    assert order[:3] == ["a0", "b", "a1"]
    assert order[2:] == [f"a{number}" for number in range(1, 100)]  # in the order in which they were asked


def test_a_thousand_made_up_visitors_of_one_address_are_one_turn() -> None:
    flood = [Waiting(f"flood{number}", "6.6.6.6", f"made up {number}") for number in range(1000)]
    turns = FairTurns()
    assert [turns.take(flood[number:]) for number in range(50)] == [f"flood{n}" for n in range(50)]
    others = [
        Waiting(f"{address}-{n}", address, address) for n in range(3) for address in ("1.1.1.1", "2.2.2.2")
    ]
    order = served(turns, [*flood[50:], *others])
    assert max(order.index(other.what) for other in others) < 10
    assert turns.take([]) is None


@given(st.lists(st.tuples(st.sampled_from("AB"), st.sampled_from("abc")), max_size=30))
def test_everybody_is_served_once_and_no_visitor_is_overtaken_by_themselves(
    asked: list[tuple[str, str]],
) -> None:
    waiting = [Waiting(f"{n} {a}{v}", a, v) for n, (a, v) in enumerate(asked)]
    order = served(FairTurns(), waiting)
    assert sorted(order) == sorted(one.what for one in waiting)
    for who in {one.what.split()[1] for one in waiting}:
        own = [int(one.split()[0]) for one in order if one.split()[1] == who]
        assert own == sorted(own)
    both = Counter(address for address, _ in asked)
    for number in range(1, 2 * min(both["A"], both["B"]) + 1):  # as long as both wait
        ahead = Counter(one.split()[1][0] for one in order[:number])
        assert abs(ahead["A"] - ahead["B"]) <= 1


@given(st.lists(st.tuples(st.sampled_from("ABC"), st.sampled_from("abc")), max_size=30), st.integers(0, 12))
def test_places_are_those_in_which_they_are_served(asked: list[tuple[str, str]], before: int) -> None:
    waiting = [Waiting(f"{n}", a, a + v) for n, (a, v) in enumerate(asked)]
    turns = FairTurns()
    for one in waiting[:before]:
        turns.take([one])
    told = [one.what for one in turns.order(waiting[before:])]
    assert told == served(turns, waiting[before:])


def test_memory_is_bounded() -> None:
    turns = FairTurns(remembered=10)
    for number in range(100):
        turns.take([Waiting(number, f"1.1.1.{number}", "a")])
    assert (len(turns._addresses), len(turns._visitors)) == (10, 10)
