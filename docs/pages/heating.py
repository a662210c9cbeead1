"""Temperatures with two forms of the Hessian of the penalty."""

from comparison import draw, run, text  # noqa: F401

TITLE = "Heating by the full Hessian (Tao & Owhadi, section 4.3)"
DECK = "heating7.toml"
SCHEMES = [
    "zss-stiff:hessian=gauss-newton", "zss-stiff:hessian=full", "zss-stiff:hessian=full:beta=0.3",
]  # fmt: skip
