"""Serves the page on an analyst who is slow or broken where the text says so."""

import time

from components.settings import Settings
from components.types import Analysis, Query
from components.ui.serving import serve
from components.ui.shell import build
from tests.ui.fake import FakeAnalyst

SLOW = 3.0  # seconds
SECRET = "/srv/secret/weights.py"


class OddAnalyst(FakeAnalyst):
    def analyze(self, query: Query) -> Analysis:
        if "slow" in query.text:
            time.sleep(SLOW)
        if "broken" in query.text:
            raise RuntimeError(f"a bug in {SECRET}")
        return super().analyze(query)


if __name__ == "__main__":
    page = build(OddAnalyst())
    serve(page, Settings())
    page.block_thread()
