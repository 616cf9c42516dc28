"""The hub of the tests of the hub."""

from tests.model.hub.conftest import there, tiny

__all__ = ["there", "tiny"]
