"""The least that gradio can serve: the base that Poolscope's page is measured against."""

import gradio as gr

with gr.Blocks(analytics_enabled=False) as page:
    box = gr.Textbox(label="in")
    out = gr.Textbox(label="out")
    gr.Button("go").click(lambda text: text[::-1], box, out)

page.launch(ssr_mode=False)
