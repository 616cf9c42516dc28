import os

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # before huggingface_hub is imported
