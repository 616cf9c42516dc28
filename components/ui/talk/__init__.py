"""Talk mode: a script of states, one thing per screen."""
