"""app.py on a torch that has a GPU, as far as ``spaces`` and the app ask it: one that is not this machine's.

A build of torch for CPUs lacks even what ``spaces`` takes hold of when it is imported. In the page's own
process it then stands its own GPU in; this one is what it finds again in the process that is lent one.
"""

import runpy
from pathlib import Path
from types import SimpleNamespace

GPU = {"name": "a GPU for tests", "memory": 1_234_567}

if __name__ == "__main__":  # in a worker, this file is imported
    import torch

    torch.version.cuda = "13.0"
    torch._C._cuda_init = lambda: None
    torch.cuda._is_in_bad_fork = bool  # which says False, and can be sent to another process
    torch.Tensor.cuda = lambda tensor, **_: tensor
    torch.cuda.synchronize = lambda *_: None
    torch.cuda.get_device_properties = lambda *_: SimpleNamespace(
        name=GPU["name"], total_memory=GPU["memory"]
    )
    runpy.run_path(str(Path(__file__).resolve().parent.parent / "app.py"), run_name="__main__")
