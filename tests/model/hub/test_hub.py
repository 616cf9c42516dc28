"""What is found stays found, at its commit."""

import shutil
from pathlib import Path

import pytest
from huggingface_hub import constants

from components.errors import PoolscopeError
from components.model import hub
from components.model.hub import Hub
from tests.hub import Hub as Server
from tests.model.hub.conftest import MODEL, edited

LIMIT = 10_000_000


def moved(model: Path) -> None:
    """Another commit on the branch."""
    edited(model / "config.json", lambda text: text + "\n")


def test_what_is_found_is_a_backbone_pinned_to_a_commit(there: Server) -> None:
    there.said[MODEL] = {"cardData": {"license": ["mit", "other"]}}
    finder = Hub(LIMIT)
    assert finder.known(MODEL) is None
    spec = finder.find(MODEL)
    assert (spec.key, spec.title, spec.source, spec.location) == (MODEL, MODEL, "hub", MODEL)
    assert (spec.revision, spec.licence, spec.available) == (there.commit(MODEL), "mit, other", False)
    assert spec.size is not None
    assert 130_000 < spec.size < 140_000
    assert finder.known(MODEL) == spec


def test_the_branch_moves_between_find_and_fetch(there: Server, model: Path) -> None:
    finder = Hub(LIMIT)
    spec = finder.find(MODEL)
    moved(model)
    there.requests.clear()
    assert list(finder.fetch(spec))[-1].done == spec.size
    assert all(
        str(spec.revision) in request.path for request in there.requests if "/elsewhere/" not in request.path
    )
    there.requests.clear()
    assert finder.find(MODEL) == spec  # what is here stays as it is
    assert there.asked("/api/") == []
    assert list(finder.fetch(spec)) == []  # and is not fetched again


def test_what_is_not_here_yet_is_looked_up_again(there: Server, model: Path) -> None:
    finder = Hub(LIMIT)
    before = finder.find(MODEL)
    moved(model)
    after = finder.find(MODEL)
    assert before.revision != after.revision == there.commit(MODEL)
    list(finder.fetch(before))  # who asked for the former gets the former
    assert {request.path.split("/")[4] for request in there.asked("/resolve/")[-3:]} == {before.revision}


def test_offline_what_was_once_fetched_is_enough(there: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = Hub(LIMIT).find(MODEL)
    finder = Hub(LIMIT)
    list(finder.fetch(spec))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    there.requests.clear()
    again = Hub(LIMIT)  # as after a restart
    assert again.find(MODEL).revision == spec.revision
    with pytest.raises(PoolscopeError, match="cannot be reached"):
        again.find("org/never-fetched")
    assert there.requests == []


def test_when_the_hub_says_no_the_cache_does_not_say_yes(there: Server) -> None:
    list(Hub(LIMIT).fetch(Hub(LIMIT).find(MODEL)))
    there.refuse("/api/", 401, "RepoNotFound")
    with pytest.raises(PoolscopeError, match="no public model"):
        Hub(LIMIT).find(MODEL)


@pytest.mark.usefixtures("there")
def test_a_cached_model_with_code_of_its_own_is_refused_offline(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = Hub(LIMIT).find(MODEL)
    list(Hub(LIMIT).fetch(spec))
    (config,) = Path(constants.HF_HUB_CACHE).glob("*/snapshots/*/config.json")
    edited(config, lambda text: text.replace("{", '{"auto_map": {"AutoModel": "own.Own"},', 1))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(PoolscopeError, match="auto_map"):
        Hub(LIMIT).find(MODEL)


def test_the_owner_s_token_opens_nothing_private_to_visitors(there: Server) -> None:
    there.said[MODEL] = {"private": True}
    finder = Hub(LIMIT)
    with pytest.raises(PoolscopeError, match="private"):
        finder.find(MODEL)
    assert finder.known(MODEL) is None


def test_a_limited_number_is_remembered(there: Server, tiny: Path) -> None:
    for name in ("a", "b", "c"):
        shutil.copytree(tiny, there.folder / name)
    finder = Hub(LIMIT, capacity=2)
    for name in ("a", "b", "a", "c"):
        finder.find(name)
    assert [finder.known(name) is not None for name in ("a", "b", "c")] == [True, False, True]
    assert finder.known(["a"]) is None


def test_a_listed_model_is_fetched_at_its_own_commit(there: Server, model: Path) -> None:
    spec = hub._spec("org/tiny", there.commit(MODEL))
    moved(model)
    there.commit(MODEL)
    list(Hub(LIMIT).fetch(spec))
    assert f"/revision/{spec.revision}" in there.asked("/api/")[0].path
    with pytest.raises(PoolscopeError, match="pinned revision"):
        list(Hub(LIMIT).fetch(hub._spec("org/tiny", "0" * 40)))
