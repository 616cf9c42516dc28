"""Serves the page on an analyst with faults: ``python -m tests.public.faulty_app GATE``.

A text with "slow" in it is not answered before the file GATE can be read; one with "broken" never is.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

from components.settings import Settings
from components.types import Analysis, Query
from components.ui.serving import serve
from components.ui.shell import build
from tests.ui.fake import FakeAnalyst

SECRET = "/srv/secret/weights.py"


@dataclass(frozen=True)
class FaultyAnalyst(FakeAnalyst):
    slow: Path = Path()  # GATE

    def analyze(self, query: Query) -> Analysis:
        if "slow" in query.text:
            self.slow.read_bytes()
        if "broken" in query.text:
            raise RuntimeError(f"a bug in {SECRET}")
        return super().analyze(query)


if __name__ == "__main__":
    site = build(FaultyAnalyst(slow=Path(sys.argv[1])))
    serve(site, Settings(), ready=lambda: True)
    site.page.block_thread()
