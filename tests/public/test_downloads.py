"""Downloads of the app as it is served, from a hub of our own: who leaves ends them."""

import json
import shutil
from collections.abc import Iterator

import httpx
import pytest

from tests.hub import Hub, hub
from tests.public.asking import client_of, joined
from tests.serving import served
from tests.tiny import checkpoint

MODEL = "org/tiny"
MB = 1_000_000
SLOWLY = 4 * MB  # bytes a second, of the 26 MB that come; huggingface_hub reports 10 MB at a time
SOON = 20  # seconds


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    folder = tmp_path_factory.mktemp("hub")
    checkpoint(folder / MODEL, max_position_embeddings=200_000)
    for number in range(2):
        shutil.copytree(folder / MODEL, folder / f"{MODEL}{number}")
    with hub(folder) as server:
        server.speed = SLOWLY
        yield server


@pytest.fixture(scope="module")
def app(there: Hub, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    place = tmp_path_factory.mktemp("app")
    (place / "attempts").touch()
    environment = {
        "POOLSCOPE_SOURCES": "any",
        "POOLSCOPE_WORKERS": "1",
        "ATTEMPTS": str(place / "attempts"),
        **there.environment(place),
    }
    with served("tests/guarded_app.py", log=place / "log", **environment) as url, client_of(url) as client:
        yield client
    assert "Traceback" not in (place / "log").read_text()
    assert (place / "attempts").read_text() == ""  # nothing of torch either, in the process of the page


def asked(app: httpx.Client, model: str) -> str:
    """The stream of a download that somebody has asked for, without a browser."""
    return f"/gradio_api/call/fetch/{joined(app, 'fetch', backbone=model)}"


def steps(stream: httpx.Response) -> Iterator[dict[str, int]]:
    """How far it is, as often as it is said."""
    for line in stream.iter_lines():
        if line.startswith("data: [{"):
            yield json.loads(line.removeprefix("data: "))[0]


def test_a_download_ends_with_its_last_listener_and_begins_again_with_the_next(
    app: httpx.Client, there: Hub
) -> None:
    weights = "/elsewhere/"
    with client_of(str(app.base_url)) as other:
        with (
            app.stream("GET", asked(app, MODEL)) as first,
            other.stream("GET", asked(other, MODEL)) as second,
        ):
            coming = steps(second)
            next(step for step in steps(first) if step["done"] > MB)
            here = next(step for step in coming if step["done"] > MB)
            assert len(there.asked(weights)) == 1  # the same for both
            first.close()
            next(step for step in coming if step["done"] > here["done"])  # it goes on for who is left
        assert there.is_quiet(SOON)
    assert there.sent < 25 * MB
    there.speed = None
    with app.stream("GET", asked(app, MODEL)) as again:
        *_, last = steps(again)
    assert last["done"] == last["total"]


def test_who_never_listens_begins_no_download(app: httpx.Client, there: Hub) -> None:
    before = len(there.requests)
    for _ in range(10):
        asked(app, f"{MODEL}0")
    with app.stream("GET", asked(app, f"{MODEL}1")) as heard:  # asked last, it has passed them
        *_, last = steps(heard)
    assert last["done"] == last["total"]
    assert not [request for request in there.requests[before:] if f"{MODEL}0" in request.path]
