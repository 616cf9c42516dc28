"""Device: where a model's weights are. It alone computes there: what measures knows the CPU, and doubles."""

import os

import torch
from torch import Tensor

CPU = torch.device("cpu")


def carried(tensor: Tensor, device: torch.device = CPU) -> Tensor:
    """The same numbers on a device; no step to who traces torch where they are there already."""
    return tensor if tensor.device == device else tensor.to(device)


def present() -> str:
    """The best device that torch has here. Who asks can have no copies with CUDA."""
    return "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"


def begun(device: str) -> int | None:
    """Have torch compute in full float32, the same every time; gives its free bytes where it has its own."""
    if device != "cuda":
        return None
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # with which cuBLAS does
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    torch.backends.cuda.enable_mem_efficient_sdp(False)  # which may round factors
    torch.use_deterministic_algorithms(True, warn_only=True)
    return torch.cuda.mem_get_info()[0]


def seed(device: torch.device) -> None:
    """Have random numbers of a GPU start from one seed: nobody else draws there."""
    if device.type in ("cuda", "mps"):
        torch.get_device_module(device).manual_seed(0)
