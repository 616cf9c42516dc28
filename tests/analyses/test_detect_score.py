"""The way that made a score is found: it is planted by transformers and torch alone."""

import tomllib
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.ao.quantization import quantize_dynamic
from transformers import pipeline

from components.analyses.detect_score import DetectedScore, to_scores
from components.analyses.measuring.detect_score import found
from components.errors import PoolscopeError
from components.inference.engine import Engine
from components.model.loading import load
from components.types import BackboneSpec, Query
from tests.families.cases import tiny_checkpoint
from tests.plain import SPECS, load_plain, overwritten
from tests.tiny import checkpoint

TRAINED = tuple(key for key in SPECS if "pretrained" not in key)
BERT, SENTIMENT = "bert-paraphrase", "bert-sentiment"
PAIRS = (
    ("Is this film any good?", "The actors make this film a delight."),
    ("The film is good.", "A good movie."),
    ("A man sleeps on the train.", "Somebody is sleeping."),
    ("The firm sold its share on Monday.", "On Monday the firm sold the share that it held."),
    ("Prices of oil rose again.", "Nobody knew why oil was dear."),
    ("The film is good.", "It is a good film."),  # which int8 moves by less than machines differ
)
TINY = ("the film is not good", "a man sleeps", "all is bad, not good!", "the man is not at all bad", "a b c")
CLASSIFIERS = {"bert": "classifier", "distilbert": "classifier", "roberta": "classifier.out_proj"}
AFTER = {"distilbert": torch.relu}  # the activation behind a head's dense layer
ENCODINGS = ("swapped", "one", "zero", "no_special", "between", "first", "second", "ended")
HEADS = ("no_pooler", "no_dense", "no_bias")
TOKENS: Mapping[str, Callable[[Tensor], Tensor]] = {
    "token_first": lambda hidden: hidden[:, :1],
    "token_last": lambda hidden: hidden[:, -1:],
    "token_mean": lambda hidden: hidden.mean(dim=1, keepdim=True),
}
ACTIVATIONS: Mapping[str, tuple[int, Callable[[Tensor], Tensor]]] = {
    "none": (0, lambda logits: logits),
    "sigmoid": (0, torch.sigmoid),
    "softmax": (0, partial(torch.softmax, dim=-1)),
    "sigmoid_twice": (1, lambda logits: logits.sigmoid().sigmoid()),
    "softmax_twice": (1, lambda logits: logits.softmax(-1).softmax(-1)),
    "softmax_sigmoid": (1, lambda logits: logits.softmax(-1).sigmoid()),
}
ALONE = ("one", "first", "second", "between", "zero", "swapped")  # of which two are hardly one way
Specs = Mapping[str, BackboneSpec]
loaded = cache(load)  # a test leaves it as it is
Row = tuple[float, ...]


@pytest.fixture(scope="module")
def specs(tmp_path_factory: pytest.TempPathFactory) -> Specs:
    """Twelve: the trained ones that are bundled, and two with three labels and one."""
    folder = tmp_path_factory.mktemp("scores")
    tiny = {f"bert-{count}": checkpoint(folder / f"bert-{count}", num_labels=count) for count in (1, 3)}
    return {**{key: SPECS[key] for key in TRAINED}, **tiny}


def inputs_of(tokenizer: Any, text: str, pair: str, done: tuple[str, ...]) -> Any:
    """Make what a server makes of two texts."""
    texts = (pair, text) if "swapped" in done else (text, pair)
    texts = (f"{texts[0]} {texts[1]}", "") if "one" in done else texts
    texts = (texts[0], f"passage: {texts[1]}") if "between" in done else texts
    texts = next(((texts[place], "") for place, one in enumerate(("first", "second")) if one in done), texts)
    special = "no_special" not in done
    inputs = tokenizer(texts[0], texts[1] or None, add_special_tokens=special, return_tensors="pt")
    if "zero" in done:
        inputs["token_type_ids"].zero_()
    if "ended" in done:
        end = torch.tensor([[tokenizer.eos_token_id]])
        inputs["input_ids"] = torch.cat([inputs["input_ids"], end], dim=1)
        inputs["attention_mask"] = torch.ones_like(inputs["input_ids"])
    return inputs


def logits_by_hand(spec: BackboneSpec, text: str, pair: str, done: tuple[str, ...] = ()) -> Tensor:
    """The logits (K,) with all that was done otherwise than here."""
    plain, kind, seen = load_plain(spec.location), spec.key.split("-")[0], list[Tensor]()
    model, change = plain.model, next((TOKENS[one] for one in done if one in TOKENS), None)
    dtype = next((getattr(torch, one) for one in done if "float" in one), None)
    model = model if dtype is None else deepcopy(model).to(dtype)

    def changed(own: Tensor) -> Tensor:
        seen.append(own if change is None else change(own).expand_as(own))
        return seen[-1]

    with torch.no_grad(), overwritten(model, changed):
        logits: Tensor = model(**inputs_of(plain.tokenizer, text, pair, done)).logits[0].float()
        if set(done).isdisjoint(HEADS):
            return logits
        last = model.get_submodule(CLASSIFIERS.get(kind, "logits_proj"))
        vector = seen[-1][0, -1 if kind == "xlnet" else 0]
        if "no_pooler" in done:
            logits = last(vector)
        if "no_dense" in done:
            logits = last(AFTER.get(kind, torch.tanh)(vector))
        return logits - last.bias if "no_bias" in done else logits


@dataclass(frozen=True)
class Planted:
    """Numbers of n texts, and how they were made."""

    spec: BackboneSpec
    texts: tuple[tuple[str, str], ...]
    done: tuple[str, ...]
    activation: str
    scores: tuple[Row, ...]

    def is_found(self) -> bool:
        told = ask(self.spec, self.texts, self.scores)
        ways = [one.way for one in (told.match, *told.ties) if one is not None]
        return any({*way.keys} == {*self.done} and way.activation == self.activation for way in ways)


def ask(spec: BackboneSpec, texts: Any, scores: Any) -> DetectedScore:
    return found(loaded(spec), [Query(spec.key, *each) for each in texts], [(one, -1, ()) for one in scores])


def changes_of(key: str) -> list[str]:
    """Names of what can be done otherwise with a checkpoint, and makes another score."""
    kind, pair = key.split("-")[0], "paraphrase" in key
    lacks = {"gpt2": {*HEADS, "token_last"}, "xlnet": {"token_last", "ended"}}.get(
        kind, {"token_first", "ended"}
    )
    lacks |= set() if pair else {"swapped", "one", "between", "first", "second", "zero"}
    lacks |= {"zero"} if kind not in ("bert", "xlnet") else set()
    lacks |= {"no_special"} if kind == "gpt2" and not pair else set()
    return [one for one in (*ENCODINGS, *HEADS, *TOKENS) if one not in lacks]


def texts_of(key: str) -> tuple[tuple[str, str], ...]:
    if "paraphrase" in key:
        return PAIRS
    return tuple((text, "") for text in (TINY if key in ("bert-1", "bert-3") else (one for one, _ in PAIRS)))


def planted(specs: Specs, count: int, seed: int) -> Iterator[Planted]:
    """Scores of ways that are drawn: up to two changes; one number or all; of one text, or three rounded."""
    random = np.random.default_rng(seed)
    while count:
        spec = list(specs.values())[random.integers(len(specs))]
        done = tuple(random.choice(changes_of(spec.key), size=random.integers(3), replace=False).tolist())
        activation, several = str(random.choice([*ACTIVATIONS])), bool(random.integers(2))
        (more, function), alone = (
            ACTIVATIONS[activation],
            [len({*done} & {*each}) for each in (ALONE, HEADS, TOKENS)],
        )
        if len(done) + more > 2 or max(alone) > 1 or (spec.key == "bert-1" and "softmax" in activation):
            continue
        texts = tuple(texts_of(spec.key)[place] for place in random.permutation(5)[: 3 if several else 1])
        every, label = (
            [function(logits_by_hand(spec, *each, done)).tolist() for each in texts],
            random.integers(3),
        )
        rows = [each if label == 2 else [each[label % len(each)]] for each in every]
        scores = tuple(tuple(round(one, 4) if several else one for one in row) for row in rows)
        yield Planted(spec, texts, done, activation, scores)
        count -= 1


def noises(count: int, seed: int) -> Iterator[tuple[BackboneSpec, Any, list[Row]]]:
    """Random probabilities and logits, and scores of another checkpoint, in two to seven decimals."""
    random = np.random.default_rng(seed)
    for number in range(count):
        spec = SPECS[TRAINED[number % len(TRAINED)]]
        texts = [texts_of(spec.key)[place] for place in random.permutation(5)[: random.choice([1, 1, 2, 3])]]
        others = [one for one in TRAINED if one != spec.key and one.split("-")[1] == spec.key.split("-")[1]]
        other, function = (
            SPECS[str(random.choice(others))],
            ACTIVATIONS[str(random.choice([*ACTIVATIONS]))][1],
        )
        rows = {
            0: [[float(random.uniform())] for _ in texts],
            1: [random.normal(size=2).tolist() for _ in texts],
            2: [function(logits_by_hand(other, *each)).tolist() for each in texts],
        }[number % 3]
        digits = int(random.choice([2, 3, 4, 7]))
        yield spec, texts, [tuple(round(one, digits) for one in row) for row in rows]


SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.other_family) for seed in range(1, 11))]


@pytest.mark.parametrize("seed", SEEDS)
def test_planted_ways_are_found_or_named_among_ties(specs: Specs, seed: int) -> None:
    every = list(planted(specs, 30 if seed else 15, seed))
    assert sum(one.is_found() for one in every) >= 0.99 * len(every) - 0.5  # of 300 at most three are lost


@pytest.mark.parametrize("seed", SEEDS)
def test_noise_and_scores_of_other_checkpoints_are_no_match(seed: int) -> None:
    every = list(noises(40 if seed else 6, seed))
    assert sum(ask(*one).match is not None for one in every) <= 0.01 * len(every) + 0.5


@pytest.mark.parametrize(
    ("done", "says", "sets"),
    [
        *(((), "as it runs here", "TEI"), (("zero",), "all segment ids 0", "llama.cpp has no segment ids")),
        (("no_pooler",), "activation left out", "A conversion lost tensors"),
    ],
)
def test_a_score_that_differs_is_told_what_made_it_and_what_is_to_be_set(
    done: tuple[str, ...], says: str, sets: str
) -> None:
    spec = SPECS[BERT]
    scores = logits_by_hand(spec, *PAIRS[0], done).softmax(-1).tolist()
    told = ask(spec, PAIRS[:1], [scores])
    assert told.match is not None
    assert done in [one.way.keys for one in (told.match, *told.ties)]
    assert says in str(told.says[0])
    assert sets in " ".join(map(str, told.says))
    digits = ask(spec, PAIRS[:1], [[round(scores[1], 2)]])  # met by many ways
    assert digits.match is None
    assert "Too little to tell" in str(digits.says[0])


@pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor")  # torch says it of what it does itself
@pytest.mark.parametrize("kind", ["float16", "bfloat16", "int8"])
def test_less_precision_is_found_where_several_scores_tell_it(kind: str) -> None:
    spec, plain = SPECS[BERT], load_plain(SPECS[BERT].location)
    model = plain.model
    if kind == "int8":
        with pytest.warns(DeprecationWarning, match="quantization"):
            model = quantize_dynamic(deepcopy(model), {torch.nn.Linear}, dtype=torch.qint8)
    with torch.no_grad():
        rows = [model(**inputs_of(plain.tokenizer, *pair, ())).logits[0].tolist() for pair in PAIRS]
    if kind != "int8":
        rows = [logits_by_hand(spec, *pair, (kind,)).tolist() for pair in PAIRS]
    told = ask(spec, PAIRS, rows)
    assert told.match is not None
    assert kind in [one.way.precision for one in (told.match, *told.ties)]


@pytest.mark.parametrize(
    ("key", "kind", "name", "count"),
    [
        (BERT, "float16", "none", 1),
        (BERT, "float16", "none", 2),
        ("roberta-sentiment", "bfloat16", "sigmoid", 2),
    ],
)
def test_no_other_way_alone_is_named_where_half_precision_made_it(
    key: str, kind: str, name: str, count: int
) -> None:
    spec, dtype, rows = SPECS[key], getattr(torch, kind), list[Row]()
    for text in texts_of(key)[:count]:
        rows.append(ACTIVATIONS[name][1](logits_by_hand(spec, *text, (kind,)).to(dtype)).double().tolist())
    told = ask(spec, texts_of(key)[:count], rows)
    ways = [one.way for one in (told.match, *told.ties) if one is not None]
    assert not ways or kind in [way.precision for way in ways]


def test_other_ways_are_found_too(specs: Specs) -> None:
    spec, logits = SPECS[BERT], [logits_by_hand(SPECS[BERT], *pair) for pair in PAIRS[:3]]
    warm = ask(spec, PAIRS[:3], [(each / 2.5).softmax(-1).tolist() for each in logits])
    assert warm.match is not None
    assert (warm.match.way.temperature, warm.more) == (2.5, 0)
    turned = ask(spec, PAIRS[:1], [logits[0].softmax(-1).flip(0).tolist()])
    assert turned.match is not None
    assert turned.match.way.labels == ("paraphrase", "not a paraphrase")
    shares = logits_by_hand(specs["bert-3"], TINY[0], "").softmax(-1).tolist()
    each = ({"label": f"LABEL_{place}", "score": share} for place, share in enumerate(shares))
    ((_, *largest_first),) = to_scores(sorted(each, key=lambda one: -one["score"]))
    named = found(loaded(specs["bert-3"]), [Query("bert-3", TINY[0])], [tuple(largest_first)])
    assert named.match is not None
    assert (named.match.way.keys, named.match.way.labels) == ((), ())


@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize(("key", "most"), [(SENTIMENT, 1), ("bert-3", 1), ("bert-3", 2)])
def test_the_likeliest_labels_are_found_where_texts_have_different_ones(
    specs: Specs, key: str, most: int, count: int
) -> None:
    plain, texts = load_plain(specs[key].location), (TINY[1::2] + TINY[::2])[:count]
    scored = pipeline("text-classification", model=plain.model, tokenizer=plain.tokenizer, top_k=most)
    printed = to_scores([{"text": text, "scores": scored(text)} for text in texts])
    labels = [names for *_, names in printed]
    assert count == 1 or len({*labels}) > 1
    told = found(loaded(specs[key]), [Query(key, text) for text in texts], [one[1:] for one in printed])
    assert told.match is not None
    assert (told.match.way.keys, told.match.way.activation) == ((), "softmax")
    assert told.match.way.labels == (labels[0] if count == 1 else ())
    assert not any({*one.way.labels} - {*labels[0]} for one in told.candidates)


@pytest.mark.parametrize(("key", "kept"), [(BERT, "first"), (BERT, "end"), (SENTIMENT, "end")])
def test_what_is_left_of_a_long_text_is_found(key: str, kept: str) -> None:
    spec, limit = SPECS[key], 128
    pair = "paraphrase" in key
    texts = (
        " ".join(["the film is good"] * (20 if pair else 40)),
        " ".join(["a bad film"] * 60) if pair else "",
    )
    tokenizer = deepcopy(load_plain(spec.location).tokenizer)
    tokenizer.truncation_side = "left" if kept == "end" else "right"
    how = "only_second" if kept == "first" else True
    inputs = tokenizer(texts[0], texts[1] or None, truncation=how, max_length=limit, return_tensors="pt")
    with torch.no_grad():
        scores = load_plain(spec.location).model(**inputs).logits[0].tolist()
    told = ask(spec, [texts], [scores])
    assert told.match is not None
    assert (limit, kept) in [(one.way.truncated, one.way.kept) for one in (told.match, *told.ties)]


TABLES = tomllib.loads(Path(__file__).with_name("scores.toml").read_text("utf-8"))
FORMS = [(given, [tuple(row) for row in rows]) for rows, each in TABLES["forms"] for given in each]
RANKING = (
    '{"results": [{"index": 1, "score": 0.1, "document": "b"}, {"index": 0, "score": 0.2, "document": "b"}]}'
)


@pytest.mark.parametrize(("given", "scores"), FORMS)
def test_scores_are_read_in_every_form(given: Any, scores: list[Row]) -> None:
    assert [one for _, one, *_ in to_scores(given)] == scores
    for one in ([{"index": 0, "text": "b", "score": 0.9}], RANKING):
        assert to_scores(one)[0][0] == {"text_pair": "b"}
    pairs = to_scores(
        '{"sentence1": "a 3", "sentence2": "b", "found": 0.9}\n{"premise": "c", "hypothesis": "d", "p": 1}'
    )
    assert [row[:2] for row in pairs] == [
        ({"text": "a 3", "text_pair": "b"}, (0.9,)),
        ({"text": "c", "text_pair": "d"}, (1.0,)),
    ]
    timed = '{"score": 0.910, "time": 0.123456}'
    assert [to_scores(one)[0][2] for one in ("0.910", "0,910", "91.0%", timed)] == [3, 3, 3, 3]


@pytest.mark.parametrize(
    ("given", "why"), [*TABLES["refused"], ([0.5] * 65, "1 to 64"), ([10**400], "finite")]
)
def test_what_is_no_score_is_refused_in_a_sentence(engine: Engine, given: Any, why: str) -> None:
    with pytest.raises(PoolscopeError, match=why) as refusal:
        engine.ask("detect_score", Query(BERT, *PAIRS[0]), scores=given)
    assert str(refusal.value).startswith("scores: ")


def test_a_score_that_is_pasted_as_a_vector_is_known(engine: Engine) -> None:
    for score in ("0.91", [0.09, 0.91]):
        with pytest.raises(PoolscopeError, match="/detect_score"):
            engine.ask("detect", Query(BERT, *PAIRS[0]), vector=score)


@pytest.mark.parametrize("kind", ["bart", pytest.param("t5", marks=pytest.mark.other_family)])
def test_a_model_that_takes_no_two_inputs_together_is_asked_one_by_one(tmp_path: Path, kind: str) -> None:
    tiny_checkpoint(tmp_path / kind, kind)
    spec = BackboneSpec(kind, kind, "", "", "local", str(tmp_path / kind))
    scores = logits_by_hand(spec, "a man sleeps", "the man is bad").tolist()
    told = ask(spec, [("a man sleeps", "the man is bad")], [scores])
    assert told.match is not None
    assert told.match.way.keys == ()
