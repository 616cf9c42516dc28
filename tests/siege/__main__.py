"""`make siege`: attacks on the served app, on this machine alone; each part can be named, and is bounded.

python -m tests.siege hostile 300      # hostile checkpoints; some minutes
python -m tests.siege floods compar    # attacks with this in their names; a minute each
"""

import sys
import tempfile
from pathlib import Path

from tests.siege import floods, hostile


def main(part: str, *more: str) -> bool:
    """Run a part; whether what is promised holds."""
    with tempfile.TemporaryDirectory() as place:
        if part == "floods":
            return floods.main(Path(place), *more)
        return hostile.main(Path(place), *map(int, more))


if __name__ == "__main__":
    parts = [tuple(sys.argv[1:])] if sys.argv[1:] else [("hostile",), ("floods",)]
    held = [main(*part) for part in parts]  # each of them, whatever came of the one before
    sys.exit(0 if all(held) else 1)
