"""The checkpoints that these tests share."""

from tests.checkpoints import family, loaded, tiny_family

__all__ = ["family", "loaded", "tiny_family"]
