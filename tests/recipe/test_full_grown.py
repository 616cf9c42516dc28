"""The full-grown encoder beside the miniatures, held against sentence-transformers and scikit-learn."""

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from scipy.stats import spearmanr
from sentence_transformers import SentenceTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from components.model.backbone import Backbone, batch_states
from components.model.catalogue import read_catalogue
from components.model.loading import load
from components.model.pooling import POOLINGS
from components.settings import Settings
from recipe.corpus import load_corpus, read_scored, subsample
from recipe.teacher import checkpoint
from tests.measured import measured
from tests.plain import cosine
from tests.recipe.test_shipped import ASSETS, DATA, RECIPES, RESULTS, with_data

(KEY,) = RECIPES.measured
SPEC = next(spec for spec in read_catalogue(Settings().catalogue) if spec.key == KEY)
TEXTS = [
    "good",
    "The plot is thin, but the actors are a delight.",
    "Ein Café, 😀 naïve façade — 你好!",
    "On Monday the firm sold the share it held, and nobody knew why it did so.",
]


@pytest.fixture(scope="module")
def theirs() -> SentenceTransformer:
    """The encoder as its authors' library loads it."""
    return SentenceTransformer(str(checkpoint(RECIPES.measured[KEY])), device="cpu")


@pytest.fixture(scope="module")
def backbone() -> Backbone:
    return load(SPEC)


def test_hidden_states_and_means_are_those_of_sentence_transformers(
    backbone: Backbone, theirs: SentenceTransformer
) -> None:
    states = batch_states(backbone, TEXTS)
    tokens = theirs.encode(TEXTS, output_value="token_embeddings")
    for ours, mask, other in zip(states.hidden, states.mask, tokens, strict=True):
        np.testing.assert_allclose(ours[mask], other[: int(mask.sum())], atol=1e-5)
    means = POOLINGS["mean"](states).numpy()
    encoded = theirs.encode(TEXTS)  # of length 1
    np.testing.assert_allclose(means / np.linalg.norm(means, axis=1, keepdims=True), encoded, atol=1e-5)


def encoded(theirs: SentenceTransformer, texts: list[str]) -> tuple[np.ndarray, ...]:
    """The averages of the hidden states of every layer, by their tokenizer and model: (N, D) each."""
    tokenizer, model = theirs.tokenizer, theirs[0].auto_model.eval()
    order = np.argsort([len(ids) for ids in tokenizer(texts, truncation=True)["input_ids"]], kind="stable")
    found = np.empty((7, len(texts), 384), dtype=np.float32)
    for rows in np.array_split(order, max(1, len(texts) // 64)):
        inputs = tokenizer([texts[row] for row in rows], truncation=True, padding=True, return_tensors="pt")
        with torch.inference_mode():
            hidden = torch.stack(model(**inputs, output_hidden_states=True).hidden_states)
        mask = inputs["attention_mask"][:, :, None]
        found[:, rows] = ((hidden * mask).sum(2) / mask.sum(1)).numpy()
    return tuple(found)


@with_data
def test_its_accuracies_are_those_of_plain_scikit_learn(theirs: SentenceTransformer) -> None:
    """Its stored probes, and logistic regression fitted anew at the strength that the results state."""
    task, corpus = "sentiment", load_corpus(RECIPES, DATA)
    training = subsample(corpus.training[RECIPES.probing.sources[task]], RECIPES.probing.rows)
    examples = corpus.evaluation[task]
    labels = np.array([example.label for example in examples])
    layers = encoded(theirs, [example.texts[0] for example in examples])
    tensors = load_file(ASSETS / f"probes/{KEY}.safetensors")
    rows = [
        row
        for row in measured(RESULTS, "probe")
        if (row.backbone, row.task, row.pooling) == (KEY, task, "mean")
    ]
    lower = [
        row
        for row in measured(RESULTS, "depth")
        if (row.backbone, row.task, row.pooling) == (KEY, task, "mean")
    ]
    for vectors, row in zip(layers, [*lower, *rows], strict=True):
        place = f"mean/{row.layer}" if row.kind == "depth" else "mean"
        weight, bias = (tensors[f"{task}/{place}/{name}"].float().numpy() for name in ("weight", "bias"))
        right = (vectors @ weight.T + bias).argmax(axis=1) == labels
        assert row.measured == len(examples)
        assert right.mean() == pytest.approx(row.value, abs=1.5 / len(examples))  # padding moves a digit
    (last,) = rows
    learned = encoded(theirs, [example.texts[0] for example in training])[-1]
    varies = learned.std(axis=0) > 1e-4 * np.sqrt(np.square(learned).mean())  # what is constant is left out
    scaler = StandardScaler().fit(learned[:, varies])
    regression = LogisticRegression(C=last.strength, max_iter=5000)
    regression.fit(scaler.transform(learned[:, varies]), [example.label for example in training])
    found = regression.score(scaler.transform(layers[-1][:, varies]), labels)
    assert found == pytest.approx(last.value, abs=1.5 / len(examples))


@with_data
def test_its_rho_is_that_of_sentence_transformers_and_scipy(theirs: SentenceTransformer) -> None:
    pairs = read_scored(RECIPES.probing.scored, DATA)
    sides = (theirs.encode([pair[side] for pair in pairs]) for side in (0, 1))
    cosines = [cosine(one, other) for one, other in zip(*sides, strict=True)]
    (row,) = (row for row in measured(RESULTS, "cosine") if (row.backbone, row.pooling) == (KEY, "mean"))
    found = spearmanr(cosines, [score for _, _, score in pairs]).statistic
    assert (row.measured, row.value) == (len(pairs), pytest.approx(found, abs=1e-3))
