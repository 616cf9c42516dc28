"""The report as it is served: made when it is asked for, priced, and kept for nobody."""

import json
import socket
import time
from http import HTTPStatus
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import httpx
import pytest

from tests.resident import resident

MUTE = 30  # reports that are asked for and not read: 5 MB each
MB = 1_000_000


def asked(query: str, session: str = "x") -> dict[str, str]:
    return {"query": query, "page": "https://example.org/", "session_hash": session}


@pytest.mark.parametrize(
    ("page", "query", "said"),
    [
        ("report", "text=a+fine+film&pooling=mean", "Plotly.newPlot"),
        ("passport.html", "backbone=xlnet-sentiment&text=x", "XLNetForSequenceClassification"),
    ],
)
def test_a_file_comes_in_the_language_of_the_page_that_asks(
    real: httpx.Client, page: str, query: str, said: str
) -> None:
    for path, language in (("/", "en"), ("/zh", "zh")):
        sent = real.post(f"/{page}", json=asked(query), headers={"Referer": str(real.base_url.join(path))})
        assert sent.headers["content-type"].startswith("text/html")
        assert sent.text.startswith(f'<!doctype html>\n<html lang="{language}')
        assert sent.text.endswith("</body></html>\n")
        assert said in sent.text
    refused = real.post(f"/{page}", json=asked("backbone=gone"))
    assert refused.status_code == HTTPStatus.BAD_REQUEST
    assert refused.json()["detail"].startswith("backbone: 'gone'")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (asked("text=+++"), "text: "),
        ({**asked(""), "query": ["a"]}, "query: "),
        ({"query": "", "page": ""}, "session_hash: "),
        (asked("", "x" * 65), "session_hash: "),
    ],
)
def test_what_cannot_be_reported_is_said(real: httpx.Client, body: dict[str, object], said: str) -> None:
    answer = real.post("/report", json=body)
    assert answer.status_code == HTTPStatus.BAD_REQUEST
    assert answer.json()["detail"].startswith(said)


def test_a_report_counts_as_the_question_that_it_is(faulty: httpx.Client) -> None:
    """Three questions in a minute, and a comparison takes as long as several."""
    headers = {"X-Forwarded-For": "8.8.7.7"}
    sent = [
        faulty.post("/report", json=asked(f"text=a&backbone=first&layer={layer}"), headers=headers)
        for layer in range(4)
    ]
    assert [one.status_code for one in sent] == [200, 200, 200, 429]
    headers = {"X-Forwarded-For": "8.8.6.6"}
    lists = {"backbones": ["first", "pair"], "poolings": ["cls", "mean", "attention"]}
    many = asked(urlencode({"tab": "compare", "compare_text": "a", **lists}, doseq=True))
    sent = [faulty.post("/report", json=many, headers=headers) for _ in range(3)]
    assert [one.status_code for one in sent] == [200, 200, 429]


def test_what_nobody_reads_takes_no_memory(real: httpx.Client, folder: Path) -> None:
    """Each would be 5 MB."""
    place = urlsplit(str(real.base_url))
    assert real.post("/report", json=asked("text=first")).status_code == HTTPStatus.OK
    before, mute = resident(folder / "real.log")["page"], []
    for number in range(MUTE):
        body = json.dumps(asked(f"text=number+{number}", f"mute{number}")).encode()
        head = f"POST /report HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        one = socket.socket()
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        one.connect((place.hostname, place.port))
        one.sendall(head + body)
        mute.append(one)
    begun = [one for one in mute[:6] if one.recv(1)]  # their reports have been made, and are on their way
    grown = resident(folder / "real.log")["page"] - before
    for one in mute:
        one.close()
    assert len(begun) == 6
    assert before < 300 * MB  # torch and transformers alone take more
    assert grown < 40 * MB
    deadline = time.monotonic() + 30
    while real.post("/report", json=asked("text=last")).status_code != HTTPStatus.OK:
        assert time.monotonic() < deadline
