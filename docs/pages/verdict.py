"""What the verdicts share: errors of all schemes against their cost, with steps of 1 to 12 fs."""

import math

import numpy as np
import plots
from comparison import fixed
from page import Page, Row, Table, Value, core_ns_per_step, markdown, observe_all

STEPS_FS = (1, 2, 3, 4, 6, 8, 12)
SHOWN_FS = (2, 8)  # in the table
REFERENCE_FS, REFERENCE_LONGER = 0.5, 2
SAMPLE_FS = 192
LIGHT_DA, HEAVY_DA = 1.008, 3.024
TURNS, TURN_SECONDS = 20, 0.02
SAME_MINIMUM_KCAL_PER_MOL = 1e-4
OMEGAS = {"∞": "infinite", "500": "500", "100": "100", "50": "50", "20": "20"}
#: Scheme and mass of hydrogen by label.
RIGID = {name: (name.lower(), LIGHT_DA) for name in ("SETTLE", "SHAKE", "RATTLE")}
STIFF = {f"Z&Ss, ω = {w}": (f"zss-stiff:omega={key}", LIGHT_DA) for w, key in OMEGAS.items()}
FULL = {
    f"Z&Ss full, ω = {w}": (f"zss-stiff:omega={w}:hessian=full", LIGHT_DA) for w in [*OMEGAS][1:]
}
CURVES = (
    RIGID | {"SETTLE, H of 3 Da": ("settle", HEAVY_DA)} | STIFF
    | {"Z&Ss, ω = 100, H of 3 Da": ("zss-stiff:omega=100", HEAVY_DA)} | FULL
)  # fmt: skip
DRAWN = [label for label in CURVES if label not in ("SHAKE", "RATTLE", *FULL)]
LABELS = {curve: label for label, curve in CURVES.items()}
THERMOSTATS = {"baoab": "BAOAB", "gla": "GLA"}
TICKS_US_PER_PS = (10, 20, 50, 100, 200)
ERRORS = {"potential_difference_kcal_per_mol": "|error of ⟨V₀⟩| (kcal/mol)",
          "oo_total_variation": "OO total variation"}  # fmt: skip


def deck_of(page: Page, scheme: str, mass_Da: float, step_fs: float, thermostat: str, **more):
    every = max(1, round(SAMPLE_FS / step_fs))
    sampled = {"every": every, "replicas": "mean"}
    changes = more | {
        "integrator.timestep_fs": step_fs, "thermostat.kind": thermostat,
        "observe.energies": sampled, "observe.temperatures": sampled, "observe.rdf.every": every,
        "system.hydrogen_mass_Da": mass_Da, "system.keep_molecule_mass": mass_Da != LIGHT_DA,
    }  # fmt: skip
    return page.load(scheme=scheme, **page.shortened(changes, []))


def run(page: Page) -> None:
    import tarn

    cases = [(*curve, h, t) for t in THERMOSTATS for curve in CURVES.values() for h in STEPS_FS]
    # The others share their noise; the reference has its own.
    own = {"system.seed": page.key("system.seed") + 1,
           "run.duration_ps": REFERENCE_LONGER * page.key("run.duration_ps")}  # fmt: skip
    reference_deck = deck_of(page, *RIGID["SETTLE"], REFERENCE_FS, "baoab", **own)
    decks = [deck_of(page, *case) for case in cases]
    reference, *runs = observe_all(page, [reference_deck, *decks])
    alive = [k for k, one in enumerate(runs) if not one["stopped"]]
    times = core_ns_per_step([decks[k] for k in alive], TURNS, page.share * TURN_SECONDS)
    columns = [*[f"core_us_per_ps{end}" for end in ("", "_low", "_high")], "core_ns_per_step",
               "temperature_translation_K", "potential_kcal_per_mol", "potential_kcal_per_mol_err",
               "potential_difference_kcal_per_mol", "potential_difference_kcal_per_mol_err",
               *[f"oo_total_variation{end}" for end in ("", "_err", "_noise")]]  # fmt: skip
    truth = Value(*reference["averages"]["potential_kcal_per_mol"])
    rows = []
    for k, ((scheme, mass_Da, step_fs, thermostat), one) in enumerate(zip(cases, runs)):
        measured = [math.nan] * len(columns)
        if k in alive:
            turns = times[alive.index(k)] / step_fs
            potential = Value(*one["averages"]["potential_kcal_per_mol"])
            measured = [
                *np.quantile(turns, (0.5, 0.25, 0.75)), step_fs * np.median(turns),
                one["averages"]["translation_K"][0], potential, potential - truth,
                tarn._tarn.total_variation(one["oo"], reference["oo"]),
            ]  # fmt: skip
        rows.append([scheme, thermostat, step_fs, mass_Da, measured, one["stopped"]])
    first = ["scheme", "thermostat", "timestep_fs", "hydrogen_mass_Da"]
    page.write([*first, *columns, "stopped_replicas"], rows)
    start = tarn.read_structure(page.deck_path.parent / page.key("system.file")).positions_A
    lowest, ends = (tarn.minimise(x, model="tip3p").energy_kcal_per_mol for x in (start, reference["positions_A"]))
    page.write(
        ["potential_kcal_per_mol", "potential_kcal_per_mol_err", "minimum_kcal_per_mol", "replicas",
         "replicas_in_basin", "device"],
        [[truth, lowest, len(ends), np.sum(abs(ends - lowest) < SAME_MINIMUM_KCAL_PER_MOL),
          tarn._tarn.Ensemble(reference_deck, "cpu", 1).device]],
        suffix="-reference",
    )  # fmt: skip


def label_of(row: Row) -> str:
    return LABELS[row.scheme, row.hydrogen_mass_Da]


def survivors(table: Table) -> list[Row]:
    return [row for row in table if row.stopped_replicas == 0]


def cheapest(rows: list[Row], column: str, limit: float) -> str:
    """The cheapest of the rows whose error plus twice its uncertainty is below a limit."""
    errors = [row.value(column) for row in rows]
    good = [r for r, e in zip(rows, errors, strict=True) if abs(e.mean) + 2 * e.error < limit]
    if not good:
        return "none"
    row = min(good, key=lambda r: r.core_us_per_ps)
    place = f"{label_of(row)}, {THERMOSTATS[row.thermostat]}, {row.timestep_fs:g} fs"
    return f"{place}: {row.core_us_per_ps:.1f}"


def line(label: str, rows: list[Row]) -> list[str]:
    """Errors of a scheme with BAOAB, and its largest steps with both thermostats."""
    at = {r.timestep_fs: r for r in rows if r.thermostat == "baoab"}
    shown = [at.get(step_fs) for step_fs in SHOWN_FS]
    longest = [
        max((r.timestep_fs for r in rows if r.thermostat == t), default=0) for t in THERMOSTATS
    ]
    return [
        label,
        f"{shown[0].core_ns_per_step:.0f}" if shown[0] else "–",
        *(fixed(r.value(column), digits, sign) if r else "–"
          for column, digits, sign in zip(ERRORS, (3, 4), "+-", strict=True) for r in shown),
        *(f"{step_fs:g}" if step_fs else "–" for step_fs in longest),
    ]  # fmt: skip


def text(page: Page) -> dict:
    reference, *_ = page.table("-reference")
    rows = survivors(page.table())
    light = [r for r in rows if r.hydrogen_mass_Da == LIGHT_DA]
    groups = [
        [r for r in light if "zss" not in r.scheme], [r for r in light if "zss" in r.scheme],
        [r for r in rows if r.hydrogen_mass_Da != LIGHT_DA],
    ]  # fmt: skip
    thermal = reference.potential_kcal_per_mol - reference.minimum_kcal_per_mol
    potential, distance = ERRORS
    accuracies = [
        *((f"⟨V₀⟩ to {100 * share:.0f} % of the thermal energy", potential, share * thermal)
          for share in (0.3, 0.1, 0.03, 0.01)),
        *((f"OO histogram to {most:.2f}", distance, most) for most in (0.05, 0.02, 0.01)),
    ]  # fmt: skip
    ns = {label: [r.core_ns_per_step for r in rows
                  if (label_of(r), r.thermostat, r.timestep_fs) == (label, "baoab", SHOWN_FS[0])]
          for label in ("SETTLE", "Z&Ss, ω = 100")}  # fmt: skip
    return {
        "choices": markdown(
            ["accuracy", "rigid", "Z&Ss", "with hydrogens of 3 Da"],
            [[name, *(cheapest(group, column, limit) for group in groups)]
             for name, column, limit in accuracies],
        ),
        "schemes": markdown(
            ["scheme", "ns per step",
             *(f"error of ⟨V₀⟩, {h} fs (kcal/mol)" for h in SHOWN_FS),
             *(f"OO total variation, {h} fs" for h in SHOWN_FS),
             *(f"largest step, {name} (fs)" for name in THERMOSTATS.values())],
            [line(label, [r for r in rows if label_of(r) == label]) for label in CURVES],
        ),
        "step_cost": ns["Z&Ss, ω = 100"][0] / ns["SETTLE"][0],
        "held": f"Steps of {STEPS_FS[0]} to {STEPS_FS[-1]} fs, {page.conditions().split(', ', 1)[1]}",
        "method": f"""\
* The cost is the core time (µs) per picosecond of one cluster: the median of {TURNS} turns on one
  thread, in which all runs alternate. The time per step is that with BAOAB and {SHOWN_FS[0]} fs.
  {reference.device}.
* A choice has an error that, with twice its uncertainty added, is below the accuracy. A dash marks
  runs in which a replica blew up; the largest step is the last without.
  [The CSV table]({page.name}.csv) contains all steps with both thermostats.
* The reference is SETTLE with BAOAB and steps of {REFERENCE_FS} fs: ⟨V₀⟩ =
  {fixed(reference.value("potential_kcal_per_mol"), 4)} kcal/mol. Errors of penalised schemes
  include the effect of the penalty.
* The thermal energy is ⟨V₀⟩ above the minimum of the start: {thermal:.3g} kcal/mol above
  {reference.minimum_kcal_per_mol:.4f} kcal/mol.
* Each run has {page.key("system.replicas")} replicas of {page.key("run.duration_ps"):g} ps, all
  from one structure. In the reference run, {reference.replicas_in_basin:.0f} of
  {reference.replicas:.0f} replicas end in the basin of the start.
* In the picture, the points of a curve are steps of {", ".join(map(str, STEPS_FS[:-1]))} and
  {STEPS_FS[-1]} fs, from right to left. Bars are standard errors. The dashed line is the noise
  level, below which errors are not detectable; points below half of it are drawn at that height.
  H of 3 Da: heavy hydrogens (`keep_molecule_mass`).
* With a thermostat, SHAKE is identical to RATTLE. The picture leaves out both, and Z&Ss full, which
  has the full Hessian.""",
    }  # fmt: skip


def draw_errors(axes, rows: list[Row], column: str) -> None:
    """Errors against cost, and their noise level."""
    of_noise = "oo_total_variation_noise" if column == "oo_total_variation" else f"{column}_err"
    noise = np.mean([getattr(r, of_noise) for r in rows])
    for label in DRAWN:
        own = [r for r in rows if label_of(r) == label]
        errors = np.maximum([abs(getattr(r, column)) for r in own], 0.5 * noise)
        bars = [getattr(r, f"{column}_err") for r in own]
        plots.curve(axes, [r.core_us_per_ps for r in own], errors, label, error=bars)
    axes.axhline(noise, color="#888888", linestyle="--", linewidth=1.0, label="noise")
    top = max(abs(getattr(r, column)) for r in rows)
    axes.set(xscale="log", yscale="log", ylim=(0.4 * noise, 3 * top), ylabel=ERRORS[column])
    axes.set_xticks(TICKS_US_PER_PS, [f"{t:g}" for t in TICKS_US_PER_PS])
    axes.set_xticks([], minor=True)


def draw(page: Page):
    figure, axes = plots.panels(4, columns=2, height_in=2.7, sharex=True, sharey="row")
    rows = [row for row in survivors(page.table()) if label_of(row) in DRAWN]
    for k, (thermostat, name) in enumerate(THERMOSTATS.items()):
        own = [r for r in rows if r.thermostat == thermostat]
        for panel, column in zip(axes[k::2], ERRORS, strict=True):
            draw_errors(panel, own, column)
            panel.text(0.97, 0.96, name, ha="right", va="top", transform=panel.transAxes)
        axes[2 + k].set(xlabel="core time (µs/ps)")
    for panel in axes[1::2]:
        panel.set(ylabel="")
    plots.letters(axes)
    plots.legend(axes[1])
    return figure
