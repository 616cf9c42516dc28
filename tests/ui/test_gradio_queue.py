"""What gradio does not promise of its queue: whose event begins next, and how many may wait."""

import asyncio
import inspect
import time
from typing import Any

import pytest
from gradio.data_classes import PredictBodyInternal
from gradio.queueing import Event, Queue
from starlette.requests import Request

from components.ui.gradio_internals import block_functions
from components.ui.gradio_queue import (
    ANEW,
    EACH,
    SETTLED,
    UNHEARD,
    UNREAD,
    forget_statistics,
    keep_fair,
)
from components.ui.gradio_streams import Listeners, listener
from components.ui.public.rate_limit import ADDRESS
from tests.serving import built
from tests.ui.page import small_page


def test_events_of_one_visitor_keep_their_order_and_others_pass() -> None:
    async def begun() -> list[str]:
        page = small_page().queue(default_concurrency_limit=3)
        queue, (function,) = page._queue, block_functions(page).values()
        keep_fair(queue)
        queue.create_event_queue_for_fn(function)
        line = queue.event_queue_per_concurrency_id["model"]
        named = {}
        for name in ("a1", "a2", "b1", "a3", "c1", "d1"):
            queue.heard[name[0]] = 1
            scope = {"type": "http", "headers": [], ADDRESS: name[0]}
            event = Event(name[0], function, Request(scope), None)
            named[event] = name
            line.queue.append(event)
        order: list[str] = []

        def take() -> None:
            while taken := queue.get_events():
                line.current_concurrency += 1
                queue.active_jobs.append(taken[0])
                order.extend(named[event] for event in taken[0])

        take()
        assert order == ["a1", "b1", "c1"]  # three at a time
        for name in ("b1", "a1", "c1", "a2"):
            ended = next(job for job in queue.active_jobs if job and named[job[0]] == name)
            queue.active_jobs.remove(ended)
            line.current_concurrency -= 1
            queue.again = 0.0  # as when an event has ended
            take()
        return order

    assert asyncio.run(begun()) == ["a1", "b1", "c1", "d1", "a2", "a3"], (
        "gradio's queue no longer asks get_events what begins next: a visitor's answers overtake each other"
    )
    assert "get_events" in inspect.getsource(Queue.start_processing)


def test_what_a_page_may_not_know_of_yet_waits_until_it_has_closed_its_stream() -> None:
    """Its answer would be sent into the stream that the page is about to close, and be lost."""

    async def begun() -> list[str]:
        page = small_page().queue(default_concurrency_limit=3)
        queue, (function,) = page._queue, block_functions(page).values()
        keep_fair(queue)
        queue.create_event_queue_for_fn(function)
        line, now, order = queue.event_queue_per_concurrency_id["model"], time.monotonic(), []
        for name, ago, told in (("a", 0.0, now), ("b", 0.0, 0.0), ("c", 1.0, now)):
            event = Event(name, function, Request({"type": "http", "headers": [], ADDRESS: name}), None)
            queue.heard[name], queue.joined[event._id] = 1, now - ago
            queue.told |= {name: told}
            line.queue.append(event)
        while taken := queue.get_events():
            order.append(taken[0][0].session_hash)
        await asyncio.sleep(2 * SETTLED)
        taken = queue.get_events()
        assert taken is not None
        return [*order, taken[0][0].session_hash]

    *at_once, later = asyncio.run(begun())
    assert (set(at_once), later) == ({"b", "c"}, "a")  # only a has asked while it read an answer


def test_who_waits_is_told_the_place_in_which_they_are_served() -> None:
    async def told() -> list[tuple[str, int]]:
        page = small_page().queue()
        queue, (function,) = page._queue, block_functions(page).values()
        keep_fair(queue)
        queue.create_event_queue_for_fn(function)
        for visitor, address in (("a", "1"), ("a", "1"), ("b", "1"), ("c", "2")):
            scope = {"type": "http", "headers": [], ADDRESS: address}
            event = Event(visitor, function, Request(scope), None)
            queue.event_queue_per_concurrency_id["model"].queue.append(event)
        heard: list[tuple[str, int]] = []
        queue.send_message = lambda event, message: heard.append((event.session_hash, message.rank))
        queue.broadcast_estimations("model")
        return heard

    assert asyncio.run(told()) == [("a", 0), ("c", 1), ("b", 2), ("a", 3)]


def test_one_visitor_and_one_address_cannot_fill_the_queue() -> None:
    async def pushed() -> list[bool]:
        page = small_page().queue(max_size=100)
        queue = page._queue
        keep_fair(queue)

        async def push(address: str, visitor: str) -> bool:
            scope = {"type": "http", "headers": [], ADDRESS: address}
            body = PredictBodyInternal(data=["a"], fn_index=0, session_hash=visitor)
            success, *_ = await queue.push(body, Request(scope), None)
            return bool(success)

        own = [await push("8.8.8.8", "a") for _ in range(EACH + 1)]
        near = [await push("8.8.8.8", f"b{number}") for number in range(50)]
        return [all(own[:EACH]), own[EACH], sum(near) == 50 - EACH, near[-1], await push("9.9.9.9", "c")]

    assert asyncio.run(pushed()) == [True, False, True, False, True]


def test_nothing_begins_for_who_does_not_listen_or_read() -> None:
    async def begun() -> tuple[list[str], list[str]]:
        page = small_page().queue(max_size=100)
        queue = page._queue
        keep_fair(queue)

        async def push(visitor: str) -> None:
            scope = {"type": "http", "headers": [], ADDRESS: visitor}
            body = PredictBodyInternal(data=["a"], fn_index=0, session_hash=visitor)
            await queue.push(body, Request(scope), None)

        for visitor in ("deaf", "slow", "heard"):
            await push(visitor)
        queue.heard["slow"] = queue.heard["heard"] = 1
        for _ in range(UNREAD + 1):
            queue.pending_messages_per_session["slow"].put_nowait("unread")
        found = []
        while taken := queue.get_events():
            found.append(str(taken[0][0].session_hash))
        queue.joined = {event: since - UNHEARD - 1 for event, since in queue.joined.items()}
        await push("later")
        del queue.heard["slow"]
        left = sorted(queue.pending_messages_per_session)
        return found, left

    found, left = asyncio.run(begun())
    assert found == ["heard"]
    assert left == ["heard", "later", "slow"]  # what a deaf one asked is forgotten


def test_who_listens_is_known() -> None:
    stream = {"type": "http", "method": "GET", "query_string": b"session_hash=abc"}
    assert listener({**stream, "path": "/gradio_api/queue/data"}) == "abc"
    assert listener({**stream, "path": "/gradio_api/call/analyze/0f3"}) == "0f3"
    assert listener({**stream, "path": "/gradio_api/call/v2/analyze/0f3"}) == "0f3"
    assert listener({**stream, "path": "/gradio_api/info"}) is None
    assert listener({**stream, "path": "/gradio_api/queue/data", "method": "POST"}) is None

    queue = built(lambda: small_page().queue())._queue
    keep_fair(queue)
    seen = []

    async def app(*_: object) -> None:
        seen.append(dict(queue.heard))

    scope = {**stream, "path": "/gradio_api/queue/data"}
    asyncio.run(Listeners(app, queue)(scope, None, None))  # type: ignore[arg-type]  # neither is used
    assert (seen, dict(queue.heard)) == ([{"abc": 1}], {})


def test_no_statistics_are_made_after_each_event() -> None:
    queue = built(lambda: small_page().queue())._queue
    known = vars(queue).copy()
    forget_statistics(queue)
    assert vars(queue).keys() == known.keys(), "gradio's queue no longer keeps its account in this way"
    event = {"function": "upper", "status": "success", "process_time": 1.0}
    queue.events_recorded = 10_000
    assert queue.compute_analytics_summary([event]) == known["cached_event_analytics_summary"]


def test_one_address_has_half_of_what_a_line_may_have_at_work() -> None:
    async def begun() -> list[str]:
        page = small_page().queue(default_concurrency_limit=4, max_size=100)
        queue = page._queue
        keep_fair(queue)

        async def push(address: str, visitor: str) -> None:
            queue.heard[visitor] = 1
            scope = {"type": "http", "headers": [], ADDRESS: address}
            body = PredictBodyInternal(data=["a"], fn_index=0, session_hash=visitor)
            await queue.push(body, Request(scope), None)

        for visitor in ("a1", "a2", "a3", "a4"):
            await push("8.8.8.8", visitor)
        await push("9.9.9.9", "b1")
        found = []
        while taken := queue.get_events():
            queue.active_jobs.append(taken[0])
            found.append(str(taken[0][0].session_hash))
        return found

    assert asyncio.run(begun()) == ["a1", "b1", "a2"]


def stream_of(visitor: str) -> dict[str, Any]:
    query = f"session_hash={visitor}".encode()
    return {"type": "http", "method": "GET", "path": "/gradio_api/queue/data", "query_string": query}


async def pushed(visitor: str, queue: Any) -> Any:
    """An event of a visitor, of whom something is unread."""
    body = PredictBodyInternal(data=["a"], fn_index=0, session_hash=visitor)
    _, event, _ = await queue.push(body, Request({"type": "http", "headers": []}), None)
    queue.pending_messages_per_session[visitor].put_nowait("unread")
    return event


async def in_a_moment() -> None:
    """Let what is due by now be done."""
    for _ in range(5):
        await asyncio.sleep(0)


def test_what_is_asked_while_a_stream_ends_waits_for_the_next_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who has just asked, on another connection, is about to listen again; who does not is gone."""

    async def left() -> list[tuple[list[str], list[str], list[str]]]:
        queue, later = small_page().queue(max_size=100)._queue, []
        keep_fair(queue)
        loop = asyncio.get_running_loop()
        monkeypatch.setattr(loop, "call_later", lambda *call: later.append(call))

        async def closed(*_: object) -> None:
            """As gradio does when a client has closed its stream."""
            unread = queue.pending_messages_per_session[visitor]
            del queue.pending_messages_per_session[visitor]
            await queue.clean_events(session_hash=visitor)
            assert not unread.empty()

        async def ends(*_: object) -> None:
            (line,) = queue.event_queue_per_concurrency_id.values()
            line.queue[:] = [event for event in line.queue if event.session_hash != visitor]  # it is answered

        for visitor, stream in (("gone", closed), ("asked", closed), ("quick", ends), ("asks", closed)):
            event = await pushed(visitor, queue)
            if visitor == "gone":
                queue.joined[event] -= 2 * ANEW
            await Listeners(stream, queue)(stream_of(visitor), None, None)  # type: ignore[arg-type]
        kept = [_kept(queue)]
        queue.heard["asks"] += 1  # who listens again
        queue.joined = dict.fromkeys(queue.joined, 0.0)  # a moment later
        for _seconds, call, *given in later:
            call(*given)
        await in_a_moment()
        return [*kept, _kept(queue)]

    asked = ["asked", "asks"]
    known = [*asked, "quick"]
    assert asyncio.run(left()) == [(known, known, asked), (["asks"], ["asks"], ["asks"])]


def _kept(queue: Any) -> tuple[list[str], list[str], list[str]]:
    """Whose messages, whose events, and whose places in the line there still are."""
    (line,) = queue.event_queue_per_concurrency_id.values()
    unread = queue.pending_messages_per_session
    assert all(not messages.empty() for messages in unread.values())
    return sorted(unread), sorted(queue.pending_event_ids_session), [one.session_hash for one in line.queue]


def test_who_waits_and_is_cancelled_hears_so_but_for_a_page() -> None:
    async def told() -> tuple[list[list[str]], bool, bool]:
        page = small_page().queue(max_size=100)
        queue = page._queue
        keep_fair(queue)
        for path in ("/gradio_api/call/v2/upper", "/gradio_api/queue/join"):
            scope = {"type": "http", "headers": [], "path": path, "server": ("x", 80)}
            body = PredictBodyInternal(data=["a"], fn_index=0, session_hash=path)
            _, event, _ = await queue.push(body, Request(scope), None)
            queue.heard[path] = 1
            waited = not queue.quiet()
            await queue.remove_from_queue(str(event))
            queue.pending_event_ids_session.pop(path)
        left = queue.pending_messages_per_session
        return (
            [[type(left[path].get_nowait()).__name__ for _ in range(left[path].qsize())] for path in left],
            waited,
            queue.quiet(),
        )

    assert asyncio.run(told()) == (
        [["EstimationMessage", "ProcessCompletedMessage"], ["EstimationMessage"]],
        True,
        True,
    )


def test_what_was_looked_for_in_vain_is_not_looked_for_at_once() -> None:
    async def looked() -> list[bool]:
        page = small_page().queue(max_size=100)
        queue = page._queue
        keep_fair(queue)
        body = PredictBodyInternal(data=["a"], fn_index=0, session_hash="a")
        await queue.push(body, Request({"type": "http", "headers": []}), None)
        found = [queue.get_events() is not None]
        queue.heard["a"] = 1  # in a way that nobody is told of
        found.append(queue.get_events() is not None)
        stream = {"type": "http", "method": "GET", "query_string": b"session_hash=a"}

        async def listening(*_: object) -> None:
            found.append(queue.get_events() is not None)

        scope = {**stream, "path": "/gradio_api/queue/data"}
        await Listeners(listening, queue)(scope, None, None)  # type: ignore[arg-type]  # neither is used
        return found

    assert asyncio.run(looked()) == [False, False, True]
