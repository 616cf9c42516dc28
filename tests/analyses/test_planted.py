"""Plants: what servers do to texts, weights and vectors, by transformers and NumPy alone, is found."""

import warnings
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from tokenizers.processors import TemplateProcessing
from torch import nn

from components.analyses.detect import Detected, Way
from components.analyses.measuring.detect import Tried, found, tried
from components.model.backbone import Backbone
from components.types import Query
from tests.analyses.test_detect import BERT, BY_HAND, GPT2, NEAR, STORED, TEXT, layers_of
from tests.checkpoints import Loaded
from tests.plain import SPECS, load_plain

ROBERTA = pytest.param("roberta-sentiment", marks=pytest.mark.other_family)  # asked by `make families`
LONG = " ".join(f"{TEXT} It is number {number}." for number in range(10))  # more than 128 tokens


def hidden(model: Any, inputs: Any) -> np.ndarray:
    with torch.no_grad():
        return np.asarray(model(**inputs, output_hidden_states=True).hidden_states[-1][0].double())


def in_bytes(rows: np.ndarray, size: int) -> np.ndarray:
    blocks = rows.reshape(-1, size)
    scale = np.abs(blocks).max(axis=1, keepdims=True) / 127
    return (np.rint(blocks / scale) * scale).reshape(rows.shape)


def in_eight_bits(key: str, size: int) -> Any:
    """The model with weights as whole numbers from -127 to 127 give them back; ``size`` 0: a scale a row."""
    model = deepcopy(load_plain(SPECS[key].location).model)
    for module in model.modules():
        embeds = bool(size) and module is model.get_input_embeddings()
        if not (embeds or isinstance(module, nn.Linear) or hasattr(module, "nf")):  # GPT-2's has columns
            continue
        rows = module.weight.data.numpy().T if hasattr(module, "nf") else module.weight.data.numpy()
        stored = in_bytes(rows, size or rows.shape[1])
        module.weight.data = torch.tensor(stored.T.copy() if hasattr(module, "nf") else stored)
    return model


@cache
def tries_of(backbone: Backbone, text: str) -> Tried:
    return tried(backbone, Query(backbone.spec.key, text), "")


def held_against(backbone: Backbone, vector: Any, text: str = TEXT) -> Detected:
    return found([tries_of(backbone, text)], [np.asarray(vector, dtype=float).tolist()])


def planted(key: str) -> Iterator[tuple[dict[str, Any], np.ndarray]]:
    """Hidden states (T, D) of many ways, and what each way is told by; nothing where it is none of them."""
    plain = load_plain(SPECS[key].location)
    inputs, special = plain.tokenizer(TEXT, return_tensors="pt"), set(plain.tokenizer.all_special_ids)
    ids = inputs["input_ids"][0].tolist()
    every, own = [*range(len(ids))], [place for place, number in enumerate(ids) if number not in special]

    def of(places: list[int]) -> np.ndarray:
        return hidden(plain.model, {name: one[:, places] for name, one in inputs.items()})

    whole = hidden(plain.model, inputs)
    yield {"variant": ""}, whole
    yield {"variant": "last_cut"}, of([place for place in every if place != own[-1]])
    for variant, text in (("stop", TEXT[:-1]), ("exclaimed", f"{TEXT[:-1]}!")):
        yield {"variant": variant}, hidden(plain.model, plain.tokenizer(text, return_tensors="pt"))
    yield {"variant": "no_first"}, whole[1:]
    yield {"variant": "no_last"}, whole[:-1]
    yield {"truncated": 16}, of(every[:16])
    yield {}, of(every[:-2])
    yield {}, of(every[2:])
    for told, places in (("no_start", every[1:]), ("no_end", every[:-1]), ("", own)):
        if len(own) < len(ids):
            yield {"special_tokens": False, "variant": told}, of(places)


def is_right(answer: Detected, pooling: str, told: dict[str, Any]) -> bool:
    """Tell whether a way that made a vector is the match or tied with it, or the one of another text."""
    best = answer.candidates[0]
    ways = answer.ways or ((best.way, *best.same) if best.tied else ())
    poolings = (way.pooling.removesuffix(f"_{way.variant}") for way in ways)
    each = [vars(way) | {"pooling": name} for way, name in zip(ways, poolings, strict=True)]
    return any(({"pooling": pooling} | told).items() <= one.items() for one in each)


@pytest.mark.parametrize("key", [BERT, GPT2, ROBERTA])
def test_the_way_that_made_a_vector_is_named_or_nothing_is(loaded: Loaded, key: str) -> None:
    """Whole vectors have their way among those that are told; those of ways that are not tried have none."""
    for told, states in planted(key):
        for pooling in ("mean", "max") if told else ("mean",):
            answer = held_against(loaded(key), BY_HAND[pooling](states))
            assert is_right(answer, pooling, told) if told else answer.match is None, (told, pooling)


COARSE = {"int8": STORED["int8"][0], "signs": np.sign, "two decimals": lambda vector: vector.round(2)}


def test_what_is_rounded_coarsely_is_never_told_for_sure(loaded: Loaded) -> None:
    """It was made by no way that is tried, and may round to the same as one of them."""
    for name, make in NEAR.items():
        vector = make() / np.linalg.norm(make())
        for kind, kept in COARSE.items():
            answer = held_against(loaded(BERT), kept(vector))
            assert not str(answer.says[0]).startswith("This vector is"), (name, kind)
            assert not any(way.precision in ("bfloat16", "int8_rows") for way in answer.ways)


@pytest.mark.parametrize("key", [BERT, GPT2])
@pytest.mark.parametrize("size", [0, 32])
def test_weights_of_eight_bits_are_found(loaded: Loaded, key: str, size: int) -> None:
    inputs = load_plain(SPECS[key].location).tokenizer(TEXT, return_tensors="pt")
    answer = held_against(loaded(key), hidden(in_eight_bits(key, size), inputs).mean(axis=0))
    assert answer.match is not None
    assert (answer.match.way.pooling, answer.match.way.variant) == ("mean", "")
    assert answer.match.way.precision == ("int8_blocks" if size else "int8_rows")


def test_activations_of_eight_bits_are_not_taken_for_half_precision(loaded: Loaded) -> None:
    plain = load_plain(SPECS[BERT].location)
    with warnings.catch_warnings(action="ignore"):  # torch has a newer way, in a package of its own
        model = torch.ao.quantization.quantize_dynamic(deepcopy(plain.model), {nn.Linear}, torch.qint8)
    vector = hidden(model, plain.tokenizer(TEXT, return_tensors="pt")).mean(axis=0)
    assert held_against(loaded(BERT), vector).match is None


@pytest.mark.parametrize("key", [BERT, "bert-pretrained", "xlnet-sentiment"])
def test_what_moves_a_vector_as_half_precision_may_is_not_said_to_be_that(loaded: Loaded, key: str) -> None:
    """llama.cpp has in eight bits what goes into a linear map, too."""
    model = in_eight_bits(key, 32)
    for module in (one for one in model.modules() if isinstance(one, nn.Linear)):
        module.register_forward_pre_hook(lambda _, taken: torch.tensor(in_bytes(taken[0].numpy(), 32)))
    for text in (TEXT, "a man sleeps on the train to london."):  # the second moves XLNet but little
        inputs = load_plain(SPECS[key].location).tokenizer(text, return_tensors="pt")
        answer = held_against(loaded(key), hidden(model, inputs).mean(axis=0), text)
        assert answer.says[0].key in ("detect.moved", "detect.near")


@pytest.mark.parametrize("way", ["chunks", "slices"])
@pytest.mark.parametrize("key", [BERT, ROBERTA])
def test_chunks_that_are_averaged_are_found(loaded: Loaded, key: str, way: str) -> None:
    """In chunks each has special tokens of its own; slices are of all tokens, as servers batch them."""
    plain, size = load_plain(SPECS[key].location), 128
    words = plain.tokenizer(LONG, add_special_tokens=False, verbose=False)["input_ids"]
    first, last = plain.tokenizer.cls_token_id, plain.tokenizer.sep_token_id
    rows = [words[start : start + size - 2] for start in range(0, len(words), size - 2)]
    rows = [[first, *row, last] for row in rows]
    if way == "slices":
        rows = [[first, *words, last][start : start + size] for start in range(0, len(words) + 2, size)]
    vectors = np.stack([hidden(plain.model, {"input_ids": torch.tensor([row])}).mean(axis=0) for row in rows])
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    averaged = {
        way: vectors.mean(axis=0),
        f"unit_{way}": unit.mean(axis=0),
        f"weighted_{way}": np.average(unit, axis=0, weights=list(map(len, rows))),
    }
    for variant, vector in averaged.items():
        answer = held_against(loaded(key), vector, LONG)
        assert Way("mean", layers_of(key), True, False, size, variant=variant) in answer.ways
        assert f"{size} tokens" in str(answer.says[0]) or f"{size} of all tokens" in str(answer.says[0])


def test_an_end_token_is_found_alone_and_behind_a_start_token(loaded: Loaded) -> None:
    plain, tokenizer = load_plain(SPECS[GPT2].location), deepcopy(loaded(GPT2).tokenizer)
    end = str(tokenizer.eos_token)
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
        single=f"{end} $A", special_tokens=[(end, tokenizer.eos_token_id)]
    )
    starting = replace(loaded(GPT2), tokenizer=tokenizer)
    for before, after, told in (("", end, False), (end, end, True), (end, "", True), ("", "", False)):
        inputs = plain.tokenizer(f"{before}{TEXT}{after}", return_tensors="pt")
        answer = held_against(starting, hidden(plain.model, inputs)[-1])
        assert answer.match is not None
        variant = "added_end" if after else ""
        assert Way("lasttoken", layers_of(GPT2), told, False, variant=variant) in answer.ways


@pytest.mark.parametrize(("key", "side"), [(BERT, "right"), (GPT2, "left")])
@pytest.mark.parametrize("length", ["longest", 64])
def test_padding_that_is_read_is_found(loaded: Loaded, key: str, side: str, length: Any) -> None:
    """By the mean over all states, as tutorials write it, and by engines that forget the mask."""
    plain, tokenizer = load_plain(SPECS[key].location), deepcopy(loaded(key).tokenizer)
    tokenizer.padding_side = side
    texts, how = [TEXT, f"{TEXT} Or so."], {"padding": "max_length", "max_length": length}
    how = {"padding": True} if length == "longest" else how
    row = {name: each[:1] for name, each in tokenizer(texts, return_tensors="pt", **how).items()}
    own = row["attention_mask"][0].bool().numpy()
    read = hidden(plain.model, {**row, "attention_mask": torch.ones_like(row["attention_mask"])})
    vectors = {
        "pooled_padding": hidden(plain.model, row).mean(axis=0),
        "read_padding": read.mean(axis=0),
        "seen_padding": read[own].mean(axis=0),
    }
    for variant, vector in vectors.items():
        answer = held_against(replace(loaded(key), tokenizer=tokenizer), vector)
        special = None if key == GPT2 else True
        assert Way("mean", layers_of(key), special, False, len(own), variant=variant) in answer.ways
        assert f"{len(own)} tokens" in str(answer.says[0])
