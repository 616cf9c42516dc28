"""The least that gradio can serve: two boxes and a button, and a constant about as large as an answer."""

import gradio as gr
from gradio.events import api

CONSTANT = {"numbers": [0.123456] * 400}  # 4,000 bytes of JSON, as many as an answer to a short text has


def analyze(backbone: str, text: str) -> dict[str, list[float]]:
    del backbone, text
    return CONSTANT


with gr.Blocks(analytics_enabled=False) as page:
    box = gr.Textbox(label="in")
    out = gr.Textbox(label="out")
    gr.Button("go").click(lambda text: text[::-1], box, out)
    api(analyze, api_name="analyze")

page.launch(ssr_mode=False)
