"""Serves the page on the fake analyst: ``python -m tests.ui.fake_app [broken]``."""

import sys

from components.ui.shell import build, launch_options
from tests.ui.fake import FakeAnalyst

if __name__ == "__main__":
    build(FakeAnalyst(broken="broken" in sys.argv)).launch(**launch_options())
