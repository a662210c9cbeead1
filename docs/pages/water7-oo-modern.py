"""OO distances of seven molecules with BAOAB, by scheme."""

from comparison import draw, run, text  # noqa: F401

TITLE = "OO distances of seven molecules at 10 K with BAOAB"
DECK = "water7-modern.toml"
SCHEMES = [
    "settle", "shake", "zss-stiff", "zss-stiff:omega=500", "zss-stiff:omega=20",
    "settle:timestep_fs=4",
]  # fmt: skip
