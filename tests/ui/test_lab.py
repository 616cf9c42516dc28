"""Progress of a fit, as the Lab tab says it."""

from components.fitting import Plan, Reached, Stage
from components.texts import Sentence, load_texts
from components.ui.lab import Far

SAY = load_texts()


def test_it_says_what_is_left_of_each_stage_and_what_is_known() -> None:
    far = Far({"first": "First <b>"}, Plan(("zero", "first")), 100.0)
    cut = Sentence("lab.cut", backbone="First", count=1, total=8, limit=3)
    step = Stage(2, 8, "embed", "first", notes=(cut,))
    far = far.after(step, 104.0)
    assert far.line(step, SAY).startswith("First <b> (2 of 2):")
    assert far.line(step, SAY).endswith("About 12 s are left of this step.")
    far = far.after(Stage(8, 8, "embed", "first", notes=(cut,)), 110.0)
    step = Stage(1, 3, "fit", "first", Reached("first", "mean", 2, 0.9))
    far = far.after(step, 111.0)
    assert far.line(step, SAY).endswith("About 2 s are left of this step.")
    assert far.told(SAY).count("1 of 8 rows") == 1
    assert "First &lt;b&gt; · mean: 90 %" in far.told(SAY)
    assert "left" not in far.after(Stage(3, 3, "fit", "first"), 113.0).line(Stage(3, 3, "fit", "first"), SAY)
