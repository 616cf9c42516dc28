"""The file of results: what is read is what was written, and a file that is not as declared is refused."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from components.results import Results, read_results, write_results
from tests.serving import ROOT
from tests.ui.fake_results import fake_results

SHIPPED = ROOT / "assets" / "results.json"


@pytest.mark.parametrize("results", [fake_results(), Results()], ids=["full", "empty"])
def test_what_is_read_is_what_was_written(results: Results, tmp_path: Path) -> None:
    write_results(results, tmp_path / "results.json")
    assert read_results(tmp_path / "results.json") == results


def test_every_number_is_read_as_json_reads_it() -> None:
    read = json.loads(json.dumps(asdict(read_results(SHIPPED))))
    assert read == json.loads(SHIPPED.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("table", "field", "value", "message"),
    [
        ("probes", "accuracy", "0.8", "probes, row 3, accuracy: Input should be a valid number"),
        ("probes", "better", 1.5, "probes, row 3, better: Input should be a valid integer"),
        ("checkpoints", "task", None, "checkpoints, row 3, task: Input should be a valid string"),
        ("cosines", "spearman", 0.5, "cosines, row 3, spearman: Unexpected"),
    ],
)
def test_a_wrong_field_is_named_with_its_row_and_file(
    table: str, field: str, value: object, message: str, tmp_path: Path
) -> None:
    tables = json.loads(SHIPPED.read_text(encoding="utf-8"))
    tables[table][2][field] = value
    file = tmp_path / "wrong.json"
    file.write_text(json.dumps(tables), encoding="utf-8")
    with pytest.raises(ValueError, match=rf"wrong\.json: {message}"):
        read_results(file)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"checkpoints": [], "probes": []}', "cosines: Field required"),
        ('{"checkpoints": [], "probes": [{}], "cosines": []}', "probes, row 1, backbone: Field required"),
        ('{"checkpoints": ', "Invalid JSON"),
    ],
)
def test_what_is_missing_is_named(content: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "short.json"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match=rf"short\.json: {message}"):
        read_results(file)
