"""Whose question begins next."""

import asyncio
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from components.fairness import FairTurns, FullError, Places, Waiting


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


def test_one_address_leaves_half_of_the_places_to_others() -> None:
    async def begun() -> tuple[list[str], list[str], list[str]]:
        places, at_work, end = Places(4, 100), list[str](), asyncio.Event()

        async def work(name: str, sends: bool) -> None:
            async with places.place(name[0], name) as rest:
                at_work.append(name)
                if sends:
                    rest()
                await end.wait()

        async def asked(*names: str, sends: bool) -> list[str]:
            tasks.extend(asyncio.ensure_future(work(name, sends)) for name in names)
            for _ in range(10):
                await asyncio.sleep(0)
            return list(at_work)

        tasks: list[asyncio.Task[None]] = []
        sending = await asked("a1", "a2", "a3", sends=True)
        working = await asked("b1", "b2", "b3", "c1", "c2", "d1", sends=False)
        tasks[2].cancel()
        end.set()
        await asyncio.wait(tasks)
        return sending, working, at_work

    sending, working, every = asyncio.run(begun())
    assert sending == ["a1", "a2"]  # whose answers are being sent: nobody waits for them but the same address
    assert working == ["a1", "a2", "b1", "b2", "c1", "c2"]
    assert sorted(every) == ["a1", "a2", "b1", "b2", "b3", "c1", "c2", "d1"]  # but who has left


def test_as_many_wait_as_may_and_of_one_address_half() -> None:
    async def tried() -> list[str]:
        places, end, full = Places(2, 4), asyncio.Event(), list[str]()

        async def work(name: str) -> None:
            try:
                async with places.place(name[0], name):
                    await end.wait()
            except FullError:
                full.append(name)

        tasks = [
            asyncio.ensure_future(work(name)) for name in ("a1", "a2", "a3", "a4", "b1", "b2", "c1", "c2")
        ]
        await asyncio.sleep(0.01)
        end.set()
        await asyncio.wait(tasks)
        assert not places.there
        await work("a5")  # there is room again
        return full

    assert asyncio.run(tried()) == ["a4", "c2"]
