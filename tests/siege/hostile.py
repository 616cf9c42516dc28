"""Hostile checkpoints: config, settings, tokenizer and weights with keys at their extremes; asked for."""

import json
import os
import random
import shutil
import struct
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import httpx

from components.settings import ASSETS
from components.texts import load_texts
from tests.public.asking import ask, client_of
from tests.resident import resident
from tests.serving import served
from tests.tiny import catalogue, change, checkpoint

Json = dict[str, Any]
Spoil = Callable[[Path], None]
CONFIG, SETTINGS, TOKENIZER = "config.json", "tokenizer_config.json", "tokenizer.json"
WEIGHTS = "model.safetensors"
LONG = "x" * 200_000
BUNDLE = [one for one in sorted((ASSETS / "models").iterdir()) if (one / CONFIG).is_file()]
BUNDLED = "bert-sentiment"
EXTREMES: tuple[object, ...] = (
    0, -1, 1, 2, 7, 512, 20_000, 2**24, 2**31, 10**18, 1e308, -0.5, 0.999, "", "x", LONG, None, True, [], {},
    [0], {"a": 0}, [[]] * 1_000, "/etc/passwd", "../../..",
)  # fmt: skip
FAMILIES = ("bert", "gpt2", "bart")
MB = 1_000_000
BACK = 100 * MB  # within which resident memory comes back
TEXT = "the film is not good at all !"
SHARES = {CONFIG: 110, SETTINGS: 60, TOKENIZER: 80, WEIGHTS: 38}  # drawn; the rest are named below


@dataclass(frozen=True)
class Hostile:
    """One checkpoint: what it is called, which good one it is made of, and what is done to that."""

    key: str
    family: str
    spoil: Spoil


def every(seed: int = 0) -> Iterator[Hostile]:
    """All of them, the same for a seed."""
    for number, (name, spoil) in enumerate(NAMED.items()):
        yield Hostile(f"{number:03}-{name}", "bert", spoil)
    drawn = [file for file, count in SHARES.items() for _ in range(count)]
    for number, file in enumerate(drawn, len(NAMED)):
        draw = random.Random(f"{seed} {number}")
        family = draw.choice(FAMILIES)
        spoil = of_weights(draw) if file == WEIGHTS else of_json(file, draw)
        yield Hostile(f"{number:03}-{file.partition('.')[0]}-{family}", family, spoil)


def good(folder: Path) -> dict[str, Path]:
    """One good checkpoint of each family."""
    return {kind: Path(checkpoint(folder / f"good-{kind}", kind, kind).location) for kind in FAMILIES}


def made(hostile: Hostile, goods: dict[str, Path], folder: Path) -> Path:
    """The folder of a hostile checkpoint, made now."""
    place = folder / hostile.key
    shutil.copytree(goods[hostile.family], place)
    hostile.spoil(place)
    return place


def places(read: object) -> Iterator[tuple[Any, Any]]:
    """Every place in JSON that holds a value: the table or list, and the key there."""
    waiting: list[Any] = [read]
    while waiting:
        inside = waiting.pop()
        keys = inside if isinstance(inside, dict) else range(len(inside)) if isinstance(inside, list) else ()
        for key in keys:
            yield inside, key
            waiting.append(inside[key])


def extreme(draw: random.Random, read: Json) -> None:
    """Put one place of JSON at an extreme."""
    inside, key = draw.choice(list(places(read)))
    inside[key] = draw.choice(EXTREMES)


def of_json(name: str, draw: random.Random) -> Spoil:
    """One to three places of a JSON file at an extreme."""

    def spoil(folder: Path) -> None:
        read: Json = json.loads((folder / name).read_text("utf-8"))
        for _ in range(draw.randint(1, 3)):
            extreme(draw, read)
        (folder / name).write_text(json.dumps(read), "utf-8")

    return spoil


def of_weights(draw: random.Random) -> Spoil:
    """A header with one of its places at an extreme, or bytes turned over, or fewer of them."""

    def spoil(folder: Path) -> None:
        file = folder / WEIGHTS
        content = file.read_bytes()
        (length,) = struct.unpack("<Q", content[:8])
        header, body = json.loads(content[8 : 8 + length]), bytearray(content[8 + length :])
        match draw.randrange(4):
            case 0:
                extreme(draw, header)
            case 1:
                start = draw.randrange(len(body))
                body[start : start + 400] = draw.randbytes(len(body[start : start + 400]))
            case 2:
                del body[draw.randrange(len(body)) :]
            case _:
                header.pop(draw.choice(sorted(header)))
        text = json.dumps(header).encode()
        file.write_bytes(struct.pack("<Q", len(text)) + text + bytes(body))

    return spoil


def states(name: str, **keys: object) -> Spoil:
    """Keys of a JSON file, as given."""
    return lambda folder: change(folder / name, **keys)


def replaced(name: str, put: Callable[[Path], object]) -> Spoil:
    """Something else in the place of a file."""
    return lambda folder: ((folder / name).unlink(), put(folder / name))


def wide(folder: Path) -> None:
    """A layer of two million, in weights that are small."""
    shutil.rmtree(folder)
    checkpoint(folder, hidden_size=4, intermediate_size=2_000_000)
    change(folder / SETTINGS, model_max_length=512)


def regex(pattern: str) -> Spoil:
    return states(TOKENIZER, normalizer={"type": "Replace", "pattern": {"Regex": pattern}, "content": ""})


SHARDS = json.dumps({"weight_map": {"a": "x" * 5_000 + ".safetensors"}})
UNIGRAM = {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0], [LONG, -1.0]]}
NAMED: dict[str, Spoil] = {
    "piece": states(TOKENIZER, model=UNIGRAM),
    "labels": states(CONFIG, id2label={str(n): "x" for n in range(20_000)}),
    "label": states(CONFIG, id2label={"0": "x" * 3_800_000, "1": "y"}),
    "digits": states(CONFIG, id2label={"1" * 5_000: "x"}),
    "gguf": states(SETTINGS, gguf_file="/etc/passwd"),
    "dtype": states(CONFIG, dtype="x" * 3_800_000),
    "pipe": replaced(CONFIG, os.mkfifo),
    "zero": replaced(CONFIG, lambda file: file.symlink_to("/dev/zero")),
    "shard": replaced(WEIGHTS, lambda file: file.with_name(f"{WEIGHTS}.index.json").write_text(SHARDS)),
    "regex": regex("(?:[a-z ]+[a-z ]+)+!"),
    "lookahead": regex("(?=(a|b|c| )*)*x"),
    "wide": wide,
}


def besieged(folder: Path, hostile: Iterable[Hostile]) -> Path:
    """A catalogue of the bundled checkpoints, of good ones and of the hostile ones."""
    goods = good(folder)
    named = {place.name: place for place in (*BUNDLE, *goods.values())}
    return catalogue(folder, named | {one.key: made(one, goods, folder) for one in hostile})


def outcome(client: httpx.Client, key: str) -> str:
    """ "answered", "refused" or what is wrong with what came."""
    try:
        came = ask(client, backbone=key, text=TEXT)
    except (httpx.HTTPError, ValueError) as error:
        return f"no answer: {type(error).__name__}"
    told = str(came.get("error", ""))
    if not told:
        sound = len(came["labels"]) == len(came["logits"]) == len(came["probabilities"]) > 0
        return "answered" if sound else "an answer that is none"
    return "refused" if load_texts()("verdict.bug") not in told and len(told) > 40 else f"no reason: {told}"


def main(folder: Path, count: int = 300) -> bool:
    """Ask for each of them, and between them for the bundled one; say what came of it."""
    log = folder / "siege.log"
    asked = list(islice(every(), count))
    settings = {
        "POOLSCOPE_CATALOGUE": str(besieged(folder, asked)),
        "POOLSCOPE_SECONDS": "30",
        "POOLSCOPE_WORKERS": "1",
        "POOLSCOPE_MEMORY": "200MB",  # weights that are kept for the next visitor count as resident, too
        "LOG": str(log),
    }
    with served("app.py", log=log, **settings) as url, client_of(url) as client:
        for key in (BUNDLED, "good-bert", "good-gpt2", "good-bart"):
            assert outcome(client, key) == "answered", key
        before, came, slowest = resident(log), Counter[str](), 0.0

        def grown() -> dict[str, int]:
            return {name: value - before[name] for name, value in resident(log).items()}

        for hostile in asked:
            begun = time.monotonic()
            told = outcome(client, hostile.key)
            slowest = max(slowest, time.monotonic() - begun)
            came[told.partition(":")[0]] += 1
            if told not in ("answered", "refused"):
                print(f"{hostile.key}: {told}", flush=True)
            if outcome(client, BUNDLED) != "answered":
                came["the bundled one fails"] += 1
        alive = all(outcome(client, key) == "answered" for key in (BUNDLED, "good-bert"))
        deadline = time.monotonic() + 30.0
        while max((more := grown()).values()) >= BACK and time.monotonic() < deadline:
            time.sleep(1)  # a worker that was stopped may not have ended yet
    print(f"{dict(came)}; slowest {slowest:.1f} s; server alive: {alive}")
    sizes = [f"{name}: {before[name] / MB:,.0f} MB before, {more[name] / MB:+,.0f} MB" for name in more]
    print("; ".join(sizes))
    fine = came["answered"] + came["refused"] == count and len(came) <= 2
    return alive and fine and max(more.values()) < BACK
