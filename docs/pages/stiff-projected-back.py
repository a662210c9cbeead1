"""The stiff equations of the double spring, projected back onto the slow manifold."""

from page import RESULTS, Page, markdown, read_table
from slow_springs import DECK, draw_stiff, one, run_stiff, stiff_fields  # noqa: F401

TITLE = "The stiff equations, projected back onto the slow manifold (Ariel et al., Fig. 5)"
LOOSE = [(1000, k) for k in (3, 4, 5)] + [(10000, k) for k in (3, 4, 5, 6)]  # ω, power of the tolerance


def run(page: Page) -> None:
    run_stiff(page, 10)


def text(page: Page) -> dict:
    fields = stiff_fields(page)
    alone = read_table(RESULTS / "stiff-from-slow-point.csv")
    pairs = [(one(page.table(), *case), one(alone, *case)) for case in LOOSE]
    smaller = [a.q_error / b.q_error for b, a in pairs]
    saving = [100 * (1 - b.evaluations / a.evaluations) for b, a in pairs]

    def ends(table, letter: str, omega: int, powers: tuple[int, int]) -> str:
        return " to ".join(f"{getattr(one(table, omega, k), f'{letter}_error'):.1e}" for k in powers)

    return fields | {
        "smaller_least": min(smaller), "smaller_most": max(smaller),
        "saving_least": min(saving), "saving_most": max(saving),
        "tight": markdown(
            ["error", "projected back", "from a slow point alone"],
            [[f"{letter}, ω = {w}", ends(page.table(), letter, w, powers), ends(alone, letter, w, powers)]
             for letter, w, powers in (("q", 1000, (6, 8)), ("p", 1000, (6, 8)), ("q", 10000, (7, 8)))],
        ),
    }  # fmt: skip


draw = draw_stiff
