"""Replicas of a Ray cluster; what every test that begins a cluster in its own process needs."""

# Ray kills a process of its own, waits a second for it, and leaves it then: a busy machine needs longer.
ABANDONED = "ignore:Exception ignored in. <function Popen.__del__:pytest.PytestUnraisableExceptionWarning"
