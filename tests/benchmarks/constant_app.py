"""A gradio endpoint that returns a constant as large as an answer: what gradio itself can serve at most."""

import gradio as gr
from gradio.events import api

SIZE = 4_000  # bytes of JSON, as many as an answer to a short text has
CONSTANT = {"numbers": [0.123456] * (SIZE // 10)}


def analyze(backbone: str, text: str) -> dict[str, list[float]]:
    """The same for every question."""
    del backbone, text
    return CONSTANT


with gr.Blocks(analytics_enabled=False) as page:
    api(analyze, api_name="analyze")

page.launch(ssr_mode=False)
