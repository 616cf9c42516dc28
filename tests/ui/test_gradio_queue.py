"""What gradio does not promise of its queue: whose event begins next, and how many may wait."""

import asyncio
import inspect

from gradio.data_classes import PredictBodyInternal
from gradio.queueing import Event, Queue
from starlette.requests import Request

from components.ui.gradio_internals import EACH, block_functions, forget_statistics, keep_order
from components.ui.public.rate_limit import ADDRESS
from tests.serving import built
from tests.ui.page import small_page


def test_events_of_one_visitor_keep_their_order_and_others_pass() -> None:
    async def begun() -> list[str]:
        page = small_page().queue(default_concurrency_limit=3)
        queue, (function,) = page._queue, block_functions(page).values()
        keep_order(queue)
        queue.create_event_queue_for_fn(function)
        line = queue.event_queue_per_concurrency_id["model"]
        named = {}
        for name in ("a1", "a2", "b1", "a3", "c1", "d1"):
            event = Event(name[0], function, Request({"type": "http", "headers": []}), None)
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
            take()
        return order

    assert asyncio.run(begun()) == ["a1", "b1", "c1", "d1", "a2", "a3"], (
        "gradio's queue no longer asks get_events what begins next: a visitor's answers overtake each other"
    )
    assert "get_events" in inspect.getsource(Queue.start_processing)


def test_one_visitor_and_one_address_cannot_fill_the_queue() -> None:
    async def pushed() -> list[bool]:
        page = small_page().queue(max_size=100)
        queue = page._queue
        keep_order(queue)

        async def push(address: str, visitor: str) -> bool:
            scope = {"type": "http", "headers": [], ADDRESS: address}
            body = PredictBodyInternal(data=["a"], fn_index=0, session_hash=visitor)
            success, *_ = await queue.push(body, Request(scope), None)
            return bool(success)

        own = [await push("8.8.8.8", "a") for _ in range(EACH + 1)]
        near = [await push("8.8.8.8", f"b{number}") for number in range(50)]
        return [all(own[:EACH]), own[EACH], sum(near) == 50 - EACH, near[-1], await push("9.9.9.9", "c")]

    assert asyncio.run(pushed()) == [True, False, True, False, True]


def test_no_statistics_are_made_after_each_event() -> None:
    queue = built(lambda: small_page().queue())._queue
    known = vars(queue).copy()
    forget_statistics(queue)
    assert vars(queue).keys() == known.keys(), "gradio's queue no longer keeps its account in this way"
    event = {"function": "upper", "status": "success", "process_time": 1.0}
    queue.events_recorded = 10_000
    assert queue.compute_analytics_summary([event]) == known["cached_event_analytics_summary"]
