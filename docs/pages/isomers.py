"""Populations of the two cubes of eight molecules against the temperature, for two water models and
two starts."""

import json
import math
import tomllib

import numpy as np
import plots
from melting_shared import CUBES, MODELS, STEP_4FS
from page import BOLTZMANN_KCAL_PER_MOL_K, Page, Value, combined, markdown

TITLE = "Populations of the two cubes of eight molecules, TIP3P and TIP4P"
DECK, SLOW = "isomers8.toml", True
SET = STEP_4FS | {"system.replicas": 160, "observe.minima.every": 1250, "observe.minima.replicas": "all"}

NAMES = ("D2d", "S4")
SHARES = [f"share_{cube}{end}" for cube in NAMES for end in ("", "_err")]
SAME_KCAL_PER_MOL = 1e-5


def ratio(counts: np.ndarray) -> Value:
    """S4 / D2d from counts (ladder, cube), with the error of a jackknife over the ladders."""
    d2d, s4 = counts.sum(axis=0)
    if not (d2d > 0 and s4 > 0):
        return Value(math.nan, math.nan)
    rest = counts.sum(axis=0) - counts
    if not rest.all():
        return Value(s4 / d2d, math.nan)
    without = rest[:, 1] / rest[:, 0]
    ladders = len(counts)
    return Value(s4 / d2d, math.sqrt((ladders - 1) * np.mean((without - without.mean()) ** 2)))


def run(page: Page) -> None:
    import tarn
    from tarn import _tarn

    rows, runs, minima, structures, labels = [], [], [], [], []
    for model, changes in MODELS.items():
        x = {c: tarn.read_structure(page.deck_path.parent / CUBES[model][c]).positions_A for c in NAMES}
        energies = {}
        for cube in NAMES:
            modes = tarn.normal_modes(x[cube], model=model)
            lowest = modes.wavenumbers_per_cm[modes.wavenumbers_per_cm != 0][0]
            energies[cube] = modes.energy_kcal_per_mol
            minima.append([model, cube, modes.energy_kcal_per_mol, lowest])
            structures.append(x[cube].ravel())
            labels.append(f"{cube}, {model.upper()}")

        def measure(result, start, model=model, energies=energies, x=x):
            isomers, by_bath = result.table("isomers"), result.table("isomers_by_bath")
            minimum = dict(zip(isomers["isomer"].tolist(), isomers["minimum_kcal_per_mol"], strict=True))
            baths_K = sorted(set(by_bath["bath_K"].tolist()))
            record = json.loads((result.out / "run.json").read_text())
            table = result.table("minima")
            equilibration_ps = tomllib.loads(record["deck"])["run"]["equilibration_ps"]
            table = table[table["time_ps"] >= equilibration_ps]
            places = table["replica"] % len(baths_K)
            ladder = table["replica"] // len(baths_K)
            exchange = record["exchange"]
            runs.append([model, start, exchange["round_trips_per_ns"], exchange["structure_changes_per_walker"]])
            for k, t_K in enumerate(baths_K):
                own = by_bath[by_bath["bath_K"] == t_K]
                lowest = table["minimum_kcal_per_mol"]
                is_cube = [(places == k) & (np.abs(lowest - energies[c]) < SAME_KCAL_PER_MOL) for c in NAMES]
                counts = [np.bincount(ladder[is_it], minlength=ladder.max() + 1) for is_it in is_cube]
                shares = [
                    next((Value(r["share"], r["share_err"]) for r in own
                          if abs(minimum[r["isomer"]] - energies[c]) < SAME_KCAL_PER_MOL), Value(0.0, 0.0))
                    for c in NAMES
                ]  # fmt: skip
                free = [_tarn.harmonic_free_energies(x[c].ravel(), model, [t_K], False)[0] for c in NAMES]
                harmonic = math.exp((free[0] - free[1]) / (BOLTZMANN_KCAL_PER_MOL_K * t_K))
                rows.append([model, start, t_K, *shares, ratio(np.transpose(counts)), harmonic])

        for start in NAMES:
            own = {k: v for k, v in changes.items() if k != "system.files"}
            page.run(own | {"system.file": CUBES[model][start]},
                     read=lambda result, start=start, measure=measure: measure(result, start))  # fmt: skip
    columns = ["model", "start", "bath_K", *SHARES, "ratio", "ratio_err", "harmonic_ratio"]
    page.write(columns, rows)
    page.write(["model", "start", "round_trips_per_ns", "changes_per_walker"], runs, "-runs")
    page.write(["model", "cube", "energy_kcal_per_mol", "lowest_per_cm"], minima, "-minima")
    frames = [({"caption": label}, positions) for label, positions in zip(labels, structures, strict=True)]
    plots.save(plots.structures(frames), page.path("-structures.svg"))


def others(rows):
    return 1 - rows["share_D2d"] - rows["share_S4"]


def of_starts(rows, t_K: float, name: str) -> list[Value]:
    """A quantity at one temperature, from each start."""
    return [rows.one(start=start, bath_K=t_K).value(name) for start in NAMES]


def text(page: Page) -> dict:
    models, minima, runs = page.table().by("model"), page.table("-minima"), page.table("-runs")
    tables, apart_K = {}, {}
    for model, rows in models.items():
        baths_K = sorted(set(rows["bath_K"].tolist()))
        shares = {t: [v for c in NAMES for v in of_starts(rows, t, f"share_{c}")] for t in baths_K}
        ratios = {t: of_starts(rows, t, "ratio") for t in baths_K}
        tables[model] = markdown(
            ["temperature (K)", *(f"{cube}, from {start}" for cube in NAMES for start in NAMES),
             "S4 : D2d", "harmonic S4 : D2d"],
            [[f"{t:g}", *shares[t], combined(ratios[t]), f"{rows.one(start='S4', bath_K=t).harmonic_ratio:.3f}"]
             for t in baths_K],
        )  # fmt: skip
        apart_K[model] = [t for t in baths_K if max(
            a.sigmas_to(b) for a, b in (shares[t][:2], shares[t][2:])) > 3]  # fmt: skip
    changes = {(r.model, r.start): r.changes_per_walker for r in runs}
    tip3p = models["tip3p"].where(start="S4")
    return {
        "table": tables,
        "minima": markdown(
            ["model", "cube", "energy (kcal/mol)", "lowest mode (cm⁻¹)"],
            [[r.model.upper(), r.cube, f"{r.energy_kcal_per_mol:.4f}", f"{r.lowest_per_cm:.1f}"]
             for r in minima],
        ),
        "apart": {m: abs(np.diff(of["energy_kcal_per_mol"])[0]) for m, of in minima.by("model").items()},
        "coldest_K": page.table()["bath_K"].min(), "hottest_K": page.table()["bath_K"].max(),
        "half_K": np.interp(0.5, others(tip3p), tip3p["bath_K"]),
        "dependence": {m: dependence(apart_K[m], len(set(models[m]["bath_K"]))) for m in models},
        "changes": {m: " and ".join(f"{changes[m, s]:.1g}" for s in NAMES) for m in models},
    }  # fmt: skip


def dependence(apart_K: list[float], temperatures: int) -> str:
    """A sentence on the temperatures at which the populations depend on the start."""
    if not apart_K:
        return f"the populations from both starts agree within three standard errors at all {temperatures} temperatures"
    return (
        f"the populations depend on the start by more than three standard errors at {len(apart_K)} of "
        f"{temperatures} temperatures, up to {max(apart_K):g} K. There the table has the range between both "
        "starts, which is a bracket and no error"
    )


def draw(page: Page):
    figure, panels = plots.panels(3)
    for k, (model, rows) in enumerate(page.table().by("model").items()):
        colour = 0
        for cube in NAMES:
            for start, style in zip(NAMES, ("-", "--"), strict=True):
                own = rows.where(start=start)
                plots.curve(panels[k], own["bath_K"], [r.value(f"share_{cube}") for r in own],
                            f"{cube}, from {start}", colour=colour, style=style)  # fmt: skip
            colour += 1
        panels[k].set(ylabel=f"population ({model.upper()})", ylim=(0, 1.02))
        for start, style in zip(NAMES, ("-", "--"), strict=True):
            own = rows.where(start=start)
            own = own.chosen(own["ratio_err"] < 0.5 * own["ratio"])
            plots.curve(panels[2], own["bath_K"], [r.value("ratio") for r in own],
                        f"{model.upper()}, from {start}", colour=k + 2, style=style)  # fmt: skip
        plots.curve(panels[2], own["bath_K"], own["harmonic_ratio"], f"{model.upper()}, harmonic",
                    colour=k + 2, style=":", marker=False)  # fmt: skip
    panels[2].set(ylabel="population of S4 / D2d", yscale="log")
    plots.plain_ticks(panels[2].yaxis, [0.3, 0.5, 1, 2, 3, 5, 10])
    for axes in panels:
        axes.set(xlabel="temperature (K)", xlim=(50, 310))
        plots.legend(axes)
    plots.letters(panels)
    return figure
