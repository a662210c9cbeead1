"""Averages of eight molecules with and without replica exchange, from two starts."""

import melting_shared as shared
import numpy as np
from page import Page, Value, first_value, markdown

TITLE = "Melting of the octamer with and without replica exchange"
DECK, SET, SLOW = "exchange8.toml", shared.STEP_4FS | {"observe.cluster.every": 250}, True

CASES = {
    (1, "cube"): "exchange, from the cube",
    (1, "random"): "exchange, from random clusters",
    (0, "cube"): "none, from the cube",
    (0, "random"): "none, from random clusters",
}
QUANTITIES = list(shared.HEADINGS)[:3]


def run(page: Page) -> None:
    rows, ladders = [], []
    for exchange, start in CASES:

        def measure(result, case=(exchange, start)):
            of_baths = [row for q in QUANTITIES for row in shared.averages(result, q)]
            rows.extend((*case, *row) for row in [*of_baths, *shared.curve(result)])
            ladders.extend((*case, *row) for row in shared.ladders(result))

        of_start = {"random": {"system.molecules": 8}, "cube": {"system.file": shared.CUBES["tip3p"]["D2d"]}}
        changes = of_start[start]
        unset = ["system.files"] + ["exchange"] * (not exchange)
        page.run(changes, unset, read=measure)
    page.write(["exchange", "start", *shared.COLUMNS], rows)
    page.write(["exchange", "start", *shared.LADDER_COLUMNS], ladders, "-ladders")


def of_cases(table) -> dict:
    return {label: table.where(exchange=e, start=start) for (e, start), label in CASES.items()}


def text(page: Page) -> dict:
    runs, ladders = of_cases(page.table()), of_cases(page.table("-ladders"))
    by_run = [[run.where(quantity=q) for run in runs.values()] for q in QUANTITIES]
    baths_K = by_run[0][0]["bath_K"]
    # [quantity, run, temperature]
    mean, error = (np.array([[t[c] for t in of] for of in by_run]) for c in ("mean", "error"))
    sigmas = np.abs(mean[:, 0] - mean[:, 1]) / np.hypot(error[:, 0], error[:, 1])
    V0, V0_error = mean[0], error[0]
    reduced = (V0_error[2:] / V0_error[:2])[:, (baths_K >= 100) & (baths_K <= 140)]
    heights = [first_value(t.where(quantity=shared.PEAKS[1])).mean for t in list(ladders.values())[2:]]
    trips = [t.one(quantity="round_trips_per_ns").mean for t in list(ladders.values())[:2]]
    measured_ns = (page.key("run.duration_ps") - page.key("run.equilibration_ps")) / 1000
    acceptances = ladders[CASES[1, "cube"]].where(quantity="acceptance")["mean"]
    return {
        "peaks": shared.peaks("run", ladders), "curves": shared.CURVES,
        "table": {
            q: markdown(
                ["temperature (K)", *CASES.values()],
                [[f"{rows[0].bath_K:g}", *map(shared.cell, rows)] for rows in zip(*of, strict=True)],
            )
            for q, of in zip(QUANTITIES, by_run, strict=True)
        },
        "changes": [t.one(quantity="structure_changes_per_walker").mean for t in list(ladders.values())[:2]],
        "compared": sigmas.size, "trips": trips, "all_trips": measured_ns * min(trips), "sigmas": sigmas.max(),
        "apart": dict(zip(baths_K.astype(int).tolist(), np.abs(V0[2] - V0[3]), strict=True)),
        "heights": Value(100 * abs(heights[0] / heights[1] - 1)),
        "deviation": abs(V0[2, 0] - V0[:2, 0].mean()) / V0_error[2, 0],
        "least": reduced.min(), "most": reduced.max(),
        "acceptances": ", ".join(f"{100 * a:.0f}" for a in acceptances),
    }  # fmt: skip


def draw(page: Page):
    return shared.draw(of_cases(page.table()), QUANTITIES[1:], ("-", "-", "--", "--"))
