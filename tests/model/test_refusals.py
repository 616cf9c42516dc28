"""What spoils a checkpoint is refused with its reason, and no file outside of its folder is opened."""

import json
import os
import re
import resource
import shutil
import struct
import sys
import sysconfig
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from components.analyses.measuring.analyze import analyse
from components.errors import PoolscopeError
from components.model.examine import examine
from components.model.files import KEYS, RefusalError
from components.model.loading import load, read_config, read_tokenizer
from components.types import BackboneSpec, Query
from tests.serving import ROOT
from tests.tiny import change, checkpoint, reweigh

TABLES = tomllib.loads(Path(__file__).with_name("refusals.toml").read_text(encoding="utf-8"))
CONFIG, SETTINGS, TOKENIZER = "config.json", "tokenizer_config.json", "tokenizer.json"
WEIGHTS, INDEX = "model.safetensors", "model.safetensors.index.json"
DAMAGED = "its model.safetensors is damaged"
PAGE, MB, GB = os.sysconf("SC_PAGE_SIZE"), 1_000_000, 2**30
DEEP = 100_000  # levels
TEXT = "the film is good"
Spoil = Callable[[Path], object]  # what is done to a checkpoint's folder


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BackboneSpec]:
    """A checkpoint that, whatever was done with others, still loads and answers afterwards."""
    spec = checkpoint(tmp_path_factory.mktemp("checkpoints") / "good")
    before = analyse(examine(load(spec), Query("good", TEXT))).logits
    yield spec
    assert (analyse(examine(load(spec), Query("good", TEXT))).logits == before).all()


@pytest.fixture
def spec(good: BackboneSpec, tmp_path: Path) -> BackboneSpec:
    """A copy to spoil."""
    folder = tmp_path / "spoilt"
    shutil.copytree(good.location, folder)
    return replace(good, key="spoilt", location=str(folder))


def refusal(spec: BackboneSpec) -> str:
    """Why ``spec`` is not loaded; what is refused must not take more than 2 GB of addresses meanwhile."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    now = int(Path("/proc/self/statm").read_text().split()[0]) * PAGE
    resource.setrlimit(resource.RLIMIT_AS, (now + 2 * GB, hard))
    try:
        with pytest.raises(PoolscopeError) as caught:
            load(spec)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    assert str(Path(spec.location).parent) not in str(caught.value)  # no folder of this machine is told
    return str(caught.value)


class Bomb:
    """Unpickled, it makes a folder."""

    def __init__(self, made: Path) -> None:
        self.made = made

    def __reduce__(self) -> tuple[Callable[..., None], tuple[str]]:
        return os.mkdir, (str(self.made),)


AUTO = {
    f"Auto{kind}": "own.Own" for kind in ("Config", "Tokenizer", "Model", "ModelForSequenceClassification")
}
BRINGING: dict[str, dict[str, dict[str, Any]]] = {  # what a folder with code of its own states, in which file
    "config": {CONFIG: {"auto_map": AUTO}},
    "a part of it": {CONFIG: {"text_config": {"auto_map": AUTO}}},
    "another repository": {CONFIG: {"auto_map": {name: f"org/own--{file}" for name, file in AUTO.items()}}},
    "tokenizer": {SETTINGS: {"auto_map": {"AutoTokenizer": ["own.Own", "own.Fast"]}}},
    "tokenizer, as older ones": {SETTINGS: {"auto_map": ["own.Own", None]}},
    "processor": {"preprocessor_config.json": {"auto_map": {"AutoProcessor": "own.Own"}}},
    "all": {CONFIG: {"auto_map": AUTO}, SETTINGS: {"auto_map": {"AutoTokenizer": ["own.Own", None]}}},
}


@pytest.mark.parametrize("kind", BRINGING)
@pytest.mark.parametrize("model_type", ["bert", "vit", "nobody's"])
def test_code_of_its_own_is_never_run_and_not_needed_where_transformers_has_the_type(
    spec: BackboneSpec, good: BackboneSpec, tmp_path: Path, kind: str, model_type: str
) -> None:
    folder = Path(spec.location)
    (folder / "own.py").write_text(f"import os; os.mkdir({str(tmp_path / 'ran')!r})")
    for file, keys in {
        **BRINGING[kind],
        CONFIG: {**BRINGING[kind].get(CONFIG, {}), "model_type": model_type},
    }.items():
        (folder / file).touch()
        (folder / file).write_text(json.dumps(json.loads((folder / file).read_text() or "{}") | keys))
    if model_type == "bert":
        before = plain_logits(Path(good.location))
        assert torch.equal(plain_logits(folder), before)
        analysis = analyse(examine(load(spec), Query("spoilt", TEXT)))
        assert torch.allclose(torch.from_numpy(analysis.logits), before, atol=1e-5)
        said = [one for one in analysis.warnings if "Python code of its own" in str(one)]
        assert len(said) == (kind not in ("a part of it", "processor"))
    else:
        reason = (
            "Python code of its own"
            if CONFIG in BRINGING[kind]
            else "no text classifier|cannot be understood"
        )
        assert re.search(reason, refusal(spec))
    assert not (tmp_path / "ran").exists()


def plain_logits(folder: Path) -> torch.Tensor:
    """What transformers alone makes of the text, without code of the folder's: (K,)."""
    tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
    model = AutoModelForSequenceClassification.from_pretrained(folder, trust_remote_code=False).eval()
    with torch.no_grad():
        logits: torch.Tensor = model(**tokenizer(TEXT, return_tensors="pt")).logits[0]
    return logits


def test_pickled_weights_are_never_read(spec: BackboneSpec, tmp_path: Path) -> None:
    folder = Path(spec.location)
    (folder / WEIGHTS).unlink()
    torch.save(Bomb(tmp_path / "ran"), folder / "pytorch_model.bin")
    assert "pickled weights are never read" in refusal(spec)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("keys", [{"attn_implementation": "somebody/kernel"}, {"rope_theta": 10**9}])
def test_what_only_looks_hostile_is_loaded(spec: BackboneSpec, keys: dict[str, Any]) -> None:
    change(Path(spec.location) / CONFIG, **keys)
    backbone = load(spec)
    assert backbone.head_trained
    assert backbone.model.config._attn_implementation in ("sdpa", "eager")


def stating(**keys: Any) -> Spoil:
    return lambda folder: change(folder / CONFIG, **keys)


def holding(content: bytes, file: str = CONFIG) -> Spoil:
    return lambda folder: (folder / file).write_bytes(content)


def tokenizer(edit: Callable[[dict[str, Any]], object]) -> Spoil:
    """A change of what stands in tokenizer.json."""

    def spoil(folder: Path) -> None:
        read = json.loads((folder / TOKENIZER).read_text())
        edit(read)
        (folder / TOKENIZER).write_text(json.dumps(read))

    return spoil


def templated(template: str, *parts: str) -> Spoil:
    added = [{"SpecialToken": {"id": part, "type_id": 0}} for part in parts]
    return tokenizer(lambda read: read["post_processor"][template].extend(added))


def write_header(file: Path, header: dict[str, Any], body: bytes) -> None:
    text = json.dumps(header).encode()
    file.write_bytes(struct.pack("<Q", len(text)) + text + body)


def lying(name: str, **said: object) -> Spoil:
    """Weights whose header says something else of one of them."""

    def spoil(folder: Path) -> None:
        content = (folder / WEIGHTS).read_bytes()
        (length,) = struct.unpack("<Q", content[:8])
        header = json.loads(content[8 : 8 + length])
        header[name] |= said
        write_header(folder / WEIGHTS, header, content[8 + length :])

    return spoil


def numbers(name: str, place: Any, number: float, dtype: torch.dtype) -> Spoil:
    def edit(tensors: dict[str, torch.Tensor]) -> None:
        tensors |= {key: tensor.to(dtype) for key, tensor in tensors.items()}
        tensors[name][place] = number

    return lambda folder: reweigh(folder, edit)


UNTRIED = "bert.embeddings.word_embeddings.weight", (17, 3)  # of a word that a short text does not try
FAULTS: tuple[tuple[Spoil, str], ...] = (
    *((stating(**case["config"]), case["says"]) for case in TABLES["stated"]),
    (stating(id2label={str(n): "x" for n in range(1_001)}), "1,001 labels; at most 1,000"),
    (stating(id2label={"1" * 5_000: "x"}), "numbers a label with 5,000 digits"),
    (stating(id2label={"0": "x" * 3_800_000}), "a label of 3,800,000 characters; at most 1,000"),
    (stating(label2id={"x" * 3_800_000: 0}), "a label of 3,800,000 characters; at most 1,000"),
    (holding(b"[" * DEEP + b"]" * DEEP), "its config.json cannot be read"),
    (holding(b'{"a":' * 40 + b"1" + b"}" * 40), "its config.json is nested deeper"),
    (holding(b"[]"), "its config.json is not a JSON object"),
    (holding(b'{"hidden_size": 1' + b"0" * 5000 + b"}"), "its config.json cannot be read"),
    (tokenizer(lambda read: read["model"]["vocab"].update(beyond=19)), "has ids up to 19, and there are"),
    (tokenizer(lambda read: read["model"].update(unk_token="[NONE]")), "fails on a short text"),
    (tokenizer(lambda read: read["model"].pop("vocab")), "its tokenizer"),
    (templated("single", *["[CLS]"] * 1000), "its tokenizer makes 1,005 tokens of three letters"),
    (templated("pair", "[NONE]"), r"its tokenizer fails on a short text \(PanicException"),  # no Exception
    (lambda folder: [each.unlink() for each in folder.glob("tokenizer*")], "its tokenizer"),
    (lying("classifier.weight", shape=[10**9, 10**3]), DAMAGED),
    (lying("classifier.bias", data_offsets=[4, 12]), DAMAGED),  # where another one lies
    (lambda folder: os.truncate(folder / WEIGHTS, (folder / WEIGHTS).stat().st_size - 100), DAMAGED),
    (holding(struct.pack("<Q", 99_000_000) + b"{", WEIGHTS), DAMAGED),
    (holding(struct.pack("<Q", 100_000) + b"[" * 100_000, WEIGHTS), DAMAGED),
    (lambda folder: write_header(folder / WEIGHTS, {}, b"more"), DAMAGED),
    (lambda folder: [(folder / WEIGHTS).unlink(), (folder / WEIGHTS).symlink_to("gone")], "leads nowhere"),
    (numbers("classifier.weight", ..., 3, torch.int8), "its weights are quantised"),
    (lambda at: reweigh(at, lambda t: t.update({"classifier.a": t.pop("classifier.weight").int()})), "I32"),
    (numbers(*UNTRIED, float("nan"), torch.float32), "NaN or infinity"),
    (numbers(*UNTRIED, float("inf"), torch.bfloat16), "NaN or infinity"),
    (numbers("classifier.weight", ..., 3e38, torch.float32), "its outputs are not finite"),
)


@pytest.mark.parametrize(("spoil", "reason"), FAULTS)
def test_what_leads_away_is_beyond_reason_or_damaged_is_refused(
    spec: BackboneSpec, spoil: Spoil, reason: str
) -> None:
    spoil(Path(spec.location))
    assert re.search(reason, refusal(spec))


@pytest.mark.parametrize(
    ("file", "limit"), [(CONFIG, 4), (SETTINGS, 4), (INDEX, 4), (TOKENIZER, 64), ("vocab.txt", 64)]
)
def test_a_text_too_large_or_no_plain_file_is_not_opened(spec: BackboneSpec, file: str, limit: int) -> None:
    place = Path(spec.location) / file
    with place.open("ab") as text:
        text.truncate(500_000_000)  # zeros that take no room on the disk
    assert f"its {file} has 500 MB; at most {limit} MB are read" in refusal(spec)
    place.unlink()
    os.mkfifo(place)
    assert f"its {file} is no plain file" in refusal(spec)
    place.unlink()
    place.symlink_to("/dev/zero")
    assert f"its {file} is no plain file" in refusal(spec)


def test_shards_are_one_checkpoint_in_one_folder_and_each_is_validated(
    spec: BackboneSpec, good: BackboneSpec
) -> None:
    folder = Path(spec.location)
    tensors = load_file(folder / WEIGHTS)
    (folder / WEIGHTS).unlink()
    files = {name: ("one.safetensors", "two.safetensors")[i % 2] for i, name in enumerate(sorted(tensors))}
    for file in set(files.values()):
        save_file({name: tensors[name] for name in files if files[name] == file}, folder / file)
    (folder / INDEX).write_text(json.dumps({"weight_map": files}))
    loaded = load(spec).model.state_dict()
    for name, tensor in load(good).model.state_dict().items():
        assert torch.equal(loaded[name], tensor)
    for named in ("three.safetensors", "../good/model.safetensors", "/etc/passwd", 7, [], ""):
        change(folder / INDEX, weight_map={"classifier.bias": named})
        assert "which is not in the folder" in refusal(spec)
    for none in (None, {}, [], "one.safetensors"):
        change(folder / INDEX, weight_map=none)
        assert "names no file" in refusal(spec)
    change(folder / INDEX, weight_map=files)
    os.truncate(folder / "two.safetensors", (folder / "two.safetensors").stat().st_size - 100)
    assert "its two.safetensors is damaged" in refusal(spec)


@pytest.mark.skipif(sys.platform != "linux", reason="/proc says what is mapped")
def test_a_file_that_is_shortened_later_does_no_harm(spec: BackboneSpec) -> None:
    """Reading a mapped file beyond its new end would kill the process."""
    file = Path(spec.location) / WEIGHTS
    backbone = load(spec)
    assert str(file) not in Path("/proc/self/maps").read_text()
    before = analyse(examine(backbone, Query("x", "the film"))).logits
    file.write_bytes(b"")
    assert (analyse(examine(backbone, Query("x", "the film"))).logits == before).all()


@pytest.mark.skipif(sys.platform != "linux", reason="/proc says what is resident")
def test_memory_comes_back_after_a_refusal(tmp_path: Path) -> None:
    spec = checkpoint(tmp_path / "large", max_position_embeddings=800_000)  # 32 numbers of 4 bytes each
    # Found when all is in memory:
    reweigh(tmp_path / "large", lambda tensors: tensors["classifier.weight"].fill_(torch.nan))
    size, resident = (tmp_path / "large" / WEIGHTS).stat().st_size, []
    for _again in range(2):
        refusal(spec)
        resident.append(int(Path("/proc/self/statm").read_text().split()[1]) * PAGE)
    assert resident[-1] - resident[0] < size / 2  # after the first, for what stays for good


OWN = tuple(map(Path, (ROOT, sys.prefix, sys.base_prefix, sysconfig.get_path("stdlib"), "/proc", "/sys")))


@contextmanager
def watched() -> Iterator[list[str]]:
    """The paths of all files that are opened meanwhile; an audit hook can only be told to rest."""
    opened: list[str] = []
    going = True

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if going and event == "open" and isinstance(arguments[0], str | bytes | Path):
            opened.append(os.fsdecode(arguments[0]))

    sys.addaudithook(hook)
    try:
        yield opened
    finally:
        going = False


def outside(opened: list[str], folder: Path) -> list[str]:
    """What lies neither in the folder nor among Python's own files; resolved, so ".." leads nowhere."""
    inside = [one.resolve() for one in (folder, *OWN)]
    places = [Path(one).absolute().resolve() for one in opened]
    return [str(one) for one in places if not any(one.is_relative_to(place) for place in inside)]


def test_hostile_settings_open_nothing_outside(good: BackboneSpec, tmp_path: Path) -> None:
    folder, bait = tmp_path / "inside" / "spoilt", tmp_path / "bait"
    for copy in (folder, bait):
        shutil.copytree(good.location, copy)
    settings, refused = json.loads((folder / SETTINGS).read_text()), 0
    file = str(bait / TOKENIZER)
    for number, key in enumerate((*TABLES["naming"], *sorted(KEYS)[::9])):
        away = (file, f"../{TOKENIZER}", "../../..", f"file://{file}", [file], {"model_file": file})
        (folder / SETTINGS).write_text(json.dumps(settings | {key: away[number % len(away)]}))
        with watched() as opened:
            try:
                read_tokenizer(folder, read_config(folder))
            except RefusalError:
                refused += 1
        assert str(folder / CONFIG) in opened  # the watch sees
        assert outside(opened, folder) == [], key
    assert 0 < refused <= number


@pytest.mark.parametrize("file", ["tokenizer_config.json", "special_tokens_map.json"])
def test_a_key_that_may_name_a_file_is_refused_by_its_name(spec: BackboneSpec, file: str) -> None:
    place = Path(spec.location) / file
    own = json.loads(place.read_text()) if place.exists() else {}
    for key, value in TABLES["hostile"].items():
        place.write_text(json.dumps(own | {key: value}))
        told = refusal(spec)
        assert f"its {file} holds {key}" in told
        assert "passwd" not in told
    gone = str(Path(tempfile.gettempdir()) / "gone" / "special_tokens_map.json")  # as old checkpoints have it
    old = {"special_tokens_map_file": gone, "full_tokenizer_file": None}
    place.write_text(json.dumps(own | old | TABLES["harmless"]))
    assert load(spec).labels
