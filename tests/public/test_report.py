"""The report as it is served: made when it is asked for, priced, and kept for nobody."""

import json
import socket
from http import HTTPStatus
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from tests.public.asking import reported
from tests.resident import resident
from tests.serving import eventually

MUTE = 30  # reports that are asked for and not read: 5 MB each
MB = 1_000_000


@pytest.mark.parametrize(
    ("page", "query", "said", "wrong"),
    [
        ("report", "text=a+fine+film&pooling=mean", "BertForSequence", "text=+++"),
        ("passport.html", "backbone=xlnet-sentiment", "XLNetForSequence", "backbone=gone"),
    ],
)
def test_a_file_comes_in_the_language_of_the_page_that_asks(
    real: httpx.Client, page: str, query: str, said: str, wrong: str
) -> None:
    for path, language in (("/", "en"), ("/zh", "zh")):
        sent = real.post(f"/{page}", json=reported(query), headers={"Referer": str(real.base_url.join(path))})
        assert sent.headers["content-type"].startswith("text/html")
        assert sent.text.startswith(f'<!doctype html>\n<html lang="{language}')
        assert sent.text.endswith("</body></html>\n")
        assert said in sent.text
    refused = real.post(f"/{page}", json=reported(wrong))
    assert refused.status_code == HTTPStatus.BAD_REQUEST
    assert refused.json()["detail"].startswith(f"{wrong.partition('=')[0]}: ")


def test_what_nobody_reads_takes_no_memory(real: httpx.Client, folder: Path) -> None:
    """Each would be 5 MB."""
    place = urlsplit(str(real.base_url))
    assert real.post("/report", json=reported("text=first")).status_code == HTTPStatus.OK
    before, mute = resident(folder / "real.log")["page"], []
    for number in range(MUTE):
        body = json.dumps(reported(f"text=number+{number}", f"mute{number}")).encode()
        head = f"POST /report HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        one = socket.socket()
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        one.connect((place.hostname, place.port))
        one.sendall(head + body)
        mute.append(one)
    begun = [one for one in mute[:2] if one.recv(1)]  # their reports have been made, and are on their way
    grown = resident(folder / "real.log")["page"] - before
    for one in mute:
        one.close()
    assert len(begun) == 2  # those of one address that are drawn or sent at once
    assert before < 300 * MB  # torch and transformers alone take more
    assert grown < 40 * MB
    eventually(
        lambda: real.post("/report", json=reported("text=last")).is_success, "no report is made any more"
    )
