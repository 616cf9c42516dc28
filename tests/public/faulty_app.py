"""app.py on an analyst with faults, and on a torch that has a GPU, as far as ``spaces`` asks it.

``python -m tests.public.faulty_app GATE``: a text with "slow" in it is not answered before there is a file
GATE; one with "broken" never is. One with "lent" is measured where the GPU is lent. That is not this
machine's: a build of torch for CPUs lacks even what ``spaces`` takes hold of when it is imported.
"""

import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from components.settings import Settings
from components.types import Analysis, Query
from tests.ui.fake import FakeAnalyst

SECRET = "/srv/secret/weights.py"


@dataclass(eq=False)
class FaultyAnalyst(FakeAnalyst):
    slow: Path = Path()  # GATE
    lent: Any = None  # the desk of the GPU

    def analyze(self, query: Query) -> Analysis:
        if "lent" in query.text:
            return self.lent.ask("analyze", query)  # type: ignore[no-any-return]  # the desk's
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
    from components import zero_gpu
    from components.inference import workers

    torch.version.cuda = "13.0"
    torch._C._cuda_init = lambda: None
    torch.cuda._is_in_bad_fork = bool  # which says False, and can be sent to another process
    torch.Tensor.cuda = lambda tensor, **_: tensor
    torch.cuda.synchronize = lambda *_: None
    zero_gpu.DEVICE, desk_of = "cpu", workers.desk_of
    gpu = Settings(workers=0, device_from=1)
    workers.desk_of = lambda _settings, hire: FaultyAnalyst(slow=Path(sys.argv[1]), lent=desk_of(gpu, hire))  # type: ignore[assignment, return-value]
    app.main()
