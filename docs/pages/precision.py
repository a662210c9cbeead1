"""Errors of forces, and drifts of energy and momenta, in double, mixed and single precision."""

import numpy as np
import plots
from page import Page, markdown, mean_and_error

TITLE, DECK, SLOW = "Errors of forces and energy drift by precision", "precision.toml", True
SCHEMES = ["settle", "shake", "zss-stiff:omega=500", "zss-stiff", "zss-stiff:omega=20"]

PRECISIONS = ("double", "mixed", "single")
# Molecules, replicas, length [ps] and steps between frames: long enough for a slope, short enough
# for the cost of a step.
RUNS = ((7, 64, 200.0, 100), (100, 8, 40.0, 50), (1000, 2, 4.0, 10))
LEFT_OUT = 0.5  # of the beginning, since structures are not exactly at a minimum
DRIFT = "drift_kcal_per_mol_per_ns_per_molecule"
SIZES = ("rms_kcal_per_mol_per_molecule", "momentum_change_Da_A_per_akma",
         "angular_momentum_change_Da_A2_per_akma")  # fmt: skip
FORCES = "force_rms_relative_error"
# TIP3P, in kcal/mol, angstrom and elementary charges: Jorgensen et al. (1983).
COULOMB, CHARGES_E, LJ_A, LJ_C = 332.0637, (-0.834, 0.417, 0.417), 582000.0, 595.0


def exact_forces(positions_A: np.ndarray) -> np.ndarray:
    """Forces on all atoms by a plain sum in long double, whose rounding errors do not matter."""
    x = positions_A.astype(np.longdouble).reshape(-1, 3, 3)
    forces = np.zeros_like(x)
    for a, b in np.ndindex(3, 3):
        d = x[:, None, a] - x[None, :, b]
        r2 = (d**2).sum(axis=2)
        np.fill_diagonal(r2, np.inf)
        per_r = COULOMB * CHARGES_E[a] * CHARGES_E[b] / (r2 * np.sqrt(r2))
        if a == b == 0:
            per_r += (12 * LJ_A / r2**3 - 6 * LJ_C) / r2**4
        forces[:, a] += (per_r[:, :, None] * d).sum(axis=1)
    return forces.reshape(-1, 3)


def force_error(deck, forces: np.ndarray, positions_A: np.ndarray) -> float:
    """Root mean square error of the forces of an engine, relative to that of the forces."""
    from tarn import _tarn

    errors = _tarn.engine_forces(deck, positions_A.ravel()) - forces
    return float(np.sqrt((errors**2).sum() / (forces**2).sum()))


def drift(page: Page, deck, molecules: int, length_ps: float, every: int) -> list:
    """Slope per ns, and rms about it, of the energy per molecule; largest changes of momenta."""
    from tarn import _tarn

    steps_per_ps = 1e3 / page.key("integrator.timestep_fs")
    left_out = round(LEFT_OUT * length_ps * steps_per_ps)
    r = _tarn.record_conservation(deck, first=left_out, every=every, threads=page.threads)
    energy = r["energy"][np.isfinite(r["energy"]).all(axis=1)] / molecules
    t_ns = 1e-3 / steps_per_ps * every * np.arange(len(energy))
    t_ns -= t_ns.mean()
    slopes = t_ns @ energy / (t_ns @ t_ns)
    rms = (energy - np.outer(t_ns, slopes)).std(axis=0).mean()
    momenta = [r[name][: len(energy)] for name in ("momentum", "angular_momentum")]
    return [mean_and_error(slopes), rms, *(np.linalg.norm(p - p[0], axis=2).max() for p in momenta)]


def run(page: Page) -> None:
    from tarn import _tarn

    rows = []
    for molecules, replicas, duration_ps, every in RUNS:
        length_ps = page.share * duration_ps

        def deck_of(scheme: str, precision: str):
            return page.load({
                "system.file": f"structures/tip3p-{molecules}.xyz", "system.replicas": replicas,
                "run.duration_ps": length_ps, "run.precision": precision,
            }, scheme=scheme)  # fmt: skip

        start = _tarn.Ensemble(deck_of(SCHEMES[0], "double"), "cpu", 1).positions_A[0]
        exact = exact_forces(start)
        errors = {p: force_error(deck_of(SCHEMES[0], p), exact, start) for p in PRECISIONS}
        rows += [
            [molecules, scheme, p, replicas, length_ps,
             drift(page, deck_of(scheme, p), molecules, length_ps, every), errors[p]]
            for scheme in SCHEMES for p in PRECISIONS
        ]  # fmt: skip
    page.write(
        ["molecules", "scheme", "precision", "replicas", "duration_ps", DRIFT, f"{DRIFT}_err",
         *SIZES, FORCES], rows,
    )


def text(page: Page) -> dict:
    table = page.table()
    runs = table.by("molecules")
    return {
        "forces": markdown(
            ["molecules", *PRECISIONS],
            [[f"{n:g}", *(f"{error:.1e}" for error in rows.where(scheme=SCHEMES[0])[FORCES])]
             for n, rows in runs.items()],
        ),
        "drifts": markdown(
            ["molecules", "scheme", "precision", "drift (kcal/mol/ns)", "rms (kcal/mol)",
             "change of P (Da Å/akma)", "change of L (Da Å²/akma)"],
            [[f"{r.molecules:g}", f"`{r.scheme}`", r.precision,
              f"{r.value(DRIFT).mean:+.1e} ± {r.value(DRIFT).error:.1e}",
              *(f"{getattr(r, size):.1e}" for size in SIZES)] for r in table],
        ),
        "lengths": markdown(
            ["molecules", "replicas", "time (ps)"],
            [[f"{n:g}", *(f"{rows[c][0]:g}" for c in ("replicas", "duration_ps"))]
             for n, rows in runs.items()],
        ),
        "step": page.key("integrator.timestep_fs"), "temperature": page.key("system.temperature_K"),
    }  # fmt: skip


def draw(page: Page):
    runs = page.table().by("molecules")
    figure, panels = plots.panels(len(runs), 1.9, sharex=True)
    for axes, (n, of_size) in zip(panels, runs.items(), strict=True):
        for k, (precision, rows) in enumerate(of_size.by("precision").items()):
            places = np.arange(len(rows)) + 0.15 * (k - 1)
            drifts, errors = 1e3 * rows[DRIFT], 1e3 * rows[f"{DRIFT}_err"]
            plots.curve(axes, places, drifts, precision, style="", error=errors)
        plots.legend(axes, f"{n:g} molecules")
    plots.letters(panels)
    figure.supylabel("energy drift (10⁻³ kcal/mol/ns per molecule)", fontsize="medium")
    panels[-1].set_xticks(range(len(SCHEMES)), SCHEMES)
    return figure
