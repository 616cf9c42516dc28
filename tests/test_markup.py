"""Templates: what is given is escaped, what is HTML already is not."""

import pytest
from jinja2 import UndefinedError
from markupsafe import Markup

from components.markup import render
from components.texts import load_texts

SAY = load_texts()


def test_values_are_escaped_but_for_html() -> None:
    html = render("table", caption="<&>", columns=[("a", True)], rows=[("<i>",), (Markup("<b>x</b>"),)])
    assert "<caption>&lt;&amp;&gt;</caption>" in html
    assert '<td class="number">&lt;i&gt;</td>' in html
    assert '<td class="number"><b>x</b></td>' in html


def test_a_missing_value_is_an_error() -> None:
    with pytest.raises(UndefinedError):
        render("table", caption="a", rows=[])


def test_a_sentence_as_html_escapes_what_fills_it() -> None:
    assert SAY.html("models.kilobytes", size="<1>") == SAY("models.kilobytes", size="&lt;1&gt;")
