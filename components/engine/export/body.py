"""What a program can ask of a checkpoint's body, run by itself."""

from __future__ import annotations

from components.engine.examine import Examined
from components.engine.export import text


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
    return text.comment(
        f"{name} has no body that runs by itself: {reason}. There is no short program for this."
    )


def layers(examined: Examined) -> str:
    """What the body's output calls the hidden states of the layers below the head."""
    return "decoder_hidden_states" if examined.backbone.model.config.is_encoder_decoder else "hidden_states"
