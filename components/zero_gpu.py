"""ZeroGPU: a Space of this kind lends its GPU for as long as a function runs, and starts only where one asks.

Poolscope measures on CPUs, in its workers, which costs no visitor anything. The one function that is lent the
GPU says which one it is.
"""

from __future__ import annotations

import os
import socket
from typing import Any

import gradio as gr
from gradio.events import api

SECONDS = 5  # of the visitor's quota, at most, for one call


def add_gpu(page: gr.Blocks) -> None:
    """On ZeroGPU, declare the endpoint /gpu on a page that is not served yet, and have ``spaces`` report it.

    It does so where any page is launched: this one is mounted, so another one is, for a moment, at a port of
    its own. Importing ``spaces`` loads torch and changes it, in this process alone: workers begin anew.
    """
    if os.environ.get("SPACES_ZERO_GPU", "").lower() not in ("1", "t", "true"):  # as ``spaces`` reads it
        return
    import spaces

    with page:
        api(spaces.GPU(gpu, duration=SECONDS), api_name="gpu")
    with gr.Blocks(analytics_enabled=False) as nothing:
        pass
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    nothing.launch(
        prevent_thread_lock=True, server_name="127.0.0.1", server_port=port, ssr_mode=False, quiet=True
    )
    nothing.close(verbose=False)


def gpu() -> dict[str, Any]:
    """The GPU that this Space lends: its name, and its memory in bytes. Costs seconds of your quota."""
    import torch

    properties = torch.cuda.get_device_properties(0)
    return {"name": properties.name, "memory": properties.total_memory}
