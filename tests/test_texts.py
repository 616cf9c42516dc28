"""The sentences: all in data, whole in every language, with the same numbers, and as HTML escaped."""

import ast
import re
import string
from html import unescape
from pathlib import Path

import pytest
from jinja2 import UndefinedError
from markupsafe import Markup

import components.texts
from components.analyses.passport import tried
from components.errors import PoolscopeError
from components.exhibits.exhibit import heading_html
from components.exhibits.panels import ANSWER, HEAD, IMPORTANCE, PADDING, TOKENS
from components.exhibits.view import render
from components.inference.engine import Engine
from components.menus import load_examples
from components.own_head import TABLE
from components.settings import Settings
from components.texts import ASSETS, ENGLISH, Sentence, languages, load_texts
from components.types import Query
from tests.exhibits.answers import answered
from tests.ui.fake import KINDS, FakeAnalyst, Kind

CODE = Path(components.texts.__file__).parent
FILES = [file for file in sorted(CODE.rglob("*.py")) if "bundle" not in file.parts]
KEY = re.compile(r"[a-z]+\.\w*[^\W_]")
NAMED = {  # files
    *("talk.js", "lab.js", "room.js", "room.css", "speaker.js", "speaker.css", "head.safetensors"),
    *("head.html", "questions.toml", "ordinary.toml", "passport.toml"),
}
MAY_BE_ONE = (
    *("lab.nothing_learned", "lab.words_beaten", "errors.vector_base64"),
    *("evidence.averaging_hint", "evidence.averaging_open", "evidence.averaging_said"),
)
SAY = load_texts()
NAMES = "names."  # what other data calls things: English has none
OTHERS = [tag for tag in languages() if tag != ENGLISH]


def placeholders(text: str) -> list[str]:
    """Those that are filled in; what only stands beside a number is each language's own."""
    parts = string.Formatter().parse(text)
    return sorted({name for _, name, spec, _ in parts if name is not None and "|" not in (spec or "")})


def numbers(text: str) -> list[str]:
    """Every number, in no order: languages put them in different places."""
    return sorted(re.findall(r"\d[\d.,]*\d|\d", text))


def words(html: str) -> str:
    return unescape(re.sub(r"<style>.*?</style>|<[^>]+>", " ", html))


@pytest.mark.parametrize("tag", OTHERS)
def test_every_language_fills_in_the_same_values_and_writes_the_same_numbers(tag: str) -> None:
    other = {key: text for key, text in load_texts(tag).entries.items() if not key.startswith(NAMES)}
    assert other.keys() == SAY.entries.keys()
    for key, text in SAY.entries.items():
        assert placeholders(text) == placeholders(other[key]), key
        written = [re.sub(r"\{.*?\}", "", one) for one in (text, other[key])]
        assert numbers(written[0]) == numbers(written[1]), key


def test_how_something_was_trained_is_said_only_where_that_is_known() -> None:
    """Of what `make recipe` trained, and of heads of a catalogue: no file of weights tells."""
    told = re.compile(r"(?<!Whether it )\b(was|were)( not)? (trained|learned)|\bas in training")
    said = {key for key, text in SAY.entries.items() if told.search(text)}
    assert said == {"evidence.own_hint", "warnings.pair", "warnings.single"}


def test_chinese_prose_has_brackets_as_wide_as_its_letters() -> None:
    prose = "".join(file.read_text("utf-8") for file in (ASSETS / "questions.toml", *ASSETS.glob("*/zh.*")))
    assert not re.search(r"[\u4e00-\u9fff] ?\(|\([^()\n]*[\u4e00-\u9fff]", prose)


def test_no_sentence_is_missing_and_none_is_left_over() -> None:
    tables = {key.partition(".")[0] for key in SAY.entries}
    found, prefixes = set(), set()
    for node in (node for file in FILES for node in ast.walk(ast.parse(file.read_text("utf-8")))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and KEY.fullmatch(node.value):
            found.add(node.value)
        if isinstance(node, ast.JoinedStr) and isinstance(node.values[0], ast.Constant):
            prefixes.add(str(node.values[0].value))
    for data in (*(ASSETS / "templates").glob("*.html"), *CODE.rglob("*.toml")):
        text = data.read_text("utf-8")
        found |= set(re.findall(r"[\"']([a-z]+\.\w+)[\"']", text))
        prefixes |= set(re.findall(r"[\"']([a-z]+\.)[\"'] ~", text))
    prefixes |= {key for key in found if key.endswith("_")}  # of a template
    made = {key for key in SAY.entries for prefix in prefixes if "." in prefix and key.startswith(prefix)}
    used = {key for key in found - NAMED - prefixes if key.partition(".")[0] in tables} | made
    assert used == SAY.entries.keys()


@pytest.mark.parametrize("tag", OTHERS)
def test_everything_shipped_has_a_name_in_every_language(tag: str) -> None:
    """But for a pooling, which is shown in English until somebody translates it."""
    engine = Engine(Settings())
    shipped = {text for spec in engine.backbones() for text in (spec.title, spec.note)}
    shipped |= {text for task in engine.tasks() for text in (task.key, task.title, *task.labels)}
    shipped |= {*tried()[1], TABLE, *(example.label for example in load_examples())}
    names = {key.removeprefix(NAMES) for key in load_texts(tag).entries if key.startswith(NAMES)}
    poolings = {name for name in names if name.startswith("pooling.")}
    assert names - poolings == shipped
    keys = {spec.key for spec in engine.poolings()}
    assert poolings <= {f"pooling.{key}.{part}" for key in keys for part in ("title", "summary")}


def test_a_noun_and_a_verb_go_with_their_number() -> None:
    told = [SAY("compare.swaps", count=count, votes="").partition(" given")[0] for count in (1, 2)]
    assert told == ["Not counted: 1 head that is", "Not counted: 2 heads that are"]
    assert SAY.html("compare.say", count=1, label=Markup("<b>x</b>")) == "1 says <b>x</b>"
    ones = [SAY(key, **dict.fromkeys(placeholders(SAY.entries[key]), 1)) for key in MAY_BE_ONE]
    assert [one for one in ones if re.search(r"\b1 (bytes|cases|are)|(the|best of) 1\b", one)] == []
    ordinals = [SAY("trace.nth", token="", place=at)[4:-1] for at in (1, 2, 3, 4, 11, 12, 21, 113)]
    assert ordinals == ["1st", "2nd", "3rd", "4th", "11th", "12th", "21st", "113th"]


def test_a_sentence_waits_for_its_language() -> None:
    inner = Sentence("errors.range", low=-5, high=4)
    outer = Sentence("errors.unloaded", reason=inner)
    assert str(outer) == "it cannot be loaded: allowed are -5 to 4"
    assert outer.said(load_texts("zh")) == "它无法加载：允许的范围是 -5 至 4"
    listed = Sentence("errors.allowed", allowed=("cls", Sentence("segment.first")))
    assert str(listed) == "allowed are cls, first text"
    assert listed.said(load_texts("zh")) == "可选的有 cls、第一段文本"
    assert listed == Sentence("errors.allowed", allowed=("cls", Sentence("segment.first")))


def test_an_error_is_said_in_every_language() -> None:
    error = PoolscopeError("text_pair", "x" * 99, "errors.long", length=20001, longest=20000)
    given = f"'{'x' * 58}…"
    said = f"text_pair: {given} was given; it has 20,001 characters, and at most 20,000 are allowed."
    assert str(error) == said
    said = f"第二段文本：给出的是 {given}；它有 20,001 个字符，最多允许 20,000 个。"
    assert error.said(load_texts("zh")) == said
    assert str(PoolscopeError("data[3]", 1, "errors.text")) == "data[3]: 1 was given; a text is expected."
    assert "what cannot be written down was given" in str(PoolscopeError("layer", 10**5000, "errors.whole"))


def test_what_fills_a_template_or_a_sentence_is_escaped_but_for_html() -> None:
    html = render("table", caption="<&>", titles=["a"], numeric={0}, rows=[["<i>"], [Markup("<b>x</b>")]])
    assert "<caption>&lt;&amp;&gt;</caption>" in html
    assert '<td class="number">&lt;i&gt;</td>' in html
    assert '<td class="number"><b>x</b></td>' in html
    assert SAY.html("models.kilobytes", size="<1>") == SAY("models.kilobytes", size="&lt;1&gt;")
    with pytest.raises(UndefinedError):
        render("table", caption="a", rows=[])


@pytest.mark.parametrize("tag", OTHERS)
@pytest.mark.parametrize("kind", KINDS, ids=[kind.spec.key for kind in KINDS])
def test_an_answer_has_the_same_numbers_in_every_language(kind: Kind, tag: str) -> None:
    analyst, other = FakeAnalyst(), load_texts(tag)
    state = {"layer": 1}
    for pooling in ("native", "mean"):
        anatomy = analyst.ask("anatomy", Query(kind.spec.key, "a very good film", pooling=pooling))
        for panel in (ANSWER, TOKENS, HEAD, PADDING, IMPORTANCE):
            for exhibit in panel.exhibits:
                told = []
                for say in (SAY, other):
                    shown = exhibit.show(panel.subject(answered(anatomy)), state, say)
                    told.append(numbers(words(f"{heading_html(shown, 'x', say)}{shown.html}")))
                assert told[0] == told[1], exhibit.name
