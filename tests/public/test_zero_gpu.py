"""A Space on ZeroGPU: the real package ``spaces``, and a stand-in for the service that lends the GPU."""

import httpx

from components.zero_gpu import SECONDS
from tests.public.asking import QUESTION
from tests.public.conftest import GRANTED, Call
from tests.public.faulty_app import GPU

VISITOR = "head.e30.signature"  # a token of Hugging Face, which says whose quota it is: {} in base64


def test_only_who_asks_for_the_gpu_is_lent_it(faulty: httpx.Client, lent: tuple[str, list[Call]]) -> None:
    _service, calls = lent
    faulty.headers["X-Forwarded-For"] = "8.8.2.2"  # who has asked nothing yet
    assert faulty.post("/analyze", json={**QUESTION, "backbone": "first"}).json()["labels"]
    assert calls == [("/startup-report", {})]  # what is measured costs nobody anything
    said = faulty.post("/gpu", json={}, headers={"X-IP-Token": VISITOR})
    assert said.json() == GPU
    assert [path for path, _ in calls] == ["/startup-report", "/schedule", "/allow", "/release"]
    _, wished, allowed, released = (query for _, query in calls)
    assert (wished["token"], wished["durationSeconds"]) == ([VISITOR], [str(SECONDS)])  # of whom, how much
    assert allowed["allowToken"] == released["allowToken"] == [GRANTED["allowToken"]]
    assert released["fail"] == ["false"]
