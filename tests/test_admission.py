"""Whose turn it is, how many may wait, and how many of one address may be at work."""

import asyncio
from collections import Counter
from collections.abc import Iterable

import pytest
from hypothesis import given, strategies as st

from components.admission import EACH, WAITING_BYTES, Admission, ClosedError, FullError, Ticket


def entered(admission: Admission, visitors: Iterable[tuple[str, str]], ready: bool = True) -> list[Ticket]:
    """A ticket for each visitor at an address, in this order."""
    tickets = [Ticket(*visitor, ready=ready) for visitor in visitors]
    for ticket in tickets:
        admission.enter(ticket)
    return tickets


def served(visitors: list[tuple[str, str]]) -> list[int]:
    """In which order visitors who wait have the only place."""
    admission = Admission({"": 1}, None)
    first = Ticket("before")
    admission.enter(first)
    tickets = entered(admission, visitors)
    admission.leave(first)
    order = []
    while len(order) < len(tickets):
        (now,) = (number for number, ticket in enumerate(tickets) if ticket.holds)
        order.append(now)
        admission.leave(tickets[now])
    return order


def test_who_asks_once_does_not_wait_behind_who_asks_a_hundred_times() -> None:
    """Neither at one address, nor behind a hundred made-up visitors of another."""
    assert served([("1.1.1.1", "a")] * 100 + [("1.1.1.1", "b")]) == [0, 100, *range(1, 100)]
    order = served([("6.6.6.6", str(number)) for number in range(100)] + [("1.1.1.1", "a")] * 3)
    assert [order.index(number) for number in (100, 101, 102)] == [1, 3, 5]


@given(st.lists(st.tuples(st.sampled_from("AB"), st.sampled_from("abc")), max_size=30))
def test_all_are_served_once_and_none_is_overtaken_by_themselves(visitors: list[tuple[str, str]]) -> None:
    order = served(visitors)
    assert sorted(order) == list(range(len(visitors)))
    for visitor in set(visitors):
        own = [number for number in order if visitors[number] == visitor]
        assert own == sorted(own)
    both = Counter(address for address, _ in visitors)
    for number in range(1, 2 * min(both["A"], both["B"]) + 1):  # as long as both wait
        ahead = Counter(visitors[one][0] for one in order[:number])
        assert abs(ahead["A"] - ahead["B"]) <= 1


def test_one_address_has_its_share_of_a_line_and_all_where_it_is_alone() -> None:
    admission = Admission({"": 4, "other": 1}, None)
    tickets = entered(admission, [("1.1.1.1", "")] * 3 + [("2.2.2.2", "")])
    assert [ticket.holds for ticket in tickets] == [True, True, False, True]
    admission.enter(elsewhere := Ticket("1.1.1.1", line="other"))
    assert elsewhere.holds
    admission.leave(tickets[0])
    assert tickets[2].holds
    alone = Admission({"": 2}, None, alone=60)
    assert [ticket.holds for ticket in entered(alone, [("1.1.1.1", "")] * 2)] == [True, True]
    assert [ticket.holds for ticket in entered(alone, [("2.2.2.2", "")])] == [False]


def test_as_many_wait_as_may_half_of_one_address_and_few_of_one_visitor() -> None:
    admission = Admission({"": 1}, 100)
    assert entered(admission, [("1.1.1.1", "a")])[0].holds
    own = entered(admission, [("1.1.1.1", "a")] * EACH)
    with pytest.raises(FullError):
        entered(admission, [("1.1.1.1", "a")])
    entered(admission, [("1.1.1.1", "")] * (50 - EACH))
    with pytest.raises(FullError):
        entered(admission, [("1.1.1.1", "b")])
    entered(admission, [(f"2.2.2.{number}", "") for number in range(50)], ready=False)
    with pytest.raises(FullError):
        entered(admission, [("3.3.3.3", "")])
    admission.leave(own[0])
    assert own[0].granted.cancelled()
    entered(admission, [("3.3.3.3", "")])


def test_what_waits_has_a_bound_in_bytes_half_of_it_one_address_s() -> None:
    admission = Admission({"": 1}, 100)
    assert entered(admission, [("0.0.0.0", "")])[0].holds
    for address, most in (("1.1.1.1", 4), ("2.2.2.2", 4), ("3.3.3.3", 0)):
        for _ in range(most):
            admission.enter(Ticket(address, size=WAITING_BYTES // 8))
        with pytest.raises(FullError):
            admission.enter(Ticket(address, size=WAITING_BYTES // 8))


def test_who_is_not_ready_is_passed_and_who_waits_for_the_others_is_last() -> None:
    admission = Admission({"": 0}, None)
    tickets = [Ticket("1", last=True), Ticket("2", ready=False), Ticket("3"), Ticket("4")]
    for ticket in tickets:
        admission.enter(ticket)
    order = []
    for _ in range(3):
        admission.add()
        (now,) = (ticket for ticket in tickets if ticket.holds)
        order.append(now.address)
        admission.leave(now, returns=False)
    tickets[1].ready = True
    admission.add()
    assert order == ["3", "4", "1"]
    assert tickets[1].holds


@pytest.mark.anyio
async def test_a_place_that_is_given_back_is_somebody_else_s_but_not_of_the_same_address() -> None:
    admission = Admission({"": 1}, None)
    first, own, other = entered(admission, [("1", ""), ("1", ""), ("2", "")])
    async with admission.place(first) as give_back:
        give_back()
        give_back()
        assert (own.holds, other.holds) == (False, True)
        admission.leave(other)
        assert not own.holds
    assert own.holds


@pytest.mark.anyio
async def test_who_waits_no_longer_takes_no_place() -> None:
    admission = Admission({"": 1}, None)
    first, second, third = entered(admission, [("1", ""), ("2", ""), ("3", "")])
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01), admission.place(second):
            raise AssertionError
    admission.leave(first)
    assert third.holds


def test_when_it_is_closed_those_who_wait_are_told_and_nobody_is_admitted() -> None:
    admission = Admission({"": 1}, None)
    first, second = entered(admission, [("1", ""), ("2", "")])
    admission.close(0)
    with pytest.raises(ClosedError):
        second.granted.result(0)
    with pytest.raises(ClosedError):
        entered(admission, [("3", "")])
    admission.leave(first)
    admission.close(60)  # nobody is at work: it returns at once


def test_memory_is_bounded() -> None:
    admission = Admission({"": 1}, None)
    for number in range(21_000):
        admission.enter(ticket := Ticket(f"address {number}"))
        admission.leave(ticket)
    assert len(admission._served) <= 20_000
    assert (len(admission._held), len(admission._latest)) == (0, 2)
