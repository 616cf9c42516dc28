"""Client: has jobs run by a cluster, which it asks by HTTP. It needs neither Ray nor torch."""

import asyncio
import logging
import threading
from concurrent.futures import Future, wait
from typing import Any
from urllib.parse import quote
from weakref import WeakSet

import httpx2

from components.errors import PoolscopeError
from components.inference.jobs import AnswerCache, ElsewhereError, Job, answer_of
from components.inference.payload import pack
from components.settings import Settings

CONNECT = 5.0  # seconds until somebody answers at the address
LATE, DIED, NOBODY, STOPPING = "errors.late", "errors.died", "errors.no_replica", "errors.stopping"

logger = logging.getLogger(__name__)


class Client:
    """Runs jobs in the cluster that ``settings`` name, and keeps their answers. Several threads may ask."""

    def __init__(self, settings: Settings) -> None:
        self._seconds, self._answers = settings.seconds, AnswerCache(settings.answers)
        timeout = httpx2.Timeout(settings.seconds, connect=CONNECT)
        self._http = httpx2.AsyncClient(base_url=settings.cluster or "", timeout=timeout)
        self._there = self._closed = False
        self._under_way: WeakSet[Future[bytes]] = WeakSet()
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, name="cluster", daemon=True).start()

    def open(self, first: Job | None) -> None:
        """Look for the cluster from now on; ``first`` is asked whenever it is found."""
        asyncio.run_coroutine_threadsafe(self._watch(first), self._loop)

    def ready(self) -> bool:
        """Tell whether the cluster can be asked."""
        return self._there and not self._closed

    def close(self, seconds: float = 0) -> None:
        """Let the answers under way come: so many ``seconds`` later at most."""
        self._closed = True
        wait(tuple(self._under_way), seconds)
        asyncio.run_coroutine_threadsafe(self._http.aclose(), self._loop).result()  # ends those that are left

    def run(self, job: Job) -> Any:
        """The answer; PoolscopeError is the job's, or says why the cluster has none."""

        def asked(token: Future[None]) -> bytes:
            answer = asyncio.run_coroutine_threadsafe(self._posted(job), self._loop)
            self._under_way.add(answer)
            token.add_done_callback(lambda _: answer.cancel())
            return answer.result()

        return self._answers.of(job, asked)

    async def _posted(self, job: Job, again: bool = True) -> bytes:
        """The answer, packed. Where a replica dies with the question, another one is asked once."""
        if self._closed:
            raise PoolscopeError("backbone", job.spec.key, STOPPING)
        headers = {"serve_multiplexed_model_id": quote(job.spec.key)}
        try:
            response = await self._http.post("/", content=pack(job), headers=headers)
            return answer_of(response.raise_for_status().content)
        except httpx2.HTTPError as error:
            key = STOPPING if self._closed else _key(error)
            if key != DIED or not again:
                raise PoolscopeError("backbone", job.spec.key, key, seconds=self._seconds) from error
            logger.warning("the cluster had no answer, the question is asked once more: %r", error)
        return await self._posted(job, again=False)

    async def _watch(self, first: Job | None) -> None:
        """Note whether the cluster is there, until the end; the log says that it is not."""
        while not self._closed:
            try:
                (await self._http.get("/-/healthz", timeout=CONNECT)).raise_for_status()
                if first is not None and not self._there:
                    await self._posted(first)
                self._there = True
            except (httpx2.HTTPError, PoolscopeError, ElsewhereError) as error:
                self._there = False
                logger.warning("the cluster does not answer: %r", error)
            await asyncio.sleep(1)


def _key(error: httpx2.HTTPError) -> str:
    """Name the sentence that says why nothing came; Serve says 500 where a replica died with the question."""
    if isinstance(error, httpx2.HTTPStatusError):
        return DIED if error.response.status_code == 500 else NOBODY
    if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout):
        return NOBODY
    return LATE if isinstance(error, httpx2.TimeoutException) else DIED
