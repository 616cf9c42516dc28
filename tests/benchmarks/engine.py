"""What measuring costs beside a bare forward pass that gives the hidden states."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from transformers import AutoConfig, AutoModelForSequenceClassification, AutoTokenizer

from components.inference.engine import Engine
from components.settings import ASSETS, Settings
from components.types import Query
from tests.benchmarks.timing import compare, row

BERT = ASSETS / "models" / "bert-sentiment"
SIZES = {  # random weights: time does not depend on them
    "BERT 6 x 384": {
        "hidden_size": 384,
        "num_hidden_layers": 6,
        "num_attention_heads": 12,
        "intermediate_size": 1536,
    },
    "BERT-base": {},
}
BARS = {("BERT-base", 128): "bar 1.10", ("BERT 6 x 384", 128): "bar 1.25"}
ANATOMY_BARS = {("BERT-base", 128): "bar 1.30"}
COMPARE_BARS = {("BERT-base", 128): "bar 1.15"}
TRACE_BARS = {("BERT-base", 32): "bar 1.30"}
ROUNDS = {"bundled BERT": 200, "BERT 6 x 384": 60, "BERT-base": 20}


def report() -> None:
    """Print answers over a bare forward pass, a trace over its rows, and all poolings over one."""
    with TemporaryDirectory() as folder:
        engine = _engine(Path(folder))
        poolings = [spec.key for spec in engine.poolings() if not (spec.learned or spec.declared)]
        ways: dict[str, tuple[Callable[[Query], object], Mapping[tuple[str, int], str]]] = {
            "analyze": (partial(engine.ask, "analyze"), BARS),
            "anatomy": (partial(engine.ask, "anatomy"), ANATOMY_BARS),
            f"compare in {len(poolings)} poolings": (
                lambda query: list(engine.compare([replace(query, pooling=key) for key in poolings])),
                COMPARE_BARS,
            ),
        }
        for title, (ask, bars) in ways.items():
            print(f"\nEngine.{title} over a bare forward pass with output_hidden_states=True")
            for name in ROUNDS:
                for length in (16, 32, 128):
                    _over_a_pass(ask, engine, name, length, bars)
        print("\nEngine.trace of two texts over as many rows in plain batched forward passes")
        for name in ROUNDS:
            for length in (16, 32):
                _trace(engine, name, length)
        print("\nEngine.features for all poolings over one pooling (mean), 8 texts of 64 tokens")
        for name in ROUNDS:
            _features(engine, name)


def random_bert(folder: Path, **config: int) -> None:
    """Save a BERT of random weights with the bundled BERT's tokenizer."""
    tokenizer = AutoTokenizer.from_pretrained(BERT)
    tokenizer.model_max_length = 512
    tokenizer.save_pretrained(folder)
    whole = AutoConfig.for_model("bert", vocab_size=len(tokenizer), **config)
    AutoModelForSequenceClassification.from_config(whole).save_pretrained(folder)


def words(length: int) -> str:
    """A text of ``length`` tokens, [CLS] and [SEP] included: a single letter is always one."""
    return " ".join("abcdefgh"[index % 8] for index in range(length - 2))


def _engine(folder: Path) -> Engine:
    lines = [f'["bundled BERT"]\ntitle = "B"\ntask = "t"\npath = "{BERT}"']
    for name, config in SIZES.items():
        random_bert(folder / name, **config)
        lines.append(f'["{name}"]\ntitle = "R"\ntask = "t"\npath = "{folder / name}"')
    catalogue = folder / "backbones.toml"
    catalogue.write_text("\n".join(lines), encoding="utf-8")
    return Engine(Settings(catalogue=catalogue))


def _over_a_pass(
    ask: Callable[[Query], object],
    engine: Engine,
    name: str,
    length: int,
    bars: Mapping[tuple[str, int], str],
) -> None:
    text = words(length)
    folder = next(spec.location for spec in engine.backbones() if spec.key == name)
    model = AutoModelForSequenceClassification.from_pretrained(folder).float().eval()
    inputs = AutoTokenizer.from_pretrained(folder)(text, return_tensors="pt")
    if inputs["input_ids"].shape[1] != length:
        raise ValueError(f"{inputs['input_ids'].shape[1]} tokens instead of {length}")

    def bare() -> None:
        with torch.no_grad():
            model(**inputs, output_hidden_states=True)

    result = compare(lambda: ask(Query(name, text)), bare, ROUNDS[name])
    print(row(f"{name}, {length} tokens", result, bars.get((name, length), "")), flush=True)


def _trace(engine: Engine, name: str, length: int) -> None:
    """Of each token at each layer, and of all at once: one row each."""
    text = words(length)
    other = f"h{text[1:]}"
    folder = next(spec.location for spec in engine.backbones() if spec.key == name)
    model = AutoModelForSequenceClassification.from_pretrained(folder).float().eval()
    inputs = AutoTokenizer.from_pretrained(folder)(text, return_tensors="pt")
    layers = engine.ask("trace", Query(name, text), other=other, other_pair="").first.layers + 1

    def bare() -> None:
        with torch.no_grad():
            for _ in range(layers):
                model(**{key: value.expand(length + 1, -1) for key, value in inputs.items()})

    result = compare(
        lambda: engine.ask("trace", Query(name, text), other=other, other_pair=""),
        bare,
        max(3, ROUNDS[name] // 10),
    )
    print(row(f"{name}, {length} tokens", result, TRACE_BARS.get((name, length), "")), flush=True)


def _features(engine: Engine, name: str) -> None:
    texts, poolings = (
        [words(64)] * 8,
        [spec.key for spec in engine.poolings() if not (spec.learned or spec.declared)],
    )
    result = compare(
        lambda: engine.features(name, texts, poolings),
        lambda: engine.features(name, texts, ["mean"]),
        max(10, ROUNDS[name] // 3),
    )
    print(row(name, result, "bar 1.05"), flush=True)
