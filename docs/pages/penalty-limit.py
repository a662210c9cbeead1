"""Constraint errors and multipliers of the penalty on the double pendulum, by ω."""

import numpy as np
import plots
from motions import motion
from page import Page, markdown

TITLE = "Constraints and multipliers of the penalty (Tao & Owhadi, Fig. 2)"
DECK = "papers/double-pendulum.toml"

STEP, FINE_STEP_OMEGA = 0.01, 0.02  # of Z&S and SHAKE; h ω of the exact runs
WINDOW, SAMPLING, UNTIL = 0.2, 0.01, 10.0
OMEGAS = 2 * np.round(5 * 2 ** (np.arange(17) / 4))  # even: all samples are steps of the exact runs
DURATION = 50.0


def sampled(values: np.ndarray, step: float, window: float) -> np.ndarray:
    """Every SAMPLING, the values of all steps or their means over centred windows. Windows that would
    extend beyond the run are left out: one-sided means are biased."""
    edge, half = round(0.5 * WINDOW / step), round(0.5 * window / step)
    at = np.arange(edge, round(UNTIL / step) - edge + 1, round(SAMPLING / step))
    if half == 0:
        return values[at]
    # Sums by the trapezoidal rule from the start.
    steps = 0.5 * (values[:-1] + values[1:])
    sums = np.concatenate([np.zeros((1, values.shape[1])), np.cumsum(steps, axis=0)])
    return (sums[at + half] - sums[at - half]) / (2 * half)


def statistics(multipliers: np.ndarray, step: float, rigid: np.ndarray) -> list[float]:
    """Columns of the table after the scheme, from ω² g at all steps."""
    norms = np.linalg.norm(multipliers, axis=1)
    instant, window = (
        np.abs(sampled(multipliers, step, w) - rigid).max(axis=1) for w in (0.0, WINDOW)
    )
    median = np.sort(window)[(len(window) - 1) // 2]
    rms = [np.sqrt(np.mean(e**2)) for e in (instant, window)]
    return [norms.max(), norms[-1], rms[0], instant.max(), median, rms[1], window.max()]


def run(page: Page) -> None:
    until = {"run.duration": UNTIL}
    lambdas = motion(page, "shake", STEP, set=until)["lambda"]
    rigid = sampled(lambdas, STEP, 0.0)
    rows = []
    for omega in OMEGAS:
        set = {"integrator.omega": omega, "run.duration": DURATION}
        for name, scheme, step in (("exact", "verlet", FINE_STEP_OMEGA / omega), ("zs", "zs", STEP)):
            omega2_g = motion(page, scheme, step, set=set)["lambda"]
            rows.append([omega, name, statistics(omega2_g, step, rigid)])
    page.write(
        ["omega", "scheme", "omega2_g_max", "omega2_g_end", "instant_error_rms", "instant_error_max",
         "window_error_median", "window_error_rms", "window_error_max"],
        rows,
    )  # fmt: skip
    first = motion(page, "zs", STEP, set=until)["lambda"]
    curves = [sampled(first, STEP, 0.0), rigid, sampled(first, STEP, WINDOW)]
    times = 0.5 * WINDOW + SAMPLING * np.arange(len(rigid))
    columns = ["time", "omega2_g", "shake", "omega2_g_mean"]
    page.write(columns, zip(times, *(c[:, 0] for c in curves), strict=True), "-multiplier")


def text(page: Page) -> dict:
    exact, zs = (page.table().where(scheme=s) for s in ("exact", "zs"))
    ratio = zs["window_error_rms"] / exact["window_error_rms"]
    first = np.flatnonzero(ratio > 1.5)[0]
    cells = [exact["omega2_g_max"], exact["omega2_g_end"], zs["omega2_g_max"],
             exact["window_error_rms"], exact["window_error_max"], zs["window_error_rms"],
             zs["window_error_max"], exact["instant_error_rms"], exact["instant_error_max"]]  # fmt: skip
    return {
        "largest": exact["omega2_g_max"][exact["omega"] >= 20].max(),
        "zs_last": zs["omega2_g_max"][-1],
        "last": zs["omega"][-1],
        "instant_least": exact["instant_error_max"].min(),
        "instant_most": exact["instant_error_max"].max(),
        "mean": {int(r.omega): r.window_error_max for r in exact},
        "ratio": ratio,
        "worse_from": zs["omega"][first],
        "ratio_from": ratio[first],
        "step": STEP, "step_omega": FINE_STEP_OMEGA, "window": WINDOW, "sampling": SAMPLING, "end": DURATION,
        "from_time": 0.5 * WINDOW, "to_time": UNTIL - 0.5 * WINDOW,
        "table": markdown(
            ["ω", r"largest ω² \|g\|, exact", f"at t = {DURATION:g}, exact", r"largest ω² \|g\|, Z&S",
             "error of means, exact: rms", "largest", "error of means, Z&S: rms", "largest",
             "error of ω² g, exact: rms", "largest"],
            [[f"{omega:g}", *(f"{c[k]:.3f}" for c in cells)] for k, omega in enumerate(exact["omega"])],
        ),
    }  # fmt: skip


def draw(page: Page):
    exact, zs = (page.table().where(scheme=s) for s in ("exact", "zs"))
    times = page.table("-multiplier")
    figure, (sizes, over_time, errors) = plots.panels(3)
    for of, column, label in (
        (exact, "omega2_g_max", "largest, exact"), (zs, "omega2_g_max", f"largest, Z&S, h = {STEP:g}"),
        (exact, "omega2_g_end", f"at t = {DURATION:g}, exact"),
    ):  # fmt: skip
        plots.curve(sizes, of["omega"], of[column], label, style="-" if "largest" in label else "")
    sizes.set(xlabel="ω", ylabel="ω² |g|", xscale="log", ylim=(0, 5))
    omega = page.key("integrator.omega")
    for column, label, style in (
        ("omega2_g", f"ω² g, Z&S, ω = {omega:g}", "-"), ("shake", "SHAKE", "-"),
        ("omega2_g_mean", f"mean of ω² g over {WINDOW:g}", "--"),
    ):  # fmt: skip
        plots.curve(over_time, times["time"], times[column], label, style=style)
    plots.thin_markers(over_time)
    over_time.set(xlabel="time", ylabel="first multiplier", ylim=(0, 2.5))
    for k, (of, kind, label) in enumerate(
        ((exact, "instant", "ω² g, exact"), (exact, "window", "mean, exact"), (zs, "window", "mean, Z&S"))
    ):
        for statistic, style in (("rms", "-"), ("max", "--")):
            word = {"rms": "rms", "max": "largest"}[statistic]
            column = of[f"{kind}_error_{statistic}"]
            plots.curve(errors, of["omega"], column, f"{label}: {word}", colour=k, style=style)
    errors.set(xlabel="ω", ylabel="error of multipliers", xscale="log", yscale="log", ylim=(5e-3, 5))
    for axes in (sizes, over_time, errors):
        plots.legend(axes)
    return figure
