"""The page of a passport says what the passport says, and nothing in it can run; its badge is a picture."""

from dataclasses import replace
from xml.etree import ElementTree

import pytest

from components.analyses.passport import Sample
from components.exhibits.report import badge, passport_page
from components.texts import languages, load_texts
from tests.exhibits.showing import analysis
from tests.ui.fake_answers import fake_passport

XSS = "<script>alert(1)</script>"
PASSPORT = fake_passport(analysis())


@pytest.mark.parametrize("tag", languages())
def test_everything_in_it_stands_on_the_page(tag: str) -> None:
    say = load_texts(tag)
    html = passport_page(PASSPORT, say)
    assert all(one.said(say) in html for one in PASSPORT.says)
    for part in (PASSPORT.fingerprint, "1,234,567", "not good", "classifier.weight", "2 × 8", "αβ", "0.25"):
        assert part in html
    rows = html.count("<tr>") - html.count("<thead>")
    told = (PASSPORT.samples, PASSPORT.ways, PASSPORT.weights, PASSPORT.ordinary, PASSPORT.scripts)
    assert rows == sum(map(len, told))


def test_nothing_in_it_can_run() -> None:
    spec = replace(PASSPORT.backbone, title=XSS, key=XSS, architecture=XSS, licence=XSS)
    odd = replace(PASSPORT, backbone=spec, samples=(Sample(XSS, "", (XSS,), (0,)),), equal=(XSS,))
    for said in (passport_page(odd, load_texts()), badge(odd, load_texts())):
        assert "<script" not in said
        assert "alert(1)" in said


@pytest.mark.parametrize("tag", languages())
def test_the_badge_is_a_picture_with_words(tag: str) -> None:
    picture = ElementTree.fromstring(badge(PASSPORT, load_texts(tag)))
    left, right = ("".join(one.itertext()) for one in picture.iter("{http://www.w3.org/2000/svg}text"))
    assert left == "poolscope"
    assert "[CLS]" in right
    assert picture.get("aria-label") == f"{left}: {right}"
    assert int(picture.get("width", "0")) > 100
