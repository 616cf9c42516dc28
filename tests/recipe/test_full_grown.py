"""The full-grown encoder beside the miniatures, held against sentence-transformers and scikit-learn."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from scipy.stats import spearmanr
from sentence_transformers import SentenceTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from components.inference.engine import Engine
from components.model.backbone import Backbone
from components.model.catalogue import read_catalogue
from components.model.loading import load
from components.model.pooling import POOLINGS
from components.model.states import batch_states
from components.settings import Settings
from recipe.corpus import load_corpus, read_scored, subsample
from recipe.teacher import checkpoint
from tests.measured import measured
from tests.plain import cosine
from tests.recipe.test_shipped import ASSETS, DATA, RECIPES, RESULTS, with_data
from tests.serving import ROOT

(KEY,) = RECIPES.measured
SPEC = next(spec for spec in read_catalogue(Settings().catalogue) if spec.key == KEY)
TEXTS = [
    "good",
    "The plot is thin, but the actors are a delight.",
    "Ein Café, 😀 naïve façade — 你好!",
    "On Monday the firm sold the share it held, and nobody knew why it did so.",
]
HASHES = {  # of the files of the commit that the catalogue names, as who downloaded it has written them down
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "special_tokens_map.json": "303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    "tokenizer_config.json": "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b",
    "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
}


@pytest.fixture(scope="module")
def theirs() -> SentenceTransformer:
    """The encoder as its authors' library loads it."""
    return SentenceTransformer(str(checkpoint(RECIPES.measured[KEY])), device="cpu")


@pytest.fixture(scope="module")
def backbone() -> Backbone:
    return load(SPEC)


def test_the_package_carries_the_files_of_the_commit() -> None:
    folder = checkpoint(RECIPES.measured[KEY])
    found = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in HASHES}
    assert found == HASHES
    assert SPEC.package == RECIPES.measured[KEY]
    assert SPEC.size == sum((folder / name).stat().st_size for name in HASHES)


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


def test_what_the_engine_gives_alone_is_the_same(engine: Engine, theirs: SentenceTransformer) -> None:
    (means,) = engine.features(KEY, TEXTS, ["mean"]).values()
    lengths = np.linalg.norm(means, axis=1, keepdims=True)
    np.testing.assert_allclose(means / lengths, theirs.encode(TEXTS), atol=1e-5)


def test_the_size_is_that_of_the_model(theirs: SentenceTransformer) -> None:
    (row,) = (row for row in measured(RESULTS, "size") if row.backbone == KEY)
    encoder = theirs[0].auto_model
    assert row.parameters == sum(weight.numel() for weight in encoder.parameters()) == 22_713_216
    assert (row.layers, row.width) == (6, 384)
    others = [other.parameters for other in measured(RESULTS, "size") if other.backbone != KEY]
    assert len(others) == 15
    assert max(others) * 10 < row.parameters


WITHOUT_THE_PACKAGE = """
import sys
from importlib.machinery import PathFinder

class Hidden(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name == "PACKAGE" else super().find_spec(name, path, target)

sys.meta_path[sys.meta_path.index(PathFinder)] = Hidden
from components.inference.engine import Engine
from components.errors import PoolscopeError
from components.menus import BackboneMenu, place
from components.results import read_results
from components.settings import ASSETS, Settings
from components.texts import load_texts
from components.types import Query

engine = Engine(Settings())
spec = next(spec for spec in engine.backbones() if spec.key == "KEY")
assert (spec.available, place(spec)) == (False, "hub"), spec
menu = {key: title for title, key in BackboneMenu.of(engine, [], load_texts()).within("hub")}
print(menu[spec.key])
try:
    engine.analyze(Query(spec.key, "good"))
except PoolscopeError as error:
    print(error)
print(sum(row.backbone == spec.key for row in measured(read_results(ASSETS / "results.csv"), "probe")))
"""


def test_without_the_package_the_download_is_offered_and_the_numbers_are_there(tmp_path: Path) -> None:
    code = WITHOUT_THE_PACKAGE.replace("PACKAGE", RECIPES.measured[KEY]).replace("KEY", KEY)
    given = os.environ | {"HF_HUB_CACHE": str(tmp_path), "HF_HUB_OFFLINE": "0"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=given, capture_output=True, text=True, check=True
    )
    title, refused, rows = done.stdout.splitlines()
    assert title.startswith(SPEC.title)
    assert "92 MB" in title
    assert "92 MB" in refused
    assert int(rows) == sum(row.backbone == KEY for row in measured(RESULTS, "probe")) > 0


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
