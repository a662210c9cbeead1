"""Populations of the two cubes of eight molecules against the temperature, for two water models."""

import math

import numpy as np
import plots
from melting_shared import MODELS
from page import BOLTZMANN_KCAL_PER_MOL_K, Page, Value, markdown

TITLE = "Populations of the two cubes of eight molecules, TIP3P and TIP4P"
DECK, SLOW = "isomers8.toml", True

CUBES = {"D2d": 8, "S4": 4}  # orders of the point groups
SHARES = [f"share_{cube}{end}" for cube in CUBES for end in ("", "_err")]


def ratio(d2d: Value, s4: Value) -> Value:
    """Errors add, since one gains what the other loses where there are no other isomers."""
    if not (d2d.mean > 0 and s4.mean > 0):
        return Value(math.nan)
    quotient = s4.mean / d2d.mean
    return Value(quotient, quotient * (s4.error / s4.mean + d2d.error / d2d.mean))


def run(page: Page) -> None:
    import tarn
    from tarn import _tarn

    rows, minima, structures, labels = [], [], [], []

    def measure(result, model):
        isomers, by_bath = result.table("isomers"), result.table("isomers_by_bath")
        baths_K = dict.fromkeys(by_bath["bath_K"].tolist())
        shares, free = [], []  # by cube and temperature
        for cube, order in CUBES.items():
            number = next(iter(isomers["isomer"][isomers["symmetry_order"] == order]))
            own = by_bath[by_bath["isomer"] == number]
            found = {row["bath_K"]: Value(row["share"], row["share_err"]) for row in own}
            shares.append([found.get(t_K, Value(0.0, 0.0)) for t_K in baths_K])
            x = tarn.read_structure(result.out / "isomers.xyz", frame=int(number) - 1).positions_A
            free.append([_tarn.classical_free_energy(x.ravel(), model, t_K) for t_K in baths_K])
            modes = tarn.normal_modes(x, model=model)
            lowest = modes.wavenumbers_per_cm[modes.wavenumbers_per_cm != 0][0]
            minima.append([model, cube, modes.energy_kcal_per_mol, lowest])
            structures.append(x.ravel())
            labels.append(f"{cube}, {model.upper()}")
        for t_K, d2d, s4, f_d2d, f_s4 in zip(baths_K, *shares, *free, strict=True):
            harmonic = math.exp((f_d2d - f_s4) / (BOLTZMANN_KCAL_PER_MOL_K * t_K))
            rows.append([model, t_K, d2d, s4, ratio(d2d, s4), harmonic])

    for model, changes in MODELS.items():
        page.run(changes, read=lambda result, model=model: measure(result, model))
    page.write(["model", "bath_K", *SHARES, "ratio", "ratio_err", "harmonic_ratio"], rows)
    page.write(["model", "cube", "energy_kcal_per_mol", "lowest_per_cm"], minima, "-minima")
    page.path("-structures.svg").write_text(_tarn.structure_svg(structures, labels), encoding="utf-8")


def others(rows):
    return 1 - rows["share_D2d"] - rows["share_S4"]


def text(page: Page) -> dict:
    models, minima = page.table().by("model"), page.table("-minima")
    tip3p, tip4p = models["tip3p"], models["tip4p"]
    cold = others(tip4p) < 0.2
    preferred = next(row for row in tip3p if row.ratio - 2 * row.ratio_err > 1)
    hottest = list(tip4p)[-1]
    tables = {
        model: markdown(
            ["temperature (K)", *CUBES, "others", "S4 : D2d", "harmonic S4 : D2d"],
            [[f"{r.bath_K:g}", r.value("share_D2d"), r.value("share_S4"), f"{other:.4f}",
              r.value("ratio"), f"{r.harmonic_ratio:.3f}"]
             for r, other in zip(rows, others(rows), strict=True)],
        )
        for model, rows in models.items()
    }  # fmt: skip
    return {
        "table": tables,
        "minima": markdown(
            ["model", "cube", "energy (kcal/mol)", "lowest mode (cm⁻¹)"],
            [[r.model.upper(), r.cube, f"{r.energy_kcal_per_mol:.4f}", f"{r.lowest_per_cm:.1f}"]
             for r in minima],
        ),
        "apart": {m: abs(np.diff(of["energy_kcal_per_mol"])[0]) for m, of in minima.by("model").items()},
        "coldest_K": tip3p["bath_K"][0], "hottest_K": hottest.bath_K,
        "equal_K": np.interp(1.0, tip3p["ratio"], tip3p["bath_K"]),
        "half_K": np.interp(0.5, others(tip3p), tip3p["bath_K"]),
        "preferred_K": preferred.bath_K, "preferred": preferred.value("ratio"),
        "cold_K": tip4p["bath_K"][cold][-1], "cold": tip4p["ratio"][cold].mean(),
        "excess": hottest.ratio / hottest.harmonic_ratio,
    }  # fmt: skip


def draw(page: Page):
    figure, panels = plots.panels(3)
    for k, (model, rows) in enumerate(page.table().by("model").items()):
        label, baths_K, colour = model.upper(), rows["bath_K"], k + 2
        for cube in CUBES:
            plots.curve(panels[k], baths_K, [row.value(f"share_{cube}") for row in rows], cube)
        plots.curve(panels[k], baths_K, others(rows), "all others", colour=7)
        panels[k].set(ylabel=f"population ({label})", ylim=(0, 1.02))
        plots.curve(panels[2], baths_K, [row.value("ratio") for row in rows], label, colour=colour, style="")
        plots.curve(panels[2], baths_K, rows["harmonic_ratio"], f"{label}, harmonic", colour=colour,
                    style="--", marker=False)  # fmt: skip
    panels[2].set(ylabel="population of S4 / D2d", ylim=(0, 6.5))
    for axes in panels:
        axes.set(xlabel="temperature (K)", xlim=(50, 310))
        plots.legend(axes)
    return figure
