import re
import string
from pathlib import Path

import components.ui.texts
from components.ui.texts import load_texts

CODE = Path(components.ui.texts.__file__).parents[1]
KEY = re.compile(r'"([a-z]+\.(?!js"|toml")[a-z_]+)"')


def used_keys() -> set[str]:
    """Every string in the code that has the form of a key of an existing table."""
    tables = {key.split(".")[0] for key in load_texts().entries}
    code = [path.read_text("utf-8") for folder in ("figures", "ui") for path in (CODE / folder).rglob("*.py")]
    return {key for key in KEY.findall("\n".join(code)) if key.split(".")[0] in tables}


def test_no_sentence_is_missing_and_none_is_left_over() -> None:
    marks = {"legend.##", "legend.Ġ", "legend.▁"}  # looked up by the mark itself
    assert used_keys() == load_texts().entries.keys() - marks


def test_placeholders_have_names() -> None:
    for text in load_texts().entries.values():
        assert all(name is None or name.isidentifier() for _, name, _, _ in string.Formatter().parse(text))


def test_a_sentence_is_filled_in() -> None:
    assert load_texts()("verdict.count", read=1, total=11) == "1 of 11"
