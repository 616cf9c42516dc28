"""Loading: what a checkpoint is, what it lacks, where its head begins, and what is refused."""

import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from components.analyses.fit import in_order
from components.analyses.fit.embedding import embed
from components.analyses.measuring.analyze import analyse
from components.analyses.measuring.anatomy import dissect
from components.analyses.measuring.importance import weigh
from components.analyses.measuring.sees import look
from components.errors import PoolscopeError
from components.fitting import Plan
from components.model.backbone import batch_states
from components.model.catalogue import refreshed
from components.model.cut import replay, run
from components.model.examine import examine
from components.model.loading import Checkpoints, is_constant, load, size
from components.model.pooling import POOLINGS
from components.texts import Sentence
from components.types import BackboneSpec, Query
from tests.plain import KEYS, SPECS
from tests.tables import reviews
from tests.tiny import WORDS, alter, change, checkpoint, engine_on, reweigh, tokenizer

TABLES = tomllib.loads(Path(__file__).with_name("problems.toml").read_text(encoding="utf-8"))
QUESTION = Query("x", "the film is not good at all")


def test_a_whole_checkpoint_is_trained_and_in_single_precision(tmp_path: Path) -> None:
    spec = checkpoint(tmp_path / "whole")
    reweigh(tmp_path / "whole", lambda tensors: tensors.update({k: v.half() for k, v in tensors.items()}))
    backbone = load(spec)
    assert backbone.architecture == "BertForSequenceClassification"
    assert backbone.head_trained
    assert backbone.provenance.unused == {}
    assert backbone.labels == ("LABEL_0", "LABEL_1")
    assert backbone.limit == 24
    assert next(backbone.model.parameters()).dtype == torch.float32


@pytest.mark.parametrize("key", KEYS)
def test_a_bundled_checkpoint_can_be_trained_as_anybody_loads_it(key: str) -> None:
    """It is stored in half precision, in which one step leaves almost nothing finite."""
    model = AutoModelForSequenceClassification.from_pretrained(SPECS[key].location).train()
    words = AutoTokenizer.from_pretrained(SPECS[key].location)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-5)
    batch = words(["a fine film", "not good"], padding=True, return_tensors="pt")
    model(**batch, labels=torch.tensor([1, 0])).loss.backward()
    optimizer.step()
    held = {name: weight for name, weight in model.named_parameters() if not weight.isfinite().all()}
    assert held.keys() == set()
    assert {weight.dtype for weight in model.parameters()} == {torch.float32}


@pytest.mark.parametrize(("config", "problem_type"), TABLES["kinds"])
def test_probabilities_follow_the_problem_type(
    tmp_path: Path, config: dict[str, object], problem_type: str
) -> None:
    analysis = analyse(examine(load(checkpoint(tmp_path / "odd", **config)), QUESTION))
    logits = analysis.logits.astype(float)
    expected = {
        "single_label": np.exp(logits) / np.exp(logits).sum(),
        "multi_label": 1 / (1 + np.exp(-logits)),
        "regression": logits,
    }[problem_type]
    assert analysis.problem_type == problem_type
    np.testing.assert_allclose(analysis.probabilities, expected, atol=1e-6)
    above = [label for label, logit in zip(analysis.labels, logits, strict=True) if logit > 0]
    largest = (analysis.labels[int(logits.argmax())],)
    chosen = {"single_label": largest, "multi_label": tuple(above), "regression": ()}[problem_type]
    assert analysis.predicted == chosen


@pytest.mark.parametrize(("named", "labels"), TABLES["numbered"])
def test_labels_are_those_of_their_numbers(tmp_path: Path, named: dict[str, str], labels: list[str]) -> None:
    spec = checkpoint(tmp_path / "x", num_labels=3)
    change(tmp_path / "x" / "config.json", id2label=named)
    plain = AutoModelForSequenceClassification.from_pretrained(spec.location).config.id2label
    assert {number: name for number, name in plain.items() if name in labels}.items() <= {*enumerate(labels)}
    assert list(load(spec).labels) == list(refreshed(spec).labels) == labels


FOLDERS = tomllib.loads(Path(__file__).with_name("folders.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("kind", FOLDERS)
def test_what_a_folder_holds_besides_or_instead_is_said(tmp_path: Path, kind: str) -> None:
    case, folder = FOLDERS[kind], tmp_path / "odd"
    spec, prefix = replace(checkpoint(folder), available=False), case.get("prefix", "")

    def renamed(tensors: dict[str, Tensor]) -> None:
        for key in [*tensors]:
            tensors[prefix + key.replace(*case.get("inside", ("", "")))] = tensors.pop(key)

    reweigh(folder, renamed)
    reweigh(folder, lambda tensors: tensors.update(dict.fromkeys(case.get("more", ()), torch.ones(1))))
    reweigh(folder, lambda tensors: [tensors.pop(key) for key in case.get("drop", ())])
    alter(folder, case)
    try:
        told = [str(one) for one in analyse(examine(load(spec), QUESTION)).warnings]
    except PoolscopeError as refusal:
        told = [str(refusal)]
    expected = [False] * case.get("besides", 0) + [True] if case["says"] else []
    assert [case["says"] in one for one in told] == expected


def test_an_absent_folder_is_said_to_be_absent(tmp_path: Path) -> None:
    spec = BackboneSpec("gone", "Gone", "t", "", "local", str(tmp_path / "gone"), available=False)
    with pytest.raises(PoolscopeError, match="backbone: 'gone' was given; its files are not on this"):
        load(spec)


def test_the_least_recently_used_leaves_first(tmp_path: Path) -> None:
    spec = checkpoint(tmp_path / "one")
    a, b, c = (replace(spec, key=key) for key in "abc")
    checkpoints = Checkpoints(2 * size(load(spec).model))
    first = checkpoints.get(a)
    second = checkpoints.get(b)
    assert checkpoints.get(a) is first  # now b is the one that was used longest ago
    checkpoints.get(c)
    assert checkpoints.get(a) is first
    assert checkpoints.get(b) is not second


def test_the_size_is_known_before_loading_and_counts_what_is_tied_once(tmp_path: Path) -> None:
    told: list[int] = []
    backbone = load(checkpoint(tmp_path / "decoder", "gpt2", "gpt2"), told.append)
    storages = {
        tensor.untyped_storage().data_ptr(): tensor.untyped_storage().nbytes()
        for tensor in (*backbone.model.parameters(), *backbone.model.buffers())
    }
    assert told == [size(backbone.model)] == [sum(storages.values())]
    load(checkpoint(tmp_path / "headless", headless=True), told.append)  # what is lacking takes room too
    load(checkpoint(tmp_path / "whole"), told.append)
    assert told[1] == told[2]


def test_one_that_is_refused_leaves_the_others(tmp_path: Path) -> None:
    small, bad = checkpoint(tmp_path / "small"), checkpoint(tmp_path / "bad")
    large = checkpoint(tmp_path / "large", max_position_embeddings=40_000)  # 32 numbers of 4 bytes each: 5 MB
    (tmp_path / "bad" / "model.safetensors").write_bytes(b"")
    checkpoints = Checkpoints(4_000_000)
    kept = checkpoints.get(small)
    with pytest.raises(PoolscopeError, match=r"'large' .* needs 6 MB of memory and 4 MB are set aside"):
        checkpoints.get(large)
    for _again in range(2):
        with pytest.raises(PoolscopeError, match="damaged"):
            checkpoints.get(bad)
    assert checkpoints.get(small) is kept


def test_a_text_that_the_model_fails_on_costs_that_text(tmp_path: Path) -> None:
    """Two checkpoints: a token was added without an embedding; each number is finite, no sum is."""
    spec = checkpoint(tmp_path / "odd")
    before, table = examine(load(spec), QUESTION).kept.logits, "bert.embeddings.word_embeddings.weight"
    longer = tokenizer()
    longer.add_tokens(["<ent>"])
    longer.save_pretrained(tmp_path / "odd")
    reweigh(tmp_path / "odd", lambda tensors: tensors[table][WORDS.index("bad")].fill_(3e38))
    backbone = load(spec)
    assert torch.equal(examine(backbone, QUESTION).kept.logits, before)
    fails = "text: '4 tokens' was given; the model fails on them"
    for text, says in (("good <ent>", fails), ("the film is bad", "grow beyond what can be computed")):
        with pytest.raises(PoolscopeError, match=says):
            examine(backbone, Query("odd", text))


def test_a_row_that_the_model_fails_on_costs_that_row_of_a_table(tmp_path: Path) -> None:
    """One has two ends, which no other may stand beside; one a token without an embedding; one overflows."""
    spec = checkpoint(tmp_path / "odd", "bart", "bart")
    reweigh(tmp_path / "odd", lambda tensors: tensors["model.shared.weight"][WORDS.index("bad")].fill_(3e38))
    longer = tokenizer()
    longer.add_tokens(["<ent>"])
    longer.save_pretrained(tmp_path / "odd")
    backbone, texts = load(spec), ("the film", "good [SEP] film", "good <ent>", "the man", "the film is bad")
    found = embed(backbone, ["mean"], False, np.arange(5) + 2, [(text,) for text in texts])
    ((place, vectors),) = found.vectors.items()
    assert found.rows.tolist() == [2, 3, 5]
    alone = [POOLINGS["mean"](batch_states(backbone, [texts[row - 2]]))[0] for row in found.rows]
    np.testing.assert_allclose(vectors, torch.stack(alone), atol=1e-5)
    assert [str(values["reason"]) for fault, values in found.faults if fault == "failed"] == [
        "index out of range in self", str(Sentence("lab.infinite")),
    ]  # fmt: skip
    whole = in_order([found], place, 7)
    np.testing.assert_array_equal(whole[found.rows], vectors)
    assert np.flatnonzero(whole.any(axis=1)).tolist() == [2, 3, 5]
    plain = reviews(40)
    table = replace(plain, texts=(texts[2], *plain.texts[1:]))
    engine = engine_on(tmp_path, {"odd": tmp_path / "odd"})
    *_, fit = engine.fit(table, Plan(("odd",), ("mean",), folds=2))
    lost = 1 + sum("bad" in text.split() for text in table.texts)
    assert f"the model fails on {lost} of 40 rows (index out of range" in " ".join(map(str, fit.warnings))


def by_seeds(folder: Path) -> tuple[Tensor, Tensor]:
    """The logits of transformers alone, where what is lacking is drawn from either of two seeds."""
    found = []
    for seed in (0, 1):
        torch.manual_seed(seed)
        model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
        with torch.no_grad():
            found.append(model(input_ids=torch.tensor([[2, 4, 5, 6, 3]])).logits)
    return found[0], found[1]


@pytest.mark.parametrize(("family", "lacking", "expected"), TABLES["lacking"])
def test_outputs_are_called_random_exactly_where_they_hang_on_the_seed(
    tmp_path: Path, family: str, lacking: list[str], expected: list[str]
) -> None:
    spec = checkpoint(tmp_path / "x", family)
    reweigh(tmp_path / "x", lambda tensors: [tensors.pop(name) for name in lacking])
    backbone = load(spec)
    assert backbone.provenance.missing == tuple(lacking)
    one, other = by_seeds(tmp_path / "x")
    analysis = analyse(examine(backbone, QUESTION))
    assert analysis.random == (not torch.equal(one, other))
    assert analysis.head_trained == ("untrained" not in expected)
    assert analysis.body_trained == ("untrained_body" not in expected)
    assert tuple(warning.key for warning in analysis.warnings) == tuple(f"warnings.{key}" for key in expected)
    again = analyse(examine(load(backbone.spec), QUESTION))  # what is lacking is drawn alike every time
    np.testing.assert_array_equal(again.logits, analysis.logits)
    for warning in analysis.warnings:
        assert ("random" in str(warning)) == (warning.key != "warnings.constant")


def test_a_part_of_a_config_that_its_type_of_model_leaves_unread_changes_nothing(tmp_path: Path) -> None:
    spec = checkpoint(tmp_path / "x")
    whole = load(spec)
    change(tmp_path / "x" / "config.json", text_config={"pad_token_id": 9, "max_position_embeddings": 9})
    found = load(spec)
    assert found.limit == whole.limit
    erasures = [weigh(examine(one, QUESTION), "").erasure for one in (whole, found)]
    np.testing.assert_array_equal(*erasures)
    assert look(examine(found, QUESTION), turn=False).sees.all()


def test_a_tensor_of_another_shape_is_held_and_not_used(tmp_path: Path) -> None:
    spec = checkpoint(tmp_path / "x", num_labels=3)
    names = {f"label {index}": index for index in range(5)}
    named = {str(index): name for name, index in names.items()}
    change(tmp_path / "x" / "config.json", id2label=named, label2id=names)
    backbone = load(spec)
    assert not backbone.head_trained
    held = [("classifier.bias", (3,)), ("classifier.weight", (3, 32))]
    found = dissect(examine(backbone, QUESTION))
    assert [(weight.name, weight.shape) for weight in found.unused] == held
    origins = {weight.name: weight.origin for weight in found.weights}
    assert (origins["classifier.weight"], origins["classifier.bias"]) == ("reshaped", "constant")


@pytest.mark.parametrize(("numbers", "constant"), TABLES["constant"])
def test_a_number_that_stands_alone_may_have_been_drawn(numbers: list[float], constant: bool) -> None:
    assert is_constant(torch.tensor(numbers)) == constant


def test_replaying_other_hidden_states_leaves_no_trace_even_if_it_fails(tmp_path: Path) -> None:
    backbone = load(checkpoint(tmp_path / "x"))
    inputs = dict(backbone.tokenizer("the film is not good", return_tensors="pt"))
    kept = run(backbone.model, backbone.cut, inputs)
    assert not torch.allclose(replay(backbone.model, backbone.cut, kept, -kept.hidden[-1]), kept.logits)
    with pytest.raises(RuntimeError):
        replay(backbone.model, backbone.cut, kept, torch.zeros(1, 3, 7))  # too narrow
    assert "forward" not in vars(backbone.cut)
    assert torch.equal(backbone.model(**inputs).logits, kept.logits)


@pytest.mark.parametrize("bias", [-50.0, -1000.0, None])
def test_a_head_that_hears_only_loud_noise_is_loaded_and_one_that_hears_nothing_refused(
    tmp_path: Path, bias: float | None
) -> None:
    """Its ReLU is dead on ordinary hidden states; without a bias, none move its logits."""
    spec = checkpoint(tmp_path / "x", "distilbert", "bert")
    model = AutoModelForSequenceClassification.from_pretrained(spec.location).eval()
    inputs = {"input_ids": torch.tensor([[2, 5, 6, 3]]), "attention_mask": torch.ones(1, 4, dtype=torch.long)}
    with torch.no_grad():
        model.pre_classifier.bias.fill_(bias or 0)
        model.classifier.weight *= 0 if bias is None else 1
        model.save_pretrained(spec.location)
        plain = model(**inputs).logits
        assert torch.equal(model(input_ids=inputs["input_ids"].flip(1)).logits, plain)  # it is dead
        loud = model.classifier(model.pre_classifier(torch.full((1, 32), 1e5)).relu())
    assert torch.equal(loud, plain) == (bias is None)
    if bias is None:
        with pytest.raises(PoolscopeError, match="random ones were tried, of sizes up to 10,000"):
            load(spec)
        return
    reads = analyse(examine(load(spec), Query("x", "the film"))).reads
    assert np.flatnonzero(reads.positions).tolist() == [0]
