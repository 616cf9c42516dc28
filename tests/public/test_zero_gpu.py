"""A Space on ZeroGPU: the real package ``spaces``, and a stand-in for the service that lends the GPU."""

import httpx
import numpy as np

from components.zero_gpu import SECONDS
from tests.plain import SPECS, load_plain
from tests.public.asking import QUESTION
from tests.public.conftest import GRANTED, Call

VISITOR = "head.e30.signature"  # a token of Hugging Face, which says whose quota it is: {} in base64


def test_only_who_asks_much_is_lent_the_gpu(faulty: httpx.Client, lent: tuple[str, list[Call]]) -> None:
    _service, calls = lent
    faulty.headers["X-Forwarded-For"] = "8.8.2.2"  # who has asked nothing yet
    assert faulty.post("/analyze", json={**QUESTION, "backbone": "first"}).json()["labels"]
    assert calls == [("/startup-report", {})]  # what is measured elsewhere costs nobody anything
    question = {"backbone": "bert-sentiment", "text": "it was lent"}
    said = faulty.post("/analyze", json=question, headers={"X-IP-Token": VISITOR}).json()
    theirs = load_plain(SPECS["bert-sentiment"].location)
    np.testing.assert_allclose(said["logits"], theirs(question["text"]).logits[0], atol=1e-5)
    assert [path for path, _ in calls] == ["/startup-report", "/schedule", "/allow", "/release"]
    _, wished, allowed, released = (query for _, query in calls)
    assert (wished["token"], wished["durationSeconds"]) == ([VISITOR], [str(SECONDS)])  # of whom, how much
    assert allowed["allowToken"] == released["allowToken"] == [GRANTED["allowToken"]]
    assert released["fail"] == ["false"]
