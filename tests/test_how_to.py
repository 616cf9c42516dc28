"""How-tos: the examples of CONTRIBUTING.md stand in a copy of the tree, and turn no test red there."""

import re
import shutil
import tomllib
from pathlib import Path

from components.texts import ASSETS, languages
from tests.readme import PAGES
from tests.serving import ROOT, python

LINES: dict[str, list[list[str]]] = tomllib.loads(Path(__file__).with_name("how_to.toml").read_text("utf-8"))
LARGE = ("models", "probes", "screenshots")  # folders of assets, which nothing is written to
FILES = ("exhibits/test_exhibit", "exhibits/test_questions", "test_texts", "ui/test_shell")
HELD = [f"tests/{name}.py" for name in FILES]
TOUCHED = "lengths or norms or negation or left_out or sentence or language or public"


def test_what_is_added_as_the_how_tos_say_turns_no_test_red(tmp_path: Path) -> None:
    shutil.copytree(ROOT, tmp_path, ignore=shutil.ignore_patterns(".*", *LARGE), dirs_exist_ok=True)
    for name in LARGE:
        (tmp_path / "assets" / name).symlink_to(ASSETS / name)
    for file, code in re.findall(r"^```\w+\n# (\S+)\n(.*?)^```", PAGES["CONTRIBUTING.md"], re.DOTALL | re.M):
        tags = languages() if file == "assets/texts/en.toml" else ["en"]
        for place in (tmp_path / file.replace("en.toml", f"{tag}.toml") for tag in tags):
            with place.open("a", encoding="utf-8") as written:
                written.write(f"\n\n{code}" if place.stat().st_size else code)
    chinese = (tmp_path / "assets/texts/zh.toml").read_text("utf-8")
    (tmp_path / "assets/texts/fr.toml").write_text(chinese.replace('tag = "zh"', 'tag = "fr"'), "utf-8")
    for file, lines in LINES.items():
        text = (tmp_path / file).read_text("utf-8")
        for before, after in lines:
            assert text.count(before) == 1
            text = text.replace(before, after)
        (tmp_path / file).write_text(text, "utf-8")
    for checks in (("ruff", "check", "-q"), ("pytest", "-q", *HELD, "-k", TOUCHED)):
        ran = python("-m", *checks, cwd=tmp_path)
        assert ran.returncode == 0, ran.stdout
