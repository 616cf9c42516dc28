"""The form of a hub id."""

import pytest

from components.errors import PoolscopeError
from components.model.hub import Hub
from components.model.listing import checked_id
from tests.hub import Hub as Server

GOOD = ["org/name", "bert-base-uncased", "a/b", "Org_1/name.v1.5-x_y", "_a/b_", "0x/1.5B"]
HOSTILE = [
    "",
    " ",
    ".",
    "..",
    "../../etc",
    "../../etc/passwd",
    "/etc/passwd",
    "/org/name",
    "org/name/",
    "a/b/c",
    "a//b",
    "a/b@evil",
    "a/b?x=1",
    "a/b#c",
    "a/b%2e%2e",
    "%2e%2e/a",
    "a\\b",
    "C:\\models\\x",
    "\\\\server\\share",
    "file:///etc/passwd",
    "hf://org/name",
    "~/models",
    "org/name\n",
    "org\x00/name",
    "org/na me",
    "orgſ/name",
    "оrg/name",
    "org/名",
    "-org/name",
    "org/-name",
    "org/name-",
    "org/.name",
    "org/name.",
    ".org/name",
    "org./name",
    "a--b/c",
    "a..b/c",
    "org/name\u202e",
    "<script>alert(1)</script>",
    "a" * 97,
    "a/" + "b" * 10_000,
    "{0.__class__}",
    "$(id)/x",
]


@pytest.mark.parametrize("given_id", GOOD)
def test_an_id_passes_as_it_is(given_id: str) -> None:
    assert checked_id(given_id) == given_id


@pytest.mark.parametrize("given_id", [*HOSTILE, None, 3, ["org/name"], b"org/name"])
def test_anything_else_is_refused_and_told_the_form(given_id: object) -> None:
    with pytest.raises(PoolscopeError, match="org/name") as refused:
        checked_id(given_id)
    assert refused.value.field == "backbone"
    assert len(str(refused.value)) < 300


@pytest.mark.parametrize(
    "address",
    [
        "https://huggingface.co/org/name",
        "https://huggingface.co/org/name/",
        "https://huggingface.co/org/name/tree/main",
        "http://hf.co/org/name?library=transformers#top",
    ],
)
def test_a_pasted_address_is_refused_with_the_id_to_type(address: str) -> None:
    with pytest.raises(PoolscopeError, match=r"type its id instead: org/name\.$"):
        checked_id(address)


def test_an_address_that_shows_no_model_gets_the_form() -> None:
    for address in ("https://huggingface.co", "https://huggingface.co/../..", "https://[::1", "http://"):
        with pytest.raises(PoolscopeError, match="an id of a model on the hub is expected"):
            checked_id(address)


@pytest.mark.parametrize("given_id", HOSTILE)
def test_no_hostile_id_reaches_the_hub(there: Server, given_id: str) -> None:
    with pytest.raises(PoolscopeError):
        Hub(largest=10**9).find(given_id)
    assert there.requests == []
