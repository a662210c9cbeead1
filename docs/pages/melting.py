"""Heat capacity, hydrogen bonds and Lindemann index of eight molecules against the temperature."""

import melting_shared as shared
from page import BOLTZMANN_KCAL_PER_MOL_K, Page, Value, first_value, markdown, read_table, weighted_mean

TITLE = "Melting of the cubic water octamer: heat capacity of eight molecules, TIP3P and TIP4P"
DECK, SET, SLOW = "exchange8.toml", shared.STEP_4FS | {"observe.cluster.every": 250}, True

WINDOW_PS = 1000  # of the Lindemann index
WALL_K = 260  # from which averages depend on the wall


def lindemann(page: Page, changes: dict, first) -> list[tuple]:
    """Rows from a run without exchange that starts from the final states of the first: exchanges
    move replicas, so that the trajectory of one is not continuous."""
    kept = {key: v for key, v in changes.items() if key != "system.files"} | {
        "system.state": str(first.out), "system.seed": 2, "observe.cluster.lindemann": True,
        "observe.cluster.every": 50, "run.duration_ps": WINDOW_PS, "run.equilibration_ps": 0,
    }  # fmt: skip
    return page.run(
        kept, ["exchange", "system.files"], read=lambda result: shared.averages(result, "lindemann")
    )


def run(page: Page) -> None:
    rows, ladders = [], []
    for model, changes in shared.MODELS.items():

        def measure(result, model=model, changes=changes):
            by_quantity = [shared.averages(result, q) for q in list(shared.HEADINGS)[:3]]
            by_quantity.append(lindemann(page, changes, result))
            of_baths = [row for bath in zip(*by_quantity, strict=True) for row in bath]
            rows.extend((model, *row) for row in [*of_baths, *shared.curve(result)])
            ladders.extend((model, *row) for row in shared.ladders(result))

        page.run(changes, read=measure)
    page.write(["model", *shared.COLUMNS], rows)
    page.write(["model", *shared.LADDER_COLUMNS], ladders, "-ladders")


def text(page: Page) -> dict:
    runs, ladders = page.table().by("model"), page.table("-ladders").by("model")
    means = {m: {row.quantity: row.mean for row in ladder} for m, ladder in ladders.items()}
    baths_K = {m: run.where(quantity="lindemann")["bath_K"] for m, run in runs.items()}
    replicas = page.key("system.replicas")
    tables = {
        m: markdown(
            ["temperature (K)", *shared.HEADINGS.values()],
            [[f"{t_K:g}" + (r" †" if t_K >= WALL_K else ""),
              *(shared.cell(run.one(bath_K=t_K, quantity=q)) for q in shared.HEADINGS)]
             for t_K in baths_K[m]],
        )
        for m, run in runs.items()
    }  # fmt: skip
    short = read_table(page.out / "ice-runs.csv").by("model")
    others = {m: [r.value("peak_K") for r in short[m]] for m in runs}
    mean, chi_square = zip(*(weighted_mean(of) for of in others.values()), strict=True)
    peak = {m: first_value(ladders[m].where(quantity=shared.PEAKS[0])) for m in runs}
    return {
        "peaks": shared.peaks("model", {m.upper(): ladder for m, ladder in ladders.items()}),
        "others": markdown(
            ["model", "this run (K)", *(f"{r.start}, seed {r.seed:g}" for r in short["tip3p"]), "mean", "χ²"],
            [[m.upper(), peak[m], *others[m], mean[k], f"{Value(chi_square[k]):.1f}"] for k, m in enumerate(runs)],
        ),
        "count": len(others["tip3p"]), "freedom": len(others["tip3p"]) - 1,
        "best": {m: mean[k] for k, m in enumerate(runs)},
        "sigmas": {m: Value(peak[m].sigmas_to(mean[k])) for k, m in enumerate(runs)},
        "table": tables, "curves": shared.CURVES,
        "below": mean[list(runs).index("tip4p")] - mean[list(runs).index("tip3p")],
        "trips": {m: mean["round_trips_per_ns"] for m, mean in means.items()},
        "changes": {m: mean["structure_changes_per_walker"] for m, mean in means.items()},
        "coldest": baths_K["tip3p"][0], "hottest": baths_K["tip3p"][-1],
        "replicas": replicas, "baths": {m: len(t_K) for m, t_K in baths_K.items()},
        "ladders": {m: replicas // len(t_K) for m, t_K in baths_K.items()},
        "window": WINDOW_PS / 1000, "kinetic": 1000 * 3 * 8 * BOLTZMANN_KCAL_PER_MOL_K, "wall_K": WALL_K,
    }  # fmt: skip


def draw(page: Page):
    runs = {model.upper(): run for model, run in page.table().by("model").items()}
    return shared.draw(runs, list(shared.HEADINGS)[1:], ("-", "-"))
