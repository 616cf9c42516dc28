"""What transformers and SciPy alone say of texts: averages of hidden states, and rho with erasure."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike
from scipy.stats import ConstantInputWarning, spearmanr
from torch import Tensor
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from tests.plain import cosine


@torch.inference_mode()
def plain_means(folder: Path, texts: list[str], layer: int = -1) -> np.ndarray:
    """The average of all hidden states of a layer of each text: (N, D)."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder, dtype=torch.float32).eval()
    lengths = np.array([len(ids) for ids in tokenizer(texts, truncation=True, max_length=128)["input_ids"]])
    found = np.empty((len(texts), model.config.hidden_size), dtype=np.float32)
    for length in set(lengths.tolist()):  # texts of one length need no padding
        rows = np.flatnonzero(lengths == length)
        inputs = tokenizer([texts[row] for row in rows], truncation=True, max_length=128, return_tensors="pt")
        found[rows] = model.base_model(**inputs, output_hidden_states=True).hidden_states[layer].mean(dim=1)
    return found


def rho_of_cosines(folder: Path, sides: Any, scores: ArrayLike) -> float:
    """Spearman's rho of scores and cosines of averages. ``sides``: first and second texts."""
    pairs = zip(*(plain_means(folder, given).astype(np.float64) for given in sides), strict=True)
    return float(spearmanr(scores, [cosine(one, other) for one, other in pairs]).statistic)


@torch.inference_mode()
def rhos_by_hand(folder: Path, texts: list[str]) -> dict[tuple[str, int], np.ndarray]:
    """By method and layer (N,), of texts between [CLS] and [SEP]; NaN where all tokens are ranked alike."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    kind = {"dtype": torch.float32, "attn_implementation": "eager"}
    model = AutoModelForSequenceClassification.from_pretrained(folder, **kind).eval()
    found: dict[tuple[str, int], list[float]] = {}
    for text in texts:
        ids = tokenizer(text, return_tensors="pt")["input_ids"]
        output = model(ids, output_attentions=True, output_hidden_states=True)
        label = int(output.logits.argmax())
        rows = torch.where(torch.eye(ids.shape[1], dtype=torch.bool), tokenizer.mask_token_id, ids)
        fallen = output.logits.softmax(dim=-1)[0, label] - model(rows).logits.softmax(dim=-1)[:, label]
        for layer, hidden in enumerate(output.hidden_states):
            cosines = torch.cosine_similarity(hidden[0].double(), hidden[0, :1].double())
            found.setdefault(("similarity", layer), []).append(_rho(cosines, fallen))
        for layer, heads in enumerate(output.attentions, start=1):
            found.setdefault(("attention", layer), []).append(_rho(heads[0].mean(dim=0)[0], fallen))
    return {method: np.array(values) for method, values in found.items()}


def _rho(values: Tensor, fallen: Tensor) -> float:
    """Over the text's own tokens."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstantInputWarning)
        return float(spearmanr(values[1:-1], fallen[1:-1]).statistic)
