"""An error is the same in the process that it is sent to."""

import pickle

from components.errors import PoolscopeError
from components.model.hub import HubUnreachableError
from components.texts import Sentence, load_texts


def test_an_error_says_the_same_in_another_process() -> None:
    given = Sentence("errors.tokens", count=3)
    for error in (
        PoolscopeError("text", given, "errors.fails", reason="x"),
        HubUnreachableError("backbone", object(), "errors.hub_slow"),
    ):
        sent = pickle.loads(pickle.dumps(error))
        assert (type(sent), str(sent), sent.field) == (type(error), str(error), error.field)
        assert sent.plainly(load_texts("zh")) == error.plainly(load_texts("zh"))
