"""The page's state in its address: what can be set, and how a link is followed."""
