"""Where the tensors of a model come from: the checkpoint's file, or nowhere."""

from __future__ import annotations

from collections.abc import Mapping

from safetensors import safe_open

from components.analyses.anatomy import Origin, Weight
from components.model.backbone import Backbone
from components.model.files import folder, weights_in
from components.types import BackboneSpec

Shape = tuple[int, ...]


def origin(backbone: Backbone, name: str) -> Origin:
    """Where the model's tensor ``name`` comes from."""
    if backbone.spec.live:
        return "object"
    if name in backbone.provenance.constant:
        return "constant"
    if name in backbone.provenance.mismatched:
        return "reshaped"
    return "new" if name in backbone.provenance.missing else "checkpoint"


def unused(backbone: Backbone) -> tuple[Weight, ...]:
    """What the checkpoint holds and the model does not use, by name, with the shapes in the file.

    That includes what it could not use, for it has another shape here.
    """
    own = backbone.model.state_dict().keys() - set(backbone.provenance.mismatched)
    prefix = f"{backbone.model.base_model_prefix}."
    reported = set(backbone.provenance.unexpected)
    return tuple(
        Weight(name, shape, "checkpoint")
        for name, shape in sorted(held(backbone.spec).items())
        if name in reported or not _names(name, prefix) & own
    )


def held(spec: BackboneSpec) -> Mapping[str, Shape]:
    """Names and shapes of all tensors in the checkpoint's files, from their headers alone."""
    found: dict[str, Shape] = {}
    local = folder(spec)
    for file in weights_in(local) if local else ():
        with safe_open(file, framework="numpy") as tensors:
            for name in tensors.keys():  # noqa: SIM118 - not a mapping
                found[name] = tuple(tensors.get_slice(name).get_shape())
    return found


def _names(name: str, prefix: str) -> set[str]:
    """What the loader may call the tensor ``name`` of a file: with and without the body's prefix.

    Old checkpoints say gamma and beta for the weight and bias of a layer norm.
    """
    today = name.replace("LayerNorm.gamma", "LayerNorm.weight").replace("LayerNorm.beta", "LayerNorm.bias")
    return {today, prefix + today, today.removeprefix(prefix)}
