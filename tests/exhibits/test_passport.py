"""The page of a passport says what the passport says, and nothing in it can run; its badge is a picture."""

from dataclasses import replace
from xml.etree import ElementTree

import pytest

from components.analyses.passport import Passport, Sample
from components.exhibits.report import badge, passport_page
from components.texts import languages, load_texts
from components.types import Query
from tests.ui.fake import FakeAnalyst
from tests.ui.fake_answers import fake_passport

XSS = "<script>alert(1)</script>"


@pytest.fixture
def passport() -> Passport:
    return fake_passport(FakeAnalyst().ask("analyze", Query("first", "not good")))


@pytest.mark.parametrize("tag", languages())
def test_everything_in_it_stands_on_the_page(passport: Passport, tag: str) -> None:
    say = load_texts(tag)
    html = passport_page(passport, say)
    assert all(one.said(say) in html for one in passport.says)
    for part in (passport.fingerprint, "1,234,567", "not good", "classifier.weight", "2 × 8", "αβ", "0.25"):
        assert part in html
    rows = html.count("<tr>") - html.count("<thead>")
    told = (passport.samples, passport.ways, passport.weights, passport.ordinary, passport.scripts)
    assert rows == sum(map(len, told))


def test_nothing_in_it_can_run(passport: Passport) -> None:
    spec = replace(passport.backbone, title=XSS, key=XSS, architecture=XSS, licence=XSS)
    odd = replace(passport, backbone=spec, samples=(Sample(XSS, "", (XSS,), (0,)),), equal=(XSS,))
    for said in (passport_page(odd, load_texts()), badge(odd, load_texts())):
        assert "<script" not in said
        assert "alert(1)" in said


@pytest.mark.parametrize("tag", languages())
def test_the_badge_is_a_picture_with_words(passport: Passport, tag: str) -> None:
    picture = ElementTree.fromstring(badge(passport, load_texts(tag)))
    left, right = ("".join(one.itertext()) for one in picture.iter("{http://www.w3.org/2000/svg}text"))
    assert left == "poolscope"
    assert "[CLS]" in right
    assert picture.get("aria-label") == f"{left}: {right}"
    assert int(picture.get("width", "0")) > 100
