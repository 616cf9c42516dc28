"""Measures of cards: each is computed here once more, and every case of it is reached."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.stats import binomtest
from statsmodels.stats.multitest import multipletests

from components.exhibits.evidence import select
from components.exhibits.facts import cases
from components.exhibits.measures import MEASURES, Put, at_most
from components.inference.engine import Engine
from components.results import beside, read_results
from components.texts import ASSETS, load_texts
from tests.analyses.test_timing import made_up
from tests.exhibits.asking import KEYS, QUESTIONS, RESULTS, shipped
from tests.exhibits.showing import analysis
from tests.measured import having, measured
from tests.plain import SPECS, load_plain
from tests.ui.fake_answers import fake_trace

ASKED = dict(zip(KEYS, QUESTIONS, strict=True))


def put(key: str, backbone: str = "", analyst: Any = None, results: Any = RESULTS) -> Put:
    question = ASKED[key]
    evidence = select(results, question.task, question.backbones, {})
    return Put(
        question, backbone or question.backbones[0], analyst or shipped(), evidence, results, load_texts()
    )


def answering(answer: Any) -> Any:
    """An analyst that gives the same answer to everything."""
    return SimpleNamespace(ask=lambda *_, **__: answer)


def reached(name: str, *puts: Put) -> None:
    """Check that a measure has each of its cases."""
    found = [MEASURES[name](one) for one in puts]
    assert {(case, one[case]) for case in cases((name,)) for one in found} == {
        (case, value) for case, values in cases((name,)).items() for value in values
    }


def test_every_case_of_a_timing_is_reached() -> None:
    slower = made_up(analysis("first"))
    faster = replace(slower, whole=slower.whole[:, ::-1])
    alike = replace(slower, whole=np.concatenate([slower.whole[::2], faster.whole[1::2]]))
    reached("timing", *(put("cost", analyst=answering(one)) for one in (slower, faster, alike)))


def test_every_case_of_a_change_is_reached() -> None:
    first = analysis("first", "so good")
    change = fake_trace(first, analysis("first", "so bad"))
    shares = np.zeros_like(change.shares)
    shares[:, 1] = 1
    gathered = shares.copy()
    gathered[-1] = np.eye(shares.shape[1])[first.tokens.cls]
    random = replace(change, first=replace(first, head_trained=False))
    every = (replace(change, shares=shares), replace(change, shares=gathered), random)
    reached("carried", *(put("attends", analyst=answering(one)) for one in every))


def test_every_case_of_cosines_is_reached() -> None:
    def gained(gain: float, p: float) -> Put:
        rows = [beside(row, gain=gain, p=p) for row in measured(RESULTS, "cosine")]
        return put("embedding", results=having(RESULTS, cosine=rows))

    reached("rho", gained(0.2, 0.0), gained(-0.2, 0.0), gained(0.2, 0.5))


def test_every_case_of_a_duel_is_reached() -> None:
    def won(*tasks: str) -> Put:
        value = {True: {"max": 0.9, "mean": 0.5}, False: {"max": 0.5, "mean": 0.5}}
        rows = [
            beside(
                row, value=value[row.task in tasks].get(row.pooling, 0.5), measured=1000, better=9, worse=9
            )
            for row in measured(RESULTS, "probe")
        ]
        return put("maximum", results=having(RESULTS, probe=rows))

    reached("duel", won("sentiment"), won("topic"), won())


def test_the_maximum_is_held_against_the_average_as_scipy_and_statsmodels_have_it() -> None:
    table = pd.read_csv(ASSETS / "results.csv")
    probes = table[(table["kind"] == "probe") & table["pooling"].isin(["max", "mean"])]
    told = MEASURES["duel"](put("maximum", results=read_results(ASSETS / "results.csv")))
    lines = []
    for task in probes["task"].unique():
        of_task = probes[probes["task"] == task].set_index(["pooling", "backbone"])
        one, other = of_task.loc["max"], of_task.loc["mean"]
        ahead = ((one["value"] - other["value"]) * one["measured"]).round()
        apart = one["better"] + one["worse"] + other["better"] + other["worse"]
        ps = [binomtest(int((n + d) // 2), int(n)).pvalue for n, d in zip(apart, ahead, strict=True)]
        counts = multipletests(ps, 0.05, "holm")[0]
        proven = [int((counts & (ahead * sign > 0)).sum()) for sign in (1, -1)]
        line = f"ahead on {(ahead > 0).sum()} of {len(ahead)} backbones, proven better on {proven[0]}, "
        lines.append(f"{line}proven worse on {proven[1]}")
    assert [part.split(": ")[1] for part in told["duels"].split("; ")] == lines


def test_what_is_proven_of_two_poolings_holds_however_their_errors_overlap() -> None:
    """Of error vectors that are drawn, the true p is never above that which is given."""
    draw = np.random.default_rng(0)
    for _ in range(200):
        base, one, other = (draw.random((3, 200)) < draw.uniform(0.5, 0.9, (3, 1))).astype(int)
        counts = [{"better": int((r > base).sum()), "worse": int((r < base).sum())} for r in (one, other)]
        values = [{"measured": 200, "value": float(r.mean())} for r in (one, other)]
        rows = [SimpleNamespace(**these, **those) for these, those in zip(counts, values, strict=True)]
        better, apart = int((one > other).sum()), int((one != other).sum())
        assert at_most(*rows).p >= binomtest(better, apart).pvalue - 1e-12


def states(key: str, text: str) -> torch.Tensor:
    return load_plain(SPECS[key].location)(text).hidden_states[-1][0]


@pytest.mark.parametrize(("key", "sees"), [("gpt2-sentiment", "before"), ("bert-sentiment", "both")])
def test_what_the_first_tokens_see_is_what_transformers_gives(engine: Engine, key: str, sees: str) -> None:
    text = ASKED["token"].text
    half = text[: text.index(" ", len(text) // 2)]
    same = torch.allclose(states(key, text)[:2], states(key, half)[:2], atol=1e-5)
    assert (MEASURES["blind"](put("token", key, engine))["sees"], same) == (sees, sees == "before")
    reached("blind", *(put("token", one, engine) for one in ("gpt2-sentiment", "bert-sentiment")))


def test_near_sentences_are_as_near_as_transformers_has_them(engine: Engine) -> None:
    question, told = ASKED["embedding"], []
    every = [states("bert-pretrained", text) for text in (question.text, *question.texts)]
    for pooling, vectors in (
        ("cls", [one[0] for one in every]),
        ("mean", [one.mean(dim=0) for one in every]),
    ):
        near = [float(torch.cosine_similarity(vectors[0], one, dim=0)) for one in vectors[1:]]
        told.append(f"{pooling}: " + ", ".join(f"{one:.2f}" for one in near))
    assert MEASURES["nearness"](put("embedding", analyst=engine))["nearness"] == "; ".join(told)


def test_without_a_padding_id_a_batch_is_refused_and_with_another_one_padding_is_read() -> None:
    """Words of the card about a head for GPT-2 says of its class."""
    plain = load_plain(SPECS["gpt2-pretrained"].location)
    batch = plain.tokenizer(["not good", "not good at all"], padding=True, return_tensors="pt")
    alone = plain("not good").logits[0]
    known = plain.model.config.pad_token_id
    for number, fits in ((known, True), (0, False)):
        plain.model.config.pad_token_id = number
        with torch.no_grad():
            assert torch.allclose(plain.model(**batch).logits[0], alone, atol=1e-4) == fits
    plain.model.config.pad_token_id = None
    with pytest.raises(ValueError, match="padding token"):
        plain.model(**batch)
    plain.model.config.pad_token_id = known
