"""The way that made a vector is found: it is planted by transformers and NumPy alone."""

import json
import tomllib
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import replace
from functools import cache
from itertools import cycle, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modules import Dense, Normalize
from sentence_transformers.sentence_transformer.modules import LayerNorm, Pooling
from transformers import AutoConfig, AutoModelForSequenceClassification, PreTrainedTokenizerBase

from components.analyses.detect import BAR, OTHER_POOLINGS, Detected, Side, Way
from components.analyses.measuring.detect import Tried, found, tried
from components.errors import PoolscopeError
from components.inference.engine import Engine
from components.model.backbone import Backbone, batch_states
from components.model.files import ENCODING
from components.model.loading import load
from components.model.pooling import POOLINGS
from components.types import BackboneSpec, Query
from tests.families.cases import FACTS, ByHand, boundless
from tests.model.test_declared import saved
from tests.model.test_pooling import ALONE
from tests.plain import KEYS, SPECS, cosine, load_plain

TEXT = (
    "The plot is thin, but the actors are a delight, and the camera never once looks away from their hands."
)
PAIR = "The film moves me."
BERT = "bert-sentiment"
FIVE = ("bert-sentiment", "distilbert-sentiment", "roberta-paraphrase", "xlnet-sentiment", "gpt2-pretrained")
SAMPLED = 3  # ways of each that are planted

POOLED = ("first", "lasttoken", "mean", "max", "mean_sqrt_len_tokens", "weightedmean", "mean_max")
BY_HAND = {key: ALONE[key] for key in POOLED}  # hidden states (T, D) -> (D,)


def cut(tokenizer: PreTrainedTokenizerBase, row: torch.Tensor, way: Way) -> torch.Tensor:
    """What is left of inputs (1, T) of one text, by taking them apart."""
    if way.truncated is None or row.shape[1] <= way.truncated:
        return row
    if way.kept == "last":
        return row[:, -way.truncated :]
    bare = row.shape[1] - tokenizer.num_special_tokens_to_add() * (way.special_tokens is True)
    before = int(tokenizer.padding_side == "right" and way.special_tokens is True)  # XLNet has both behind
    own = way.truncated - (row.shape[1] - bare)
    start = before if way.kept == "start" else before + bare - own
    return torch.cat([row[:, :before], row[:, start : start + own], row[:, before + bare :]], dim=1)


def hidden_of(key: str, inputs: Any) -> Any:
    """Hidden states (T, D) of each layer, of a text or of inputs, by transformers alone."""
    plain = load_plain(SPECS[key].location)
    inputs = plain.tokenizer(inputs, return_tensors="pt") if isinstance(inputs, str) else inputs
    with torch.no_grad():
        states = plain.model(**inputs, output_hidden_states=True).hidden_states
    return [layer[0].double().numpy() for layer in states]


def planted(key: str, way: Way, text: str = TEXT, pair: str = "") -> np.ndarray:
    """The vector that a way gives, by transformers and NumPy."""
    plain, special = load_plain(SPECS[key].location), way.special_tokens is not False
    inputs = plain.tokenizer(way.prefix + text, pair or None, add_special_tokens=special, return_tensors="pt")
    inputs = {name: cut(plain.tokenizer, one, way) for name, one in inputs.items()}
    vector = BY_HAND[way.pooling](hidden_of(key, inputs)[way.layer])
    return vector / np.linalg.norm(vector) if way.normalised else vector


def layers_of(key: str) -> int:
    return int(AutoConfig.from_pretrained(SPECS[key].location).num_hidden_layers)


def ways(key: str) -> Iterator[Way]:
    """Some of all ways, drawn at random."""
    special = (True, False) if "gpt2" not in key else (None,)
    below = range(layers_of(key) + 1)
    cuts: tuple[tuple[int | None, Side], ...] = ((None, "start"), (16, "start"), (16, "end"), (16, "last"))
    every = [
        Way(pooling, layer, added, normalised, truncated, kept=kept)
        for pooling, layer, added, normalised, (truncated, kept) in product(
            BY_HAND, below, special, (True, False), cuts
        )
        if added or kept != "last"  # else the last of all tokens are the text's end
    ]
    order = np.random.default_rng(len(key)).permutation(len(every))[:SAMPLED]
    return (every[index] for index in order)


@pytest.fixture(scope="module")
def of_text(loaded: Callable[[str], Backbone]) -> Callable[[str, Any], Detected]:
    """Find what a backbone's vector of TEXT is; the text is run in every way once."""
    tries = cache(lambda key: tried(loaded(key), Query(key, TEXT), ""))
    return lambda key, vector: found([tries(key)], [np.asarray(vector, dtype=float).tolist()])


def asked(engine: Engine, key: str, vector: Any, *texts: str, prefix: str = "") -> Detected:
    if isinstance(vector, np.ndarray):
        vector = vector.tolist()
    return engine.ask("detect", Query(key, *(texts or (TEXT,))), vector=vector, prefix=prefix)


@pytest.mark.parametrize(("key", "way"), [(key, way) for key in FIVE for way in ways(key)])
def test_a_planted_way_is_found(engine: Engine, key: str, way: Way) -> None:
    found = asked(engine, key, str(planted(key, way).tolist()))
    assert way in found.ways
    assert found.match.cosine == pytest.approx(1, abs=1e-6)
    assert found.match.length == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize(
    ("key", "way", "pair", "given", "scale", "poolings"),
    [
        (BERT, Way("mean", 4, prefix="query: "), "", "", 1, {"mean"}),
        (BERT, Way("mean", 4, prefix="our own: "), "", "our own: ", 1, {"mean"}),
        ("roberta-sentiment", Way("max", 2), PAIR, "", 1, {"max"}),
        (BERT, Way("max", 4, normalised=None), "", "", 3, {"max"}),
        (BERT, Way("first", 4), "", "", 1, {"cls", "first", "native"}),
        (BERT, Way("mean", 4, normalised=True), "", "", 1, {"mean", "mean_sqrt_len_tokens"}),
    ],
)
def test_nothing_but_the_way_is_found_and_poolings_that_are_one_vector_there(
    engine: Engine, key: str, way: Way, pair: str, given: str, scale: float, poolings: set[str]
) -> None:
    vector = scale * planted(key, way, pair=pair)
    found = asked(engine, key, vector, TEXT, pair, prefix=given)
    assert set(found.ways) == {replace(way, pooling=pooling) for pooling in poolings}
    length = np.linalg.norm(vector) if way.normalised else scale
    assert found.match.length == pytest.approx(length, abs=1e-4)
    said = set(map(str, found.says))
    assert ("cls, first, native are one vector here." in said) == (way.pooling == "first")
    assert any("3 times as long" in one for one in said) == (way.normalised is None)


def test_the_second_is_the_nearest_that_is_another_vector(engine: Engine) -> None:
    mean, weighted = (planted("gpt2-sentiment", Way(one, 3)) for one in ("mean", "weightedmean"))
    found = asked(engine, "gpt2-sentiment", mean)
    by_way = {one.way.pooling: one for one in found.candidates if (one.way.layer, one.way.variant) == (3, "")}
    assert by_way["weightedmean"].cosine == pytest.approx(cosine(mean, weighted), abs=1e-6)
    assert "mean_sqrt_len_tokens, last layer has the same, and only the length" in str(found.says[2])
    assert len(found.candidates) == 10


def signs(vector: np.ndarray) -> np.ndarray:
    return np.packbits(vector > 0).astype(int)


# what is kept, and what is told of it
STORED: dict[str, tuple[Callable[[np.ndarray], Any], dict[str, Any]]] = {
    "float32": (lambda vector: vector.astype(np.float32), {}),
    "float16": (lambda vector: vector.astype(np.float16), {}),
    "bfloat16": (lambda vector: torch.tensor(vector).bfloat16().double().numpy(), {}),
    "four decimals": (lambda vector: vector.round(4), {}),
    "three decimals": (lambda vector: vector.round(3), {}),
    "four digits": (lambda vector: np.array([float(f"{one:.4g}") for one in vector]), {}),
    "int8": (lambda vector: np.rint(127 * vector / np.abs(vector).max()), {"precision": "int8"}),
    "int8, cut": (lambda vector: (127 * vector / np.abs(vector).max()).astype(int), {"precision": "int8"}),
    "int8, 64": (lambda vector: np.rint(200 * vector)[:64], {"precision": "int8", "dimensions": 64}),
    "signs": (np.sign, {"precision": "binary"}),
    "bits": (lambda vector: (vector > 0).astype(float), {"precision": "binary"}),
    "ubinary": (signs, {"precision": "binary"}),
    "binary": (lambda vector: signs(vector) - 128, {"precision": "binary"}),
    "64 numbers": (lambda vector: vector[:64] / np.linalg.norm(vector[:64]), {"dimensions": 64}),
    "layer norm": (
        lambda vector: (vector - vector.mean())[:64] / vector.std(),
        {"dimensions": 64, "variant": "layer_norm", "normalised": False},
    ),
    "cut late": (lambda vector: vector[:64], {"dimensions": 64, "variant": "cut_late", "normalised": False}),
}


@pytest.mark.parametrize("key", ["bert-sentiment", "gpt2-pretrained"])
@pytest.mark.parametrize("kind", STORED)
def test_a_way_is_found_however_its_numbers_are_stored(
    of_text: Callable[[str, Any], Detected], key: str, kind: str
) -> None:
    """No other pooling is told for it: all are farther than rounding explains."""
    store, told = STORED[kind]
    way = Way("mean", layers_of(key), True if "bert" in key else None, normalised=True)
    found = of_text(key, store(planted(key, way)))
    length = {"normalised": None} if "precision" in told else {}
    assert replace(way, **(length | told)) in found.ways
    own = (one for one in found.ways if one.variant != "layer_norm")  # which may leave all signs as they are
    poolings = {one.pooling.removesuffix(f"_{one.variant}") for one in own}
    assert poolings <= {"mean", "mean_content", "mean_sqrt_len_tokens"}


GPT2 = "gpt2-pretrained"
# what servers do besides; more stands in test_planted.py
OTHERS: dict[str, tuple[str, Callable[[], np.ndarray], dict[str, Any]]] = {
    "two_layers": (BERT, lambda: np.add(*hidden_of(BERT, TEXT)[-2:]).mean(0), {"normalised": None}),
    "with_embeddings": (
        GPT2,
        lambda: np.add(*hidden_of(GPT2, TEXT)[::3]).mean(0) / 2,
        {"special_tokens": None},
    ),
    "lowered": ("roberta-paraphrase", lambda: hidden_of("roberta-paraphrase", TEXT.lower())[-1].mean(0), {}),
}


@pytest.mark.parametrize("variant", OTHERS)
def test_what_servers_do_besides_is_found(engine: Engine, variant: str) -> None:
    key, make, told = OTHERS[variant]
    found = asked(engine, key, make())
    pooling = f"mean_{variant}" if variant in OTHER_POOLINGS else "mean"
    assert replace(Way(pooling, layers_of(key), variant=variant), **told) in found.ways
    assert not str(found.says[0]).startswith("This vector is mean, last layer, with special tokens, not")


def test_another_text_is_no_match_of_this(of_text: Callable[[str, Any], Detected]) -> None:
    found = of_text(BERT, hidden_of(BERT, f"{TEXT[:-1]}!")[-1].mean(0))
    assert (found.match, found.ways) == (None, ())
    assert "another made it, by mean, last layer" in str(found.says[0])
    found = of_text(BERT, hidden_of(BERT, TEXT[:-1])[-1].mean(0))
    assert {way.variant for way in found.ways} == {"last_cut", "stop"}
    assert "of the text without its last token" in str(found.says[0])
    assert "a full stop more or less" in str(found.says[1])


def weighed(*shares: float) -> Any:
    """The mean of layers of BERT from the last one down, each by its share."""
    layers = hidden_of(BERT, TEXT)[::-1]
    return sum(share * layer for share, layer in zip(shares, layers, strict=False)).mean(0)


NEAR: dict[str, Callable[[], np.ndarray]] = {  # none of it is a way that is tried
    "without the first two": lambda: hidden_of(BERT, TEXT)[-1][2:].mean(0),
    "without one in the middle": lambda: np.delete(hidden_of(BERT, TEXT)[-1], 9, 0).mean(0),
    "a last token twice": lambda: hidden_of(BERT, TEXT)[-1][[*range(23), 22]].mean(0),
    "of three layers": lambda: weighed(1, 1, 1),
    "a little of a layer": lambda: weighed(0.9, 0.1),
    "of another word": lambda: hidden_of(BERT, TEXT.replace("hands", "eyes"))[-1].mean(0),
    "with a question mark": lambda: hidden_of(BERT, f"{TEXT[:-1]}?")[-1].mean(0),
    "in quotes": lambda: hidden_of(BERT, f'"{TEXT}"')[-1].mean(0),
    "[CLS] of another text": lambda: hidden_of(BERT, f"{TEXT} Yes.")[-1][0],
}
MIXED = cycle(["float32", "bfloat16", "float16", "three decimals"])  # of any two in turn one is coarse


@pytest.mark.parametrize(("name", "kind"), [*zip((*NEAR, *NEAR), MIXED, strict=False)])
def test_what_is_near_is_not_named(of_text: Callable[[str, Any], Detected], name: str, kind: str) -> None:
    vector = NEAR[name]()
    found = of_text(BERT, STORED[kind][0](vector / np.linalg.norm(vector)))
    assert (found.match, found.ways) == (None, ())
    verdict = str(found.says[0])
    assert verdict.startswith("No match")
    assert ("near, with a cosine" in verdict) == (found.candidates[0].cosine >= BAR)


@pytest.mark.parametrize(
    ("key", "kind", "kernel"),
    [
        *(("bert-sentiment", "float16", "eager"), ("bert-sentiment", "bfloat16", "sdpa")),
        *(("distilbert-pretrained", "float16", "sdpa"), ("distilbert-pretrained", "bfloat16", "eager")),
        *(("gpt2-pretrained", "float16", "sdpa"), ("gpt2-pretrained", "bfloat16", "eager")),
    ],
)
def test_half_precision_is_measured(
    of_text: Callable[[str, Any], Detected], key: str, kind: str, kernel: str
) -> None:
    """Another kernel gives other numbers, as another machine does; the mean is told from its neighbours."""
    way = Way("mean", layers_of(key), True if "bert" in key else None, precision=kind)
    folder, dtype = SPECS[key].location, getattr(torch, kind)
    model = AutoModelForSequenceClassification.from_pretrained(
        folder, dtype=dtype, attn_implementation=kernel
    ).eval()
    with torch.no_grad():
        inputs = load_plain(folder).tokenizer(TEXT, return_tensors="pt")
        hidden = model(**inputs, output_hidden_states=True).hidden_states[-1][0]
    assert way in of_text(key, BY_HAND["mean"](hidden.double().numpy())).ways
    vector = torch.nn.functional.normalize(hidden.mean(dim=0), dim=0)  # all of it in half precision
    assert replace(way, normalised=True) in of_text(key, vector.double().numpy()).ways


def test_what_less_precision_may_have_made_is_named_with_it(of_text: Callable[[str, Any], Detected]) -> None:
    vector, noise = planted(GPT2, Way("mean", 3)), np.random.default_rng(0).normal(size=128)
    found = of_text(GPT2, vector + 0.003 * np.linalg.norm(vector) * noise / np.linalg.norm(noise))
    assert {"mean", "mean_content"} <= {way.pooling for way in found.ways}
    assert all(way.precision for way in found.ways)


def test_several_vectors_are_what_each_alone_could_be(engine: Engine) -> None:
    """Ways that vectors in half precision leave open for one text are fewer for several."""
    texts = [TEXT, PAIR, "Nobody is safe."]
    way = Way("mean", 4, truncated=16, normalised=True, kept="end")
    vectors = [planted(BERT, way, text).astype(np.float16).tolist() for text in texts]

    def uncut(way: Way, text: str) -> Way:  # as it is of a text that has fewer tokens than are left
        return way if text == TEXT else replace(way, truncated=None, kept="start")

    given = [{"text": text, "vector": vector} for text, vector in zip(texts, vectors, strict=True)]
    found = asked(engine, BERT, json.dumps(given), "")
    assert way in found.ways
    for text, vector in zip(texts, vectors, strict=True):
        alone = {uncut(each, text) for each in asked(engine, BERT, vector, text).ways}
        assert {uncut(each, text) for each in found.ways} <= alone
    assert str(found.says[0]).startswith("These 3 vectors are mean, last layer")


def test_the_cosines_are_those_of_each_alone(engine: Engine) -> None:
    key, texts = "roberta-paraphrase", (TEXT, PAIR)
    vectors = [planted(key, Way("mean", 2), text) for text in texts]
    given = [{"text": text, "embedding": one.tolist()} for text, one in zip(texts, vectors, strict=True)]
    found = asked(engine, key, given, "what is asked is not looked at")
    assert found.ways == (Way("mean", 2),)
    for one in found.candidates:
        if one.way.pooling in BY_HAND and not (one.way.truncated or one.way.prefix or one.way.variant):
            made = [planted(key, replace(one.way, normalised=True), text) for text in texts]
            assert one.cosines == pytest.approx(list(map(cosine, made, vectors)), abs=1e-6)


def test_vectors_of_two_ways_are_no_match(engine: Engine) -> None:
    mean, first = planted(BERT, Way("mean", 4)), planted(BERT, Way("first", 4), PAIR)
    given = [{"text": TEXT, "vector": mean.tolist()}, {"text": PAIR, "vector": first.tolist()}]
    found = asked(engine, BERT, given)
    assert (found.match, found.ways) == (None, ())
    assert str(found.says[0]).startswith("No match: nothing that was tried gives all 2 vectors")
    assert len(found.candidates[0].cosines) == 2


def test_what_is_wrong_with_a_vector_or_its_text_is_said(engine: Engine) -> None:
    with pytest.raises(PoolscopeError, match="'3 numbers' was given; this model gives vectors of 128"):
        asked(engine, BERT, "1 2 3")
    for text in (7, " ", "a" * 1_000_000):
        with pytest.raises(PoolscopeError) as refusal:
            asked(engine, BERT, [{"text": text, "vector": [1.0] * 128}])
        assert refusal.value.field == "text"


def test_a_tokenizer_that_cuts_on_the_left_is_left_as_it_was(loaded: Callable[[str], Backbone]) -> None:
    backbone = replace(loaded("bert-sentiment"), limit=12)
    tokenizer = copy(backbone.tokenizer)
    tokenizer.truncation_side = "left"
    left = replace(backbone, tokenizer=tokenizer)
    way = Way("mean", 4, truncated=12, kept="end")
    vector = planted("bert-sentiment", way).tolist()
    for each, side in ((left, "left"), (backbone, "right")):
        assert found([tried(each, Query("bert-sentiment", TEXT), "")], [vector]).ways == (way,)
        assert each.tokenizer.truncation_side == side


def nearest(tries: Tried, vector: np.ndarray) -> float:
    """The largest cosine of all."""
    every = [one.astype(float) for one in {**tries.made, **tries.more.made}.values()]
    return max(float(cosine(one, vector)) for one in every if len(one) == len(vector))


@pytest.mark.parametrize("key", [BERT, "gpt2-pretrained"])
def test_noise_other_models_and_other_texts_are_no_match(loaded: Callable[[str], Backbone], key: str) -> None:
    random = np.random.default_rng(0)
    vector = planted(key, Way("mean", layers_of(key)))
    noise = random.normal(size=len(vector))
    noisy = vector + 0.1 * np.linalg.norm(vector) * noise / np.linalg.norm(noise)
    siblings = (one for one in KEYS if one != key and one.split("-")[0] == key.split("-")[0])
    others = [planted(one, Way("max", 0)) for one in siblings]  # where they are most alike
    text = planted(key, Way("mean", 1), "Something else was said.")
    tries = tried(loaded(key), Query(key, TEXT), "")
    for wrong in (noise, noisy, text, *others):
        answer = found([tries], [wrong.tolist()])
        assert (answer.match, answer.ways) == (None, ())
        cosines = [one.cosine for one in answer.candidates]
        assert (np.diff(cosines) < 1e-6).all()
        assert cosines[0] == pytest.approx(nearest(tries, wrong), abs=1e-6)
        assert cosines[0] < BAR
        assert not any(one.tied for one in answer.candidates)
        assert str(answer.says[0]).startswith("No match")


@pytest.mark.parametrize("name", ["bart", "canine", "llama"])
def test_a_way_is_found_whatever_the_family(tiny_family: Callable[..., BackboneSpec], name: str) -> None:
    """One whose head finds the end by its id, one whose states are of no tokens, one that reads the last."""
    spec, text = tiny_family(name), "the film is not good at all"
    backbone = replace(load(spec), tokenizer=boundless())
    alone = AutoModelForSequenceClassification.from_pretrained(spec.location, dtype=torch.float32).eval()
    by_hand = ByHand(alone, FACTS["bodies"].get(name, ""))
    hidden = by_hand.final(dict(backbone.tokenizer(text, return_tensors="pt")))[0].double().numpy()
    tries = tried(backbone, Query(name, text), "")
    for pooling in ("mean", "lasttoken", "max"):
        vector = BY_HAND[pooling](hidden)
        answer = found([tries], [(vector / np.linalg.norm(vector)).tolist()])
        assert (pooling, answer.layers, True) in {
            (way.pooling, way.layer, way.normalised) for way in answer.ways
        }


@pytest.fixture(scope="module")
def declaring(tmp_path_factory: pytest.TempPathFactory) -> Backbone:
    """A checkpoint that declares the mean, a dense layer, length 1, a prompt and where texts are cut."""
    torch.manual_seed(0)
    modules = Pooling(128, "mean"), Dense(128, 24), Normalize()
    folder: Path = saved(tmp_path_factory.mktemp("detect") / "checkpoint", *modules)
    (folder / ENCODING).write_text('{"prompts": {"query": "find: ", "none": "", "odd": 3}}')
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 20}')
    return load(replace(SPECS["bert-sentiment"], location=str(folder)))


def asked_of(backbone: Backbone, vector: np.ndarray) -> Detected:
    return found([tried(backbone, Query("bert-sentiment", TEXT), "")], [vector.tolist()])


def test_what_is_declared_stands_beside_what_is_found(declaring: Backbone) -> None:
    vector = POOLINGS["declared"](batch_states(declaring, [TEXT]))[0].double().numpy()
    found = asked_of(declaring, vector)
    assert replace(found.match.way, pooling="mean") == Way("mean", 4, normalised=True, dense=True)
    assert (found.prompts, found.declared.longest) == ((("query", "find: "),), 20)
    assert str(found.says[-1]).startswith("The checkpoint declares the same: mean, through the dense layers")
    first = Way("first", 4, normalised=True)
    found = asked_of(declaring, planted("bert-sentiment", first))
    assert first in found.ways
    assert str(found.says[-1]).startswith("The checkpoint declares another way: mean")
    tried = Way("mean", 4, truncated=20, prefix="find: ")  # a declared prompt, cut as is declared
    assert asked_of(declaring, planted("bert-sentiment", tried)).ways == (tried,)
    found = asked_of(declaring, planted("bert-sentiment", replace(tried, prefix="", truncated=None)))
    assert found.match.way.dense is False
    assert str(found.says[-1]).startswith("The checkpoint declares another way: mean, through the dense")


def test_a_prompt_is_found_out_of_the_mean_of_a_text_that_is_cut(declaring: Backbone) -> None:
    plain, prompt = load_plain(SPECS[BERT].location), "find: "
    inputs = plain.tokenizer(f"{prompt}{TEXT}", truncation=True, max_length=20, return_tensors="pt")
    theirs = len(plain.tokenizer(prompt)["input_ids"]) - 1  # without the token at the end
    found = asked_of(declaring, hidden_of(BERT, inputs)[-1][theirs:].mean(axis=0))
    assert found.ways == (Way("mean", 4, truncated=20, prefix=prompt, variant="no_prefix"),)


@pytest.mark.parametrize(
    "steps", [(Pooling(128, ("mean", "max")), Dense(256, 24)), (Pooling(128, "mean"), LayerNorm(128))]
)
def test_more_steps_than_one_are_tried_as_they_are_declared(tmp_path: Path, steps: Any) -> None:
    folder = saved(tmp_path / "checkpoint", *steps)
    backbone = load(replace(SPECS["bert-sentiment"], location=str(folder)))
    library = SentenceTransformer(str(folder), device="cpu", model_kwargs={"dtype": torch.float32})
    found = asked_of(backbone, library.encode(TEXT).astype(np.float64))
    assert Way("declared", 4) in found.ways
    assert (Way("mean_max", 4, dense=True) in found.ways) is isinstance(steps[1], Dense)
    assert str(found.says[-1]).startswith("The checkpoint declares the same: mean")


ENCODED = tomllib.loads(Path(__file__).with_name("detect.toml").read_text("utf-8"))


@pytest.mark.parametrize("kind", ENCODED)
def test_what_sentence_transformers_makes_is_as_declared(tmp_path: Path, kind: str) -> None:
    case, spec = ENCODED[kind], SPECS[ENCODED[kind]["key"]]
    torch.manual_seed(1)
    steps = Pooling(128, "mean", include_prompt=False), Dense(128, 32), Normalize()
    folder = saved(tmp_path / "checkpoint", *steps, body=spec)
    for name, said in case["files"].items():
        (folder / name).write_text(json.dumps(said))
    dtype = getattr(torch, case["dtype"])
    library = SentenceTransformer(str(folder), device="cpu", model_kwargs={"dtype": dtype})
    found = asked_of(load(replace(spec, location=str(folder))), library.encode(TEXT).astype(np.float64))
    assert Way(**case["way"], normalised=True, dense=True) in found.ways
    assert str(found.says[-1]).startswith("The checkpoint declares the same")


def test_a_declaration_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    (tmp_path / "modules.json").write_text("{")
    for file in Path(SPECS["bert-sentiment"].location).iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    spoilt = load(replace(SPECS["bert-sentiment"], location=str(tmp_path)))
    found = asked_of(spoilt, planted("bert-sentiment", Way("mean", 4)))
    assert found.declared is None
    assert found.ways == (Way("mean", 4),)
    assert "cannot be read" in str(found.warnings[0])
