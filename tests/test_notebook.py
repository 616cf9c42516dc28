"""What a notebook is given: one frame that holds everything, and says nothing that nobody knows."""

import gzip
import re
from base64 import b64decode
from operator import attrgetter
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
import torch
import transformers
from transformers import AutoTokenizer, BertForSequenceClassification

from components.errors import PoolscopeError
from components.exhibits.view import visible
from components.inference.engine import Engine
from components.model.backbone import sentences
from components.notebook import PANELS, Exhibits, poolscope_show
from components.texts import languages, load_texts
from components.types import Query
from tests.exhibits.showing import Document
from tests.families.cases import boundless, tiny_model
from tests.serving import ROOT
from tests.ui.fake import XSS

TEXT = "The plot is thin, but the actors are a delight, and the music stays with you for a long time."
FOLDER = ROOT / "assets" / "models" / "bert-sentiment"


def shown(**asked: Any) -> Exhibits:
    return poolscope_show(tiny_model("bert").train(), boundless(), "the film is not good", **asked)


@pytest.fixture(scope="module")
def one() -> Exhibits:
    return shown()


def inside(exhibits: Exhibits) -> str:
    """The document that the frame holds."""
    return ElementTree.fromstring(exhibits._repr_html_()).attrib["srcdoc"]


def page_of(exhibits: Exhibits) -> str:
    """The page as a browser unpacks it of the frame."""
    (packed,) = re.findall(r'<script type="application/gzip"[^>]*>([^<]*)</script>', inside(exhibits))
    return gzip.decompress(b64decode(packed)).decode("utf-8")


def test_it_is_one_frame_that_can_reach_nothing(one: Exhibits) -> None:
    frame = ElementTree.fromstring(one._repr_html_())
    assert (frame.tag, frame.text, len(frame)) == ("iframe", None, 0)
    assert set(frame.attrib) == {"sandbox", "title", "srcdoc", "style"}
    assert set(frame.attrib["sandbox"].split()) == {"allow-scripts", "allow-downloads"}
    held = Document(inside(one))
    assert held.tags == {"html", "meta", "title", "body", "p", "script"}
    assert not {"src", "href"} & held.attributes


def test_it_is_packed_to_less_than_half_and_unpacks_to_what_is_saved(one: Exhibits, tmp_path: Path) -> None:
    one.save(tmp_path / "one.html")
    saved = (tmp_path / "one.html").read_text(encoding="utf-8")
    assert page_of(one) == saved
    assert len(one._repr_html_()) < len(saved) / 2
    one.save(str(tmp_path / "two.html"))
    assert (tmp_path / "two.html").read_bytes() == (tmp_path / "one.html").read_bytes()
    with pytest.raises(FileNotFoundError):
        one.save(tmp_path / "none" / "one.html")


@pytest.mark.parametrize("tag", languages())
def test_it_holds_what_classify_shows_and_nothing_of_files(tag: str) -> None:
    say = load_texts(tag)
    exhibits = shown(language=tag, height=321)
    found = Document(page_of(exhibits))
    every = [one for panel in PANELS for one in panel.exhibits]
    assert list(found.figures) == [one.name for one in every if one.plotted and "report" in one.where]
    for panel in PANELS:
        for exhibit in (one for one in panel.exhibits if "report" in one.where):
            assert visible(exhibit.shown(panel.subject(exhibits), {}, say).heading) in found.text
    assert f'lang="{tag}' in page_of(exhibits)
    assert "the film is not good" in found.text
    assert say("notebook.asked", name="BertForSequenceClassification") in found.text
    assert "height: 321px" in exhibits._repr_html_()
    # Of an object nobody knows whence its weights came, nor which of them were drawn at random.
    said = re.sub(r"\s+", " ", found.text)
    unsaid = ["head.all_checkpoint", "weights.unused_none", "takehome.program", "away.link"]
    assert [key for key in unsaid if say(key) in said] == []
    assert not re.search("checkpoint|检查点", said, re.IGNORECASE)
    assert len(re.findall(rf"{say('steps.object')}(?!。)", said)) == 4  # the tensors of pooler and classifier
    assert say("head.all_object") in said
    assert found.links == []


def test_the_same_weights_of_a_checkpoint_give_the_same_figures(engine: Engine) -> None:
    """As an object, held in half precision as the files are, they are drawn as they are of the catalogue."""
    model = BertForSequenceClassification.from_pretrained(FOLDER, dtype=torch.float16).train()
    exhibits = poolscope_show(model, AutoTokenizer.from_pretrained(FOLDER), TEXT)
    assert len(exhibits._repr_html_()) < 0.55e6  # of BERT-base 0.6
    known = engine.ask("anatomy", Query("bert-sentiment", TEXT))
    for name in ("logits", "ordinary.plain", "similarity", "centred", "standardised"):
        ours, theirs = (attrgetter(name)(each.analysis) for each in (exhibits, known))
        np.testing.assert_allclose(ours, theirs, atol=1e-5, rtol=0)
    assert [step.name for step in exhibits.anatomy.steps] == [step.name for step in known.steps]
    assert (exhibits.anatomy.program, exhibits.anatomy.unused) == ("", ())
    assert known.program != ""


def test_another_pooling_and_layer_are_what_transformers_says_of_them() -> None:
    """The head is given the mean, and the cosines that are drawn are those of the first layer."""
    model, words = tiny_model("bert"), boundless()
    exhibits = poolscope_show(model.train(), words, "the film is not good", pooling="mean", layer=1)
    inputs = words("the film is not good", return_tensors="pt")
    with torch.no_grad():
        output = model.eval().bert(**inputs, output_hidden_states=True)
        vector = output.last_hidden_state.mean(dim=1)
        logits = model.classifier(model.bert.pooler(vector[:, None]))[0]
        states = output.hidden_states[1][0]
        cosines = torch.cosine_similarity(states, states[:1])
    np.testing.assert_allclose(exhibits.analysis.logits, logits, atol=1e-5)
    figure = Document(page_of(exhibits)).figures["similarity"]
    drawn = [trace for trace in figure["data"] if trace["type"] == "bar"]
    np.testing.assert_allclose(drawn[0]["x"], cosines, atol=1e-4)
    with pytest.raises(PoolscopeError) as told:
        poolscope_show(model, words, "the film", layer=9)
    assert told.value.field == "layer"


def test_a_light_picture_compares_with_fewer_sentences() -> None:
    model, words = tiny_model("bert"), boundless()
    light = poolscope_show(model.train(), words, "the film is not good", light=True).analysis
    with torch.no_grad():
        asked, *others = (
            model.eval().bert(**words(text, return_tensors="pt")).last_hidden_state[0]
            for text in ("the film is not good", *sentences()[:8])
        )
    cosines = np.concatenate([torch.cosine_similarity(states[1:], asked[:1]) for states in others])
    np.testing.assert_allclose(light.ordinary.plain[-1], np.quantile(cosines, (0.05, 0.5, 0.95)), atol=1e-5)


@pytest.mark.parametrize("kind", ["AutoModel", "AutoModelForMaskedLM", "AutoModelForTokenClassification"])
def test_a_model_without_a_classifier_is_shown_with_a_head_that_is_told_untrained(kind: str) -> None:
    """Its similarities are those of its own states, and it stays as it is."""
    model, words = getattr(transformers, kind).from_config(tiny_model("bert").config).train(), boundless()
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    analysis = poolscope_show(model, words, "the film is not good").analysis
    with torch.no_grad():
        states = model.eval().base_model(**words("the film is not good", return_tensors="pt"))[0][0]
    cosines = torch.cosine_similarity(states, states[:1])
    np.testing.assert_allclose(analysis.similarity[-1], cosines, atol=1e-5)
    assert not analysis.head_trained
    assert all(torch.equal(tensor, before[name]) for name, tensor in model.state_dict().items())


def test_names_and_texts_are_shown_as_text() -> None:
    kind = type(XSS, (BertForSequenceClassification,), {})
    model = kind(tiny_model("bert", id2label={0: XSS, 1: "</script>"}).config)
    exhibits = poolscope_show(model, boundless(), XSS)
    found = Document(page_of(exhibits))
    assert visible(XSS) in found.text
    assert found.handlers == []
    assert not {"img", "svg", "iframe"} & found.tags
    assert found.scripts == 3  # Plotly, and two of our own


WRONG = [("language", "xx"), ("language", None), ("height", 9), ("height", "tall"), ("theme", "grey")]


@pytest.mark.parametrize("given", WRONG)
def test_what_cannot_be_had_is_said_before_anything_is_run(given: Any) -> None:
    with pytest.raises(PoolscopeError) as told:
        poolscope_show(None, None, "", **dict([given]))
    assert told.value.field == given[0]


def test_a_loop_may_ask_in_the_middle_of_a_step() -> None:
    """Between the pass and the way back: the graph that waits for it is not touched."""
    model, words = tiny_model("bert").train(), boundless()
    loss = model(**words("not good", return_tensors="pt"), labels=torch.tensor([1])).loss
    first = poolscope_show(model, words, "not good")
    loss.backward()
    assert model.classifier.weight.grad.abs().sum() > 0
    again = poolscope_show(model, words, "not good")
    np.testing.assert_array_equal(first.analysis.logits, again.analysis.logits)
