"""Facts of what was just measured, and the cases that choose among sentences.

"Picking" a token is taking one hidden state out of all. Nothing here is escaped; who shows a fact does that.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from operator import attrgetter

from components.analyses.anatomy import Anatomy, HeadStep, Lens, Weight
from components.analyses.importance import Importance
from components.analyses.padding import Padding
from components.exhibits import evidence as tables, importance as matters, view as naming
from components.exhibits.averaging import averages, averages_facts
from components.exhibits.evidence import LEVEL, Evidence, against_base, corrected, vectors
from components.exhibits.exhibit import grouped
from components.exhibits.head import UNTRAINED, WORDED, parameters_of
from components.exhibits.hidden_states import aim_at
from components.exhibits.verdict import output_text, quoted, ranked
from components.exhibits.view import View, counted, indices, labels_of, listed, number, shorten, visible
from components.results import Row
from components.texts import Sentence, Texts

NAMED = 4  # tokens or labels that are named; the others are only counted
TENSORS = 8  # tensors of the head that are named
UNUSED = 3  # tensors without use that are named: there may be hundreds
ARROW = " → "


def head_facts(anatomy: Anatomy, say: Texts) -> dict[str, str]:
    """Facts of one head."""
    analysis = anatomy.analysis
    own = [shorten(visible(say.label(one)), 40) for one in analysis.labels]
    told = [say("verdict.answer", label=own[at], value=output_text(analysis, at)) for at in ranked(analysis)]
    return {
        "backbone": visible(analysis.backbone.said(say)),  # its title in the menu
        "architecture": visible(analysis.backbone.architecture),  # its class
        "outputs": listed(told, NAMED, say),  # its likeliest labels with probabilities, chosen or not
        "trained": "no" if analysis.random else "yes",
        **_reading(anatomy, say),
        **_order(anatomy, say),
        **_origins(anatomy, say),
        **_lens(anatomy, say),
    }


def heads_facts(anatomies: Sequence[Anatomy], say: Texts) -> dict[str, str]:
    """Facts of several heads together."""
    asked, titles = len(anatomies), [visible(one.analysis.backbone.said(say)) for one in anatomies]
    places = list(map(_only, anatomies))
    told = {place for place in places if place != "either"}
    alike = "no" if "" in told or len(told) > 1 else "short" if "either" in places else "yes"
    by_place = grouped(zip(places, titles, strict=True))
    firsts, lasts = by_place.get("first", []), by_place.get("last", [])
    titled = list(zip(titles, anatomies, strict=True))
    cores = grouped((_core(anatomy), title) for title, anatomy in titled)
    named = (
        say("questions.of_heads", core=ARROW.join(core) or say("questions.none"), heads=say.listed(heads))
        for core, heads in cores.items()
    )
    inheriting = [title for title, one in titled if "checkpoint" in {part.origin for part in one.weights}]
    several = "all" if len(inheriting) == asked else "some" if inheriting else "none"
    return {
        "asked": str(asked),  # how many heads
        "firsts": str(len(firsts)),  # how many of them read the first of several tokens alone
        "first_names": listed(firsts, asked, say),  # the titles of their backbones
        "lasts": str(len(lasts)),  # how many the last one alone
        "last_names": listed(lasts, asked, say),  # the titles of theirs
        "cores": str(len(cores)),  # how many different ones there are
        # each of them, with the backbones whose heads have it
        "core_names": say("list.semicolon").join(named),
        "inheriting": str(len(inheriting)),  # how many heads have a tensor that comes from the checkpoint
        "inheriting_names": listed(inheriting, asked, say),  # the titles of their backbones
        "alike": "alone" if asked == 1 else alike,
        "same": "alone" if asked == 1 else "yes" if len(cores) == 1 else "no",
        "inherited": "alone" if asked == 1 else several,
    }


def _lens(anatomy: Anatomy, say: Texts) -> dict[str, str]:
    if not isinstance(anatomy.lens, Lens):
        return {"knows": "none"}
    aim = aim_at(anatomy.analysis, anatomy.lens, say)
    return {
        "label": aim.label,  # the likeliest label
        "since": str(aim.since),  # the layer from which on the head says so of its own vector
        "depths": ARROW.join(map(aim.text, aim.pooled)),  # what it says there, from layer 0 to the last
        "pointed": str(int(aim.pointed.sum())),  # of how many tokens of the last layer it would say so
        "knows": "random" if aim.analysis.random else "raw" if aim.raw else aim.knows,
    }


def _only(anatomy: Anatomy) -> str:
    """The place of the one token that a head reads: "first", "last" or its index.

    It is "either" if it is the only one of its text, and "" of a head that reads several or none.
    """
    read, total = indices(anatomy.analysis.reads.positions), len(anatomy.analysis.tokens.text)
    if len(read) != 1:
        return ""
    return "either" if total == 1 else {0: "first", total - 1: "last"}.get(read[0], str(read[0]))


def _reading(anatomy: Anatomy, say: Texts) -> dict[str, str]:
    analysis = anatomy.analysis
    read, cls = indices(analysis.reads.positions), analysis.tokens.cls
    view, last = View(analysis, analysis.layers), len(analysis.tokens.text) - 1
    tokens = [quoted(view, index, say) for index in range(last + 1)]
    ends = {last: "questions.last", 0: "questions.first"} if last else {0: "questions.alone"}
    places = [say(ends.get(index, "questions.nth"), number=index + 1) for index in read]
    several = "none" if not read else "all" if len(read) == len(tokens) else "some"
    return {
        "count": str(len(read)),  # how many tokens it reads
        "total": str(len(tokens)),  # of how many
        "read": listed([tokens[index] for index in read], NAMED, say),  # their names
        "place": listed(places, NAMED, say),  # where they stand
        "cls": tokens[cls],  # the token in the place of [CLS]
        "reads": several if len(read) != 1 else "cls" if read == [cls] else "one",
    }


def _order(anatomy: Anatomy, say: Texts) -> dict[str, str]:
    steps, core, none = anatomy.steps, _core(anatomy), say("questions.none")
    own = ("", anatomy.analysis.backbone.architecture)
    told, classes = [_step(step, say) for step in steps], []
    for within, group in groupby(zip(steps, told, strict=True), key=lambda pair: pair[0].within):
        row = ARROW.join(name for _, name in group)
        classes.append(row if within in own else say("steps.named", name=visible(within), kind=row))
    picked = max((index for index, step in enumerate(steps) if step.picks), default=-1)
    final = max((index for index, step in enumerate(steps) if step.weights), default=len(steps))
    ran, whole = [step.path for step in steps if step.path], ARROW.join(told) or none
    # without modules that hold others or were cut short
    printed = [line.path for line in anatomy.declared if line.path and not line.text.endswith(("(", "… )"))]
    return {
        "steps": whole,  # what ran, in this order: a layer by its name, a function by its own
        "classes": ARROW.join(classes) or none,  # the same, after the class that ran it if that is another
        # steps between the picked token and the last layer
        "between": ARROW.join(told[picked + 1 : final]) or none,
        "core": ARROW.join(core) or none,  # the steps that change numbers
        "printed": say.listed(map(_last, printed)) or none,  # its layers in the order of print(model)
        "direct": "yes" if len(core) == 1 else "no",
        "order": "run" if printed == ran else "other",
    }


def _step(step: HeadStep, say: Texts) -> str:
    """A layer that holds weights by its name; any other by what it does, for which its name is no help."""
    if step.weights and step.path:
        return _last(step.path)
    worded = step.kind in WORDED and (step.picks or step.kind != "getitem")
    return say(f"questions.{step.kind}") if worded else visible(step.kind)


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


def importance_facts(given: Importance | Sentence, say: Texts) -> dict[str, str]:
    """Facts of one text on one model; the cases alone where it was refused."""
    if isinstance(given, Sentence):
        return {"goes": "refused", "named": "none"}
    methods, labels = matters.methods_of(given, say), labels_of(given.analysis)
    similarity, *_, erasure = methods
    few = len(erasure.ranked) < 2
    most, first = (None if few else method.top for method in (similarity, erasure))
    rhos = (say("matters.rho_of", name=one.title, rho=matters.rho_text(one.rho)) for one in methods[:-1])
    named = "same" if most == first else "other"
    (similar, similar_after), (erased, erased_after) = (
        ("", "") if at is None else (naming.token_name(labels, at, say), matters.explained_value(given, at))
        for at in (most, first)
    )
    return {
        "similar": similar,  # the token of the text most similar to [CLS]
        "similar_after": similar_after,  # what the output is without it
        "erased": erased,  # the token whose erasure makes the output fall most
        "erased_after": erased_after,  # what the output is without that
        "eraser": visible(given.eraser),  # what takes the place of a token that is erased
        "explained": matters.explained(given, say),  # the label whose output that is
        "before": matters.explained_value(given),  # the output as it is
        "rho": matters.rho_text(similarity.rho),  # Spearman's rho between similarity and erasure
        "sized": matters.sized(similarity, erasure),  # the same with the size of what erasure changes
        "rhos": say.listed(rhos),  # the same of each answer
        "goes": matters.goes(given, similarity, erasure),
        "named": named if most is not None and matters.falls(given, first) else "none",
    }


def padding_facts(given: Padding | Sentence, say: Texts) -> dict[str, str]:
    """Facts of one text on one model; the cases alone where nothing was padded."""
    if isinstance(given, Sentence) or given.verdict == "alone":
        return {"batched": "refused" if isinstance(given, Sentence) else "alone", "elsewhere": "none"}
    batch, *rest = given.cases
    others = [one for one in rest if one.name != given.side]
    moves = {one.name: (f"{one.largest:.2g}", one.cause) for one in others if one.verdict != "safe"}
    unsafe = [
        say("padding.moved", way=say(f"padding.{name}"), largest=far, cause=say(f"padding.cause_{cause}"))
        for name, (far, cause) in moves.items()
    ]
    return {
        "side": say(f"padding.{given.side}"),  # where its tokenizer pads
        "largest": f"{batch.largest:.2g}",  # by how much a logit moves then, at most
        "why": say(f"padding.cause_{batch.cause}") if batch.cause else "",  # the cause, as measured
        "unsafe": say.listed(unsafe),  # other ways to pad that move a logit
        "batched": given.verdict,
        "elsewhere": "none" if not others else "some" if unsafe else "safe",
    }


def result_facts(evidence: Evidence, key: str, poolings: Sequence[str], say: Texts) -> dict[str, str]:
    """Facts of one backbone, which was measured."""
    found = evidence.of("probe", key)
    accuracies = {row.pooling: row for row in found}
    named = [f"{visible(one)} {_interval(accuracies[one], say)}" for one in poolings if one in accuracies]
    better, worse, none = list[str](), list[str](), say("questions.none")
    for row in against_base(vectors(found)):
        if row.corrected < LEVEL:
            side = better if row.better > row.worse else worse
            side += [visible(name) for name in poolings if name in row.poolings]
    own = [_interval(row, say) for row in evidence.of("head", key)]
    return {
        "backbone": evidence.title(key),  # its title in the menu
        "examples": counted(found[0].measured),  # how many the classifier was tried on
        "accuracies": listed(named, len(named), say),  # on each of the question's poolings, with its interval
        "better": say.listed(better) or none,  # whose vectors are better than cls by more than chance
        "worse": say.listed(worse) or none,  # those that are worse
        "level": str(LEVEL),  # the p below which a difference counts
        "confidence": "95 %",  # of every interval
        "own": own[0] if own else say("questions.unmeasured"),  # of the checkpoint's own head
    }


def results_facts(evidence: Evidence, pooling: str, say: Texts) -> dict[str, str]:
    """Facts of the backbones together; those that were measured in both ways are compared."""
    own = {row.backbone: row for row in evidence.of("head")}
    tried = [row for row in evidence.of("probe") if row.pooling == pooling and row.backbone in own]
    heads = [own[row.backbone] for row in tried]
    known = {row.backbone for row in tried}
    pairs = [row for row in evidence.of_task("pair") if {row.backbone, row.other} <= known]
    tested = corrected([row for row in pairs if row.pooling in ("", pooling)])
    differ = [row.pooling for row in tested if row.corrected < LEVEL]
    own_differ = differ.count("")
    return {
        "pairs": str(sum(not row.pooling for row in tested)),  # how many pairs of backbones there are
        "tests": str(len(tested)),  # how many differences these have in both ways
        "own_ends": _ends(heads, evidence, say),  # the lowest and the highest with own heads, whose these are
        "own_differ": str(own_differ),  # how many pairs differ with own heads
        "probe_pooling": visible(pooling),  # the first of the question's poolings
        "probe_ends": _ends(tried, evidence, say),  # the lowest and the highest with one classifier on that
        "probe_differ": str(len(differ) - own_differ),  # how many pairs differ with that
        "counts": "alone" if not tested else "some" if differ else "none",
        **averages_facts(averages(replace(evidence, backbones=()))),  # of every backbone, as on its tab
    }


def _ends(accuracies: Sequence[Row], evidence: Evidence, say: Texts) -> str:
    if not accuracies:
        return say("questions.unmeasured")
    low, high = (
        say("questions.accuracy_of", value=_interval(row, say), backbone=evidence.title(row.backbone))
        for row in (pick(accuracies, key=attrgetter("value")) for pick in (min, max))
    )
    return say("questions.from_to", low=low, high=high)


def _interval(row: Row, say: Texts) -> str:
    low, high = number(100 * row.low, 1), number(100 * row.high, 1)
    return say("evidence.interval", value=tables.accuracy_text(row.value), low=low, high=high)
