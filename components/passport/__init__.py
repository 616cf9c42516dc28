"""What was measured of a checkpoint on one page: the noun, the page, the badge, and the command for many."""
