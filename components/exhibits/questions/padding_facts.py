"""What can be said of what padding was just seen to change: facts, and cases that choose among sentences."""

from __future__ import annotations

from collections.abc import Mapping

from components.analyses.padding import Padding, PaddingCase
from components.texts import Sentence, Texts

CASES: Mapping[str, tuple[str, ...]] = {
    "batched": ("safe", "moves", "reads_padding", "alone", "refused"),  # padded as its tokenizer pads
    "elsewhere": ("safe", "some", "none"),  # whether other ways to pad move a logit; none: no other was tried
}
FACTS = ("side", "largest", "why", "unsafe")


def padding_facts(given: Padding | Sentence, say: Texts) -> dict[str, str]:
    """What can be said of one text on one model; all is empty where nothing was padded."""
    if isinstance(given, Sentence):
        return {**dict.fromkeys(FACTS, ""), "batched": "refused", "elsewhere": "none"}
    if not given.cases:
        return {**dict.fromkeys(FACTS, ""), "batched": "alone", "elsewhere": "none"}
    batch, *rest = given.cases
    others = [one for one in rest if one.name != given.side]
    unsafe = [one for one in others if one.verdict != "safe"]
    return {
        "side": say(f"padding.{given.side}"),  # where its tokenizer pads
        "largest": f"{batch.largest:.2g}",  # by how much a logit moves then, at most
        "why": say(f"padding.cause_{batch.cause}") if batch.cause else "",  # the cause, as measured
        "unsafe": say.listed(_moved(one, say) for one in unsafe),  # other ways to pad that move a logit
        "batched": given.verdict,
        "elsewhere": "none" if not others else "some" if unsafe else "safe",
    }


def _moved(case: PaddingCase, say: Texts) -> str:
    """A way to pad, by how much it moves a logit, and the cause."""
    told = {"way": say(f"padding.{case.name}"), "cause": say(f"padding.cause_{case.cause}")}
    return say("padding.moved", largest=f"{case.largest:.2g}", **told)
