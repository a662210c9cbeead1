"""Isomers of the hexamer with MB-pol and with other models."""

import warnings

import numpy as np
import plots
from page import BOLTZMANN_KCAL_PER_MOL_K, Page, markdown

TITLE = "Isomers of six molecules with MB-pol"
SLOW = True

MODELS = {
    "mbpol": "MB-pol", "dang-chang": "Dang–Chang", "qtip4pf": "q-TIP4P/F", "tip4p2005": "TIP4P/2005",
}  # fmt: skip
#: Hydrogen bonds, neighbours of each oxygen below 3.5 Å, least and largest thickness of the oxygens
#: (third singular value, Å), and the place by energy among the minima that agree.
ISOMERS = {
    "prism": (8, (3, 3, 3, 3, 3, 3), 0, 9, 0),
    "cage": (8, (2, 2, 3, 3, 4, 4), 0, 9, 0),
    "book 1": (7, (2, 2, 2, 2, 3, 3), 0, 2.2, 0),
    "book 2": (7, (2, 2, 2, 2, 3, 3), 0, 2.2, 1),
    "bag": (7, (2, 2, 2, 2, 3, 3), 2.2, 9, 0),
    "ring": (6, (2, 2, 2, 2, 2, 2), 0, 0.8, 0),
    "boat 1": (6, (2, 2, 2, 2, 2, 2), 0.8, 9, 0),
    "boat 2": (6, (2, 2, 2, 2, 2, 2), 0.8, 9, 1),
}
#: MB-pol (J. Chem. Theory Comput. 10, 1599 (2014)), at the minima of its authors.
PUBLISHED = {"prism": -45.939802, "cage": -45.693250, "book 1": -44.887383, "ring": -43.660307}
SEARCHES, BATCH, SAME_KCAL_PER_MOL = 1600, 32, 1e-4
TEMPERATURES_K = np.arange(10, 301, 10)


def shape_of(positions_A) -> tuple:
    """Hydrogen bonds, sorted numbers of neighbours, and thickness."""
    from tarn import _tarn

    oxygens = positions_A.reshape(-1, 3, 3)[:, 0]
    distances = np.linalg.norm(oxygens[:, None] - oxygens, axis=2)
    neighbours = sorted(int(n) - 1 for n in (distances < 3.5).sum(axis=0))
    thickness = np.linalg.svd(oxygens - oxygens.mean(axis=0))[1][2]
    return len(_tarn.hydrogen_bonds(positions_A.ravel())), tuple(neighbours), thickness


def minima(page: Page) -> list:
    """Energies, positions and shapes of the MB-pol minima from random starts, by energy."""
    import tarn

    found: list[list] = []
    for seed in range(1, max(1, round(page.share * SEARCHES / BATCH)) + 1):
        start = tarn.random_cluster(6, model="mbpol", seed=seed, replicas=BATCH)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", tarn.TarnWarning)  # some starts dissociate
            result = tarn.minimise(start, model="mbpol", threads=page.threads)
        for energy, x, converged in zip(
            result.energy_kcal_per_mol, result.positions_A, result.converged, strict=True
        ):
            if converged and all(abs(energy - e) > SAME_KCAL_PER_MOL for e, *_ in found):
                found.append([energy, x, shape_of(x)])
    return sorted(found, key=lambda one: one[0])


def run(page: Page) -> None:
    import tarn
    from tarn import _tarn

    found = minima(page)
    rows, populations, frames = [], [], []
    for name, (bonds, neighbours, least, most, place) in ISOMERS.items():
        alike = [x for _, x, shape in found if shape[:2] == (bonds, neighbours) and least <= shape[2] < most]
        if place >= len(alike):
            continue  # a shortened search
        frames.append(({"caption": name}, alike[place].ravel()))
        for model in MODELS:
            minimum = tarn.minimise(alike[place], model=model)
            x = np.asarray(minimum.positions_A)
            kept = shape_of(x)[1] == neighbours
            modes = tarn.normal_modes(x, model=model)
            of_molecule = tarn.normal_modes(tarn.minimise(x[:3], model=model).positions_A, model=model)
            zero_point = modes.zero_point_energy_kcal_per_mol - 6 * of_molecule.zero_point_energy_kcal_per_mol
            rows.append([name, model, int(kept), modes.energy_kcal_per_mol, zero_point, modes.imaginary])
            if model == "tip4p2005" or model == "dang-chang":
                continue
            for quantum in (0, 1):
                free = np.array(
                    _tarn.harmonic_free_energies(x.ravel(), model, TEMPERATURES_K.tolist(), bool(quantum))
                )
                free -= BOLTZMANN_KCAL_PER_MOL_K * TEMPERATURES_K * np.log(1 + _tarn.is_chiral(x.ravel()))
                for t_K, f in zip(TEMPERATURES_K, free, strict=True):
                    populations.append([name, model, quantum, t_K, f if kept else np.nan])
    page.write(["isomer", "model", "kept", "energy_kcal_per_mol", "zero_point_kcal_per_mol", "imaginary"], rows)
    page.write(["isomer", "model", "quantum", "t_K", "free_energy_kcal_per_mol"], populations, "-free-energies")
    plots.save(plots.structures(frames, 4), page.path("-structures.svg"))


def shares(page: Page, model: str, quantum: int) -> dict[str, np.ndarray]:
    """Harmonic populations of the isomers by temperature."""
    table = page.table("-free-energies").where(model=model, quantum=quantum)
    of = {name: rows["free_energy_kcal_per_mol"] for name, rows in table.by("isomer").items()}
    lowest = np.nanmin(list(of.values()), axis=0)
    kT = BOLTZMANN_KCAL_PER_MOL_K * np.unique(table["t_K"])
    weights = {name: np.nan_to_num(np.exp(-(free - lowest) / kT)) for name, free in of.items()}
    total = sum(weights.values())
    return {name: w / total for name, w in weights.items()}


def text(page: Page) -> dict:
    table = page.table()
    of = {(r.isomer, r.model): r for r in table}

    def cell(name: str, model: str) -> str:
        row, prism = of[name, model], of["prism", model]
        if not row.kept:
            return "–"
        if name == "prism":
            return f"{row.energy_kcal_per_mol:.3f}"
        return f"{row.energy_kcal_per_mol - prism.energy_kcal_per_mol:+.3f}"

    def with_zero_point(name: str, model: str) -> float:
        return of[name, model].energy_kcal_per_mol + of[name, model].zero_point_kcal_per_mol

    difference = {
        model: with_zero_point("cage", model) - with_zero_point("prism", model) for model in ("mbpol", "qtip4pf")
    }
    quantum, classical = (shares(page, "mbpol", k) for k in (1, 0))
    at = {t: int(np.argmin(abs(TEMPERATURES_K - t))) for t in (50, 150, 300)}
    return {
        "energies": markdown(
            ["isomer", *MODELS.values(), "MB-pol, published"],
            [[name, *(cell(name, m) for m in MODELS), f"{PUBLISHED[name]:.6f}" if name in PUBLISHED else ""]
             for name in ISOMERS],
        ),
        "zero_point": markdown(
            ["isomer", "MB-pol (kcal/mol)", "q-TIP4P/F (kcal/mol)"],
            [[name, *(f"{with_zero_point(name, m):.2f}" if of[name, m].kept else "–" for m in ("mbpol", "qtip4pf"))]
             for name in ISOMERS],
        ),
        "shares": markdown(
            ["isomer", *(f"{t} K, {kind}" for t in at for kind in ("quantum", "classical"))],
            [[name, *(f"{100 * s[name][k]:.1f} %" for k in at.values() for s in (quantum, classical))]
             for name in ISOMERS],
        ),
        "agreement": max(abs(of[n, "mbpol"].energy_kcal_per_mol - e) for n, e in PUBLISHED.items()),
        "difference": difference,
        "bare": {m: of["cage", m].energy_kcal_per_mol - of["prism", m].energy_kcal_per_mol for m in MODELS},
        "searches": SEARCHES,
        "cage": {t: 100 * quantum["cage"][k] for t, k in at.items()},
        "prism": {t: 100 * quantum["prism"][k] for t, k in at.items()},
    }  # fmt: skip


def draw(page: Page):
    figure, panels = plots.panels(2)
    for axes, quantum in zip(panels, (1, 0), strict=True):
        for k, (name, share) in enumerate(shares(page, "mbpol", quantum).items()):
            style = "-" if k < 4 else "--"
            plots.curve(axes, TEMPERATURES_K, share, name, colour=k % len(plots.COLOURS), style=style, marker=False)
        axes.set(xlabel="temperature (K)", ylabel="harmonic population", ylim=(-0.02, 1.02))
        axes.set_title("quantum" if quantum else "classical", fontsize="medium")
        plots.legend(axes)
    plots.letters(panels)
    return figure
