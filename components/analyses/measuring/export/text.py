"""Pieces of Python source: literals, calls that fit the page, imports, comments, where files lie."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path

from components.declaration import Cut
from components.model.examine import Examined
from components.settings import ASSETS
from components.types import BackboneSpec

WIDTH = 100  # of a line, in characters
ROOT = ASSETS.parent
SAFELY = ("trust_remote_code=False", "use_safetensors=True", "dtype=torch.float32")  # to load weights
LOWER = "# A layer below the last is pooled. There is no short program for this.\n"
MINE = "# The classifier was fitted on a table. `python -m components.lab` writes it down with its program.\n"
DECLARED = {("torch", "nn"), ("sentence_transformers", "SentenceTransformer")}  # what `declared` needs
Import = tuple[str, str]  # a module and the name to take from it, or "" for the module itself


def literal(text: str) -> str:
    """``text`` as Python source, on one line and whatever it holds; in double quotes where both would do."""
    source = repr(text)  # escapes all that is not printable, marks that turn the direction of text included
    return f'"{source[1:-1]}"' if source[0] == "'" and '"' not in text else source


def call(head: str, parts: Sequence[str], tail: str = ")") -> str:
    """``head``, ``parts`` with commas between them, and ``tail``, on as few lines as the width allows."""
    inner, indent = ", ".join(parts), _indent(head)
    if len(head) + len(inner) + len(tail) <= WIDTH:
        return f"{head}{inner}{tail}"
    if len(indent) + 4 + len(inner) <= WIDTH:
        return spread(head, [inner], tail)
    return spread(head, [f"{part}," for part in parts], tail)


def spread(head: str, lines: Iterable[str], tail: str = ")") -> str:
    """``head``, ``lines`` below it one step deeper, and ``tail``."""
    indent = _indent(head)
    return "\n".join([head, *(f"{indent}    {line}" for line in lines), indent + tail])


def strings(name: str, values: Sequence[str]) -> str:
    """A constant that holds ``values`` in a tuple."""
    parts = [literal(value) for value in values]
    line = f"{name} = ({', '.join(parts)}{',' if len(parts) == 1 else ''})"
    return line if len(line) <= WIDTH else spread(f"{name} = (", [f"{part}," for part in parts])


def comment(text: str, indent: str = "") -> str:
    """``text`` as comment lines, whatever line breaks it holds."""
    mark = f"{indent}# "
    return textwrap.fill(text, WIDTH, initial_indent=mark, subsequent_indent=mark, break_on_hyphens=False)


def imports(wanted: Iterable[Import]) -> str:
    """Import lines, the standard library's above the others, each part in the order that linters know."""
    names: dict[str, set[str]] = {}
    for module, name in sorted(wanted):
        names.setdefault(module, set()).add(name)
    standard = [module for module in names if module.split(".")[0] in sys.stdlib_module_names]
    others = [module for module in names if module not in standard]
    return "\n\n".join("\n".join(_import_lines(part, names)) for part in (standard, others) if part)


def file(blocks: Iterable[str]) -> str:
    """A whole file: its blocks, two empty lines between them."""
    return "\n\n\n".join(blocks) + "\n"


def place(path: str) -> str:
    """A path from Poolscope's folder on, with / on every system; of one elsewhere its name alone.

    Where the owner of a server keeps a checkpoint is nobody else's business.
    """
    whole = Path(path)
    return whole.relative_to(ROOT).as_posix() if whole.is_relative_to(ROOT) else whole.name


def located(spec: BackboneSpec) -> str:
    """Constants that say where the checkpoint is."""
    if spec.source == "hub":
        return f"CHECKPOINT = {literal(spec.location)}\nREVISION = {literal(spec.revision or 'main')}"
    inside = Path(spec.location).is_relative_to(ROOT)
    hint = "run this from Poolscope's folder, or name your own copy" if inside else "where your copy of it is"
    return f"# {hint}\nCHECKPOINT = {literal(place(spec.location))}"


def tokenizer(spec: BackboneSpec, indent: str = "") -> str:
    """The line that loads the tokenizer."""
    parts = ("CHECKPOINT", *revision(spec), "trust_remote_code=False")
    return call(f"{indent}tokenizer = AutoTokenizer.from_pretrained(", parts)


def revision(spec: BackboneSpec, name: str = "REVISION") -> tuple[str, ...]:
    """The argument that pins a checkpoint of the hub, whose value is in ``name``; none for a folder."""
    return (f"revision={name}",) if spec.source == "hub" else ()


def _import_lines(modules: Sequence[str], names: dict[str, set[str]]) -> list[str]:
    whole = [f"import {module}" for module in modules if "" in names[module]]
    chosen = {module: sorted(names[module] - {""}) for module in modules}
    return whole + [f"from {module} import {', '.join(taken)}" for module, taken in chosen.items() if taken]


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def unfit(examined: Examined) -> str:
    """A comment that says why no short program can pool the hidden states; "" where one can."""
    reason = ""
    if not examined.backbone.per_token:
        reason = "the states that its head receives stay inside of the model, and stand for no single token"
    elif not examined.backbone.body_alone:
        reason = "the classifier itself prepares what it reads"
    if not reason:
        return ""
    name = examined.backbone.architecture
    return comment(f"{name} has no body that runs by itself: {reason}. There is no short program for this.")


def declared(
    spec: BackboneSpec, target: str, checkpoint: str = "CHECKPOINT", pinned: str = "REVISION"
) -> str:
    """Lines that load the steps behind the transformer that a checkpoint declares into ``target``."""
    indent = _indent(target)
    return "\n".join(
        [
            call(
                f"{indent}modules = SentenceTransformer(",
                [
                    checkpoint,
                    *revision(spec, pinned),
                    'device="cpu"',
                    'model_kwargs={"dtype": torch.float32}',
                ],
            ),
            f"{target} = nn.Sequential(*list(modules)[1:])  # all that is declared behind the transformer",
        ]
    )


def kept(examined: Examined) -> str:
    """What takes the numbers that ``encode`` keeps of a declared vector, as source; "" where all are kept."""
    declared = examined.backbone.declared
    cuts = [step.size for step in declared.says.steps if isinstance(step, Cut)] if declared else []
    return f"[:, :{cuts[0]}]" if cuts else ""


def layers_name(examined: Examined) -> str:
    """What the body's output calls the hidden states of the layers below the head."""
    return "decoder_hidden_states" if examined.backbone.model.config.is_encoder_decoder else "hidden_states"
