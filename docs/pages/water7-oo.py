"""OO distances of seven molecules, by scheme."""

from comparison import draw, run, text  # noqa: F401

TITLE = "OO distances of seven molecules at 10 K (Tao & Owhadi, Fig. 4)"
DECK = "water7.toml"
SCHEMES = ["shake", "settle", "zss-stiff", "zss-stiff:omega=500", "zss-stiff:omega=20"]
