"""HTML from the templates in assets/templates, in which every value is escaped that is not HTML itself."""

from functools import cache

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from components.texts import ASSETS, Texts


def render(template: str, say: Texts | None = None, /, **values: object) -> Markup:
    """Fill in assets/templates/<template>.html; ``say(key, ...)`` in it is an escaped sentence.

    UndefinedError if the template names a value that is not given.
    """
    html = say.html if say else None
    return Markup(_templates().get_template(f"{template}.html").render(say=html, **values))


@cache  # files of the app, compiled once
def _templates() -> Environment:
    return Environment(
        loader=FileSystemLoader(ASSETS / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
