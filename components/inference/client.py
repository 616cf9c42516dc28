"""Client: has jobs run by a cluster, which it asks by HTTP. It needs neither Ray nor torch."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import threading
from concurrent.futures import CancelledError, Future, wait
from typing import Any

from httpx2 import (
    AsyncClient,
    ConnectError,
    ConnectTimeout,
    Limits,
    Timeout,
    TimeoutException,
    TransportError,
)

from components.analyst import PATIENCE
from components.errors import PoolscopeError
from components.inference.answers import Answers, digest
from components.inference.jobs import Answer_co, Job, may_be_kept
from components.inference.payload import pack, unpack
from components.inference.replies import Classifies, Question, Reply
from components.settings import Settings

EVERY = 1.0  # seconds between two looks at whether the cluster is there
CONNECT = 5.0  # seconds until somebody answers at the address
LEAVE = 1.0  # more than the timeout, in which the cluster says so itself
LATE, BROKEN, ANSWERED = 408, 500, 200  # Serve's: 500 where a replica died with the question

logger = logging.getLogger(__name__)


class Client:
    """Runs jobs in the cluster that ``settings`` name, and keeps their answers. Several threads may ask."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._answers = Answers(settings.answers)
        self._http = AsyncClient(
            base_url=settings.cluster or "",
            timeout=Timeout(settings.seconds + LEAVE, connect=CONNECT),
            limits=Limits(max_connections=None),
            headers={"x-request-timeout-seconds": str(settings.seconds)},
        )
        self._loop = asyncio.new_event_loop()
        self._there, self._closed = threading.Event(), threading.Event()
        self._under_way: set[Future[bytes]] = set()
        self._watching: Future[None] | None = None
        threading.Thread(target=self._serve, name="cluster", daemon=True).start()

    def open(self, first: Job[Any] | None) -> None:
        """Look for the cluster from now on; ``first`` is asked whenever it is found."""
        self._watching = asyncio.run_coroutine_threadsafe(self._watch(first), self._loop)

    def ready(self) -> bool:
        """Whether the cluster can be asked."""
        return self._there.is_set() and not self._closed.is_set()

    def close(self, seconds: float = 0) -> None:
        """Let the answers under way come: so many ``seconds`` later at most."""
        self._closed.set()
        for left in wait(tuple(self._under_way), seconds).not_done:
            left.cancel()
        if self._watching is not None:
            self._watching.cancel()
        asyncio.run_coroutine_threadsafe(self._http.aclose(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)

    def run(self, job: Job[Answer_co]) -> Answer_co:
        """The answer; PoolscopeError is the job's, or says why the cluster has none."""

        def runs(patience: Future[None]) -> bytes:
            return self._asked(job, patience)

        patience = PATIENCE.get(Future())
        answer = self._answers.get(digest(job), runs, patience) if may_be_kept(job) else runs(patience)
        unpacked: Answer_co = unpack(answer)
        return unpacked

    def classifies(self, kind: str) -> bool:
        """Whether transformers classifies texts with this type of model."""
        return bool(unpack(self._asked(Classifies(kind), PATIENCE.get(Future()))))

    def _asked(self, question: Question, patience: Future[None]) -> bytes:
        """The answer, packed; CancelledError as soon as ``patience`` is lost."""
        about = question.kind if isinstance(question, Classifies) else question.spec.key
        if self._closed.is_set():
            raise PoolscopeError("backbone", about, "errors.stopping")
        answer = asyncio.run_coroutine_threadsafe(self._posted(question, about), self._loop)
        self._under_way.add(answer)
        answer.add_done_callback(self._under_way.discard)
        patience.add_done_callback(lambda _: answer.cancel())
        try:
            return answer.result()
        except CancelledError as error:
            if patience.cancelled():
                raise
            raise PoolscopeError("backbone", about, "errors.stopping") from error

    def _serve(self) -> None:
        self._loop.run_forever()
        self._loop.close()

    async def _posted(self, question: Question, about: str) -> bytes:
        """The answer, packed. Where a replica dies with the question, another one is asked once."""
        headers = {} if isinstance(question, Classifies) else {"serve_multiplexed_model_id": name(question)}
        body = pack(question)
        for what_follows in ("the question is asked once more", "the question is given up"):
            try:
                response = await self._http.post("/", content=body, headers=headers)
            except (ConnectError, ConnectTimeout) as error:
                raise PoolscopeError("backbone", about, "errors.no_replica") from error
            except TimeoutException as error:
                raise self._late(about) from error
            except TransportError as error:
                said = repr(error)
            else:
                if response.status_code == ANSWERED:
                    replied: Reply = unpack(response.content)
                    return replied.said()
                if response.status_code == LATE:
                    raise self._late(about)
                if response.status_code != BROKEN:
                    raise PoolscopeError("backbone", about, "errors.no_replica")
                said = response.text
            logger.warning("the cluster had no answer, %s: %s", what_follows, said)
        raise PoolscopeError("backbone", about, "errors.died")

    def _late(self, about: str) -> PoolscopeError:
        return PoolscopeError("backbone", about, "errors.late", seconds=self._settings.seconds)

    async def _watch(self, first: Job[Any] | None) -> None:
        """Note whether the cluster is there, here and in the log."""
        while True:
            try:
                there = (await self._http.get("/-/healthz", timeout=CONNECT)).is_success
                if there and first is not None and not self._there.is_set():
                    await self._posted(first, first.spec.key)
            except (TransportError, PoolscopeError) as error:
                there = False
                logger.debug("%r", error)
            if there != self._there.is_set():
                logger.info("the cluster answers" if there else "the cluster does not answer")
                (self._there.set if there else self._there.clear)()
            await asyncio.sleep(EVERY)


def name(job: Job[Any]) -> str:
    """What the cluster calls a checkpoint: files that are written anew are another one."""
    return hashlib.sha256(pack((job.spec.key, job.spec.revision, job.version))).hexdigest()[:16]
