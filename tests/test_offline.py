"""Started with no network, the server serves the page, analyses, and asks nobody anything."""

import os
import subprocess
import sys
import urllib.request
from pathlib import Path

from gradio_client import Client

from tests.serving import ROOT


def test_the_server_needs_no_network_and_does_not_try(app_url: str, attempts: Path) -> None:
    with urllib.request.urlopen(app_url) as answer:
        assert b"Poolscope" in answer.read()
    client = Client(app_url, verbose=False)
    here = [spec for spec in client.predict(api_name="/backbones") if spec["available"]]
    assert len(here) >= 15
    for spec in here:
        analysis = client.predict(spec["key"], "good", api_name="/analyze")
        assert analysis["backbone"] == spec["key"]
    assert attempts.read_text() == ""


def test_the_guard_does_refuse(tmp_path: Path) -> None:
    """What stands guard in the test above can fail it."""
    attempts = tmp_path / "attempts"
    script = tmp_path / "outside.py"
    guarded = (ROOT / "tests" / "guarded_app.py").read_text(encoding="utf-8").split("if IS_PAGE:")[0]
    outside = "import transformers\nimport socket\nsocket.create_connection(('192.0.2.1', 80), timeout=1)\n"
    script.write_text(guarded + outside)
    environment = os.environ | {"ATTEMPTS": str(attempts)}
    done = subprocess.run([sys.executable, str(script)], env=environment, capture_output=True, check=False)
    assert done.returncode != 0
    assert "192.0.2.1" in attempts.read_text()
    assert "import transformers" in attempts.read_text()
