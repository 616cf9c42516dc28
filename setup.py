"""Gathers all that runs in one package of the wheel: somebody's own project has ``components``, too."""

import re
import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

OWN = re.compile(r"^( *(?:from|import) )(?=(?:app|components)\b)", re.MULTILINE)  # of what is below it there


class Gathered(build_py):
    """Builds that package."""

    def run(self) -> None:
        """Copy what stands here into the folder of the build."""
        if self.editable_mode:
            raise SystemExit("A clone is run as it stands: python -m poolscope. Or install it: pip install .")
        whole, left = Path(self.build_lib, "poolscope"), shutil.ignore_patterns("__pycache__", "screenshot*")
        shutil.rmtree(whole, ignore_errors=True)  # of a build before
        for source, target in (("poolscope", "."), ("components", "components"), ("assets", "assets")):
            shutil.copytree(source, whole / target, ignore=left, dirs_exist_ok=True)
        shutil.copy("app.py", whole)
        for file in whole.rglob("*.py"):
            file.write_text(OWN.sub(r"\1poolscope.", file.read_text("utf-8")), "utf-8")


setup(cmdclass={"build_py": Gathered})
