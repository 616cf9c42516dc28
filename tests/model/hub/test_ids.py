"""The form of a hub id."""

import string

import pytest
from huggingface_hub.utils import validate_repo_id
from hypothesis import example, given, settings
from hypothesis import strategies as some

from components.errors import PoolscopeError
from components.model.hub.hub import Hub
from components.model.hub.ids import checked_id
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
    "a.-b/c",
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


NEAR = some.text(alphabet=string.ascii_letters + string.digits + "-_./@:%\\ ~\n", max_size=40)
MIXED = some.lists(some.one_of(some.sampled_from([*GOOD, *HOSTILE]), NEAR), max_size=3).map("".join)


@settings(deadline=None)
@given(some.one_of(some.text(), NEAR, MIXED))
@example("a/b")
def test_what_passes_is_a_plain_name_to_the_hub_and_to_the_disk(text: str) -> None:
    try:
        passed = checked_id(text)
    except PoolscopeError:
        return
    assert passed == text
    validate_repo_id(passed)  # raises for what the hub's own library would not take
    assert set(passed) <= set(string.ascii_letters + string.digits + "-_./")
    parts = passed.split("/")
    assert 1 <= len(parts) <= 2
    assert all(part and part[0] not in "-." and part[-1] not in "-." for part in parts)
    assert ".." not in passed
    assert "--" not in passed  # which stands for the slash in the cache's folders


def test_no_hostile_id_reaches_the_hub(there: Server) -> None:
    finder = Hub(largest=10**9)

    @settings(deadline=None)
    @given(some.one_of(some.sampled_from(HOSTILE), some.text(), NEAR.map("../{}".format)))
    def ask(text: str) -> None:
        if text in GOOD or "/" not in text.strip("/"):
            text += "/../x"
        with pytest.raises(PoolscopeError):
            finder.find(text)

    ask()
    assert there.requests == []
    with pytest.raises(PoolscopeError, match="no public model"):
        finder.find("org/none")
    assert len(there.requests) == 1  # what is well-formed does
