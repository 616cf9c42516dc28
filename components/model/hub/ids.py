"""The form of a hub id: checked before anything is asked or read under it."""

import re
from urllib.parse import urlsplit

from components.errors import PoolscopeError

LONGEST = 96  # characters of an id, as on the hub
PART = r"[A-Za-z0-9_](?:[A-Za-z0-9_]|[-.](?![-.]|$|/))*"  # no dash or dot beside another, first or last
FORM = re.compile(rf"{PART}(?:/{PART})?")


def checked_id(given: object) -> str:
    """``given`` if it has the form of a hub id; PoolscopeError says which form is wanted.

    A pasted address of a model's page is refused with the id to type instead.
    """
    if isinstance(given, str) and _is_id(given):
        return given
    inside = _id_in_address(given) if isinstance(given, str) else None
    if inside:
        raise PoolscopeError("backbone", given, "errors.id_instead", id=inside)
    raise PoolscopeError("backbone", given, "errors.id")


def _is_id(given: str) -> bool:
    return len(given) <= LONGEST and FORM.fullmatch(given) is not None


def _id_in_address(given: str) -> str | None:
    """The id of the model whose page or file this web address shows, if it does."""
    if len(given) > 500 or not given.startswith(("https://", "http://")):
        return None
    try:
        parts = [part for part in urlsplit(given).path.split("/") if part]
    except ValueError:  # such as an unfinished IPv6 address
        return None
    found = "/".join(parts[:2])
    return found if _is_id(found) else None
