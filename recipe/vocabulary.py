"""Trains each family's tokenizer, on the pipeline that its transformers class builds.

The trainers of the `tokenizers` library iterate over hash maps, whose order changes from run to run. What
depends on that order is sorted here, so that the same texts give the same vocabulary.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import transformers
from tokenizers import Tokenizer, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

from recipe.recipes import TokenizerRecipe, Vocabulary

Trained = dict[str, Any]  # what the tokenizer's class takes: vocab and, for BPE, merges

# Pieces that hardly occur get scores within this distance of the lowest, in no fixed order.
_TAIL = 0.05


def train_tokenizer(
    recipe: TokenizerRecipe, size: Vocabulary, texts: Sequence[str], max_length: int
) -> PreTrainedTokenizerFast:
    """A tokenizer of the recipe's class learned from the texts, special tokens first.

    ``max_length``: tokens of the longest input, special ones included.
    """
    kind = getattr(transformers, recipe.kind)
    backend: Tokenizer = kind(**recipe.arguments).backend_tokenizer
    trained = _TRAINERS[type(backend.model).__name__](backend, recipe, size, texts)
    tokenizer: PreTrainedTokenizerFast = kind(**trained, **recipe.arguments, model_max_length=max_length)
    if recipe.pair:
        tokenizer.backend_tokenizer.post_processor = _template(tokenizer, recipe)
    return tokenizer


def _template(tokenizer: PreTrainedTokenizerFast, recipe: TokenizerRecipe) -> processors.Sequence:
    special = [(token, tokenizer.convert_tokens_to_ids(token)) for token in recipe.special]
    return processors.Sequence(
        [
            processors.ByteLevel(trim_offsets=True),  # a token's span leaves out the space before it
            processors.TemplateProcessing(single="$A", pair=recipe.pair, special_tokens=special),
        ]
    )


def frequent_characters(backend: Tokenizer, texts: Sequence[str], size: int) -> list[str]:
    """The ``size`` most frequent characters of the texts, normalised and split as the backend does."""
    counts: Counter[str] = Counter()
    for text in texts:
        normal = backend.normalizer.normalize_str(text)
        counts.update("".join(word for word, _ in backend.pre_tokenizer.pre_tokenize_str(normal)))
    return sorted(counts, key=lambda character: (-counts[character], character))[:size]


def _byte_pairs(
    backend: Tokenizer, recipe: TokenizerRecipe, size: Vocabulary, texts: Sequence[str]
) -> Trained:
    trainer = trainers.BpeTrainer(
        vocab_size=size.size,
        special_tokens=list(recipe.special),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    backend.train_from_iterator(texts, trainer)
    model = json.loads(backend.to_str())["model"]
    return {"vocab": model["vocab"], "merges": [tuple(pair) for pair in model["merges"]]}


def _word_pieces(
    backend: Tokenizer, recipe: TokenizerRecipe, size: Vocabulary, texts: Sequence[str]
) -> Trained:
    characters = frequent_characters(backend, texts, size.characters)
    # Given as special tokens, the continuations get fixed ids; else chance orders them, and ids settle ties.
    continuations = [f"##{character}" for character in characters]
    trainer = trainers.WordPieceTrainer(
        vocab_size=size.size,
        special_tokens=[*recipe.special, *continuations],
        initial_alphabet=characters,
        limit_alphabet=len(characters),
        show_progress=False,
    )
    backend.train_from_iterator(texts, trainer)
    return {"vocab": json.loads(backend.to_str())["model"]["vocab"]}


def _unigrams(backend: Tokenizer, recipe: TokenizerRecipe, size: Vocabulary, texts: Sequence[str]) -> Trained:
    known = set(frequent_characters(backend, texts, size.characters))
    trainer = trainers.UnigramTrainer(
        vocab_size=size.size,
        special_tokens=list(recipe.special),
        unk_token=recipe.special[0],
        show_progress=False,
    )
    # A character that is met gets a piece of its own, so texts with others (accents too) are left out.
    backend.train_from_iterator((text for text in texts if known.issuperset(text.replace(" ", ""))), trainer)
    pieces = json.loads(backend.to_str())["model"]["vocab"]
    special, learned = pieces[: len(recipe.special)], pieces[len(recipe.special) :]
    lowest = min(score for _, score in learned)
    settled = [(piece, lowest if score < lowest + _TAIL else score) for piece, score in learned]
    rounded = [(piece, round(score, 6)) for piece, score in settled]
    return {"vocab": [*map(tuple, special), *sorted(rounded, key=lambda p: (-p[1], p[0]))]}


_TRAINERS: Mapping[str, Callable[[Tokenizer, TokenizerRecipe, Vocabulary, Sequence[str]], Trained]] = {
    "BPE": _byte_pairs,
    "WordPiece": _word_pieces,
    "Unigram": _unigrams,
}
