"""One of the cold starts of `make siege`, of the kind in which one process imports and answers."""

from pathlib import Path

from tests.hub import hub
from tests.siege.cold import MODEL, cold
from tests.tiny import checkpoint


def test_what_is_asked_at_once_is_answered(tmp_path: Path) -> None:
    checkpoint(tmp_path / "models" / MODEL, id2label={0: "bad", 1: "good"})
    with hub(tmp_path / "models") as there:
        assert cold(there, tmp_path, workers="0") == []
