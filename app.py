"""The front door: hands who measures to the page, and serves it until it is told to stop."""

import ctypes
import gc
import logging
import os
import signal
import socket
import sys
import threading
import warnings
from select import select

GRACE = 3.5  # seconds for answers under way, once the app is told to stop
READ = 1.0  # more, in which they are read; the server has four besides
LEAVE = 1.0  # more, for threads that wait for the hub
SWITCH = 0.0002  # seconds after which a thread lets another one run, so that drawing holds up no answer
REST = 60.0  # seconds between two collections of all garbage, which hold all else up for 0.04, in a flood 0.4
NEVER = 2**31 - 1  # collections of young garbage after which Python itself would, in the midst of answers
FILES = 10_240  # and streams, that may be open; systems begin with 256 or 1,024
# Of glibc (mallopt(3)): arenas, bytes at an end that are handed back, and bytes from which a block is apart.
MEMORY = {-8: 2, -1: 1 << 17, -3: 1 << 16}


def main() -> None:
    """Serve the page as soon as it stands; torch is loaded meanwhile, in another process."""
    sys.setswitchinterval(SWITCH)
    if sys.platform == "linux" and hasattr(libc := ctypes.CDLL(None), "mallopt"):
        for number, value in MEMORY.items():  # else what many answers took at once is kept
            libc.mallopt(number, value)
    if sys.platform != "win32":
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, FILES)), hard))
    gc.disable()  # what is made until the page stands stays: to look for garbage there takes a second
    from components import __name__ as package
    from components.errors import PoolscopeError
    from components.inference.workers import desk_of
    from components.settings import Settings, ValidationError, refused, unknown

    logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s")
    logging.getLogger(package).setLevel(logging.INFO)
    # gradio takes the JSON of each figure for a script that would not run.
    warnings.filterwarnings("ignore", "A `<script>` tag was found", UserWarning)
    try:
        settings = Settings()
    except ValidationError as error:
        sys.exit(refused(error))
    for name in unknown():
        logging.getLogger(package).warning("%s is no setting: docs/hosting.md lists them", name)
    from components.zero_gpu import lent

    try:
        analyst = desk_of(settings, lent())
    except PoolscopeError as error:
        sys.exit(str(error))
    from components.ui.serving import serve
    from components.ui.shell import build

    stop = serve(build(analyst, settings), settings, analyst.ready)
    gc.freeze()
    gc.enable()
    analyst.open()
    _wait_for_the_end()
    analyst.close(GRACE)
    stop(READ)
    end = threading.Timer(LEAVE, os._exit, [0])  # whatever threads still wait for
    end.daemon = True
    end.start()


def _wait_for_the_end() -> None:
    """Return on Ctrl-C, or when the system asks the app to stop; look for garbage until then.

    The system may hand a signal to any thread. It wakes no other one that waits for a lock, but it wakes
    whoever reads from ``heard``.
    """
    gc.set_threshold(*gc.get_threshold()[:2], NEVER)
    heard, told = socket.socketpair()
    with heard, told:
        told.setblocking(False)
        signal.set_wakeup_fd(told.fileno())
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: None)
        while not select([heard], [], [], REST)[0]:
            gc.collect()
        signal.set_wakeup_fd(-1)


if __name__ == "__main__":
    main()
