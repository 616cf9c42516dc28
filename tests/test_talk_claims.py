"""What captions of the talk conclude from a plot holds for what is measured."""

import re

import numpy as np
import pytest

from components.exhibits.averaging import averages, averages_facts
from components.exhibits.evidence import Evidence, sign
from components.exhibits.hidden_states import stays, trace_claims
from components.exhibits.importance import methods_of
from components.exhibits.view import CENTRED, View
from components.inference.engine import Engine
from components.menus import EXAMPLES, load_examples
from components.results import read_results
from components.settings import ASSETS
from components.texts import languages, load_texts
from components.types import Analysis, Declaration, Query
from tests.measured import measured
from tests.talks import Told, slides_of

RESULTS = read_results(ASSETS / "results.csv")
FAMILIES = ("bert", "distilbert", "roberta", "xlnet", "gpt2")
TEXT, COMPARED = load_examples()[0].text, EXAMPLES["compared"]  # what is asked on arrival


def claiming(words: str, talk: str = "pairs") -> Told:
    """The slide of a talk whose caption says this."""
    (found,) = (one for one in slides_of(talk) if words in one.caption)
    return found


def compared(engine: Engine, step: Told, text: str, pair: str) -> list[Analysis]:
    """What each backbone of a comparison says of two of its texts."""
    texts = step.one(text), step.one(pair)
    return [engine.ask("analyze", Query(key, *texts)) for key in step.all("backbones")]


def remembered(talk: str, language: str) -> list[str]:
    """The list between the heading of a talk and its first slide."""
    text = (ASSETS / "talks" / f"{language}.md").read_text(encoding="utf-8")
    return re.findall("^- (.+)", text.split(f"{{#{talk}}}\n")[1].split("\n## ")[0], re.MULTILINE)


def test_what_is_to_be_remembered_is_three_sentences_that_were_shown(engine: Engine) -> None:
    for language in languages():
        assert [len(remembered(talk, language)) for talk in ("cls", "pairs")] == [3, 3]
    read, similar, trained = remembered("cls", "en")
    assert "BERT's reads [CLS], GPT-2's reads the last token" in read
    for family, place in (("bert", 0), ("gpt2", -1)):
        analysis = engine.ask("analyze", Query(f"{family}-sentiment", TEXT))
        assert np.flatnonzero(analysis.reads.positions).tolist() == [range(len(analysis.tokens.text))[place]]
        square = engine.ask("sees", Query(f"{family}-sentiment", TEXT)).sees
        assert np.flatnonzero(square.all(axis=1)).tolist() == list(range(len(square)))[-1 if place else 0 :]
    assert "not the same as important" in similar
    claiming("Similar is not the same as important", "explain")
    found = engine.ask("importance", Query("bert-sentiment", TEXT))
    similarity, *_, erasure = methods_of(found, load_texts())
    assert similarity.top != erasure.top
    assert "Without that, the average is often better" in trained  # as is tested below


def test_the_slide_of_five_models_answers_its_question() -> None:
    """None differs where it was fine-tuned, more than half gain elsewhere: it depends."""
    one = claiming("Fine-tuned for the task", "cls")
    assert len(one.all("evidence_backbones")) == 5
    assert claiming("the average is no better. Where it was not, it often is", "explain").state == one.state
    shown = {True: list[int](), False: list[int]()}
    for row in averages(Evidence(RESULTS, "sentiment", one.all("evidence_backbones"), {})):
        shown[row.tuned].append((row.corrected < 0.05) * (1 if row.better > row.worse else -1))
    assert shown[True] == [0] * 5
    assert len(shown[False]) == 15
    assert sum(shown[False]) > 7


@pytest.mark.parametrize("language", languages())
@pytest.mark.parametrize("talk", ["cls", "pairs"])
def test_a_talk_has_time_for_what_is_said(talk: str, language: str) -> None:
    """At 120 words, or 240 Chinese characters, a minute: twelve slides take 18 minutes at most."""
    slides = slides_of(talk, language)
    for one in slides:
        said = " ".join((one.question, *one.choices, one.caption, one.notes))
        characters, words = re.findall(r"[\u4e00-\u9fff]", said), re.findall(r"[A-Za-z0-9'-]+", said)
        assert len(characters) / 240 + len(words) / 120 <= one.minutes, one.caption
        assert one.question, one.caption  # asked first: the answer comes with the next key
    assert len(slides) + 1 <= 12
    assert sum(one.minutes for one in slides) <= 18


def test_compare_opens_on_a_text_that_divides_backbones_and_poolings_of_one(engine: Engine) -> None:
    asked = [(f"{one}-sentiment", "native") for one in FAMILIES] + [("bert-sentiment", "max")]
    said = [engine.ask("analyze", Query(key, COMPARED, "", way, "probe")).predicted for key, way in asked]
    assert len(set(said[:-1])) == 2
    assert said[0] != said[-1]


def test_layer_by_layer_more_tokens_are_more_like_cls_than_is_ordinary(engine: Engine) -> None:
    analysis = engine.ask("analyze", Query("bert-sentiment", TEXT))
    for caption, talk in (("more tokens are more like [CLS]", "cls"), ("grow more like", "explain")):
        how = CENTRED.of(claiming(caption, talk).state)
        above = [len(View(analysis, layer, how).above) for layer in range(analysis.layers + 1)]
        assert above == [0, 2, 3, 5, 8]  # as transformers and NumPy count: see tests/model/test_ordinary.py


@pytest.mark.parametrize("talk", ["cls", "pairs", "explain"])
@pytest.mark.parametrize("language", [file.stem for file in (ASSETS / "talks").glob("*.md")])
def test_a_talk_is_the_same_in_every_language_but_for_its_words(talk: str, language: str) -> None:
    shapes = [
        [(one.show, one.state, one.minutes, len(one.choices), len(one.notes.splitlines())) for one in slides]
        for slides in (slides_of(talk), slides_of(talk, language))
    ]
    assert shapes[0] == shapes[1]


def test_the_same_words_are_a_paraphrase_to_all_whatever_they_mean(engine: Engine) -> None:
    one = claiming("all five call it a paraphrase")
    answers = compared(engine, one, "compare_text", "compare_pair")
    assert [answer.predicted for answer in answers] == [("paraphrase",)] * 5
    words = [sorted(one.one(key).lower().strip(".").split()) for key in ("compare_text", "compare_pair")]
    assert words[0] == words[1]


def test_the_order_of_a_pair_matters_to_all_and_flips_one_label(engine: Engine) -> None:
    """The notes speak of the backbone whose label flips."""
    one = claiming("matters to all of them")
    texts = [one.one(key) for key in ("compare_text", "compare_pair", "version_pair", "version_text")]
    assert texts[:2] == texts[2:]
    before = compared(engine, one, "compare_text", "compare_pair")
    pairs = list(zip(before, compared(engine, one, "version_text", "version_pair"), strict=True))
    assert all(np.abs(was.probabilities - now.probabilities).max() > 0.005 for was, now in pairs)
    assert sum(was.predicted != now.predicted for was, now in pairs) == 1


def test_a_checkpoint_declares_one_vector_and_its_classifier_reads_another(engine: Engine) -> None:
    declared, told = claiming("Declared:"), claiming("Measured:")
    assert "reads another vector, and is untrained" in told.caption
    analysis = engine.ask("analyze", Query(told.one("backbone"), told.one("text")))
    files = analysis.backbone.declared
    assert isinstance(files, Declaration)
    assert (declared.one("backbone"), files.poolings) == (told.one("backbone"), ("mean",))
    assert [step.name for step in files.steps] == ["normalize"]
    assert analysis.reads.positions.sum() == 1  # of all the tokens of which the mean is declared
    assert not analysis.head_trained


def test_the_average_often_beats_cls_but_where_that_was_fine_tuned_for_the_task() -> None:
    claiming("Fine-tuned for the task, [CLS] is not shown to be worse than the average", "cls")
    found = averages(Evidence(RESULTS, "sentiment", (), {}))
    assert averages_facts(found)["averaging"] == "tuning"
    others = [row for row in found if not row.tuned]
    assert [sign(row) for row in others].count("better") > len(others) / 2
    tuned = {(row.backbone, row.task) for row in measured(RESULTS, "head")}
    better: dict[bool, list[bool]] = {True: [], False: []}
    for row in measured(RESULTS, "probe", pooling="mean"):  # by McNemar's test against cls
        better[(row.backbone, row.task) in tuned].append(row.p < 0.05 and row.better > row.worse)
    assert sum(better[True]) == 0
    assert sum(better[False]) > len(better[False]) / 2


def test_a_change_stays_in_its_token_and_ends_in_what_is_read(engine: Engine) -> None:
    moved = claiming("moves into [CLS]", "explain")
    texts = moved.one("compare_text"), moved.one("version_text")
    trace = engine.ask("trace", Query(moved.one("backbones"), texts[0]), other=texts[1])
    start, *_, end = stays(trace_claims(trace))
    changed = int(np.flatnonzero(np.array(trace.first.tokens.text) == "good")[0])
    assert (start.first, start.holder) == (0, changed)
    assert (end.holder, end.last) == ("read", trace.first.layers)
