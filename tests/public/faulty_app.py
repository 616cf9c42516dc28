"""app.py on an analyst with faults, and on a torch that has a GPU, as far as ``spaces`` and the app ask it.

``python -m tests.public.faulty_app GATE``: a text with "slow" in it is not answered before there is a file
GATE; one with "broken" never is. The GPU is not this machine's: a build of torch for CPUs lacks even what
``spaces`` takes hold of when it is imported. It stands its own GPU in; this one is what it finds again in the
process that is lent one.
"""

import sys
import time
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

from components.types import Analysis, Query
from tests.ui.fake import FakeAnalyst

SECRET = "/srv/secret/weights.py"
GPU = {"name": "a GPU for tests", "memory": 1_234_567}


@dataclass(eq=False)
class FaultyAnalyst(FakeAnalyst):
    slow: Path = Path()  # GATE

    def analyze(self, query: Query) -> Analysis:
        while "slow" in query.text and not self.slow.exists():
            time.sleep(0.1)
        if "broken" in query.text:
            raise RuntimeError(f"a bug in {SECRET}")
        return super().analyze(query)

    def ready(self) -> bool:
        return True

    def open(self) -> None: ...

    def close(self, _seconds: float) -> None: ...


if __name__ == "__main__":
    import torch

    import app
    from components.inference import workers

    torch.version.cuda = "13.0"
    torch._C._cuda_init = lambda: None
    torch.cuda._is_in_bad_fork = bool  # which says False, and can be sent to another process
    torch.Tensor.cuda = lambda tensor, **_: tensor
    torch.cuda.synchronize = lambda *_: None
    properties = SimpleNamespace(name=GPU["name"], total_memory=GPU["memory"])
    torch.cuda.get_device_properties = lambda *_: properties
    workers.desk_of = lambda _settings: FaultyAnalyst(slow=Path(sys.argv[1]))  # type: ignore[assignment, return-value]
    app.main()
