"""Serves the page on made-up answers and results: ``python -m tests.ui.fake_app``."""

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
        write_results(fake_results(), results)
        site = build(FakeAnalyst(), Settings(), results)
    serve(site, Settings(), ready=lambda: True)
    site.page.block_thread()
