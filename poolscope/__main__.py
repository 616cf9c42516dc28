"""The command ``poolscope``: serves the page, fits a table of labelled texts, issues passports."""

import argparse
import sys
from collections.abc import Sequence

from poolscope import __version__

COMMANDS = """\
poolscope serve      serves the page; docs/hosting.md lists its settings, variables of the environment
poolscope lab        finds which backbone, pooling and layer suits a table
poolscope passport   says what checkpoints read and declare
poolscope lab -h, poolscope passport -h: what they take
"""


def main(given: Sequence[str] | None = None) -> int:
    """Run what the first word names, on the others; gives 1 where something was refused."""
    words = sys.argv[1:] if given is None else given
    parser = argparse.ArgumentParser(
        "poolscope", epilog=COMMANDS, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--version", action="version", version=__version__)
    parser.add_argument("command", choices=("serve", "lab", "passport"))
    takes = 1 if {"lab", "passport"} & set(words[:1]) else None
    match parser.parse_args(words[:takes]).command:
        case "lab":
            from components.lab.__main__ import main as fit

            return fit(words[1:])
        case "passport":
            from components.passport import main as issue

            return issue(words[1:])
    from app import main as serve

    serve()
    return 0


if __name__ == "__main__":
    sys.exit(main())
