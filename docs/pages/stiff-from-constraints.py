"""The stiff equations of the double spring from a point on the constraints."""

from page import Page, markdown
from slow_springs import DECK, draw_stiff, run_stiff, stiff_fields  # noqa: F401

TITLE = "The stiff equations from a point on the constraints (Ariel et al., Fig. 3)"


def run(page: Page) -> None:
    run_stiff(page, 0)


def text(page: Page) -> dict:
    fields = stiff_fields(page)
    n, q, p = fields["evaluations"], fields["q"], fields["p"]
    return fields | {
        "growth": markdown(
            ["relative tolerance", "ω = 100 to 1000", "ω = 1000 to 10 000"],
            [[f"1e-{k}", f"{n[1000][k] / n[100][k]:.1f}", f"{n[10000][k] / n[1000][k]:.1f}"] for k in (3, 8)],
        ),
        "saturated": markdown(
            ["ω", "error of q", "error of p"],
            [[name, f"{q[w][8]:.1e}", f"{p[w][8]:.1e}"] for w, name in ((1000, "1000"), (10000, "10 000"))],
        ),
        "expected": 100 * q[1000][8],
    }


draw = draw_stiff
