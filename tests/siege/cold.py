"""Cold starts: what is asked as soon as the page is there is answered, whatever is loaded meanwhile."""

from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from pathlib import Path

import httpx

from tests.hub import Hub, hub
from tests.serving import START, served
from tests.tiny import checkpoint

MODEL = "org/tiny"
STARTS = 10
BUNDLED, PAIR = "bert-sentiment", {"text": "the film is good", "text_pair": ""}
AT_ONCE: tuple[tuple[str, dict[str, object]], ...] = (  # all of them as soon as the page is there
    ("/find", {"backbone": MODEL}),
    ("/analyze", {"backbone": BUNDLED, **PAIR}),
    ("/find", {"backbone": MODEL}),
    ("/anatomy", {"backbone": "gpt2-sentiment", **PAIR}),
    ("/compare", {"backbones": [BUNDLED], "poolings": ["mean"], **PAIR}),
    ("/find", {"backbone": BUNDLED}),
)


def cold(there: Hub, home: Path, workers: str) -> list[str]:
    """Start the app, ask at once, and say what was no answer."""
    log = home / f"cold-{workers}.log"
    settings = {"POOLSCOPE_SOURCES": "any", "POOLSCOPE_WORKERS": workers, **there.environment(home)}
    with served("app.py", log=log, **settings) as url, ThreadPoolExecutor(len(AT_ONCE)) as threads:
        faults = [told for told in threads.map(lambda one: _outcome(url, *one), AT_ONCE) if told]
    return faults + (["a traceback in the log"] if "Traceback" in log.read_text() else [])


def _outcome(url: str, path: str, asked: dict[str, object]) -> str:
    """ "", or what came in the place of an answer."""
    try:
        came = httpx.post(f"{url}{path}", json=asked, timeout=START)
    except httpx.HTTPError as error:
        return f"{path}: {type(error).__name__}"
    return "" if came.status_code == HTTPStatus.OK else f"{path}: {came.status_code} {came.text[:200]}"


def main(folder: Path, starts: int = STARTS) -> bool:
    """Start so many times, every other time without workers; whether everything was answered."""
    checkpoint(folder / "models" / MODEL, id2label={0: "bad", 1: "good"})
    fine = 0
    with hub(folder / "models") as there:
        for number in range(starts):
            home = folder / f"home{number}"
            home.mkdir()
            faults = cold(there, home, "0" if number % 2 else "1")
            fine += not faults
            print(*faults, sep="\n", end="\n" if faults else "", flush=True)
    print(f"cold starts: {fine} of {starts} answered everything that was asked at once", flush=True)
    return fine == starts
