"""Pooling methods: hidden states of a batch -> one vector each.

A method is one decorated function: its name is the key, the decorator's words are the menu's, its docstring
is the summary. A learned method has parts that come with a probe; the others need none.
Names are those of sentence-transformers where it has one. Tokens are those that the attention mask keeps.
This module is light to import: menus are drawn from it before torch is loaded. Methods are exported as they
stand, with what they import inside and with the functions and numbers of this file that they name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from components.errors import PoolscopeError
from components.types import PoolingSpec

if TYPE_CHECKING:
    from torch import Tensor

    from components.model.reads import Reading

FLATTENED = 64  # tokens that ``flatten`` puts one after the other
POWER = 3.0  # p of the generalised mean
SMALLEST = 1e-6  # what smaller values count as there
LEAST_VARIANCE = 1e-12  # has a slope where all tokens have the same number, as in a text of one


@dataclass(frozen=True, eq=False)
class States:
    """States that a pooling may look at. B texts, T tokens, D hidden width.

    ``layers``: l + 1 tensors (B, T, D), from the embeddings up to the layer that is pooled.
    ``mask``: (B, T) true for attended tokens. ``special``: (B, T) true for tokens the tokenizer added.
    ``cls``: (B,) index of the token in [CLS]'s place.
    ``reads``: what the checkpoint's own head reads of the final hidden states, measured when asked for.
    ``pooler``: the checkpoint's own pooler, (B, T, D) -> (B, D), or None.
    ``query``: (D,) what ``attention`` compares tokens with, or None where no probe came with one.
    ``declared``: what the checkpoint's files say of how a vector is made: these states -> (B, D'), or None.
    """

    layers: tuple[Tensor, ...]
    mask: Tensor
    special: Tensor
    cls: Tensor
    reads: Reading
    pooler: Callable[[Tensor], Tensor] | None
    query: Tensor | None = None
    declared: Callable[[States], Tensor | None] | None = None

    @property
    def hidden(self) -> Tensor:
        """The hidden states of the layer that is pooled: (B, T, D)."""
        return self.layers[-1]

    @property
    def pooler_output(self) -> Tensor:
        """Output of the checkpoint's own pooler on these states: (B, D); PoolscopeError without one."""
        if self.pooler is None:
            raise PoolscopeError("pooling", "pooler", "errors.no_pooler")
        return self.pooler(self.hidden)

    @property
    def declared_output(self) -> Tensor:
        """Vectors that the checkpoint's files declare, of these states: (B, D'); PoolscopeError without."""
        vector = None if self.declared is None else self.declared(self)
        if vector is None:
            raise PoolscopeError("pooling", "declared", "errors.no_declared")
        return vector

    @property
    def learned_query(self) -> Tensor:
        """The ``query``; PoolscopeError without one."""
        if self.query is None:
            raise PoolscopeError("pooling", "attention", "errors.learned")
        return self.query

    def upto(self, layer: int) -> States:
        """The same input as if ``layer`` (0 to L) were the last."""
        return replace(self, layers=self.layers[: layer + 1])

    def ending(self, hidden: Tensor) -> States:
        """The same input with other hidden states (B, T, D) in the layer that is pooled."""
        return replace(self, layers=(*self.layers[:-1], hidden))


@dataclass(frozen=True)
class Pooling:
    """A pooling method: called with States it gives (B, D')."""

    spec: PoolingSpec
    function: Callable[[States], Tensor]

    def __call__(self, states: States) -> Tensor:
        """Pool one batch."""
        return self.function(states)


def pooling(title: str, **more: Any) -> Callable[[Callable[[States], Tensor]], Pooling]:
    """Make a pooling method of a function of States; ``more``: what else its `PoolingSpec` says."""

    def make(function: Callable[[States], Tensor]) -> Pooling:
        summary = " ".join((function.__doc__ or "").split())
        return Pooling(PoolingSpec(function.__name__, title, summary, **more), function)

    return make


@pooling("native · as the head reads", group="own")
def native(states: States) -> Tensor:
    """The vector that this model's own head reads: often one token's alone, such as [CLS]."""
    return _total(states.hidden, states.reads.share)


@pooling("cls · the [CLS] token", group="position")
def cls(states: States) -> Tensor:
    """The hidden state of [CLS]; where the input has none, of the token that the own head reads."""
    return _at(states.hidden, states.cls)


@pooling("first · first token", group="position")
def first(states: States) -> Tensor:
    """The hidden state of the first token."""
    return _at(states.hidden, states.mask.int().argmax(dim=1))


@pooling("lasttoken · last token", group="position")
def lasttoken(states: States) -> Tensor:
    """The hidden state of the last token."""
    length = states.mask.shape[1]
    return _at(states.hidden, length - 1 - states.mask.int().flip(1).argmax(dim=1))


@pooling("mean · average of all tokens")
def mean(states: States) -> Tensor:
    """The average of all tokens, [CLS] and its kind included."""
    return _total(states.hidden, states.mask) / states.mask.sum(dim=1, keepdim=True)


@pooling("mean_content · average without special tokens")
def mean_content(states: States) -> Tensor:
    """The average of the text's own tokens, without [CLS], [SEP] and their kind."""
    content = states.mask & ~states.special
    count = content.sum(dim=1, keepdim=True)
    if not count.all():
        raise PoolscopeError("pooling", "mean_content", "errors.no_content")
    return _total(states.hidden, content) / count


@pooling("max · maximum over tokens")
def max(states: States) -> Tensor:  # the method's name in the field
    """The largest value of each dimension over all tokens."""
    return states.hidden.masked_fill(~states.mask[:, :, None], float("-inf")).amax(dim=1)


@pooling("mean_sqrt_len_tokens · sum over √length")
def mean_sqrt_len_tokens(states: States) -> Tensor:
    """The sum of all tokens divided by the square root of their number."""
    return _total(states.hidden, states.mask) / states.mask.sum(dim=1, keepdim=True).sqrt()


@pooling("weightedmean · later tokens weigh more")
def weightedmean(states: States) -> Tensor:
    """The average where the first token counts once, the second twice and so on (SGPT, Muennighoff 2022)."""
    position = states.mask.cumsum(dim=1) * states.mask  # 1, 2, 3 ... and 0 for padding
    return _total(states.hidden, position) / position.sum(dim=1, keepdim=True)


@pooling("gem · generalised mean, p = 3")
def gem(states: States) -> Tensor:
    """The cube root of the mean cube; negative values count as 0 (GeM, Radenović et al. 2018)."""
    cubes = states.hidden.clamp(min=SMALLEST).pow(POWER)
    return (_total(cubes, states.mask) / states.mask.sum(dim=1, keepdim=True)).pow(1 / POWER)


@pooling("first_last_avg · average of layer 1 and the last", group="layers")
def first_last_avg(states: States) -> Tensor:
    """The average of all tokens over layer 1 and the last layer together (Li et al. 2020)."""
    lowest = states.layers[min(1, len(states.layers) - 1)]
    if lowest.shape != states.hidden.shape:
        raise PoolscopeError("pooling", "first_last_avg", "errors.widths")
    return _total((lowest + states.hidden) / 2, states.mask) / states.mask.sum(dim=1, keepdim=True)


@pooling("mean_last4 · average of the last four layers", group="layers")
def mean_last4(states: States) -> Tensor:
    """The average of all tokens over the last four layers together (or all, if fewer)."""
    layers = _last_four(states)
    if any(layer.shape != states.hidden.shape for layer in layers):
        raise PoolscopeError("pooling", "mean_last4", "errors.widths")
    average = sum(layers[1:], layers[0]) / len(layers)
    return _total(average, states.mask) / states.mask.sum(dim=1, keepdim=True)


@pooling("concat_last4_cls · [CLS] of the last four layers", wide=True, group="layers")
def concat_last4_cls(states: States) -> Tensor:
    """[CLS] of the last four layers (or of all, if fewer) in one long vector; BERT paper, feature-based."""
    import torch

    return torch.cat([_at(hidden, states.cls) for hidden in _last_four(states)], dim=-1)  # (B, 4 D)


@pooling("mean_max · mean and maximum side by side", wide=True)
def mean_max(states: States) -> Tensor:
    """The average of all tokens, then the largest value of each dimension (Howard and Ruder 2018)."""
    import torch

    return torch.cat([mean(states), max(states)], dim=-1)  # (B, 2 D)


@pooling("mean_std · mean and deviation side by side", wide=True)
def mean_std(states: States) -> Tensor:
    """The average of all tokens, then their standard deviation: statistics pooling (Snyder et al. 2018)."""
    import torch

    centre = mean(states)
    squares = _total((states.hidden - centre[:, None]).square(), states.mask)
    variance = squares / states.mask.sum(dim=1, keepdim=True)
    return torch.cat([centre, variance.clamp(min=LEAST_VARIANCE).sqrt()], dim=-1)  # (B, 2 D)


@pooling("pooler · the checkpoint's own pooler", group="own")
def pooler(states: States) -> Tensor:
    """The vector of the checkpoint's own pooler, where its body has one (pooler_output)."""
    return states.pooler_output


@pooling("declared · by its modules.json", declared=True, group="own")
def declared(states: States) -> Tensor:
    """The vector of sentence-transformers' encode, where the checkpoint's modules.json says how."""
    return states.declared_output


@pooling("attention · learned weights", learned=True, group="learned")
def attention(states: States) -> Tensor:
    """The average of all tokens, weighted by the softmax of their dot products with a learned query."""
    scores = (states.hidden @ states.learned_query).masked_fill(~states.mask, float("-inf"))  # (B, T)
    return _total(states.hidden, scores.softmax(dim=1))


@pooling("flatten · every token side by side", learned=True, wide=True, group="learned")
def flatten(states: States) -> Tensor:
    """The hidden states of the first 64 tokens one after the other; a shorter text ends in zeros."""
    from torch.nn.functional import pad

    # attended first, in their order
    order = (~states.mask).int().argsort(dim=1, stable=True)[:, :FLATTENED]
    padding = ~states.mask.take_along_dim(order, dim=1)
    rows = states.hidden.take_along_dim(order[:, :, None], dim=1)
    rows = rows.masked_fill(padding[:, :, None], 0)
    return pad(rows, (0, 0, 0, FLATTENED - rows.shape[1])).flatten(1)  # (B, 64 D)


POOLINGS: Mapping[str, Pooling] = MappingProxyType(
    {value.spec.key: value for value in list(vars().values()) if isinstance(value, Pooling)}
)


def _at(hidden: Tensor, index: Tensor) -> Tensor:
    return hidden.take_along_dim(index[:, None, None], dim=1)[:, 0]  # (B, T, D), (B,) -> (B, D)


def _total(hidden: Tensor, weight: Tensor) -> Tensor:
    return (hidden * weight[:, :, None]).sum(dim=1)  # (B, T, D), (B, T) -> (B, D)


def _last_four(states: States) -> tuple[Tensor, ...]:
    """The last four layers without the embeddings, or all, if fewer; of the embeddings alone, these."""
    return (states.layers[1:] or states.layers)[-4:]
