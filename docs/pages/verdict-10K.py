"""Errors of all schemes against their cost at 10 K."""

from verdict import draw, run, text  # noqa: F401

TITLE = "Error against cost, seven molecules at 10 K"
DECK, SLOW = "verdict-10K.toml", True
