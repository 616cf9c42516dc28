"""The front door: makes the engine, hands it to the page, serves it."""

import gc
import threading


def main() -> None:
    """Serve the page at once; torch and the first backbone load behind it."""
    gc.disable()  # what is made until the page stands stays: to look for garbage there takes a second
    from components.engine.engine import Engine
    from components.settings import Settings
    from components.ui.serving import serve
    from components.ui.shell import build

    settings = Settings()
    engine = Engine(settings)
    page = build(engine, talk=settings.talk)
    serve(page, settings)
    gc.freeze()
    gc.enable()
    threading.Thread(target=engine.warm, name="warm-up", daemon=True).start()
    page.block_thread()


if __name__ == "__main__":
    main()
