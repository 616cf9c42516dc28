"""The templates in assets/templates; in HTML every value is escaped that is not HTML itself."""

from functools import cache

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from components.texts import ASSETS, Texts


def render(template: str, say: Texts | None = None, /, **values: object) -> Markup:
    """Fill in assets/templates/<template>.html; ``say(key, ...)`` in it is an escaped sentence.

    UndefinedError if the template names a value that is not given.
    """
    html = say.html if say else None
    return Markup(environment().get_template(f"{template}.html").render(say=html, **values))


@cache  # files of the app, compiled once
def environment(html: bool = True) -> Environment:
    """Templates in assets/templates; HTML escapes its values, and the rest keeps the end of the last line."""
    return Environment(
        loader=FileSystemLoader(ASSETS / "templates"),
        autoescape=html,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=not html,
        auto_reload=False,
    )
