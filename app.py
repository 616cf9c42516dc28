"""The front door: makes the engine, hands it to the page, serves it."""

import threading

from components.engine.engine import Engine
from components.settings import Settings
from components.ui.shell import build, launch_options


def main() -> None:
    """Serve the page at once; torch and the first backbone load behind it."""
    engine = Engine(Settings())
    page = build(engine)
    page.launch(prevent_thread_lock=True, **launch_options())
    threading.Thread(target=engine.warm, name="warm-up", daemon=True).start()
    page.block_thread()


if __name__ == "__main__":
    main()
