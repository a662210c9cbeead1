"""What the comparisons of schemes in one deck share: run(), text() and draw() of their pages."""

import math
import shutil

import numpy as np
import plots
from page import Page, Row, Value, markdown, read_table

ENOUGH_SAMPLES = 50  # for a ratio of correlation times
STYLES = ("-", "--", "-.", ":")
RESULTS = """\
{picture}

*{held}.*

{table}

## Method

* {deck}, {steps} steps.
* {command}
* Relative speed: steps per second, divided by those of the first scheme in the same run.
* Relative sampling rate: independent samples of V₀ per second, divided by those of the first
  scheme. Samples are independent after twice the correlation time τ. Estimates of τ scatter
  threefold between seeds, and more where there are few independent samples: rates of fewer than
  {enough} independent samples are left out.
* OO total variation: the total variation between the histogram of OO distances and that of the
  first scheme. Differences below the noise level are not detectable."""
OF_PICTURE = """
* The picture contains the probability density of OO distances and its difference from that of the
  first scheme. Bands are standard errors."""


def run(page: Page) -> None:
    comparison = page.compare(page.schemes, lambda c: keep(page, c.out))
    page.write(*comparison, suffix="-rdf")


def keep(page: Page, folder) -> tuple[list[str], list[list[str]]]:
    """Copies the table of a comparison. Returns the densities of OO distances in occupied bins."""
    shutil.copyfile(folder / "compare.csv", page.path(".csv"))
    rdf = read_table(folder / "rdf.csv")
    names = [f"{scheme} OO_density_per_A{end}" for scheme in page.schemes for end in ("", "_err")]
    values = np.stack([rdf["r_A"], *(rdf[name] for name in names)], axis=1)
    rows = [[f"{v:.5g}" for v in row] for row in values if row[1:].any()]
    return ["r_A", *(name.replace("OO_", "") for name in names)], rows


def fixed(value: Value, decimals: int, sign: str = "-") -> str:
    return f"{value.mean:{sign}.{decimals}f} ± {value.error:.{decimals}f}"


def independent_samples(page: Page, row: Row) -> float:
    length_ps = page.key("run.duration_ps") - page.key("run.equilibration_ps")
    return page.key("system.replicas") * length_ps / (2 * row.autocorrelation_ps)


def held(page: Page) -> str:
    """Step, friction and wall, for the caption."""
    friction = page.key("thermostat").get("friction_amu_per_ps")
    own = page.conditions()
    return own if friction is None else f"{own}, friction {friction:g} Da/ps"


def cells(page: Page, row: Row, first: Row) -> list[str]:
    bonds = f"{row.temperature_bond_K:.2f}" if row.temperature_bond_K > 0 else "–"
    rate = row.independent_samples_per_s / first.independent_samples_per_s
    own = row.scheme != first.scheme
    known = min(independent_samples(page, r) for r in (row, first)) >= ENOUGH_SAMPLES
    return [
        f"`{row.scheme}`",
        f"{row.cluster_steps_per_s / first.cluster_steps_per_s:.2f}",
        f"{row.iterations_per_step:.1f}" if row.iterations_per_step > 0 else "–",
        fixed(row.value("temperature_K"), 2),
        f"{row.temperature_translation_K:.2f}, {row.temperature_rotation_K:.2f}, {bonds}",
        fixed(row.value("potential_kcal_per_mol"), 3),
        f"{row.autocorrelation_ps:.2g}",
        f"{rate:.2g}" if known else "–",
        f"{row.constraint_max_A2:.1e}",
        f"{row.oo_mean_distance_A:.4f}",
        fixed(row.value("oo_total_variation"), 4) if own else "–",
        f"{row.oo_total_variation_noise:.4f}" if own else "–",
        f"{row.stopped_replicas:.0f}",
    ]


def text(page: Page) -> dict:
    first, *_ = table = list(page.table())
    rows = {row.scheme: row for row in table}
    lower = {s: -row.potential_difference_kcal_per_mol for s, row in rows.items()}
    steps = 1e3 * page.key("run.duration_ps") / page.key("integrator.timestep_fs")
    header = [
        "scheme", "relative speed", "iterations", "T (K)", "T of translation, rotation, bonds (K)",
        "⟨V₀⟩ (kcal/mol)", "τ of V₀ (ps)", "relative sampling rate", r"largest \|g\| (Å²)",
        "mean OO distance (Å)", "OO total variation", "noise level", "blow-ups",
    ]  # fmt: skip
    results = {"table": markdown(header, [cells(page, row, first) for row in table]),
               "steps": math.ceil(steps), "held": held(page), "enough": ENOUGH_SAMPLES}
    return {
        "row": rows,
        "lower": lower,
        "percent": {s: -100 * v / first.potential_kcal_per_mol for s, v in lower.items()},
        "thermostat": page.key("thermostat"),
        "run": page.key("run"),
        "results": RESULTS.format_map(page.common_fields() | results) + OF_PICTURE,
    }


def draw(page: Page):
    rdf = page.table("-rdf")
    first = page.schemes[0]
    figure, (densities, differences) = plots.panels(2, sharex=True)
    for k, scheme in enumerate(page.schemes):
        density, error = (rdf[f"{scheme} density_per_A{end}"] for end in ("", "_err"))
        style = STYLES[k % len(STYLES)]
        curves = [(densities, density, error)]
        if scheme != first:
            shift = density - rdf[f"{first} density_per_A"]
            curves += [(differences, shift, np.hypot(error, rdf[f"{first} density_per_A_err"]))]
        for axes, y, band in curves:
            plots.curve(axes, rdf["r_A"], y, scheme, colour=k, style=style, marker=False)
            axes.fill_between(
                rdf["r_A"], y - band, y + band, color=plots.COLOURS[k], alpha=0.2, linewidth=0
            )
    densities.set(ylabel="probability density (1/Å)")
    differences.set(xlabel="OO distance (Å)", ylabel="difference (1/Å)")
    plots.legend(densities)
    plots.letters((densities, differences))
    return figure
