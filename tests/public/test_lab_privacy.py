"""A table of the lab is in no log, in no file of the server, and in nothing that others are told."""

from pathlib import Path

import httpx
from gradio_client import Client

from tests.serving import served

SECRET = "quetzalcoatlus"
ASKED = ("analyze", "anatomy", "lens", "importance", "padding")
TABLE = "text,label\n" + "\n".join(f"{SECRET} {row} flies,{row % 2}" for row in range(24))


def test_nothing_of_a_table_stays(tmp_path: Path) -> None:
    log, folder = tmp_path / "server.log", tmp_path / "files"
    folder.mkdir()
    with served("app.py", log=log, TMPDIR=str(folder), POOLSCOPE_METRICS="1") as url:
        client = Client(url, verbose=False)
        asked = (TABLE, "text", "label", "", ["bert-sentiment"], ["mean"])
        assert client.predict(*asked, api_name="/fit")["n"] == 24
        refused = client.submit(TABLE.replace(",1", ""), "text", "label", api_name="/fit")
        assert refused.exception() is not None
        other = Client(url, verbose=False)  # somebody else
        heard = [other.predict("bert-sentiment", "it flies", api_name=f"/{name}") for name in ASKED]
        told = [*map(str, heard)]
        told += [httpx.get(f"{url}/{page}").text for page in ("", "metrics", "config")]
    said = log.read_text(encoding="utf-8", errors="replace")
    assert "question=fit outcome=answered" in said
    assert "question=fit outcome=refused" in said
    files = [file for file in folder.rglob("*") if file.is_file()]
    for text in (said, *told, *(file.read_text(errors="replace") for file in files)):
        assert SECRET not in text
