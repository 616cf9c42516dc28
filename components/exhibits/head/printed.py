"""What print(model) shows beside what runs, as escaped HTML."""

from __future__ import annotations

from html import escape

from components.anatomy import Anatomy, Declared
from components.exhibits.control import State
from components.exhibits.draw.labels import visible
from components.exhibits.exhibit import Exhibit, Shown, hint_html, unseen_html
from components.exhibits.head.steps import step_name
from components.texts import Texts


def turns(anatomy: Anatomy, line: Declared) -> list[int]:
    """Numbers, from 1, of the steps that are the module of this line; several if it runs more than once."""
    if not line.path:
        return []
    return [index + 1 for index, step in enumerate(anatomy.steps) if step.path == line.path]


def printed(anatomy: Anatomy, _: State, say: Texts) -> Shown:
    """Both orders side by side: of the declaration and of the execution."""
    declared = "".join(_line(anatomy, line, say) for line in anatomy.declared)
    executed = "".join(_step(anatomy, index, say) for index in range(len(anatomy.steps)))
    left = _title("printed", say("printed.declared"), say("printed.declared_hint"))
    right = _title("executed", say("printed.executed"), say("printed.executed_hint"))
    html = (
        f'<div class="printed"><section>{left}'
        f'<pre tabindex="0" role="region" aria-labelledby="printed-heading">{declared}</pre></section>'
        f'<section>{right}<ol class="executed">{executed}</ol></section></div>'
    )
    return Shown(html=html)


PRINTED = Exhibit("orders", printed, style="orders")


def _title(name: str, heading: str, hint: str) -> str:
    return f'<h2 id="{name}-heading">{escape(heading)}</h2>{hint_html(hint)}'


def _line(anatomy: Anatomy, line: Declared, say: Texts) -> str:
    """A line of print(model) after the numbers of its steps."""
    numbers = turns(anatomy, line)
    circles = "".join(f'<b class="turn" aria-hidden="true">{number}</b>' for number in numbers)
    spoken = say("printed.runs", numbers=say.listed(map(str, numbers))) if numbers else ""
    heard = unseen_html(spoken) if numbers else ""
    ran = " ran" if numbers else ""
    text = f"{'  ' * line.depth}{escape(visible(line.text))}"
    return f'<span class="line{ran}"><span class="turns">{circles}</span>{heard}<code>{text}</code></span>'


def _step(anatomy: Anatomy, index: int, say: Texts) -> str:
    """One executed step: its number, its name, what it is and where it was called."""
    step = anatomy.steps[index]
    name, kind = escape(step_name(anatomy, step, say)), escape(visible(step.kind))
    place = say("printed.within", within=visible(step.within)) if step.within else say("printed.own")
    functional = "" if step.path else " functional"
    return (
        f'<li class="step"><b class="turn{functional}" aria-hidden="true">{index + 1}</b>'
        f"<span><strong>{name}</strong> <code>{kind}</code> "
        f'<span class="within">{escape(place)}</span></span></li>'
    )
