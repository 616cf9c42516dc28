"""Rho of similarity and attention with erasure, by transformers and SciPy, for a head that reads [CLS]."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import torch
from scipy.stats import ConstantInputWarning, spearmanr
from torch import Tensor
from transformers import AutoModelForSequenceClassification, AutoTokenizer


@torch.inference_mode()
def rhos_by_hand(folder: Path, texts: list[str]) -> dict[tuple[str, int], np.ndarray]:
    """By method and layer (N,), of texts between [CLS] and [SEP]; NaN where all tokens are ranked alike."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(
        folder, dtype=torch.float32, attn_implementation="eager"
    ).eval()
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
