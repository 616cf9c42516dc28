"""Tokenizers and models of each family before and between their training runs, and the teacher's part in it.

The trainers of the `tokenizers` library iterate over hash maps, whose order changes from run to run. What
depends on that order is sorted here, so that the same texts give the same vocabulary.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
import transformers
from sklearn.linear_model import LogisticRegression
from tokenizers import pre_tokenizers, processors, trainers
from torch import Tensor, nn
from torch.nn.functional import normalize

from components.model.files import packaged
from components.types import Floats
from recipe.corpus import Examples
from recipe.recipes import Family, Recipes, Teacher, TokenizerRecipe, Vocabulary
from recipe.training import Model, Tokenizer, batches_by_length

TAIL = 0.05  # pieces that hardly occur get scores within this distance of the lowest, in no fixed order


def load(folder: Path, kind: Any = transformers.AutoModelForSequenceClassification, **given: Any) -> Any:
    """A checkpoint folder's model, as float32; by default with its classification head."""
    return kind.from_pretrained(folder, dtype=torch.float32, **given)


def load_tokenizer(folder: Path, **given: Any) -> Tokenizer:
    """A checkpoint folder's tokenizer."""
    return cast(Tokenizer, transformers.AutoTokenizer.from_pretrained(folder, **given))


def save(model: Model, tokenizer: Tokenizer, folder: Path) -> None:
    """Writes the checkpoint as float16."""
    cast(nn.Module, model).half()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def train_tokenizer(
    recipe: TokenizerRecipe, size: Vocabulary, texts: Sequence[str], max_length: int
) -> Tokenizer:
    """A tokenizer of the recipe's class learned from the texts, special tokens first.

    ``max_length``: tokens of the longest input, special ones included.
    """
    kind = getattr(transformers, recipe.kind)
    learned = _learned(kind(**recipe.arguments).backend_tokenizer, list(recipe.special), size, texts)
    tokenizer: Tokenizer = kind(**learned, **recipe.arguments, model_max_length=max_length)
    if recipe.pair:
        special = [(token, tokenizer.convert_tokens_to_ids(token)) for token in recipe.special]
        template = processors.TemplateProcessing(single="$A", pair=recipe.pair, special_tokens=special)
        spans = processors.ByteLevel(trim_offsets=True)  # a token's span leaves out the space before it
        tokenizer.backend_tokenizer.post_processor = processors.Sequence([spans, template])
    return tokenizer


def _learned(backend: Any, special: list[str], size: Vocabulary, texts: Sequence[str]) -> dict[str, Any]:
    """The vocabulary that a tokenizer's class takes and, for pairs of bytes, the merges."""
    model = type(backend.model).__name__
    given: dict[str, Any] = {"vocab_size": size.size, "show_progress": False}
    if model == "BPE":
        given |= {"initial_alphabet": pre_tokenizers.ByteLevel.alphabet()}
        found = _trained(backend, trainers.BpeTrainer(special_tokens=special, **given), texts)
        return {"vocab": found["vocab"], "merges": [tuple(pair) for pair in found["merges"]]}
    characters = _frequent_characters(backend, texts, size.characters)
    if model == "WordPiece":
        # as special tokens, the continuations get fixed ids; else chance orders them, and ids settle ties
        fixed = [*special, *(f"##{character}" for character in characters)]
        given |= {"initial_alphabet": characters, "limit_alphabet": len(characters)}
        found = _trained(backend, trainers.WordPieceTrainer(special_tokens=fixed, **given), texts)
        return {"vocab": found["vocab"]}
    trainer = trainers.UnigramTrainer(special_tokens=special, unk_token=special[0], **given)
    # a character that is met gets a piece of its own, so texts with others (accents too) are left out
    alphabet = {*characters, " "}
    pieces = _trained(backend, trainer, [text for text in texts if alphabet.issuperset(text)])["vocab"]
    learned = pieces[len(special) :]
    lowest = min(score for _, score in learned)
    rounded = [(piece, round(lowest if score < lowest + TAIL else score, 6)) for piece, score in learned]
    return {"vocab": [*map(tuple, pieces[: len(special)]), *sorted(rounded, key=lambda p: (-p[1], p[0]))]}


def _trained(backend: Any, trainer: Any, texts: Sequence[str]) -> Any:
    """The model of the backend as JSON has it, after the ``trainer`` has seen the texts."""
    backend.train_from_iterator(texts, trainer)
    return json.loads(backend.to_str())["model"]


def _frequent_characters(backend: Any, texts: Sequence[str], size: int) -> list[str]:
    """The ``size`` most frequent characters of the texts, normalised and split as the backend does."""
    counts: Counter[str] = Counter()
    for text in texts:
        normal = backend.normalizer.normalize_str(text)
        counts.update("".join(word for word, _ in backend.pre_tokenizer.pre_tokenize_str(normal)))
    return sorted(counts, key=lambda character: (-counts[character], character))[:size]


def untrained(family: Family, recipes: Recipes, tokenizer: Tokenizer) -> Model:
    """A model of the family for its paper's pre-training, with random weights from torch's generator.

    Its word embeddings are the teacher's, projected, and scaled to the standard deviation of random ones.
    """
    scale = recipes.training.initializer_range
    given = {"vocab_size": len(tokenizer), "initializer_range": scale, **family.config}
    given |= {name: getattr(tokenizer, name) for name in ("pad_token_id", "bos_token_id", "eos_token_id")}
    config = transformers.AutoConfig.for_model(family.model_type, **given)
    model: Model = transformers.AutoModelForPreTraining.from_config(config)  # type: ignore[no-untyped-call]  # theirs
    words = cast(nn.Embedding, model.get_input_embeddings())
    with torch.no_grad():
        words.weight.copy_(scale * projected_embeddings(recipes.teacher, tokenizer, words.embedding_dim))
    return model


def checkpoint(package: str) -> Path:
    """The folder of the checkpoint that a package carries; ModuleNotFoundError where it is not installed."""
    folder = packaged(package)
    if folder is None:
        raise ModuleNotFoundError(f"no installed package {package} carries a checkpoint", name=package)
    return folder


def teacher_tokenizer(teacher: Teacher) -> Tokenizer:
    """The teacher's tokenizer, cut at its longest input."""
    return load_tokenizer(checkpoint(teacher.package), model_max_length=teacher.max_length)


@torch.inference_mode()
def pair_soft_labels(teacher: Teacher, pairs: Mapping[str, Examples], device: str) -> dict[str, Floats]:
    """The probability that each pair of each source matches: (N,).

    Logistic regression on the cosine of the two sentence vectors, the teacher's mean-pooled final hidden
    states, fitted to the labels of the calibration source (Platt scaling).
    """
    texts = list(dict.fromkeys(text for rows in pairs.values() for pair in rows for text in pair.texts))
    model = load(checkpoint(teacher.package), transformers.AutoModel).to(device)
    vectors = torch.zeros(len(texts), model.config.hidden_size)  # (N, D), of length 1
    for chosen, inputs in batches_by_length(teacher_tokenizer(teacher), [(text,) for text in texts]):
        mask = inputs["attention_mask"].to(device)[:, :, None]  # (B, T, 1)
        hidden = model(**inputs.to(device)).last_hidden_state
        vectors[chosen] = normalize((hidden * mask).sum(1) / mask.sum(1), dim=-1).cpu()
    at = {text: index for index, text in enumerate(texts)}
    cosines = {}
    for source, rows in pairs.items():
        one, two = (vectors[[at[pair.texts[side]] for pair in rows]] for side in (0, 1))
        cosines[source] = (one * two).sum(-1, keepdim=True).numpy()  # (N, 1)
    known = [pair.label for pair in pairs[teacher.calibration]]
    regression = LogisticRegression().fit(cosines[teacher.calibration], known)
    return {name: regression.predict_proba(found)[:, 1].astype(np.float32) for name, found in cosines.items()}


@torch.inference_mode()
def projected_embeddings(teacher: Teacher, tokenizer: Tokenizer, width: int) -> Tensor:
    """The teacher's word embeddings for the tokens of another vocabulary: (V, width), of unit variance.

    A token's embedding is the mean of the teacher's embeddings of its text, projected on the first ``width``
    principal components. A token whose text the teacher's tokenizer drops gets the mean of all, zero.
    """
    table = load(checkpoint(teacher.package), transformers.AutoModel).get_input_embeddings().weight
    theirs = teacher_tokenizer(teacher)
    known = theirs.get_vocab()
    rows = []
    for token in tokenizer.convert_ids_to_tokens(list(range(len(tokenizer)))):
        text = tokenizer.convert_tokens_to_string([token]).strip()
        ids = [known[text]] if text in known else theirs(text, add_special_tokens=False)["input_ids"]
        rows.append(table[ids].mean(0) if ids else torch.full((table.shape[1],), torch.nan))
    found = torch.stack(rows)
    centred = torch.where(found.isnan(), 0, found - found.nanmean(0))
    _, _, directions = torch.linalg.svd(centred, full_matrices=False)
    reduced = centred @ directions[:width].T  # (V, width)
    return cast(Tensor, reduced / reduced.std())
