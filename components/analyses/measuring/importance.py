"""Importance of tokens, as it is called: each of several answers, and how far they agree with erasure."""

import math
import time
from collections.abc import Iterator
from contextlib import suppress

import numpy as np
import torch
from torch import Tensor, nn

from components.analyses.importance import STEPS, Importance, Integral
from components.analyses.measuring.analyze import analyse
from components.errors import PoolscopeError
from components.model.backbone import Backbone
from components.model.cut import Pass, called, carried, noted, states_in
from components.model.embeddings import embedded, embeddings, exchanged, unembedded
from components.model.encoding import special_ids
from components.model.examine import Examined, probabilities, run, said
from components.model.internals import repeatable, text_config
from components.model.query import choice
from components.texts import Sentence
from components.types import Analysis, Floats

THERE_AND_BACK = 512  # hidden states that it runs forward and back at once, between two looks at the clock
ALIKE = 1e-4  # of the largest state, by which those of a pass may differ: more is no rounding
WHOLE = 1e-3  # by which the attention of a token may miss the sum of 1


def weigh(examined: Examined, label: str) -> Importance:
    """Measure all but integrated gradients for the output called ``label``, or the likeliest where it is "".

    PoolscopeError where there is no such label, no hidden state for each token, or a lower layer is pooled.
    """
    answer, index, eraser = _asked(examined, label)
    seen, rolled, warnings = attention(examined)
    with repeatable(examined.backbone.model):
        slopes = gradient_x_input(examined, index)
    return Importance(
        analysis=answer,
        label=index,
        attention=seen,
        rollout=rolled,
        gradient_x_input=slopes,
        integrated=None,
        erasure=erased(examined, index, eraser),
        eraser=str(examined.backbone.tokenizer.convert_ids_to_tokens(eraser)),
        warnings=(*answer.warnings, *warnings),
    )


def _asked(examined: Examined, label: str) -> tuple[Analysis, int, int]:
    """The answer, the place of the output that is explained, and the id of what erases a token."""
    backbone, answer = examined.backbone, analyse(examined)
    if not backbone.per_token:
        raise PoolscopeError("backbone", backbone.spec.key, "errors.weighed_states")
    if examined.lower:
        raise PoolscopeError("pool_layer", examined.query.pool_layer, "errors.last_layer")
    named = [choice("label", label, answer.labels)] if label else answer.labels
    places = [place for place, one in enumerate(answer.labels) if one in named]  # several may share a name
    return answer, max(places, key=lambda one: answer.probabilities[one]), eraser_of(backbone)


def eraser_of(backbone: Backbone) -> int:
    """Give the id of what takes the place of a token: the mask, the unknown one, or what stands for a space.

    None that pads: of a text with padding inside, some models read another token, or count other positions.
    """
    tokenizer, model = backbone.tokenizer, backbone.model
    pads = {tokenizer.pad_token_id, model.config.pad_token_id, text_config(model).pad_token_id}
    space = tokenizer(" ", add_special_tokens=False, verbose=False)["input_ids"]
    for eraser in (tokenizer.mask_token_id, tokenizer.unk_token_id, *space[:1]):
        if eraser is not None and eraser not in pads:
            return int(eraser)
    raise PoolscopeError("backbone", backbone.spec.key, "errors.no_eraser")


def erased(examined: Examined, label: int, eraser: int) -> Floats:
    """Measure by how much output ``label`` falls when ``eraser``, an id, is each token: (T,).

    NaN for tokens that the tokenizer added, where the model fails without one of them.
    """
    ids, special = examined.kept.inputs["input_ids"], examined.passed.encoded.tokens.special
    rows = torch.where(torch.eye(len(special), dtype=torch.bool), eraser, ids)  # (T, T)
    found, tokenizer = np.full(len(special), np.nan, dtype=np.float32), examined.backbone.tokenizer
    typed = ~special & np.isin(ids[0], [*special_ids(tokenizer) - {tokenizer.unk_token_id}])
    for places in (~special & ~typed, *np.flatnonzero(typed)[:, None]):  # rows may need as many of these
        found[places] = falls(examined, label, rows[places])
    with suppress(PoolscopeError):
        found[special] = falls(examined, label, rows[special])
    return found


def falls(examined: Examined, label: int, ids: Tensor) -> Floats:
    """Measure by how much output ``label`` falls where each of these ids (R, T) are the text's: (R,)."""
    kind, after = examined.outputs.problem_type, np.empty(0, dtype=np.float32)
    if len(ids):
        after = probabilities(torch.cat([said for _, said in without(examined, ids)]), kind)[:, label]
    return np.asarray(probabilities(examined.outputs.logits, kind)[0, label] - after, np.float32)


def without(examined: Examined, ids: Tensor) -> Iterator[tuple[Pass, Tensor]]:
    """Run these ids (R, T) in the text's place: passes of some rows, and what the query's head says there."""
    backbone, inputs = examined.backbone, examined.kept.inputs
    for part in torch.split(ids, backbone.at_once(ids.shape[1])):
        others = {name: value.expand(len(part), -1) for name, value in inputs.items()}
        kept = run(backbone, {**others, "input_ids": part}).upmost(len(examined.kept.hidden))
        yield kept, said(examined, kept)


@torch.no_grad()
def attention(examined: Examined) -> tuple[Floats | None, Floats | None, tuple[Sentence, ...]]:
    """Give attention from [CLS] (L, H, T), the same rolled out (T,), or None, and what is to be said of it.

    L are the layers that attend: there may be fewer than there are layers. None, too, where the pass that
    hands it out has other final hidden states than the one that answers: it is another model's attention.
    """
    nothing = None, None, (Sentence("warnings.no_attention"),)
    model, kept, cls = examined.backbone.model, examined.kept, int(examined.states.cls[0])
    with repeatable(model):  # which also gives the model back the way in which it computed attention
        try:
            model.set_attn_implementation("eager")  # the one way that also hands it out
        except ValueError:  # it has only another way
            return nothing
        with noted([examined.backbone.cut]) as calls:
            output = called(model, kept.inputs, output_attentions=True)
    square = (kept.hidden[-1].shape[1],) * 2
    given = output.get("attentions") or output.get("decoder_attentions") or ()
    layers = [carried(layer[0]) for layer in given if isinstance(layer, Tensor) and layer.shape[2:] == square]
    whole = all((layer.sum(dim=-1) - 1).abs().max() < WHOLE for layer in layers)
    if not (layers and whole and len(layers) == len(given)):
        return nothing
    final = kept.hidden[-1]
    if (carried(states_in(calls[-1][2])) - final).abs().max() > ALIKE * final.abs().max():
        moved = float((carried(output.logits) - kept.logits).abs().max())
        return None, None, (Sentence("warnings.eager", largest=f"{moved:.1g}"),)
    rolled = rollout(torch.stack([layer.mean(dim=0) for layer in layers]))[cls].numpy()
    return np.stack([layer[:, cls].numpy() for layer in layers]), rolled, ()


def rollout(layers: Tensor) -> Tensor:
    """Attention (T, T) through all layers (L, T, T), those from below first (Abnar and Zuidema 2020).

    Half of what a token becomes is what it was: the residual connection.
    """
    flow = identity = torch.eye(layers.shape[-1])
    for layer in layers:
        mixed = (layer + identity) / 2
        flow = (mixed / mixed.sum(dim=-1, keepdim=True)) @ flow
    return flow


def gradient_x_input(examined: Examined, label: int) -> Floats:
    """Give the gradient of output ``label`` with respect to each token's embedding times it: (T,)."""
    table = embeddings(examined)
    given = embedded(table, examined.kept.inputs["input_ids"]).requires_grad_()
    output = _logits(examined, table, given)[0, label]
    if not output.requires_grad:  # no way leads back to them
        raise unembedded(examined)
    try:
        (slope,) = torch.autograd.grad(output, given)
    except AssertionError as error:  # such as of a model that goes back only while it is trained
        raise unembedded(examined) from error
    return _summed(slope * given)


def integrate(examined: Examined, label: str, start: int = 0, seconds: float = math.inf) -> Integral:
    """Integrate gradients for the same output, from a text whose own tokens are all erased to the text.

    Sundararajan et al. 2017, by Gauss and Legendre's rule; what the tokenizer added stays in both and so has
    no part. From step ``start`` on, as many as are begun within ``seconds``. PoolscopeError as of `weigh`.
    """
    _, index, eraser = _asked(examined, label)
    ids, special = examined.kept.inputs["input_ids"], torch.from_numpy(examined.passed.encoded.tokens.special)
    nodes, weights = np.polynomial.legendre.leggauss(STEPS)  # on [-1, 1]
    stop, until = start, time.monotonic() + seconds
    rows = examined.backbone.at_once(ids.shape[1], THERE_AND_BACK)
    with repeatable(examined.backbone.model):
        table = embeddings(examined)
        given, baseline = embedded(table, ids), embedded(table, torch.where(special, ids, eraser))
        after, before = (float(_logits(examined, table, point)[0, index]) for point in (given, baseline))
        slopes = torch.zeros_like(given)
        while stop < STEPS and (stop == start or time.monotonic() < until):
            part = slice(stop, min(stop + rows, STEPS))
            on_the_way, size = (
                torch.from_numpy(each[part]).to(given.dtype)[:, None, None]
                for each in ((1 + nodes) / 2, weights / 2)
            )
            points = (baseline + on_the_way * (given - baseline)).requires_grad_()
            (slope,) = torch.autograd.grad(_logits(examined, table, points)[:, index].sum(), points)
            slopes += (slope * size).sum(dim=0, keepdim=True)
            stop = part.stop
    return Integral(_summed(slopes * (given - baseline)), after - before, stop)


def _logits(examined: Examined, table: nn.Module, points: Tensor) -> Tensor:
    """Outputs (B, K) of the query's head for embeddings (B, T, D) in the place of those of the text."""
    with exchanged(table, examined.kept.inputs, points) as inputs:
        kept = examined.backbone.run(inputs, slopes=True).upmost(len(examined.kept.hidden))
    return said(examined, kept)


def _summed(found: Tensor) -> Floats:
    """An attribution (1, T, D), summed over the width: (T,)."""
    return np.asarray(found[0].sum(dim=-1).detach(), dtype=np.float32)
