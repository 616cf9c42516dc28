"""An error is the same in the process that it is sent to."""

import pickle

import pytest

from components.errors import PoolscopeError
from components.model.hub import HubUnreachableError
from components.texts import Sentence, load_texts


@pytest.mark.parametrize(
    "error",
    [
        PoolscopeError("text", " ", "errors.word"),
        PoolscopeError("layer", object(), "errors.range", low=-5, high=4),
        PoolscopeError("text", Sentence("errors.tokens", count=3), "errors.fails", reason="x"),
        HubUnreachableError("backbone", "a/b", "errors.hub_slow"),
    ],
)
def test_an_error_says_the_same_in_another_process(error: PoolscopeError) -> None:
    sent = pickle.loads(pickle.dumps(error))
    assert type(sent) is type(error)
    assert (str(sent), sent.field) == (str(error), error.field)
    for say in (load_texts(), load_texts("zh")):
        assert sent.said(say) == error.said(say)
        assert sent.plainly(say) == error.plainly(say)
