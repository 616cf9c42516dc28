"""What captions of the talk conclude from a plot holds for what is measured."""

from collections.abc import Iterable
from typing import TypeVar

import numpy as np
import pytest

from components.declaration import Declaration
from components.exhibits.curves import CURVES_CENTRED
from components.exhibits.view import CENTRED, View, centring_of
from components.inference.engine import Engine
from components.menus import load_examples
from components.results import read_results
from components.settings import ASSETS
from components.texts import languages
from components.types import Analysis, Query
from tests.measured import measured
from tests.talks import Told, slides_of

STEPS, PAIRS = slides_of("cls"), slides_of("pairs")
RESULTS = read_results(ASSETS / "results.csv")
R = TypeVar("R")
FAMILIES = ("bert", "distilbert", "roberta", "xlnet", "gpt2")
TEXT = load_examples()[0].text  # what is asked on arrival


def step(show: str) -> Told:
    """The only step that shows this."""
    (found,) = (one for one in STEPS if one.show == show)
    return found


def claiming(words: str) -> Told:
    """The step of the talk about pairs whose caption says this."""
    (found,) = (one for one in PAIRS if words in one.caption)
    return found


def compared(engine: Engine, step: Told, text: str, pair: str) -> list[Analysis]:
    """What each backbone of a comparison says of two of its texts."""
    return [
        engine.ask("analyze", Query(key, step.one(text), step.one(pair))) for key in step.all("backbones")
    ]


def estimate(rows: Iterable[R], pooling: str, backbone: str = "all-minilm-l6-v2", **more: str) -> R:
    """The only row of a pooling of a backbone."""
    wanted = {"backbone": backbone, "pooling": pooling, **more}
    (found,) = (row for row in rows if all(getattr(row, name) == one for name, one in wanted.items()))
    return found


@pytest.mark.parametrize("family", FAMILIES)
def test_without_what_all_sentences_share_tokens_end_more_like_cls_than_they_began(
    engine: Engine, family: str
) -> None:
    curves = step("curves")
    assert "still end more like [CLS] than they began" in curves.caption
    analysis = engine.ask("analyze", Query(f"{family}-sentiment", TEXT))
    centring = centring_of(CURVES_CENTRED, curves.state)
    assert centring != "plain"
    others = np.delete(analysis.cosines(centring), analysis.tokens.cls, axis=1)
    assert others[-1].mean() > others[0].mean() + 0.05


def test_layer_by_layer_more_tokens_are_more_like_cls_than_is_ordinary(engine: Engine) -> None:
    heatmap = step("heatmap")
    assert heatmap.caption.startswith("Layer by layer, more of them grow more like it")
    analysis = engine.ask("analyze", Query("bert-sentiment", TEXT))
    centring = centring_of(CENTRED, heatmap.state)
    above = []
    for layer in range(analysis.layers + 1):
        view = View(analysis, layer, centring)
        assert view.band
        above.append(sum(view.similarity[index] > view.band[2] for index in view.others))
    assert above == sorted(above)
    assert above[-1] > len(analysis.tokens.text) / 2 > above[0]


@pytest.mark.parametrize("talk", ["cls", "pairs"])
@pytest.mark.parametrize("language", languages())
def test_a_talk_is_the_same_in_every_language_but_for_its_words(talk: str, language: str) -> None:
    english, other = slides_of(talk), slides_of(talk, language)
    for one, same in zip(english, other, strict=True):
        assert (one.show, one.state, one.minutes) == (same.show, same.state, same.minutes)
        assert (bool(one.question), len(one.choices)) == (bool(same.question), len(same.choices))
        assert len(one.notes.splitlines()) == len(same.notes.splitlines())


def test_the_same_words_are_a_paraphrase_to_all_whatever_they_mean(engine: Engine) -> None:
    one = claiming("all five call it a paraphrase")
    answers = compared(engine, one, "compare_text", "compare_pair")
    assert len(answers) == 5
    assert [answer.labels[answer.logits.argmax()] for answer in answers] == ["paraphrase"] * 5
    words = [sorted(one.one(key).lower().strip(".").split()) for key in ("compare_text", "compare_pair")]
    assert words[0] == words[1]


def test_the_order_of_a_pair_matters_to_all_and_flips_one_label(engine: Engine) -> None:
    one = claiming("matters to all of them")
    assert (one.one("compare_text"), one.one("compare_pair")) == (
        one.one("version_pair"),
        one.one("version_text"),
    )
    before = compared(engine, one, "compare_text", "compare_pair")
    after = compared(engine, one, "version_text", "version_pair")
    for was, now in zip(before, after, strict=True):
        assert np.abs(was.probabilities - now.probabilities).max() > 0.005
    assert (
        sum(was.logits.argmax() != now.logits.argmax() for was, now in zip(before, after, strict=True)) == 1
    ), "the notes speak of the backbone whose label flips"


def test_a_checkpoint_declares_one_vector_and_its_classifier_reads_another(engine: Engine) -> None:
    declared, measured = claiming("Declared:"), claiming("Measured:")
    assert "reads another vector, and is untrained" in measured.caption
    analysis = engine.ask("analyze", Query(measured.one("backbone"), measured.one("text")))
    files = analysis.backbone.declared
    assert isinstance(files, Declaration)
    assert (declared.one("backbone"), files.poolings) == (measured.one("backbone"), ("mean",))
    assert [step.name for step in files.steps] == ["normalize"]
    assert analysis.reads.positions.sum() == 1  # of all the tokens of which the mean is declared
    assert not analysis.head_trained


def test_wrong_poolings_follow_people_less_and_their_intervals_do_not_meet() -> None:
    claiming("less than the declared mean")
    for wrong in ("cls", "pooler"):
        assert (
            estimate(measured(RESULTS, "cosine"), wrong).high
            < estimate(measured(RESULTS, "cosine"), "mean").low
        )


def test_whitening_helps_cls_and_harms_the_declared_mean() -> None:
    one = claiming("Whitening helps [CLS] in both, and harms the mean of the one trained for it")
    for backbone in one.all("evidence_backbones"):
        assert estimate(measured(RESULTS, "postprocessed"), "cls", backbone, step="whitened").gain_low > 0
    assert estimate(measured(RESULTS, "postprocessed"), "mean", step="whitened").gain_high < 0
    for mended in ("centred", "standardised", "whitened"):
        wrong = estimate(measured(RESULTS, "postprocessed"), "cls", step=mended)
        assert wrong.value < estimate(measured(RESULTS, "cosine"), "mean").low
