"""The link that asks one combination alone, in the Classify tab."""

from __future__ import annotations

from urllib.parse import urlencode

from components.exhibits.view import POOL_LAYER
from components.texts import Texts
from components.types import Query

LONGEST = 4000  # characters of a link in a cell: a table has hundreds of them, and servers take no long ones


def classify_link(query: Query, say: Texts) -> str:
    """An address of the page, in the language of ``say``, that asks ``query``; "" where it would be too long.

    It names everything that a query holds: what it leaves out would be as on arrival.
    """
    asked = {
        "lang": say.language.tag,
        "text": query.text,
        "pair": query.text_pair,
        "backbone": query.backbone,
        "pooling": query.pooling,
        "head": query.head,
    }
    if query.head == "probe" and query.task:
        asked["task"] = query.task
    if query.pool_layer != POOL_LAYER.default:
        asked["pool_layer"] = str(query.pool_layer)
    address = "?" + urlencode(asked, errors="replace")
    return address if len(address) <= LONGEST else ""
