"""The stiff equations of the double spring from a slow point."""

import numpy as np
from page import Page
from slow_springs import DECK, draw_stiff, run_stiff, stiff_fields  # noqa: F401

TITLE = "The stiff equations from a slow point (Ariel et al., Fig. 4)"


def run(page: Page) -> None:
    run_stiff(page, 1)


def text(page: Page) -> dict:
    fields = stiff_fields(page)
    table = page.table()
    return fields | {
        "tight": max(fields["q"][w][7] for w in (1000, 10000)),
        "ratio": np.median(table["p_error"] / table["q_error"]),
    }


draw = draw_stiff
