"""Measures of cards: each is computed here once more, and every case of it is reached."""

import json
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from components.analyses.sees import Sees
from components.exhibits.evidence import Evidence
from components.exhibits.measures import MEASURES, Put
from components.exhibits.sees import Sight
from components.inference.engine import Engine
from components.results import beside
from components.texts import load_texts
from components.types import Query
from tests.analyses.test_timing import made_up
from tests.exhibits.asking import KEYS, QUESTIONS, RESULTS, cases, shipped
from tests.exhibits.showing import analysis
from tests.measured import having, measured
from tests.plain import SPECS, load_plain
from tests.ui.fake_answers import fake_trace

ASKED = dict(zip(KEYS, QUESTIONS, strict=True))


def put(key: str, backbone: str = "", analyst: Any = None, results: Any = RESULTS) -> Put:
    question = ASKED[key]
    evidence = Evidence(results, question.task, question.backbones, {})
    return Put(question, backbone or question.backbones[0], analyst or shipped(), evidence, load_texts())


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


def states(key: str, text: str) -> torch.Tensor:
    return load_plain(SPECS[key].location)(text).hidden_states[-1][0]


@pytest.mark.parametrize(("key", "sees"), [("gpt2-sentiment", "before"), ("bert-sentiment", "both")])
def test_what_the_first_tokens_see_is_what_transformers_gives(engine: Engine, key: str, sees: str) -> None:
    text = ASKED["token"].text
    half = text[: text.index(" ", len(text) // 2)]
    same = torch.allclose(states(key, text)[:2], states(key, half)[:2], atol=1e-5)
    assert (MEASURES["sees"](put("token", key, engine))["sees"], same) == (sees, sees == "before")


def test_every_case_of_what_tokens_see_is_reached() -> None:
    def saw(backbone: str, *rows: tuple[int, ...]) -> Any:
        given = analysis(backbone)
        sight = Sight(given, Sees(given.tokens, np.array(rows, dtype=bool), ()))
        return SimpleNamespace(shown=SimpleNamespace(analysis=given, sees=sight), say=load_texts())

    squares = ((1, 1), (1, 1)), ((1, 0), (1, 1)), ((1, 0), (0, 1)), ((1,),)
    reached("sees", saw("last", *squares[0]), *(saw("first", *rows) for rows in squares))


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


def test_every_case_of_scores_is_reached_and_the_card_s_are_of_lost_segment_ids(engine: Engine) -> None:
    """The server's numbers are what transformers gives when all segment ids are 0, to the digits printed."""
    plain = load_plain(SPECS["bert-paraphrase"].location)
    for one in json.loads(ASKED["score"].texts[0]):
        inputs = plain.tokenizer(one["text"], one["text_pair"], return_tensors="pt")
        inputs["token_type_ids"].zero_()
        with torch.no_grad():
            given = plain.model(**inputs).logits[0].softmax(dim=0)[1]
        assert f"{given:.4f}" == f"{one['scores'][0]:.4f}"
    known = put("score", analyst=engine)
    assert "all segment ids 0" in MEASURES["pasted"](known)["detected"]
    unknown = engine.ask("detect_score", Query("bert-sentiment", "good"), scores="0.5")
    assert unknown.match is None
    reached("pasted", known, put("score", analyst=answering(unknown)))
