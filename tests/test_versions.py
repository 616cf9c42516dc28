"""Two versions of a text on the bundled checkpoints: every number is what each version gets alone."""

from dataclasses import replace

import numpy as np
import pytest

from components.exhibits.edit import edit_of
from components.inference.engine import Engine
from components.types import Query
from tests.ui.page import ComparePage as Page

BEFORE, AFTER = "The plot is not bad, but the acting is dull.", "The plot is bad, but the acting is dull."
KEYS = ["xlnet-sentiment", "gpt2-sentiment"]


def test_outputs_similarity_and_reads_are_those_of_each_version(engine: Engine) -> None:
    page = Page(engine)
    page.set(backbones=KEYS, poolings=["native", "mean"], text=BEFORE, version_text=AFTER, head="own")
    page.ask()
    both = page.values[page.tab.shown]
    aligned = edit_of(both)
    assert aligned
    words = aligned.words()
    assert words is not None
    assert len(both.combinations) == 4
    for move in both.combinations:
        backbone, pooling = move.key
        query = Query(backbone, BEFORE, pooling=pooling)
        old, new = engine.ask("analyze", query), engine.ask("analyze", replace(query, text=AFTER))
        for shown, alone in zip(move.answers, (old, new), strict=True):
            np.testing.assert_array_equal(shown.probabilities, alone.probabilities)
        place = int(old.probabilities.argmax())
        moved = float(new.probabilities[place] - old.probabilities[place])
        assert (move.moved, move.flips) == (pytest.approx(moved, abs=1e-6), old.predicted != new.predicted)
        reads = aligned.reads(*move.answers)
        for version in ([one.before for one in reads], [one.after for one in reads]):
            assert sum(one[0] for one in version if one) == pytest.approx(1, abs=1e-5)
        if query.pooling == "native":
            rows = words[(words["backbone"] == query.backbone) & (words["word"] == "dull")]
            (row,) = rows.to_dict("records")
            for alone, value in ((old, row["before"]), (new, row["after"])):
                start, spans = alone.query.text.index("dull"), alone.tokens.span
                inside = (spans[:, 0] < start + 4) & (spans[:, 1] > start) & ~alone.tokens.special
                assert value == pytest.approx(float(alone.similarity[-1][inside].mean()), abs=1e-6)
    dropped = words[words["kind"] == "dropped"]
    assert list(dropped["word"]) == ["not"] * len(KEYS)
    assert "new" not in set(words["kind"])
