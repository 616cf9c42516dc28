"""What can be said of heads that were just taken apart: facts, and the cases that choose among sentences.

"Picking" a token is taking one hidden state out of all. Nothing here is escaped; who shows a fact does that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

from components.analyses.anatomy import Anatomy, Step, Weight
from components.analyses.lens import Lens
from components.exhibits.answer.outputs import chosen_labels, output_text, ranked
from components.exhibits.draw.labels import shorten, visible, word
from components.exhibits.head.lens import Aim
from components.exhibits.head.steps import UNTRAINED, counted, parameters_of
from components.exhibits.view import indices, labels_of, number
from components.texts import Texts
from components.types import Analysis

NAMED = 4  # tokens or labels that are named; the others are only counted
TENSORS = 8  # tensors of the head that are named
UNUSED = 3  # tensors without use that are named: there may be hundreds
ARROW = " → "
WORDED = {"getitem": "questions.getitem", "pooling": "questions.pooling", "swap": "questions.swap"}

CASES: Mapping[str, tuple[str, ...]] = {
    "reads": ("cls", "one", "some", "all", "none"),  # cls: just the token in its place; one: just another
    "trained": ("yes", "no"),  # whether no weight that the outputs depend on was drawn at random
    "direct": ("yes", "no"),  # whether one layer is all that changes numbers
    "order": ("run", "other"),  # whether print(model) lists the layers in the order in which they ran
    "origin": ("new", "kept", "mixed"),  # its tensors are new, from the checkpoint, or both
    "drawn": ("some", "none"),  # whether any of the new ones were drawn at random
    "set": ("some", "none"),  # whether any of the new ones were set to one and the same number
    "course": ("up", "down", "level"),  # the cosine of [CLS] from the embeddings to the last layer, as shown
    "agree": ("yes", "no", "untrained"),  # whether both poolings give the same labels
    "knows": ("every", "later", "last", "unsure", "raw", "random", "none"),  # since which layer, if any
    "alike": ("yes", "no", "alone", "short"),  # whether all read one and the same place; too short to tell
    "same": ("yes", "no", "alone"),  # whether all heads have the same core; only one was asked
    "inherited": ("none", "some", "all", "alone"),  # how many heads have a tensor from the checkpoint
}


def head_facts(anatomy: Anatomy, say: Texts) -> dict[str, str]:
    """What can be said of one head."""
    analysis = anatomy.analysis
    outputs = [_output(analysis, index) for index in ranked(analysis)]
    cosines = [round(float(value), 2) for value in analysis.similarity[:, analysis.tokens.cls]]
    first, last = cosines[0], cosines[-1]
    return {
        "backbone": visible(analysis.backbone.said(say)),  # its title in the menu
        "architecture": visible(analysis.backbone.architecture),  # its class
        "says": listed(_chosen(analysis), NAMED, say),  # the labels that it chose, with their probabilities
        "outputs": listed(outputs, NAMED, say),  # its likeliest labels with theirs, chosen or not
        "trained": _yes(not analysis.random),
        "cosines": ARROW.join(map(number, cosines)),  # of [CLS] and the reference, from layer 0 to the last
        "cosine": number(last),  # the same, at the last layer
        "course": "up" if last > first else "down" if last < first else "level",
        **_reading(anatomy, say),
        **_order(anatomy, say),
        **_origins(anatomy, say),
        **_lens(anatomy),
    }


def against_facts(anatomy: Anatomy, other: Anatomy, say: Texts) -> dict[str, str]:
    """What can be said of a head and the same with another pooling, whose facts are called against_..."""
    one, two = anatomy.analysis, other.analysis
    agree = one.predicted == two.predicted
    if one.problem_type == "regression":  # no label is chosen: the values as they are shown
        agree = _chosen(one) == _chosen(two)
    against = {f"against_{name}": fact for name, fact in head_facts(other, say).items()}
    return {**against, "agree": "untrained" if one.random else _yes(agree)}


def heads_facts(anatomies: Sequence[Anatomy], say: Texts) -> dict[str, str]:
    """What can be said of several heads together."""
    asked, places = len(anatomies), [_only(anatomy) for anatomy in anatomies]
    cores: dict[tuple[str, ...], list[str]] = {}
    for anatomy in anatomies:
        cores.setdefault(_core(anatomy), []).append(_title(anatomy, say))
    inheriting = [_title(one, say) for one in anatomies if _from_checkpoint(one)]
    several = "all" if len(inheriting) == asked else "some" if inheriting else "none"
    return {
        "asked": str(asked),  # how many heads
        "firsts": str(places.count("first")),  # how many of them read the first of several tokens alone
        "first_names": _placed("first", anatomies, say),  # the titles of their backbones
        "lasts": str(places.count("last")),  # how many the last one alone
        "last_names": _placed("last", anatomies, say),  # the titles of theirs
        "cores": str(len(cores)),  # how many different ones there are
        "core_names": _by_core(cores, say),  # each of them, with the backbones whose heads have it
        "inheriting": str(len(inheriting)),  # how many heads have a tensor that comes from the checkpoint
        "inheriting_names": listed(inheriting, asked, say),  # the titles of their backbones
        "alike": "alone" if asked == 1 else _alike(places),
        "same": "alone" if asked == 1 else _yes(len(cores) == 1),
        "inherited": "alone" if asked == 1 else several,
    }


def _lens(anatomy: Anatomy) -> dict[str, str]:
    """What is seen through the lens of the likeliest label; nothing where the head has none."""
    if not isinstance(anatomy.lens, Lens):
        return {"label": "", "since": "", "depths": "", "pointed": "", "knows": "none"}
    aim = Aim(anatomy.analysis, anatomy.lens)
    pointed = int(aim.says(aim.lens.probabilities[-1]).sum())
    return {
        "label": aim.label,  # the likeliest label
        "since": str(aim.since),  # the layer from which on the head says so of its own vector
        "depths": ARROW.join(map(aim.text, aim.pooled)),  # what it says there, from layer 0 to the last
        "pointed": str(pointed),  # of how many tokens of the last layer it would say so
        "knows": _knows(aim),
    }


def _knows(aim: Aim) -> str:
    """Since which layer the head says of its own vector what it says in the end."""
    if aim.analysis.random:
        return "random"
    if aim.raw:
        return "raw"
    if aim.since is None:
        return "unsure"
    return {0: "every", aim.analysis.layers: "last"}.get(aim.since, "later")


def _title(anatomy: Anatomy, say: Texts) -> str:
    return visible(anatomy.analysis.backbone.said(say))


def _from_checkpoint(anatomy: Anatomy) -> list[Weight]:
    return [weight for weight in anatomy.weights if weight.origin == "checkpoint"]


def _placed(place: str, anatomies: Sequence[Anatomy], say: Texts) -> str:
    """The backbones whose heads read just the token in this ``place``."""
    return listed([_title(one, say) for one in anatomies if _only(one) == place], len(anatomies), say)


def _by_core(cores: Mapping[tuple[str, ...], Sequence[str]], say: Texts) -> str:
    none = say("questions.none")
    named = (
        say("questions.of_heads", core=ARROW.join(core) or none, heads=say.listed(titles))
        for core, titles in cores.items()
    )
    return say("list.semicolon").join(named)


def _only(anatomy: Anatomy) -> str:
    """Where the one token stands that a head reads: "first", "last" or its index.

    It is "either" if it is the only one of its text, and "" of a head that reads several or none.
    """
    read, total = indices(anatomy.analysis.reads.positions), len(anatomy.analysis.tokens.text)
    if len(read) != 1:
        return ""
    return "either" if total == 1 else {0: "first", total - 1: "last"}.get(read[0], str(read[0]))


def _alike(places: Sequence[str]) -> str:
    """Whether these are one place."""
    told = {place for place in places if place != "either"}
    if "" in told or len(told) > 1:
        return "no"
    return "short" if "either" in places else "yes"


def listed(names: Sequence[str], most: int, say: Texts) -> str:
    """The names in a row; of more than ``most`` the others are counted."""
    if not names:
        return say("questions.none")
    shown, rest = say.listed(names[:most]), len(names) - most
    return say("questions.more", names=shown, count=rest) if rest > 0 else shown


def _reading(anatomy: Anatomy, say: Texts) -> dict[str, str]:
    analysis = anatomy.analysis
    read, cls, special = indices(analysis.reads.positions), analysis.tokens.cls, analysis.tokens.special
    names = [shorten(word(label), 24) for label in labels_of(analysis)]
    tokens = [  # a word of the text in quotes, for it may be a full stop
        name if special[index] else say("similarity.stand_in", token=name) for index, name in enumerate(names)
    ]
    places = [_place(index, len(tokens), say) for index in read]
    several = "none" if not read else "all" if len(read) == len(tokens) else "some"
    return {
        "count": str(len(read)),  # how many tokens it reads
        "total": str(len(tokens)),  # of how many
        "read": listed([tokens[index] for index in read], NAMED, say),  # their names
        "place": listed(places, NAMED, say),  # where they stand
        "cls": tokens[cls],  # the token in the place of [CLS]
        "reads": several if len(read) != 1 else "cls" if read == [cls] else "one",
    }


def _place(index: int, total: int, say: Texts) -> str:
    if total == 1:
        return say("questions.alone")
    if index == 0:
        return say("questions.first")
    return say("questions.last") if index == total - 1 else say("questions.nth", number=index + 1)


def _chosen(analysis: Analysis) -> list[str]:
    """The labels that were chosen; of a regression, every value."""
    return [_output(analysis, index) for index in chosen_labels(analysis)]


def _output(analysis: Analysis, index: int) -> str:
    return f"{shorten(visible(analysis.labels[index]), 40)} ({output_text(analysis, index)})"


def _order(anatomy: Anatomy, say: Texts) -> dict[str, str]:
    steps, core, none = anatomy.steps, _core(anatomy), say("questions.none")
    own = ("", anatomy.analysis.backbone.architecture)
    groups = groupby(steps, key=lambda step: step.within)
    rows = [(within, _row([*group], say)) for within, group in groups]
    classes = [row if within in own else f"{visible(within)} ({row})" for within, row in rows]
    picked = max((index for index, step in enumerate(steps) if step.picks), default=-1)
    final = max((index for index, step in enumerate(steps) if step.weights), default=len(steps))
    ran = [step.path for step in steps if step.path]
    # without modules that hold others or were cut short
    printed = [line.path for line in anatomy.declared if line.path and not line.text.endswith(("(", "… )"))]
    return {
        "steps": _row(steps, say),  # what ran, in this order: a layer by its name, a function by its own
        "classes": ARROW.join(classes) or none,  # the same, after the class that ran it if that is another
        "between": _row(steps[picked + 1 : final], say),  # steps between the picked token and the last layer
        "core": ARROW.join(core) or none,  # the steps that change numbers
        "printed": say.listed(map(_last, printed)) or none,  # its layers in the order of print(model)
        "direct": _yes(len(core) == 1),
        "order": "run" if printed == ran else "other",
    }


def _row(steps: Sequence[Step], say: Texts) -> str:
    return ARROW.join(_step(step, say) for step in steps) or say("questions.none")


def _step(step: Step, say: Texts) -> str:
    """A layer that holds weights by its name; any other by what it does, for which its name is no help."""
    if step.weights and step.path:
        return _last(step.path)
    worded = step.kind in WORDED and (step.picks or step.kind != "getitem")
    return say(WORDED[step.kind]) if worded else visible(step.kind)


def _core(anatomy: Anatomy) -> tuple[str, ...]:
    """The kinds of the steps that change numbers; a layer does, even if it takes one vector out of all."""
    return tuple(
        visible(step.kind)
        for step in anatomy.steps
        if not (step.idle or step.moves) and (step.weights or not step.picks) and step.kind != "swap"
    )


def _last(path: str) -> str:
    return visible(path.rsplit(".", 1)[-1])


def _origins(anatomy: Anatomy, say: Texts) -> dict[str, str]:
    drawn = [weight for weight in anatomy.weights if weight.origin in UNTRAINED]
    constant = [weight for weight in anatomy.weights if weight.origin == "constant"]
    new = [weight for weight in anatomy.weights if weight in drawn or weight in constant]
    kept = [weight for weight in anatomy.weights if weight not in new]
    return {
        "weight_count": str(len(anatomy.weights)),  # how many tensors it has
        "parameters": counted(parameters_of(anatomy.weights)),  # how many numbers they hold
        "new": _names(new, TENSORS, say),  # the tensors that do not come from the checkpoint
        "new_count": str(len(new)),  # how many these are
        "new_parameters": counted(parameters_of(new)),  # how many numbers they hold
        "random": _names(drawn, TENSORS, say),  # those of them that were drawn at random
        "random_parameters": counted(parameters_of(drawn)),  # how many numbers they hold
        "constant": _names(constant, TENSORS, say),  # those that were set to one and the same number
        "constant_parameters": counted(parameters_of(constant)),  # how many numbers they hold
        "kept": _names(kept, TENSORS, say),  # the tensors that come from the checkpoint
        "kept_count": str(len(kept)),  # how many these are
        "unused": _names(anatomy.unused, UNUSED, say),  # tensors of the checkpoint without use in this class
        "origin": "mixed" if new and kept else "new" if new else "kept",
        "drawn": "some" if drawn else "none",
        "set": "some" if constant else "none",
    }


def _names(weights: Sequence[Weight], most: int, say: Texts) -> str:
    return listed([shorten(visible(weight.name), 60) for weight in weights], most, say)


def _yes(holds: bool) -> str:
    return "yes" if holds else "no"
