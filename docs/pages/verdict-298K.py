"""Errors of all schemes against their cost at 298 K."""

from verdict import draw, run, text  # noqa: F401

TITLE = "Error against cost, seven molecules at 298 K in a wall"
DECK, SLOW = "verdict-298K.toml", True
