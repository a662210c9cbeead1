"""OO distances of a hundred molecules, by scheme."""

from comparison import draw, run, text  # noqa: F401

TITLE = "OO distances of a hundred molecules at 10 K (Tao & Owhadi, Fig. 7)"
DECK = "water100.toml"
SCHEMES = ["shake", "zss-stiff", "zss-stiff:omega=20"]
