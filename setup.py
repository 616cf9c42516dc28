"""Gathers all that runs in one package of the wheel, ``poolscope``.

Packages named ``components`` and ``assets`` would be those of somebody's own project, too. So imports that
name one of ours by its place here name it by its place there.
"""

import re
import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

OWN = re.compile(r"^( *(?:from|import) )(?=(?:app|components)\b)", re.MULTILINE)
LEFT = shutil.ignore_patterns("__pycache__", "screenshot*")  # of the docs


class Gathered(build_py):
    """Builds that package."""

    def run(self) -> None:
        """Copy what stands here into the folder of the build."""
        if self.editable_mode:
            raise SystemExit("A clone is run as it stands: python -m poolscope. Or install it: pip install .")
        whole = Path(self.build_lib, "poolscope")
        shutil.rmtree(whole, ignore_errors=True)  # what a build before has left
        for source, target in (("poolscope", "."), ("components", "components"), ("assets", "assets")):
            shutil.copytree(source, whole / target, ignore=LEFT, dirs_exist_ok=True)
        shutil.copy("app.py", whole)
        for file in whole.rglob("*.py"):
            file.write_text(OWN.sub(r"\1poolscope.", file.read_text("utf-8")), "utf-8")


setup(cmdclass={"build_py": Gathered})
