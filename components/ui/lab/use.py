"""From the Lab to Classify: the head that was fitted on a visitor's table answers a text of that table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import gradio as gr

from components.errors import PoolscopeError
from components.own_head import MINE, read_head
from components.types import Query
from components.ui.classify.tab import CLASSIFY, Classify
from components.ui.lab.asking import LabAsking
from components.ui.places import OF_MODEL, Given, Updates
from components.ui.tab import Surroundings


def connect_use(around: Surroundings, button: gr.Button, asking: LabAsking) -> None:
    """Let a click on ``button`` ask the head in Classify, which was built before."""
    use = Use(cast("Classify", around.tabs[CLASSIFY.key]), around.chosen, asking)
    button.click(
        use.try_mine,
        inputs={*use.classify.inputs, *asking.inputs},
        outputs=[around.chosen, *use.classify.outputs],
        **OF_MODEL,
        trigger_mode="once",
    )


@dataclass(frozen=True, eq=False)
class Use:
    """The tab that asks the head, all tabs, and where the table is."""

    classify: Classify
    tabs: gr.Tabs
    asking: LabAsking

    def try_mine(self, given: Given) -> Updates:
        """Put a text of the table in the place of the question, and have the visitor's own head answer it."""
        question = self.classify.question
        mine = given[question.mine]
        head = read_head(mine)
        text, pair = self._first(given)
        query = Query(head.backbone, text, pair, head.pooling, MINE, pool_layer=head.layer, mine=mine)
        models = question.models(given[question.found])
        answer, answered = self.classify.respond(query, given, models)
        filled = question.fill(answered, models, self.classify.answer.last_in(answer))
        return {self.tabs: gr.update(selected=CLASSIFY.key), **filled, **answer}

    def _first(self, given: Given) -> tuple[str, str]:
        """The first row of the table as it stands there now; the question as it is where there is none."""
        try:
            table, _, _ = self.asking.asked(given)
        except PoolscopeError:
            return given[self.classify.question.text], given[self.classify.question.pair]
        return table.texts[0], table.pairs[0] if table.pairs else ""
