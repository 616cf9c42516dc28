"""Ways to write an input that a tokenizer does not take by itself: with its end token, in its chat template.

What it does not add is typed, as a text that it reads as those very tokens.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace

from transformers import PreTrainedTokenizerBase

from components.errors import PoolscopeError
from components.model.backbone import own_head
from components.model.examine import NATIVE, Examined, examine, probabilities
from components.model.files import RefusalError, foreign
from components.model.internals import repeatable, text_config
from components.model.reads import Reading
from components.texts import Sentence

Pair = tuple[str, str]  # a text, and the second one of a pair or ""
MARKS = "\ue000", "\ue001"  # for private use: they stand for texts in a chat template
LONGEST = 50_000  # characters of a text in its chat template, which anybody may have written


def ways(examined: Examined) -> dict[str, Pair]:
    """Other texts for the same input: with an "end" token or as a "chat", or with "no_end" or "no_chat"."""
    tokenizer = examined.backbone.tokenizer
    texts = examined.query.text, examined.query.text_pair
    ids = examined.kept.inputs["input_ids"][0].tolist()
    end, number = tokenizer.eos_token, tokenizer.eos_token_id
    if not texts[1] and (plain := _unwritten(tokenizer, texts[0])):
        return {"no_chat": plain}  # an end token is the template's
    found = {"chat": _chat(tokenizer, texts)}
    if end and _read(examined) == (len(ids) - 1,) and ids[-1] != number:
        longer = _at_end(texts, lambda text: text + end)
        fits = len(ids) < examined.backbone.limit and _encoded(tokenizer, longer) == [*ids, number]
        found["end"] = longer if fits else None
    elif end and (texts[1] or texts[0]).endswith(end):  # typed, if the tokenizer adds none
        shorter = _at_end(texts, lambda text: text.removesuffix(end))
        rest = _encoded(tokenizer, shorter)
        found["no_end"] = shorter if [*rest, number] == ids and rest[-1:] != ids[-1:] else None
    return {name: pair for name, pair in found.items() if pair and pair[0].strip()}


def told(examined: Examined, known: dict[str, Pair]) -> Iterator[Sentence]:
    """Say why the own head reads its token, and what it says without what was typed, of its `ways`."""
    query = examined.query
    if query.head != "own" or query.pooling != NATIVE or examined.lower:
        return
    yield from _skips(examined)
    for name in {"no_end", "no_chat"} & known.keys():
        text, pair = known[name]
        with suppress(PoolscopeError), repeatable(examined.backbone.model):
            other = examine(examined.backbone, replace(query, text=text, text_pair=pair))
            if len(read := _read(other)) == 1:
                end, token = examined.backbone.tokenizer.eos_token or "", _surface(other, read[0])
                yield Sentence(f"warnings.{name}", end=end, token=token, says=_says(other))


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


def _chat(tokenizer: PreTrainedTokenizerBase, texts: Pair) -> Pair | None:
    """Write what somebody asks, and the answer if any, in the chat template; None without one."""
    if not getattr(tokenizer, "chat_template", None):
        return None
    roles = zip(("user", "assistant"), texts, strict=True)
    turns = [{"role": role, "content": text} for role, text in roles if text]
    try:
        with foreign("refusals.tokenizing"):
            whole = str(tokenizer.apply_chat_template(turns, tokenize=False))
    except RefusalError:  # it takes no such turns
        return None
    if len(whole) > LONGEST:
        return None
    ids = tokenizer(whole, add_special_tokens=False, verbose=False)["input_ids"]
    once = whole.removeprefix(tokenizer.bos_token or "")  # which the tokenizer may add by itself
    return next(((text, "") for text in (whole, once) if _encoded(tokenizer, (text, "")) == ids), None)


def _unwritten(tokenizer: PreTrainedTokenizerBase, text: str) -> Pair | None:
    """Find what stands in a text that is written in the chat template; None of another text."""
    for marks in (MARKS, (MARKS[0], "")):
        written = _chat(tokenizer, marks)
        if written is not None:
            parts = re.split("|".join(MARKS), written[0])
            match = re.fullmatch("(.*)".join(map(re.escape, parts)), text, re.DOTALL)
            first, second = (*(match.groups() if match else ()), "", "")[:2]
            if first and _chat(tokenizer, (first, second)) == (text, ""):
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


def _says(examined: Examined) -> str:
    """The likeliest label and how likely it is; of a regression the value."""
    outputs = examined.outputs
    values = probabilities(outputs.logits[0], outputs.problem_type)
    best = 0 if outputs.problem_type == "regression" else int(values.argmax())
    value = f"{values[best]:.2f}" if outputs.problem_type == "regression" else f"{100 * values[best]:.3g} %"
    return f"{outputs.labels[best]} {value.replace('-', '−')}"
