"""What a link says of the Compare tab."""

from __future__ import annotations

from components.ui.choices import HEADS
from components.ui.compare.tab import Compare
from components.ui.links.controls import Control, Linked, OneOf, SomeOf, Switch, Whole, Words


def compare_controls(tab: Compare) -> list[Linked]:
    """What can be set in the tab; which backbones there are is asked each time."""
    poolings = [spec.key for spec in tab.analyst.poolings()]

    def here() -> list[str]:
        return [spec.key for spec in tab.analyst.backbones() if spec.available]

    return [
        Linked(Control("compare_text", Words(), tab.text.value), tab.text),
        Linked(Control("compare_pair", Words(), tab.pair.value), tab.pair),
        Linked(Control("version_text", Words(), ""), tab.version.text),
        Linked(Control("version_pair", Words(), ""), tab.version.pair),
        Linked(Control("backbones", SomeOf(here), tuple(tab.backbones.value)), tab.backbones),
        Linked(Control("poolings", SomeOf(lambda: poolings), tuple(tab.poolings.value)), tab.poolings),
        Linked(Control("compare_head", OneOf(lambda: HEADS), tab.head.value), tab.head),
        Linked(Control("compare_centred", Switch(), False), tab.centred),
        Linked(Control("words_depth", Whole(0, 100), 100), tab.words.depth),
        Linked(Control("words_centred", Switch(), False), tab.words.centred),
    ]
