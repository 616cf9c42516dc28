"""The answer to an examined query; and the vectors that poolings make of it."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from components.analyses.measuring.ways import told, ways
from components.errors import PoolscopeError
from components.model.declared import Stacked
from components.model.encoding import encode, lowering
from components.model.examine import DECLARED, Examined, probabilities
from components.model.files import ENCODING, folder, read_object
from components.model.ordinary import Similar
from components.model.pooling import POOLINGS, States
from components.model.query import counted_from_zero
from components.texts import Sentence
from components.types import Analysis, Ints, Reads

OLDER = "sbert_ce_default_activation_function"  # the config's name for what `predict` puts behind the logits
ACTIVATIONS = {"Sigmoid": torch.sigmoid, "Tanh": torch.tanh}  # of torch.nn, by their classes' names


def analyse(examined: Examined) -> Analysis:
    """Tell what a visitor sees of it, in NumPy."""
    query, passed, outputs = examined.query, examined.passed, examined.outputs
    layer = counted_from_zero("layer", query.layer, len(passed.kept.hidden))
    read, share = (part[0].numpy() for part in (outputs.reading.positions, outputs.reading.share))
    reads = Reads(read, share, _wins(examined.states, outputs.vector))
    examined.watch.lap("head")
    seen = _similar(examined)
    examined.watch.lap("similarity")
    written = ways(examined)
    beside = (*told(examined, written), *_beside_encode(examined), *_beside_predict(examined))
    return Analysis(
        query=query,
        backbone=examined.backbone.described,
        tokens=passed.tokens,
        layer=layer,
        similarity=seen.cosines.plain,
        centred=seen.cosines.centred,
        standardised=seen.cosines.standardised,
        ordinary=seen.ordinary,
        area=seen.area,
        pooled=outputs.vector[0].numpy(),
        logits=outputs.logits[0].numpy(),
        probabilities=probabilities(outputs.logits[0], outputs.problem_type),
        labels=outputs.labels,
        problem_type=outputs.problem_type,
        reads=reads,
        head_trained=outputs.trained,
        body_trained=outputs.body_trained,
        warnings=(*examined.passed.encoded.warnings, *outputs.warnings, *beside),
        milliseconds=examined.watch.laps,
        ways=written,
        device=examined.backbone.model.device.type,
    )


def _beside_encode(examined: Examined) -> Iterator[Sentence]:
    """Say what ``encode`` of sentence-transformers does to this text first, and is not done here."""
    backbone, query = examined.backbone, examined.query
    asked = query.pooling == DECLARED or isinstance(backbone.words, torch.nn.Module)
    if isinstance(backbone.model, Stacked) and query.head == "own":  # ``predict`` does the same
        says = backbone.model.says.says
    elif asked and backbone.declared is not None:
        says = backbone.declared.says
    else:
        return
    length = len(examined.passed.encoded.tokens.text)
    if says.templated:
        yield Sentence("warnings.encode_templated")
    if says.prompt:
        key = "encode_prompt" if says.includes_prompt else "encode_prompt_out"
        yield Sentence(f"warnings.{key}", prompt=says.prompt)
    if says.longest is not None and length > says.longest:
        yield Sentence("warnings.encode_cuts", longest=says.longest, length=length)
    if says.lowercases:
        low = encode(lowering(backbone.tokenizer), backbone.limit, query.text, query.text_pair)
        if low.tokens.text != examined.passed.encoded.tokens.text:
            yield Sentence("warnings.encode_lowercases")


def _beside_predict(examined: Examined) -> Iterator[Sentence]:
    """Scores that sentence-transformers' CrossEncoder makes of these logits, where the config says so."""
    config = examined.backbone.model.config
    stated = getattr(config, "sentence_transformers", None)  # of today; the other name is from before
    place = folder(examined.backbone.spec)
    path = place and read_object(place / ENCODING).get("activation_fn")
    path = path or (stated.get("activation_fn") if isinstance(stated, dict) else None)
    name = str(path or getattr(config, OLDER, "")).rpartition(".")[2]
    outputs, function = examined.outputs, ACTIVATIONS.get(name)
    if function and examined.query.head == "own" and outputs.trained and outputs.body_trained:
        scores = tuple(f"{score:.4f}" for score in function(outputs.logits[0]).tolist())
        yield Sentence("warnings.predict", name=name, scores=scores)


def _wins(states: States, vector: Tensor) -> Ints | None:
    """In how many dimensions each token has the largest value (T,), if ``vector`` (1, D) is made of these."""
    largest = states.hidden.masked_fill(~states.mask[:, :, None], float("-inf")).max(dim=1)
    if not torch.equal(largest.values, vector):
        return None
    return np.bincount(largest.indices[0].numpy(), minlength=states.hidden.shape[1])


def vectors_of(states: States, keys: Iterable[str] | None = None) -> Iterator[tuple[str, Tensor]]:
    """Yield the vectors (B, D') of the poolings that this text and model have; None: of all unlearned."""
    unlearned = (key for key, pooling in POOLINGS.items() if not pooling.spec.learned)
    for key in unlearned if keys is None else keys:
        with suppress(PoolscopeError):
            yield key, POOLINGS[key](states)


def _similar(examined: Examined) -> Similar:
    """Similarities to what the query asks for."""
    passed, asked = examined.passed, examined.query.reference
    if asked == "cls":
        return passed.to_cls
    if asked == "pooled":
        pooling, whole = examined.query.pooling, replace(passed.states, query=examined.states.query)
        pooled = [POOLINGS[pooling](whole.upto(layer))[0].numpy() for layer in range(len(passed.hidden))]
        if any(vector.shape != layer.shape[1:] for vector, layer in zip(pooled, passed.hidden, strict=True)):
            raise PoolscopeError("reference", asked, "errors.wide", pooling=pooling)
        return passed.similar(pooled)
    return passed.to_token(counted_from_zero("reference", int(asked), len(passed.tokens.text)))
