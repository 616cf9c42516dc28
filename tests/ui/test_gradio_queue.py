"""What gradio does not promise of its queue: whose event begins next, and how many may wait."""

import asyncio
import inspect

from gradio.data_classes import PredictBodyInternal
from gradio.queueing import Event, Queue
from starlette.requests import Request

from components.ui.gradio_internals import block_functions
from components.ui.gradio_queue import (
    EACH,
    UNHEARD,
    UNREAD,
    forget_statistics,
    keep_fair,
)
from components.ui.gradio_streams import Listeners
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
