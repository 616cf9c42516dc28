"""The front door: chooses who measures, hands it to the page, serves it."""

import gc
import logging
import threading
from functools import partial


def main() -> None:
    """Serve the page at once; torch and the first backbone load behind it, in processes of their own."""
    gc.disable()  # what is made until the page stands stays: to look for garbage there takes a second
    from components.engine.desk import Desk
    from components.settings import Settings
    from components.ui.serving import serve
    from components.ui.shell import build

    logging.basicConfig()
    logging.getLogger("components").setLevel(logging.INFO)
    settings = Settings()
    analyst: Desk
    if settings.workers == 0:
        from components.engine.engine import Engine

        analyst = engine = Engine(settings)
        begin = threading.Thread(target=engine.warm, name="warm-up", daemon=True).start
    else:
        from components.workers.workers import Workers

        workers = Workers(settings)
        analyst = Desk(settings, workers)
        begin = partial(workers.open, analyst.first())
    page = build(analyst, talk=settings.talk)
    serve(page, settings)
    gc.freeze()
    gc.enable()
    begin()
    page.block_thread()


if __name__ == "__main__":
    main()
