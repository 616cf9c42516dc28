"""Serves the page on made-up answers and results: ``python -m tests.ui.fake_app [broken] [bare] [GATE]``."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from components.results import write_results
from components.settings import Settings
from components.ui.serving import serve
from components.ui.shell import build
from tests.ui.fake import FakeAnalyst
from tests.ui.fake_results import fake_results

if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        results = Path(folder) / "results.csv"
        if "bare" not in sys.argv:
            write_results(fake_results(), results)
        gate = next((Path(given) for given in sys.argv[1:] if given not in ("broken", "bare")), None)
        site = build(FakeAnalyst(broken="broken" in sys.argv, gate=gate), results)
    serve(site, Settings(), ready=lambda: True)
    site.page.block_thread()
