"""For notebooks: what the Classify tab shows, of a model object that is perhaps still being trained.

All is measured on a copy: a forward pass of the object itself would run its hooks and its dropout, and a head
is run again by changing a model for a moment.
"""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from copy import deepcopy
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import torch
import transformers
from torch import Tensor, nn
from transformers import AutoModelForSequenceClassification, PreTrainedModel, PreTrainedTokenizerBase

from components.analyses.anatomy import Anatomy
from components.analyses.measuring.anatomy import dissect
from components.errors import PoolscopeError
from components.exhibits.exhibit import Panel
from components.exhibits.panels import ANSWER, HEAD, READING, TOKENS
from components.exhibits.report import THEMES, Made, framed, report
from components.exhibits.view import LAYER, facts
from components.model import internals
from components.model.backbone import Backbone
from components.model.examine import NATIVE, examine
from components.model.files import RefusalError, foreign
from components.model.loading import assembled, check_finite
from components.model.pooling import POOLINGS
from components.model.query import checked, choice, within
from components.settings import Settings
from components.texts import ENGLISH, Sentence, Texts, languages, load_texts
from components.types import Analysis, BackboneSpec, Query

PANELS: tuple[Panel[Any, Any], ...] = (ANSWER, TOKENS, HEAD, READING)
HEIGHT, LEAST, MOST = 800, 100, 20_000  # pixels
FEW = 8  # sentences of our own, on which a light picture measures what is ordinary
WRAPPERS = {  # what holds the model in a wrapper -> what its holder passes instead
    "_orig_mod": ("model._orig_mod", "errors.wrapped"),
    "get_base_model": ("model.get_base_model()", "errors.adapted"),
    "module": ("model.module", "errors.wrapped"),
    "transformers_model": ("model.transformers_model", "errors.wrapped"),  # of sentence-transformers
}
FOUND: Mapping[str, Any] = {"missing_keys": (), "mismatched_keys": (), "unused": {}}  # an object lacks none


@dataclass(frozen=True, eq=False)
class Exhibits:
    """Exhibits of what was measured ``when``; a notebook draws its exhibits where this ends a cell.

    ``anatomy``: the numbers of the head, ``analysis`` the answer itself. ``height``: that of the frame in
    which the exhibits stand, in pixels. ``theme``: its own.
    """

    anatomy: Anatomy
    when: datetime
    height: int
    theme: str
    say: Texts

    @property
    def analysis(self) -> Analysis:
        """The answer itself."""
        return self.anatomy.analysis

    @property
    def name(self) -> str:
        """The class of the model."""
        return self.analysis.backbone.architecture

    @cached_property
    def document(self) -> tuple[str, ...]:
        """A page of all exhibits that needs nothing besides, in pieces."""
        state, asked = {LAYER.key: self.analysis.layer}, self.say("notebook.asked", name=self.name)
        known = partial(facts, self.analysis, asked=asked, say=self.say)
        return report(PANELS, self, state, known, Made(self.when), self.say)

    def _repr_html_(self) -> str:
        """A frame that scrolls by itself; called by notebooks."""
        title = self.say("notebook.frame", name=self.name)
        return framed(self.document, title, self.height, self.theme, self.say)

    def __repr__(self) -> str:
        return f"<Poolscope's exhibits of {self.name}: .save(path) writes them as an HTML file>"

    def save(self, path: str | Path) -> None:
        """Write the page as a file, which opens without a notebook or a network; OSError where it cannot."""
        Path(path).write_text("".join(self.document), encoding="utf-8")


def poolscope_show(
    model: object,
    tokenizer: object,
    text: str,
    text_pair: str = "",
    *,
    pooling: str = NATIVE,
    layer: int = -1,
    language: str = ENGLISH,
    height: int = HEIGHT,
    theme: str = "auto",
    light: bool = False,
) -> Exhibits:
    """Draw what the Classify tab shows of a model object, as it is now, for one text or pair.

    ``model``: any classifier of sequences of transformers, on any device, in any floating-point type, in
    training or not; another model of transformers is shown with a head that is drawn at random, which its
    outputs say. ``tokenizer``: its own. Both stay as they are, and so do torch's random numbers: all is
    measured on a copy on the CPU, in float32, without dropout. ``pooling``: what the head is given.
    ``layer``: whose similarities are shown, 0 for the embeddings. ``language``: of the exhibits. ``height``:
    of their frame, in pixels. ``theme``: "light", "dark" or "auto". ``light``: what is ordinary is measured
    on fewer sentences, which takes a third off the time. PoolscopeError says what is refused.
    """
    say = load_texts(choice("language", language, languages()))
    choice("theme", theme, ("auto", *THEMES))
    within("height", height, LEAST, MOST)
    query = Query("", text, text_pair, pooling, layer=layer)
    anatomy = anatomy_of(model, tokenizer, query, Settings().characters, FEW if light else None)
    return Exhibits(anatomy, datetime.now(UTC), height, theme, say)


def anatomy_of(
    model: object, tokenizer: object, query: Query, longest: int, compared: int | None = None
) -> Anatomy:
    """Take the own head of a model object apart on a query of any backbone; ``longest`` is in characters.

    ``compared``: how many sentences of our own tell what is ordinary; all of them where it is None. Both
    objects and torch's random numbers stay as they are. PoolscopeError says what is wrong with which of them.
    """
    found = _classifier(model)
    if not isinstance(tokenizer, PreTrainedTokenizerBase):
        raise PoolscopeError("tokenizer", type(tokenizer).__name__, "errors.object_tokenizer")
    name = type(found).__name__
    query = checked(replace(query, backbone=name), [name], list(POOLINGS), ("own",), longest)
    with _by_itself():
        try:
            backbone = _copied(found, tokenizer, BackboneSpec(name, name, "", "", "object", ""))
            backbone = replace(backbone, compared=compared)
        except RefusalError as refusal:
            raise PoolscopeError("model", name, "errors.unshown", reason=refusal.sentence) from refusal
        with internals.repeatable(backbone.model):
            anatomy = dissect(examine(backbone, query))
    said = replace(anatomy.analysis, warnings=(*_notes(found), *anatomy.analysis.warnings))
    return replace(anatomy, analysis=said)


def _classifier(model: object) -> PreTrainedModel:
    if isinstance(model, PreTrainedModel):
        return model
    name, wrappers = type(model).__name__, WRAPPERS.items() if isinstance(model, nn.Module) else ()
    for attribute, (inner, key) in wrappers:
        if hasattr(model, attribute):
            raise PoolscopeError("model", name, key, inner=inner)
    raise PoolscopeError("model", name, "errors.object_model")


@contextmanager
def _by_itself() -> Iterator[None]:
    """Within, torch makes float32 on the CPU, and slopes, whatever the caller has set for the time being."""
    with (
        torch.device("cpu"),
        torch.autocast("cpu", enabled=False),
        torch.inference_mode(False),
        torch.enable_grad(),
        ExitStack() as after,
    ):
        after.callback(torch.set_default_dtype, torch.get_default_dtype())
        torch.set_default_dtype(torch.float32)
        yield


def _copied(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, spec: BackboneSpec) -> Backbone:
    _check_held(model)
    with foreign("refusals.uncopied"):
        copy = internals.plain_copy(model)
        words = deepcopy(tokenizer)  # whose call changes how it cuts and pads
    for module in copy.modules():  # whose hooks that hand out the hidden states are set anew
        vars(module).pop(internals.CAPTURING, None)
    internals.attend_anywhere(copy)
    check_finite(copy)
    headed, found = _headed(copy)
    return assembled(spec, headed, words, found)


def _headed(model: PreTrainedModel) -> tuple[PreTrainedModel, Mapping[str, Any]]:
    """Give a model as it is, or one of transformers' that classifies no texts with a head drawn at random.

    With it comes what a loader says of its tensors.
    """
    classifiers = transformers.MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING
    known: Any = classifiers.get(type(model.config), PreTrainedModel)
    if isinstance(model, known) or not type(model).__module__.startswith("transformers."):
        return model, FOUND
    with internals.seeded():
        headed: Any = AutoModelForSequenceClassification.from_config(model.config)  # type: ignore[no-untyped-call]  # of transformers
    body = headed.base_model.load_state_dict(model.base_model.state_dict(), strict=False)
    prefix = f"{headed.base_model_prefix}."
    drawn = [name for name, _ in headed.named_parameters() if not name.startswith(prefix)]
    missing = (*drawn, *(f"{prefix}{name}" for name in body.missing_keys))
    return headed.eval(), {**FOUND, "missing_keys": missing}


def _check_held(model: PreTrainedModel) -> None:
    """Refuse weights that are not there as plain numbers: a copy in float32 would be another model."""
    if getattr(model.config, "quantization_config", None) is not None:
        raise RefusalError("refusals.quantised", how="quantization_config")
    for name, tensor in (*model.named_parameters(), *model.named_buffers()):
        plain = type(tensor) is nn.Parameter and type(tensor.data) is Tensor
        plain = plain and tensor.is_floating_point() and tensor.numel() > 0
        if tensor.is_meta or (isinstance(tensor, nn.Parameter) and not plain):
            raise RefusalError("refusals.unheld", name=name)


def _notes(model: PreTrainedModel) -> Iterator[Sentence]:
    types = {str(weight.dtype).removeprefix("torch.") for weight in model.parameters()} - {"float32"}
    if types:
        yield Sentence("warnings.object_types", types=tuple(sorted(types)))
    if hooks := internals.acting_hooks(model):
        yield Sentence("warnings.object_hooks", count=len(hooks))
