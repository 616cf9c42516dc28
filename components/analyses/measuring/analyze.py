"""The answer to an examined query, and what is said beside it; and the vectors that poolings make of it.

Beside it stand other ways to write the input: what a tokenizer does not add by itself, an end token or a chat
template, is typed, as a text that it reads as those very tokens.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor
from transformers import PreTrainedTokenizerBase

from components.errors import PoolscopeError
from components.model.backbone import Backbone, own_head
from components.model.declaration import ACTIVATIONS, read_declaration
from components.model.encoding import encode, lowering
from components.model.examine import DECLARED, NATIVE, Examined, examine, probabilities
from components.model.files import ENCODING, MODULES, RefusalError, folder, foreign, read_object
from components.model.internals import repeatable, text_config
from components.model.ordinary import Similar
from components.model.pooling import POOLINGS, States
from components.model.query import counted_from_zero
from components.model.reads import Reading
from components.texts import Sentence
from components.types import Analysis, Ints, Pair, Reads

OLDER = "sbert_ce_default_activation_function"  # the config's name for what `predict` puts behind the logits
MARKS = "\ue000", "\ue001"  # for private use: they stand for texts in a chat template
ROLES = ("user", "assistant"), ("query", "document")  # who says the texts: of reward models, of rerankers
LONGEST = 50_000  # characters of a text in its chat template, which anybody may have written


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
    backbone, query, says = examined.backbone, examined.query, None
    with suppress(RefusalError):  # which is told where what is declared is asked for
        place = folder(backbone.spec)
        says = None if place is None else read_declaration(place, own=True)
    asked = query.pooling == DECLARED or isinstance(backbone.words, torch.nn.Module)
    if not says or not (query.head == "own" if says.kind in ("scores", "logits") else asked):
        return
    length = len(examined.passed.encoded.tokens.text)
    if says.templated:
        yield Sentence("warnings.encode_templated")
    if says.prompt and not query.text.startswith(says.prompt):
        key = "encode_prompt" if says.includes_prompt else "encode_prompt_out"
        yield Sentence(f"warnings.{key}", prompt=says.prompt)
    if says.longest is not None and length > says.longest:
        yield Sentence("warnings.encode_cuts", longest=says.longest, length=length)
    if says.lowercases:
        low = encode(lowering(backbone.tokenizer), backbone.limit, query.text, query.text_pair)
        if low.tokens.text != examined.passed.encoded.tokens.text:
            yield Sentence("warnings.encode_lowercases")


def _beside_predict(examined: Examined) -> Iterator[Sentence]:
    """Scores that sentence-transformers' CrossEncoder makes of these logits: of a single one if not told."""
    config = examined.backbone.model.config
    stated = getattr(config, "sentence_transformers", None)  # of today; the other name is from before
    place = folder(examined.backbone.spec)
    place = place if place and (place / MODULES).is_file() else None  # else that file of its is not read
    own = (stated if isinstance(stated, dict) else {}).get("activation_fn", getattr(config, OLDER, None))
    paths = (place and read_object(place / ENCODING).get("activation_fn"), own)
    usual = ".Sigmoid" if len(examined.outputs.labels) == 1 and examined.query.text_pair else ""
    name = next((str(one) for one in paths if str(one).startswith("torch.")), usual).rpartition(".")[2]
    outputs, changes = examined.outputs, name in ACTIVATIONS.values() and name != "Identity"
    if changes and examined.query.head == "own" and outputs.trained and outputs.body_trained:
        scores = tuple(f"{score:.4f}" for score in getattr(torch.nn, name)()(outputs.logits[0]).tolist())
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


def ways(examined: Examined) -> dict[str, Pair]:
    """Other texts for the same input: with an "end" token or as a "chat", or with "no_end" or "no_chat"."""
    tokenizer = examined.backbone.tokenizer
    texts = examined.query.text, examined.query.text_pair
    ids = examined.kept.inputs["input_ids"][0].tolist()
    end, number = tokenizer.eos_token, tokenizer.eos_token_id
    if not texts[1] and (plain := _unwritten(tokenizer, texts[0])):
        return {"no_chat": plain}  # an end token is the template's
    found = {"chat": chat(tokenizer, texts)}
    if end and _read(examined) == (len(ids) - 1,) and ids[-1] != number:
        longer = _at_end(texts, lambda text: text + end)
        fits = len(ids) < examined.backbone.limit and _encoded(tokenizer, longer) == [*ids, number]
        found["end"] = longer if fits else None
    elif end and (texts[1] or texts[0]).endswith(end):  # typed, if the tokenizer adds none
        shorter = _at_end(texts, lambda text: text.removesuffix(end))
        rest = _encoded(tokenizer, shorter)
        found["no_end"] = shorter if [*rest, number] == ids and rest[-1:] != ids[-1:] else None
    return {name: pair for name, pair in found.items() if pair and pair != texts and pair[0].strip()}


def told(examined: Examined, known: dict[str, Pair]) -> Iterator[Sentence]:
    """Say in which type it ran, why the own head reads that token, and what it says without what was typed.

    ``known``: the input's `ways`.
    """
    query = examined.query
    if examined.backbone.model.dtype == torch.bfloat16:
        yield Sentence("warnings.rounded")
    if query.head != "own" or query.pooling != NATIVE or examined.lower:
        return
    yield from _skips(examined)
    for name in {"no_end", "no_chat"} & known.keys():
        text, pair = known[name]
        with suppress(PoolscopeError), repeatable(examined.backbone.model):
            other = examine(examined.backbone, replace(query, text=text, text_pair=pair))
            if len(read := _read(other)) == 1:
                end, token = examined.backbone.tokenizer.eos_token or "", _surface(other, read[0])
                says = likeliest(other.backbone, other.outputs.logits[0])
                yield Sentence(f"warnings.{name}", end=end, token=token, says=says)


def _skips(examined: Examined) -> Iterator[Sentence]:
    """Say that tokens at the end are skipped as padding: with others in their place the last is read."""
    backbone, kept, read = examined.backbone, examined.kept, _read(examined)
    padding, ids = text_config(backbone.model).pad_token_id, kept.inputs["input_ids"]
    if len(read) != 1 or int(ids[0, read[0]]) == padding or {*ids[0, read[0] + 1 :].tolist()} != {padding}:
        return
    others = ids.masked_fill(ids == padding, int(ids[0, read[0]]))
    head = own_head(backbone, replace(kept, inputs={**kept.inputs, "input_ids": others}))
    if Reading(head, kept.hidden[-1]).places == (ids.shape[1] - 1,):
        key = "skips_end" if padding == backbone.tokenizer.eos_token_id else "skips"
        end = str(backbone.tokenizer.convert_ids_to_tokens(padding))
        yield Sentence(f"warnings.{key}", end=end, token=_surface(examined, read[0]))


def _at_end(texts: Pair, change: Callable[[str], str]) -> Pair:
    return (texts[0], change(texts[1])) if texts[1] else (change(texts[0]), "")


def chat(tokenizer: PreTrainedTokenizerBase, texts: Pair) -> Pair | None:
    """Write what somebody asks, and the answer or document, in the chat template; None without one."""
    for roles in ROLES if getattr(tokenizer, "chat_template", None) else ():
        turns = [{"role": role, "content": text} for role, text in zip(roles, texts, strict=True) if text]
        with suppress(RefusalError), foreign("refusals.tokenizing"):  # it may take no such turns
            whole = str(tokenizer.apply_chat_template(turns, tokenize=False))
            if all(text.strip() in whole for text in texts):
                break
    else:
        return None
    if len(whole) > LONGEST:
        return None
    ids = tokenizer(whole, add_special_tokens=False, verbose=False)["input_ids"]
    once = whole.removeprefix(tokenizer.bos_token or "")  # which the tokenizer may add by itself
    return next(((text, "") for text in (whole, once) if _encoded(tokenizer, (text, "")) == ids), None)


def _unwritten(tokenizer: PreTrainedTokenizerBase, text: str) -> Pair | None:
    """Find what stands in a text that is written in the chat template; None of another text."""
    for marks in (MARKS, (MARKS[0], "")):
        written = chat(tokenizer, marks)
        if written is not None:
            parts = re.split("|".join(MARKS), written[0])
            match = re.fullmatch("(.*)".join(map(re.escape, parts)), text, re.DOTALL)
            first = match[1] if match else ""
            second = match[2] if match and len(parts) > 2 else ""
            if first not in ("", text) and chat(tokenizer, (first, second)) == (text, ""):
                return first, second
    return None


def _encoded(tokenizer: PreTrainedTokenizerBase, texts: Pair) -> list[int]:
    return list[int](tokenizer(texts[0], texts[1] or None, verbose=False)["input_ids"])


def _read(examined: Examined) -> tuple[int, ...]:
    """The positions that the own head reads, where each token has one."""
    return examined.passed.states.reads.places if examined.backbone.per_token else ()


def _surface(examined: Examined, index: int) -> str:
    """A token as it stands in its text; one that stands in none by its name."""
    tokens, texts = examined.passed.tokens, (examined.query.text, examined.query.text_pair)
    start, end = tokens.span[index]
    return texts[max(int(tokens.segment[index]), 0)][start:end].strip() or tokens.text[index]


def likeliest(backbone: Backbone, logits: Tensor) -> str:
    """The likeliest label by logits (K,) of its own head, and how likely it is; of a regression its value."""
    values = probabilities(logits, backbone.problem_type)
    if backbone.problem_type == "regression":
        return f"{backbone.labels[0]} {values[0]:.2f}".replace(" -", " −")
    return f"{backbone.labels[int(values.argmax())]} {100 * values.max():.3g} %"
