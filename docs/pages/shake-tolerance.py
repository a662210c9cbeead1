"""Speed of SHAKE by its tolerance."""

import comparison
import plots
from page import Page

TITLE = "Cost of the tolerance of SHAKE, seven molecules at 10 K"
DECK = "water7.toml"
NEWTON, SWEEPS = ("1e-3", "1e-5", "1e-8", "1e-12"), ("1e-5", "1e-8")
CURVES = {
    "Newton's iteration": {t: f"shake:tolerance={t}" for t in NEWTON},
    "sweeps": {t: f"shake:tolerance={t}:iteration=sweeps" for t in SWEEPS},
}
SCHEMES = ["settle", *(scheme for curve in CURVES.values() for scheme in curve.values())]


def run(page: Page) -> None:
    page.compare(page.schemes, lambda c: comparison.keep(page, c.out))


def text(page: Page) -> dict:
    fields = comparison.text(page)
    return fields | {"results": fields["results"].removesuffix(comparison.OF_PICTURE)}


def draw(page: Page):
    speed = {row.scheme: row.cluster_steps_per_s for row in page.table()}
    figure, (axes,) = plots.panels(1)
    for label, curve in CURVES.items():
        relative = [speed[scheme] / speed["settle"] for scheme in curve.values()]
        plots.curve(axes, [float(t) for t in curve], relative, label)
    axes.axhline(1, color="#888888", linestyle="--", linewidth=1.0, label="SETTLE")
    axes.set(xlabel="tolerance", ylabel="relative speed", xscale="log", ylim=(0, None))
    plots.legend(axes)
    return figure
