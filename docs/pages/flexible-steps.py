"""Z&Ss and velocity Verlet with flexible molecules: errors and costs by the step."""

import math
import os
import tempfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import plots
from page import (
    Page, Row, Value, core_ns_per_step, markdown, mean_and_error, observe_all, read_table,
)  # fmt: skip

TITLE = "Z&Ss on real bonds: time steps of flexible water"
DECK, SLOW = "flexible7.toml", True

CURVES = {"verlet": "Verlet", "zss-stiff": "Z&Ss"}
STEPS_FS = {"verlet": (0.25, 0.5, 0.75, 1.0, 1.25, 1.5), "zss-stiff": (0.5, 1.0, 2.0, 3.0, 4.0)}
REFERENCE_FS, COST_UNIT_FS = 0.125, 0.5
#: Independent runs, which share the replicas of the deck.
BATCHES, REFERENCE_BATCHES = 8, 16
TURNS, TURN_SECONDS = 25, 0.04
END_PER_CM, LIBRATIONS_PER_CM = 1000.0, 330.0
SAMPLE_FS = 100.0
#: Many deviations are tested: with two standard errors several would differ by chance.
MOST_ERRORS = 3.0
QUANTITIES = {
    "potential_kcal_per_mol": "⟨V₀⟩ (kcal/mol)",
    "intramolecular_kcal_per_mol": "intramolecular energy (kcal/mol)",
    "q_oh_A": "O-H distance (Å)",
    "q_angle_degrees": "H-O-H angle (°)",
    "translation_K": "T of translation (K)",
    "rotation_K": "T of rotation (K)",
    "bond_K": "T of bonds (K)",
}
MODELS = {"qtip4pf": "q-TIP4P/F", "spcfw": "SPC/Fw"}
ENERGY_RUNS = [("qtip4pf", "verlet", 0.5), *(("qtip4pf", "zss-stiff", h) for h in (0.5, 1.0, 2.0)),
               ("spcfw", "verlet", 0.5), ("spcfw", "zss-stiff", 1.0)]  # fmt: skip
ENERGY_PS, ENERGY_SAMPLE_PS = 200, 1


def deck_of(page: Page, scheme: str, step_fs: float, replicas: int, seed: int = 1):
    every = max(1, round(SAMPLE_FS / step_fs))
    sample_fs = page.key("observe.spectrum.every") * page.key("integrator.timestep_fs")
    # Short runs have short segments.
    short = {"observe.spectrum.resolution_per_cm": 5 / page.share} if page.share < 1 else {}
    tables = ("energies", "temperatures", "geometry", "rdf")
    changes = {f"observe.{table}.every": every for table in tables} | short
    changes |= {
        "integrator.timestep_fs": step_fs, "system.replicas": replicas, "system.seed": seed,
        "observe.spectrum.every": max(1, int(sample_fs / step_fs)),
    }  # fmt: skip
    return page.load(**page.shortened(changes, []), scheme=scheme)


def read_states(folder) -> np.ndarray:
    """The density of states at every cm^-1, or nan if no replica is left."""
    table = read_table(folder / "spectrum.csv")
    x = np.arange(END_PER_CM + 1)
    if len(table) < 2:
        return np.full(len(x), np.nan)
    return np.interp(x, table["wavenumber_per_cm"], table["states_cm"])


def libration_per_cm(states: np.ndarray) -> float:
    x = np.arange(len(states))[int(LIBRATIONS_PER_CM) :]
    return np.average(x, weights=states[int(LIBRATIONS_PER_CM) :])


def difference(states: np.ndarray, reference: np.ndarray) -> float:
    """Half of the integral of |g - g'|, as a share of the modes of g'."""
    ends = np.where(np.arange(len(states)) == 0, 0.5, 1.0)
    return 0.5 * np.sum(ends * abs(states - reference)) / np.sum(ends * reference)


def joined(batches: list[dict]) -> dict:
    """Independent runs as one."""
    first, *others = batches
    for one in others:
        first["oo"].add(one["oo"])
    values = [[Value(*one["averages"][q]) for one in batches] for q in QUANTITIES]
    return {
        "values": [sum(of[1:], of[0]) / len(batches) for of in values],
        "oo": first["oo"],
        "states": np.array([one["read"] for one in batches]),
        "stopped": sum(one["stopped"] for one in batches),
    }


def deviations(own: dict, reference: dict) -> list:
    """Of OO distances the total variation with its noise, of spectra shift and difference."""
    from tarn import _tarn

    librations, true_librations = (
        mean_and_error([libration_per_cm(s) for s in one["states"]]) for one in (own, reference)
    )
    true = reference["states"].mean(axis=0)
    spread = mean_and_error([difference(s, true) for s in own["states"]]).error
    return [
        _tarn.total_variation(own["oo"], reference["oo"]), librations - true_librations,
        Value(difference(own["states"].mean(axis=0), true), spread),
    ]  # fmt: skip


def at_constant_energy(page: Page, model: str, scheme: str, step_fs: float) -> list:
    """Drift and rms change of the energy, and the number of replicas that blew up."""
    from tarn import _tarn

    def steps(ps: float) -> int:
        return max(1, round(page.share * ps * 1e3 / step_fs))

    changes = {"system.model": model, "integrator.timestep_fs": step_fs}
    with tempfile.NamedTemporaryFile(suffix=".bin") as checkpoint:
        warm = _tarn.Ensemble(page.load(changes, scheme=scheme), "cpu", 1)
        warm.advance(steps(page.key("run.equilibration_ps")))
        warm.save(checkpoint.name)
        changes |= {"system.state": checkpoint.name}
        free = page.load(changes, ["thermostat", "system.file"], scheme=scheme)
        clusters = _tarn.Ensemble(free, "cpu", 1)
        energies = np.full((ENERGY_PS // ENERGY_SAMPLE_PS + 1, clusters.replicas), np.nan)
        times_ps = []
        for row in energies:
            if times_ps:
                clusters.advance(steps(ENERGY_SAMPLE_PS))
            times_ps.append(clusters.time_ps)
            row[clusters.replica_ids] = clusters.energies["total_kcal_per_mol"]
    moved = energies - energies[0]
    whole = moved[:, ~np.isnan(moved[-1])]
    rms = math.sqrt(np.nanmean(moved[-1] ** 2))
    return [mean_and_error(1e3 * np.polyfit(times_ps, whole, 1)[0]), rms, len(clusters.stopped())]


def run(page: Page) -> None:
    cases = [("verlet", REFERENCE_FS)] + [(s, h) for s in CURVES for h in STEPS_FS[s]]
    replicas, seed = page.key("system.replicas"), page.key("system.seed")
    all = [deck_of(page, *case, replicas) for case in cases]
    times = core_ns_per_step(all, TURNS, min(1, page.share) * TURN_SECONDS)
    costs = [np.median(turns) / case[1] for case, turns in zip(cases, times, strict=True)]
    jobs = cases[:1] * REFERENCE_BATCHES + [case for case in cases[1:] for _ in range(BATCHES)]
    decks = [deck_of(page, *case, replicas // BATCHES, seed + k) for k, case in enumerate(jobs)]
    batches = [*zip(jobs, observe_all(page, decks, read_states), strict=True)]
    runs = [joined([one for job, one in batches if job == case]) for case in cases]
    unit = costs[cases.index(("verlet", COST_UNIT_FS))]
    unknown = [math.nan] * (2 + 2 * len(QUANTITIES) + 7)
    rows = []
    for (scheme, step_fs), own, cost in zip(cases, runs, costs, strict=True):
        measured = unknown
        if not own["stopped"]:
            measured = [cost, cost / unit, own["values"], deviations(own, runs[0])]
        rows.append(["qtip4pf", "baoab", scheme, step_fs, measured, unknown[:3], own["stopped"]])
    with ThreadPoolExecutor(page.threads or os.cpu_count()) as pool:
        free = list(pool.map(lambda case: at_constant_energy(page, *case), ENERGY_RUNS))
    for case, (*energy, stopped) in zip(ENERGY_RUNS, free, strict=True):
        rows.append([case[0], "none", *case[1:], unknown, energy, stopped])
    page.write(
        ["model", "thermostat", "scheme", "timestep_fs", "core_us_per_ps", "relative_cost"]
        + [f"{q}{end}" for q in QUANTITIES for end in ("", "_err")]
        + [f"oo_total_variation{end}" for end in ("", "_err", "_noise")]
        + [f"{q}{end}" for q in ("libration_shift_per_cm", "difference") for end in ("", "_err")]
        + ["energy_drift_kcal_per_mol_per_ns", "energy_drift_kcal_per_mol_per_ns_err",
           "energy_change_rms_kcal_per_mol", "stopped_replicas"],
        rows,
    )  # fmt: skip
    states = runs[0]["states"]
    noise = difference(*(half.mean(axis=0) for half in np.split(states, 2)))
    reference = [libration_per_cm(states.mean(axis=0)), noise]
    page.write(["libration_per_cm", "difference_noise"], [reference], suffix="-reference")


def shift(row: Row, reference: Row, quantity: str) -> Value:
    return row.value(quantity) - reference.value(quantity)


def largest_steps(rows: list[Row], reference: Row, spectrum_noise: float) -> dict:
    """By quantity, the last row of each curve up to which no deviation is detectable, or None."""
    tests = {
        heading: (lambda r, q=q: (shift(r, reference, q), 0)) for q, heading in QUANTITIES.items()
    } | {
        "OO histogram": lambda r: (r.value("oo_total_variation"), r.oo_total_variation_noise),
        "mean libration": lambda r: (r.value("libration_shift_per_cm"), 0),
        "spectrum": lambda r: (r.value("difference"), spectrum_noise),
    }

    def last(scheme: str, test) -> Row | None:
        best = None
        for row in rows:
            if row.scheme == scheme:
                value, noise = test(row)
                if row.stopped_replicas or abs(value.mean) > noise + MOST_ERRORS * value.error:
                    break
                best = row
        return best

    return {name: [last(scheme, test) for scheme in CURVES] for name, test in tests.items()}


def cells(row: Row, of_row, count: int) -> list[str]:
    """The columns of every table, and those of one: dashes if a replica blew up."""
    first = [CURVES[row.scheme], f"{row.timestep_fs:g}", f"{row.stopped_replicas:.0f}"]
    if row.stopped_replicas:
        return first + ["–"] * (count + 1)
    return [*first, f"{row.relative_cost:.2f}", *of_row(row)]


def text(page: Page) -> dict:
    table = page.table()
    reference, *rows = table.where(thermostat="baoab")
    constant = list(table.where(thermostat="none"))
    extra, *_ = page.table("-reference")
    steps = largest_steps(rows, reference, extra.difference_noise)
    names = [*QUANTITIES]

    def quantity(row: Row, name: str) -> str:
        return f"{row.value(name)}" if row is reference else f"{shift(row, reference, name):+}"

    def energies(row: Row) -> list[str]:
        values = [quantity(row, name) for name in names[:2]]
        if row is reference:
            return [*values, "–", f"{extra.libration_per_cm:.1f}", "–"]
        librations = f"{row.value('libration_shift_per_cm'):+}"
        return [*values, row.value("oo_total_variation"), librations, row.value("difference")]

    def molecules(row: Row) -> list[str]:
        return [quantity(row, name) for name in names[2:]]

    always = ["scheme", "step (fs)", "blow-ups", "cost per ps"]
    at = {f"{CURVES[r.scheme]} {r.timestep_fs:g} fs": r for r in rows}
    bonds = {k: shift(r, reference, names[1]).mean for k, r in at.items()}
    by_run = {f"{CURVES[r.scheme]}, {r.timestep_fs:g} fs": r.energy_change_rms_kcal_per_mol
              for r in constant if MODELS[r.model] == "q-TIP4P/F"}  # fmt: skip
    labels = [f"{MODELS[r.model]}, {CURVES[r.scheme]}, {r.timestep_fs:g} fs" for r in constant]
    return {
        "row": at,
        "verlet": min(row.timestep_fs for row, _ in steps.values()),
        "potential": {k: shift(r, reference, names[0]) for k, r in at.items()},
        "rotation": {k: shift(r, reference, "rotation_K") for k, r in at.items()},
        "low": {k: -100 * v / reference.intramolecular_kcal_per_mol for k, v in bonds.items()},
        "constant": dict(zip(labels, constant, strict=True)),
        "largest": markdown(
            ["quantity", *CURVES.values()],
            [[name, *(f"{r.timestep_fs:g} fs: {r.relative_cost:.2f}" if r else "none"
                      for r in found)] for name, found in steps.items()],
        ),
        "energies": markdown(
            [*always, *(QUANTITIES[name] for name in names[:2]), "OO total variation",
             "mean libration (cm⁻¹)", "difference of the spectra"],
            [cells(row, energies, 5) for row in (reference, *rows)],
        ),
        "molecules": markdown(
            [*always, *(QUANTITIES[name] for name in names[2:])],
            [cells(row, molecules, 5) for row in (reference, *rows)],
        ),
        "constants": markdown(
            ["run", "drift of the energy (kcal/mol/ns)",
             f"rms change after {ENERGY_PS} ps (kcal/mol)", "blow-ups"],
            [[label, f"{r.value('energy_drift_kcal_per_mol_per_ns'):+}",
              f"{r.energy_change_rms_kcal_per_mol:.3f}", f"{r.stopped_replicas:.0f}"]
             for label, r in zip(labels, constant, strict=True)],
        ),
        "replicas": page.key("system.replicas"), "batches": BATCHES, "turns": TURNS,
        "of_batch": page.key("system.replicas") // BATCHES,
        "equilibration": page.key("run.equilibration_ps"),
        "measured": page.key("run.duration_ps") - page.key("run.equilibration_ps"),
        "oo_noise": rows[0].oo_total_variation_noise, "spectrum_noise": extra.difference_noise,
        "end": END_PER_CM, "librations": LIBRATIONS_PER_CM, "energy": ENERGY_PS,
        "held": page.conditions().split(", ", 1)[1],
        "times": by_run["Z&Ss, 1 fs"] / by_run["Verlet, 0.5 fs"],
        "unit": COST_UNIT_FS, "errors": MOST_ERRORS,
    }  # fmt: skip


def draw(page: Page):
    reference, *rows = page.table().where(thermostat="baoab")
    rows = [row for row in rows if not row.stopped_replicas]
    figure, axes = plots.panels(3, height_in=2.2)
    for scheme, label in CURVES.items():
        own = [row for row in rows if row.scheme == scheme]
        costs = [row.relative_cost for row in own]
        potential = [shift(row, reference, "potential_kcal_per_mol") for row in own]
        plots.curve(axes[0], costs, potential, label)
        plots.curve(axes[1], costs, [row.value("oo_total_variation") for row in own], label)
        plots.curve(axes[2], [row.timestep_fs for row in own],
                    [row.value("intramolecular_kcal_per_mol") for row in own], label)  # fmt: skip
    noise = np.mean([row.oo_total_variation_noise for row in rows])
    lines = (0, "reference"), (noise, "noise"), (reference.intramolecular_kcal_per_mol, "reference")
    for panel, (y, label) in zip(axes, lines, strict=True):
        panel.axhline(y, color="#888888", linestyle="--", linewidth=1.0, label=label)
    axes[0].set(ylabel="error of ⟨V₀⟩ (kcal/mol)")
    axes[1].set(ylabel="OO total variation", ylim=(0, None))
    axes[2].set(xlabel="step (fs)", ylabel="intramolecular\nenergy (kcal/mol)")
    for panel in axes[:2]:
        panel.set(xlabel="relative cost per picosecond")
    for panel in axes:
        plots.legend(panel)
    plots.letters(axes)
    return figure
