"""The command poolscope.

poolscope serve        serves the page; docs/hosting.md lists its settings, variables of the environment
poolscope lab -h       finds which backbone, pooling and layer suits a table
poolscope passport -h  says what checkpoints read and declare; poolscope --version which version this is
"""

import sys

from poolscope import __version__


def main() -> int:
    """Run what the first word names; gives 1 where something was refused, 2 where there is no such word."""
    match sys.argv[1:]:
        case ["serve"]:
            from app import main as serve

            serve()
            return 0
        case ["lab", *rest]:
            from components.lab.command import main as fit

            return fit(rest)
        case ["passport", *rest]:
            from components.passports import main as issue

            return issue(rest)
        case given:
            print(__version__ if given == ["--version"] else __doc__)
            return 0 if given in (["--version"], ["--help"], ["-h"]) else 2


if __name__ == "__main__":
    sys.exit(main())
