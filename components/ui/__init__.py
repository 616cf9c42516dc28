"""The page: what gradio shows and serves."""
