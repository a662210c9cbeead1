"""Multipliers of the penalty against those of the constraints, at the steps and as window means."""

import numpy as np
import plots
from page import Page, markdown

TITLE = "Multipliers of the penalty and of SHAKE (Tao & Owhadi, Fig. 5)"
DECK, SCHEMES = "multipliers7.toml", ["zss-stiff", "rattle"]

FINE = 20  # steps of the reference per step
REFERENCE = "rattle at a 20th of the step"
HALF_WINDOW = 2  # in steps: with h = 0.05 the window is the paper's 0.2
BONDS = ("OH1", "OH2", "HH")
COLUMNS = ("lambda_kcal_per_mol_A2", "lambda_mean_kcal_per_mol_A2")  # of the first O-H bond
ERRORS = ("relative_rms_error", "relative_rms_error_of_means")  # over all bonds of all molecules


def multipliers(page: Page, scheme: str, fine: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times, multipliers of all bonds at the steps, and their means over a centred window."""
    changes = {
        "integrator.scheme": scheme, "run.steps": page.key("run.steps") * fine,
        "integrator.timestep_fs": page.key("integrator.timestep_fs") / fine,
        "observe.multipliers.window_steps": 1,
    }  # fmt: skip
    unset = [] if scheme.startswith("zss") else ["integrator.omega"]
    table = page.run(changes, unset, read=lambda result: result.table("multipliers"))
    bonds = [np.asarray(table[f"lambda_{bond}"]) for bond in BONDS]
    values = np.stack(bonds, axis=1).reshape(page.key("run.steps") * fine + 1, -1)
    half = HALF_WINDOW * fine
    # Trapezoidal rule: the ends of the window count half.
    weights = np.convolve(np.full(2 * half, 1 / (2 * half)), [0.5, 0.5])
    inner = slice(half, len(values) - half, fine)
    means = sum(w * values[j : len(values) - 2 * half + j : fine] for j, w in enumerate(weights))
    return np.asarray(table["time_ps"])[:: len(values[0]) // 3][inner], values[inner], means


def run(page: Page) -> None:
    cases = {REFERENCE: ("rattle", FINE)} | {scheme: (scheme, 1) for scheme in SCHEMES}
    runs = {label: multipliers(page, *case) for label, case in cases.items()}
    page.write(
        ["scheme", "time_ps", *COLUMNS],
        [[label, t, v[0], m[0]] for label, run in runs.items()
         for t, v, m in zip(*run, strict=True)],
    )  # fmt: skip
    reference = runs[REFERENCE][1:]
    errors = {
        scheme: [np.linalg.norm(own - exact) / np.linalg.norm(exact)
                 for own, exact in zip(runs[scheme][1:], reference, strict=True)]
        for scheme in SCHEMES
    }  # fmt: skip
    page.write(["scheme", *ERRORS], [[scheme, own] for scheme, own in errors.items()], "-errors")


def text(page: Page) -> dict:
    return {
        "errors": markdown(
            ["scheme", "relative rms error of window means", "relative rms error at the steps"],
            [[f"`{row.scheme}`", *(f"{getattr(row, e):.4f}" for e in ERRORS[::-1])]
             for row in page.table("-errors")],
        ),
        "steps": page.key("run.steps"), "fine": FINE, "window": 2 * HALF_WINDOW,
    }  # fmt: skip


def draw(page: Page):
    figure, (means, values) = plots.panels(2, sharex=True)
    rows_of = page.table().by("scheme")
    for k, (scheme, rows) in enumerate(rows_of.items()):
        # The curves coincide: the schemes are points, at different steps.
        shown, style = (slice(2 * k, None, 4), "") if k else (slice(None), "-")
        t_ps = rows["time_ps"][shown]
        for axes, column in zip((values, means), COLUMNS, strict=True):
            plots.curve(axes, t_ps, rows[column][shown], scheme, style=style, marker=k > 0)
    means.set(ylabel="window mean of λ (kcal/mol/Å²)")
    values.set(xlabel="time (ps)", ylabel="λ at the steps (kcal/mol/Å²)")
    plots.legend(means)
    plots.letters((means, values))
    return figure
