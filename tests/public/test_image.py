"""The image: what the Dockerfile says holds, as far as that can be tried without Docker."""

import os
from http import HTTPStatus

import httpx

from tests.public.image import COMMAND, COPIES, ENVIRONMENT, HEALTH, INSTRUCTIONS, PORT, said
from tests.serving import ROOT, eventually, free_port, python


def test_docker_gets_what_is_copied_and_nothing_else() -> None:
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    given, *kept, left_out = [line for line in lines if not line.startswith("#")]
    assert (given, left_out) == ("*", "**/__pycache__")
    assert sorted(kept) == sorted(f"!{source}" for source, _ in COPIES)


def test_its_user_is_not_root_and_it_listens_to_others() -> None:
    (user,) = said("USER")
    (made,) = (rest for rest in said("RUN") if "useradd" in rest)
    assert made.split()[-1] == user != "root"
    names = [name for name, _ in INSTRUCTIONS]
    assert names.index("USER") > max(number for number, name in enumerate(names) if name == "COPY")
    assert said("EXPOSE") == [ENVIRONMENT[PORT]]
    assert ENVIRONMENT["GRADIO_SERVER_NAME"] == "0.0.0.0"  # the container's own address, not its loopback
    assert said("VOLUME") == [ENVIRONMENT["HF_HOME"]]
    assert f"mkdir -p {ENVIRONMENT['HF_HOME']}" in said("RUN")  # by the user, whose the volume then is


def test_its_health_check_tells_an_app_that_answers_from_none(real: httpx.Client) -> None:
    """The app that all of these tests ask runs on what is copied alone, and writes nothing there."""
    assert (COMMAND, HEALTH[0]) == (["python", "app.py"], "python")
    eventually(lambda: real.get("/health").status_code == HTTPStatus.OK, "it is not healthy")
    for port, status in ((str(real.base_url.port), 0), (str(free_port()), 1)):
        assert python(*HEALTH[1:], env={**os.environ, PORT: port}).returncode == status
