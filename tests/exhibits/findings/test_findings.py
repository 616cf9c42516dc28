"""Each sentence that states a finding: said where it is true, and never where it is false."""

import tomllib
from importlib import import_module
from pkgutil import iter_modules

import pytest

from components.texts import ASSETS, languages, load_texts
from tests.exhibits import findings
from tests.exhibits.findings.row import Row, anything

NAMES = sorted(
    one.name for one in iter_modules(findings.__path__) if not one.name.startswith(("row", "test_"))
)
TABLES = [import_module(f"{findings.__name__}.{name}") for name in NAMES]
ROWS: dict[str, Row] = {key: row for table in TABLES for key, row in table.ROWS.items()}


def test_every_sentence_that_states_a_finding_has_a_row() -> None:
    texts = tomllib.loads((ASSETS / "texts" / "en.toml").read_text("utf-8"))
    assert sorted(texts["findings"]) == sorted(ROWS)


@pytest.mark.parametrize("tag", languages())
@pytest.mark.parametrize("key", ROWS)
def test_it_is_said_where_it_is_true_and_not_where_it_is_false(key: str, tag: str) -> None:
    say, row = load_texts(tag), ROWS[key]
    sentence = anything(say.entries[key])
    values = dict(row.values(say) if callable(row.values) else row.values)
    values |= {"label": say.label(str(values["label"]))} if "label" in values else {}
    assert not values or any(f"{{{name}" in say.entries[key] for name in values)  # else it is another one
    assert say(key, **values) in row.said(say)
    assert sentence.search(row.said(say))
    unsaid = ROWS[row.unsaid].said if isinstance(row.unsaid, str) else row.unsaid
    assert not sentence.search(unsaid(say))
