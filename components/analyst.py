"""Questions that the user interface may ask, whoever answers: the engine, or a fake one in tests."""

from collections.abc import Generator, Sequence
from concurrent.futures import Future
from contextvars import ContextVar
from operator import attrgetter
from typing import Any, Protocol

from components.analyses.analyze import Compared
from components.fitting import Fit, Plan, Stage, Table
from components.types import BackboneSpec, PoolingSpec, Progress, Query, TaskSpec

# On behalf of whom a thread asks: cancelled as soon as they no longer wait for the answer. What then nobody
# waits for may be ended; an analyst need not look at it.
CANCELLATION: ContextVar[Future[None]] = ContextVar("CANCELLATION")
# And from which address: an analyst lets no address keep others waiting.
ADDRESS: ContextVar[str] = ContextVar("ADDRESS", default="")


# Bytes of weights with which an answer takes less than a second, even on a slow core that others share: on an
# idle one DistilBERT, 268 MB, takes 0.08 s. BERT base, 438 MB, took up to 0.6 s on a busy one.
QUICK = 300_000_000


def first_of(backbones: Sequence[BackboneSpec], texts: int = 1) -> BackboneSpec | None:
    """The backbone that a page begins with, for one or two ``texts``; None where none can be asked.

    It is the largest that is here, `QUICK` to answer, and has such a head, else the first that may have one.
    """
    here = [spec for spec in backbones if spec.available and spec.texts in (None, texts)]
    quick = [spec for spec in here if spec.texts and spec.weights <= QUICK]
    return max(quick, key=attrgetter("weights")) if quick else next(iter(here), None)


class Analyst(Protocol):
    """Questions that the user interface asks of the engine."""

    takes_ids: bool  # whether ``find`` also takes the id of a model on the hub: the owner decides

    def backbones(self) -> tuple[BackboneSpec, ...]:
        """Every backbone of the catalogue, in its order."""

    @property
    def online(self) -> bool:
        """Tell whether the hub may be asked for anything; false where huggingface_hub is set offline."""

    def find(self, given: str) -> BackboneSpec:
        """The backbone of a key or, where ids are taken, of a hub id that a visitor typed.

        An id is checked by its form, then at the hub, before anything large is loaded. What was found is
        known to ``fetch`` and ``analyze`` by its key from now on. PoolscopeError says what would work.
        """

    def fetch(self, key: str) -> Generator[Progress]:
        """Bring a backbone of the hub onto this machine; ends at once where it is there already.

        Closing the iterator unsubscribes; the download is cancelled when the last subscriber closes, and a
        later one resumes it. PoolscopeError says why it failed.
        """

    def poolings(self) -> tuple[PoolingSpec, ...]:
        """Every pooling method, the head's own ("native") first."""

    def tasks(self) -> tuple[TaskSpec, ...]:
        """Every task that probes are trained for."""

    def ask(self, name: str, query: Query, **options: object) -> Any:
        """The result of the analysis ``name``, as its file in `components.analyses` says.

        PoolscopeError is its message for the visitor, where there is none.
        """

    def ask_in_parts(self, name: str, query: Query, **options: object) -> Generator[Any]:
        """Answer it part by part: how far it is (`Progress`), and results as far as they are; last the whole.

        Closing the iterator cancels the rest.
        """

    def fit(self, table: Table, plan: Plan) -> Generator[Stage | Fit]:
        """Find which backbone, pooling and layer suits a table: how far it is, then all that was measured.

        Closing the iterator cancels the rest. PoolscopeError says why it cannot.
        """

    def compare(self, queries: Sequence[Query]) -> Generator[Compared]:
        """Answer many queries of one text or pair: one forward pass for each backbone.

        Backbones come in the order in which they are first named, the cells of each in the order asked, as
        soon as they are ready; closing the iterator cancels the rest. What cannot be answered is said in its
        cell. PoolscopeError where nothing can be: no query, too many, more than one text.
        """
