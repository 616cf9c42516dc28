"""What a client does not read is not kept for it."""

import asyncio

from starlette.responses import PlainTextResponse
from starlette.types import Message

from components.ui.public.sending import PIECE, as_taken, document

SCOPE = {"type": "http", "method": "GET", "headers": []}


async def never() -> Message:
    return await asyncio.Future()


def test_a_body_goes_in_pieces_and_is_the_same() -> None:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    whole = "“ä”".join(str(number) for number in range(30_000))
    asyncio.run(PlainTextResponse(whole)(SCOPE, *as_taken(never, send)))
    start, *bodies = sent
    assert b"".join(one["body"] for one in bodies).decode() == whole
    assert max(len(one["body"]) for one in bodies) == PIECE
    assert [one["more_body"] for one in bodies] == [True] * (len(bodies) - 1) + [False]
    assert dict(start["headers"])[b"content-length"] == str(len(whole.encode())).encode()


def test_who_takes_nothing_has_gone_and_is_sent_no_more() -> None:
    async def visit() -> tuple[int, Message, list[Message]]:
        taken: list[Message] = []

        async def send(message: Message) -> None:
            if len(taken) == 3:
                await asyncio.Future()  # reads no more
            taken.append(message)

        receive, sending = as_taken(never, send, seconds=0.01)
        await document(["x" * 10 * PIECE, "y" * 10 * PIECE])(SCOPE, receive, sending)
        return len(taken), await receive(), taken

    count, told, taken = asyncio.run(visit())
    assert (count, told) == (3, {"type": "http.disconnect"})
    assert sum(len(one.get("body", b"")) for one in taken) == 2 * PIECE


def test_a_document_is_written_as_bytes_no_sooner_than_it_is_sent() -> None:
    read: list[str] = []

    def pieces():  # type: ignore[no-untyped-def]  # a generator, which notes what is asked of it
        for piece in ("a", "“", "b"):
            read.append(piece)
            yield piece

    async def visit() -> list[str]:
        async def send(message: Message) -> None:
            if message.get("body") == b"a":
                await asyncio.Future()

        await document(pieces())(SCOPE, *as_taken(never, send, seconds=0.01))
        return list(read)

    assert asyncio.run(visit())[:1] == ["a"]
