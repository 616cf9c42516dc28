"""app.py of this folder with every way out of this machine closed, in its own process and in its workers'.

What it tries is appended to the file at ATTEMPTS; and what the process of the page loads of torch. It lets
answers under way come for GRACE seconds, and be read for READ.
"""

import os
import sys
from pathlib import Path

HOME = {"127.0.0.1", "localhost", "::1", "0.0.0.0", None, ""}
HEAVY = {"torch", "transformers"}  # for the workers alone
IS_PAGE = __name__ == "__main__"  # in a worker, this file is imported


def guard(event: str, arguments: tuple[object, ...]) -> None:
    """Refuse every connection and every look-up of a name that is not this machine's own."""
    if event == "import" and IS_PAGE and arguments[0] in HEAVY:
        note(f"import {arguments[0]}")
    if event == "socket.getaddrinfo":
        host = arguments[0]
    elif event == "socket.connect" and isinstance(arguments[1], tuple):
        host = arguments[1][0]
    else:
        return
    if host not in HOME:
        note(f"{event} {host}")
        raise OSError(f"no network: {host}")


def note(what: str) -> None:
    with Path(os.environ["ATTEMPTS"]).open("a") as log:
        log.write(f"{what}\n")


sys.addaudithook(guard)
if "GATE" in os.environ:
    from components.model import files

    check_sizes = files.check_sizes

    def held(folder: Path) -> None:
        """Load one bundled checkpoint no sooner than somebody writes to the named pipe at GATE."""
        if folder.name == "gpt2-sentiment":
            Path(os.environ["GATE"]).read_bytes()
        check_sizes(folder)

    files.check_sizes = held
if IS_PAGE:
    import app

    app.GRACE, app.READ = (float(os.environ.get(name, vars(app)[name])) for name in ("GRACE", "READ"))
    app.main()
