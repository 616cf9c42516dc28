"""The one exception that visitors see."""


class PoolscopeError(ValueError):
    """A request that cannot be answered as asked; its text is written for the visitor.

    It names the field, what was given and what is allowed, and never shows more than
    the first 60 characters of what was given.
    """

    def __init__(self, field: str, given: object, allowed: str) -> None:
        try:
            shown = repr(given)
        except (ValueError, RecursionError):  # a number of thousands of digits, lists in lists in lists
            shown = "what cannot be written down"
        shown = shown if len(shown) <= 60 else f"{shown[:59]}…"
        super().__init__(f"{field}: {shown} was given; {allowed}.")
        self.field = field
