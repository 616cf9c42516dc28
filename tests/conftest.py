import gc
import os
import re

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # before huggingface_hub is imported: no test may ask a network

from collections.abc import Generator, Iterator
from pathlib import Path

from hypothesis import settings

from components.inference.engine import Engine
from components.settings import Settings
from tests.serving import served

HERE = Path(__file__).resolve().parent
MARKS = {  # of files and folders; the tests of those that come first are begun first, since they take longest
    "browser": ("browser",),
    "slow": (
        *("public", "recipe", "siege", "test_notebook.py", "lab", "analyses", "model/hub"),
        *(f"model/test_{name}.py" for name in ("checkpoints", "declared", "memory", "refusals")),
        *(f"model/test_{name}.py" for name in ("ordinary", "parity")),
        *("cluster", "inference/test_workers.py"),
        *(f"ui/test_{name}.py" for name in ("api", "compare", "memory", "parsing")),
        *(f"test_{name}.py" for name in ("hostile_inputs", "how_to", "readme")),
    ),
    "families": ("families", *(f"model/test_{name}.py" for name in ("families", "live"))),
}
APPS = {  # files that ask one app: to begin it takes longer than most tests
    "made up": re.compile(
        "tests/(ui/test_api|browser/test_(evidence|frames|hostile|internals|kinds|speaker))"
    ),
    "real": re.compile("tests/(test_readme|browser/test_(?!hub|notebook|report|room))"),
    "public": re.compile("tests/public/"),
}
BY_FAMILY = tuple(f"tests/model/test_{name}.py::" for name in ("families", "ordinary"))

# the machine may be busy, and each run tries other examples
settings.register_profile("unhurried", parent=settings.default, deadline=None, max_examples=50)
settings.load_profile("unhurried")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="leave out what has a mark, without reading it")
    parser.addoption("--families", action="store_true", help="ask the families without a mechanism, too")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With --quick, whether a file or a folder has a mark; to import them takes as long as many tests."""
    marked = {HERE / path for paths in MARKS.values() for path in paths}
    return True if config.getoption("quick") and collection_path in marked else None


def pytest_collection_modifyitems(items: list[pytest.Item], config: pytest.Config) -> None:
    """Mark tests by where they are, and let those that take longest come first."""
    if not config.getoption("families"):
        others = {item for item in items if item.get_closest_marker("other_family")}
        config.hook.pytest_deselected(items=list(others))
        items[:] = [item for item in items if item not in others]
    marked = {HERE / path: mark for mark, paths in MARKS.items() for path in paths}
    gone = [str(path) for path in marked if not path.exists()]
    if gone:
        raise pytest.UsageError(f"tests/conftest.py marks what is not there: {', '.join(gone)}")
    for item in items:
        for mark in {marked[place] for place in (item.path, *item.path.parents) if place in marked}:
            item.add_marker(mark)
    items.sort(key=lambda item: [item.get_closest_marker(mark) is None for mark in MARKS])


class Scheduling(LoadFileScheduling):
    """Give one worker a file, files that ask one app, or all tests of a family in several files."""

    def _split_scope(self, nodeid: str) -> str:
        path, _, name = nodeid.partition("::")
        if app := next((app for app, files in APPS.items() if files.match(path)), ""):
            return app
        if nodeid.startswith(BY_FAMILY) and "[" in name:
            return re.split(r"[-\]]", name.partition("[")[2])[0]  # the first word of the family's name
        return path


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Scheduling:
    return Scheduling(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage in what is imported, now or later: with torch, that takes half a second a time."""
    gc.disable()
    collected = yield
    gc.collect()
    gc.freeze()
    gc.enable()
    return collected


@pytest.fixture
def anyio_backend() -> str:
    """The loop of tests that are coroutines, by anyio's plugin."""
    return "asyncio"


@pytest.fixture(scope="session")
def engine() -> Engine:
    """The engine on the bundled catalogue."""
    return Engine(Settings())


@pytest.fixture(scope="session")
def fake_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Output of the page on made-up answers to its owner."""
    return tmp_path_factory.mktemp("fake") / "server.log"


@pytest.fixture(scope="session")
def fake_url(fake_log: Path) -> Iterator[str]:
    """The address of the page on made-up answers."""
    with served("-m", "tests.ui.fake_app", log=fake_log) as url:
        yield url


@pytest.fixture(scope="session")
def app_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where the real app serves the bundled checkpoints, with every way out of this machine closed."""
    (attempts := tmp_path_factory.mktemp("app") / "attempts").touch()
    log = attempts.with_name("server.log")
    with served("tests/guarded_app.py", log=log, ATTEMPTS=str(attempts)) as url:
        yield url
    assert attempts.read_text() == ""
