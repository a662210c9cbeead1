"""Speed of MPI ranks; bench/ranks measures ranks.csv and ranks-turns.csv."""

import plots
from page import Page, Row, markdown

TITLE = "Speed of MPI ranks"
TIMES = {
    "ms_per_100_steps": "100 steps", "rows_ms": "rows", "means_ms": "means",
    "arrays_ms": "positions and velocities", "exchange_ms": "exchange", "state_ms": "state",
}  # fmt: skip


def cells(r: Row) -> list[str]:
    times = (getattr(r, column) for column in TIMES)
    return [f"{r.replicas:,.0f}".replace(",", " "), f"{r.ranks:g}",
            *(f"{t:.2g}" if t < 10 else f"{t:.0f}" for t in times)]  # fmt: skip


def text(page: Page) -> dict:
    table = page.table()
    one, most = (table.one(ranks=ranks, replicas=10000.0) for ranks in (1.0, table["ranks"].max()))
    return {
        "turns": next(iter(page.table("-turns"))), "most": most,
        "share": {n: 100 * r.rows_ms / r.ms_per_100_steps for n, r in (("one", one), ("most", most))},
        "per_rank": table.one(ranks=1.0, replicas=1000.0).ms_per_100_steps,
        "times": markdown(
            ["replicas", "ranks", *TIMES.values()],
            map(cells, sorted(table, key=lambda r: (r.replicas, r.ranks))),
        ),
    }  # fmt: skip


def draw(page: Page):
    rows = page.table().where(replicas=10000.0)
    figure, (axes,) = plots.panels(1, 3.2)
    for column, label in TIMES.items():
        plots.curve(axes, rows["ranks"], rows[column], label)
    axes.set(xlabel="number of ranks", ylabel="time (ms)", xscale="log", yscale="log")
    plots.plain_ticks(axes.xaxis, rows["ranks"])
    plots.legend(axes, "10 000 clusters")
    return figure
