"""Two pages behind a proxy and a cluster of two nodes say what one process says, whatever dies."""

import json
import os
import shutil
import signal
import threading
import urllib.request
from collections.abc import Iterator
from http.client import HTTPConnection
from http.cookiejar import CookieJar
from pathlib import Path
from select import select
from typing import Any

import pytest
from gradio_client import Client

from components.as_json import anatomy_json, lens_json, rows_json, to_json, trace_json
from components.inference.engine import Engine
from components.settings import ASSETS, Settings
from components.types import Query
from tests.inference.replicas.stage import PAGES, Stage, cluster_of_two, pages_behind_a_proxy
from tests.serving import eventually
from tests.tiny import checkpoint

TEXT = "The plot is thin, but the actors are a delight."
OTHERS = {"tiny": {}, "deep": {"num_hidden_layers": 1000, "hidden_size": 8, "intermediate_size": 8}}
CLOCKS = {"milliseconds"}
BACKBONES = sorted(folder.name for folder in (ASSETS / "models").iterdir())


@pytest.fixture(scope="module")
def catalogue(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundled backbones and two others, of which one takes long to be loaded."""
    folder = tmp_path_factory.mktemp("stage")
    for place in ("models", "probes"):
        (folder / place).symlink_to(ASSETS / place)
    for name, sizes in OTHERS.items():
        checkpoint(folder / name, **sizes)
    entries = [f'[{name}]\ntitle = "{name}"\ntask = "sentiment"\npath = "{name}"' for name in OTHERS]
    file = folder / "backbones.toml"
    file.write_text("\n".join([(ASSETS / "backbones.toml").read_text("utf-8"), *entries]), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def empty_stage(catalogue: Path) -> Iterator[Stage]:
    """Pages whose cluster is not there yet."""
    if shutil.which("haproxy") is None:
        pytest.skip("needs haproxy: apt-get install haproxy")
    with pages_behind_a_proxy(catalogue.parent, catalogue) as stage:
        yield stage


@pytest.fixture(scope="module")
def stage(empty_stage: Stage) -> Iterator[Stage]:
    """The same pages, by now with their cluster."""
    with cluster_of_two(empty_stage):
        for page in empty_stage.pages:
            eventually(lambda page=page: empty_stage.health(page) == 200, f"{page} has not found the cluster")
        eventually(lambda: len(empty_stage.replicas()) == 2, "there are no two replicas")
        yield empty_stage
    assert empty_stage.processes() == []


@pytest.fixture(scope="module")
def here(catalogue: Path) -> Engine:
    return Engine(Settings(catalogue=catalogue))


def same(one: Any, other: Any) -> bool:
    """Whether two answers hold the same, numbers within 1e-6, at any depth; the clock aside."""
    if isinstance(one, dict):
        keys = one.keys() - CLOCKS
        return keys == other.keys() - CLOCKS and all(same(one[key], other[key]) for key in keys)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float):
        return bool(one == pytest.approx(other, abs=1e-6))
    return bool(one == other)


def test_the_page_says_that_no_replica_can_be_had(empty_stage: Stage) -> None:
    status, said = empty_stage.ask("analyze", backbone="bert-sentiment", text=TEXT)
    assert status == 400
    assert "no machine that measures can be reached at the moment" in said["detail"]
    assert empty_stage.health() == 503


@pytest.mark.parametrize("key", BACKBONES)
def test_answers_are_those_of_one_process_as_soon_as_there_are_replicas(
    stage: Stage, here: Engine, key: str
) -> None:
    for pooling in ("native", "mean"):
        asked = {"backbone": key, "text": TEXT, "text_pair": "Another.", "pooling": pooling}
        assert same(stage.ask("analyze", **asked), (200, to_json(here.analyze(Query(**asked)))))
    asked = {"backbone": key, "text": TEXT}
    assert same(stage.ask("anatomy", **asked), (200, anatomy_json(here.anatomy(Query(**asked)))))
    traced = {**asked, "other": "Something else."}
    expected = trace_json(here.trace(Query(**asked), "Something else.", ""))
    assert same(stage.ask("trace", **traced), (200, expected))
    assert same(stage.ask("lens", **asked), (200, lens_json(here.lens(Query(**asked)))))


def test_a_comparison_has_every_pooling_and_the_numbers_of_one_process(stage: Stage, here: Engine) -> None:
    keys = BACKBONES[::3]
    status, rows = stage.ask("compare", backbones=keys, poolings=[], text=TEXT)
    queries = [Query(key, TEXT, pooling=spec.key) for key in keys for spec in here.poolings()]
    assert status == 200
    assert same(rows, rows_json(queries, list(here.compare(queries)), fitting=True))
    assert len(rows) >= 10 * len(keys)


def test_a_refusal_is_that_of_one_process(stage: Stage) -> None:
    status, said = stage.ask("analyze", backbone="bert-sentiment", text=TEXT, layer=99)
    assert status == 400
    assert "layer" in said["detail"]


def test_a_browser_stays_with_its_page_and_a_program_finds_its_answer(stage: Stage) -> None:
    def visits() -> str:
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar := CookieJar()))
        for _ in range(6):
            with opener.open(f"http://{stage.proxy}/", timeout=60):
                pages.add(next(cookie.value or "" for cookie in jar))
        return pages.pop()

    pages: set[str] = set()
    assert {visits() for _ in range(6)} == set(PAGES)
    client = Client(f"http://{stage.proxy}", verbose=False)
    for number in range(4):
        asked = {"backbone": "bert-sentiment", "text": f"film {number}"}
        assert client.predict(**asked, api_name="/analyze")["backbone"] == "bert-sentiment"


def test_who_is_asked_has_the_checkpoint(stage: Stage, catalogue: Path) -> None:
    file = catalogue.parent / "tiny" / "tokenizer.json"
    now = file.stat()

    def loaded() -> bool:
        """Whether any of ten questions has a replica read the checkpoint."""
        os.utime(file, ns=(1, now.st_mtime_ns))  # the time at which it was read is told anew after this
        for _ in range(10):
            assert stage.ask("analyze", backbone="tiny", text=f"film {os.urandom(4).hex()}")[0] == 200
        return file.stat().st_atime_ns > 1

    assert loaded()  # by one replica or, before it is known who has it, by both
    assert not loaded()


def test_a_replica_killed_under_load_costs_no_question_and_none_is_answered_twice(stage: Stage) -> None:
    before, told = stage.settled("analyze"), []
    questions = [(key, f"{key} {number}") for number in range(12) for key in BACKBONES[2::3]]

    def ask(mine: list[tuple[str, str]]) -> None:
        told.extend(stage.ask("analyze", backbone=key, text=text)[0] for key, text in mine)

    threads = [threading.Thread(target=ask, args=[questions[one::6]]) for one in range(6)]
    for thread in threads:
        thread.start()
    eventually(lambda: stage.questions("analyze") > before + 10, "nothing is answered")
    killed = stage.replicas()[0]
    os.kill(killed, signal.SIGKILL)
    for thread in threads:
        thread.join()
    assert told == [200] * len(questions)
    eventually(lambda: stage.questions("analyze") >= before + len(questions), "they are not all noted")
    assert stage.settled("analyze") == before + len(questions)
    eventually(lambda: len(set(stage.replicas()) - {killed}) == 2, "nobody takes its place")


def test_who_leaves_ends_the_work(stage: Stage) -> None:
    for page in stage.pages:  # the test before has killed a replica
        eventually(lambda page=page: stage.health(page) == 200, f"{page} has lost its replicas")
    text = f"the film is good {os.urandom(4).hex()}"
    before, body = set(stage.replicas()), json.dumps({"backbone": "deep", "text": text})
    gone = stage.questions("analyze", "gone")
    worked = {replica: _worked(replica) for replica in before}
    visitor = HTTPConnection(stage.proxy)
    visitor.request("POST", "/analyze", body, {"Content-Type": "application/json"})
    try:
        eventually(lambda: any(_worked(one) > worked[one] + 1 for one in before), "nobody loads it")
        assert not select([visitor.sock], [], [], 0)[0], visitor.getresponse().read()
        assert stage.questions("analyze", "gone") == gone
    finally:
        visitor.close()
    eventually(lambda: not before <= set(stage.replicas()), "its replica goes on")
    eventually(lambda: stage.questions("analyze", "gone") == gone + 1, "its page does not note it")
    assert stage.ask("analyze", backbone="gpt2-sentiment", text="after that")[0] == 200


def _worked(process: int) -> float:
    """Seconds of a core that a process has had."""
    ticks = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[11:13]
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")
