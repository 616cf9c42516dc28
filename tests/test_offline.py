"""What the servers of tests run under notices every attempt to reach another machine."""

import os
from pathlib import Path

from tests.serving import ROOT, python


def test_the_guard_does_refuse(tmp_path: Path) -> None:
    attempts = tmp_path / "attempts"
    script = tmp_path / "outside.py"
    guarded = (ROOT / "tests" / "guarded_app.py").read_text(encoding="utf-8").split("if IS_PAGE:")[0]
    outside = "import socket\nplaces, sys.path = sys.path, []\n"  # where nothing heavy is found
    outside += "try:\n    import transformers\nexcept ImportError:\n    sys.path = places\n"
    outside += "socket.create_connection(('192.0.2.1', 80), timeout=1)\n"
    script.write_text(guarded + outside)
    done = python(str(script), env=os.environ | {"ATTEMPTS": str(attempts)})
    assert done.returncode != 0
    assert "192.0.2.1" in attempts.read_text()
    assert "import transformers" in attempts.read_text()
