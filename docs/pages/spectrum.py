"""Vibrational spectra of seven molecules, by scheme and time step."""

import itertools
import math
import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import plots
from page import Page, Table, Value, markdown, mean_and_error, quartiles, time_in_turns

TITLE = "Librations of seven molecules with SETTLE and Z&Ss"
DECK, SLOW = "spectrum7.toml", True

TEMPERATURES_K = (10, 298.15)
OMEGAS = (math.inf, 500, 100, 50, 20)  # of Z&Ss; infinite: SETTLE
STEPS_FS, REFERENCE_FS = (1, 2, 4), 0.5
# Time between samples. Rigid molecules have no lines above the Nyquist limit; those of penalised
# bonds must not fold back onto the librations.
SAMPLE_FS, PENALTY_SAMPLE_FS = 8, 2
END_PER_CM, LIBRATIONS_PER_CM = 1300, 330
BATCHES, REFERENCE_BATCHES = 8, 16  # independent runs, whose spread gives the errors
TURNS, TURN_SECONDS = 25, 0.02
FS_TIMES_CM = 2 * math.pi * 2.99792458e-5  # angular frequency per fs of 1/cm
MOLECULES = 7
SHOWN = ((math.inf, REFERENCE_FS), (math.inf, 4), (100, 4), (50, 2), (20, 2))
COLUMNS = ("states_cm", "absorption_km_cm_per_mol")
RESULTS = ("modes", "shift_per_cm", "difference")


def scheme_of(omega: float) -> str:
    return "settle" if omega == math.inf else f"zss-stiff:omega={omega:g}"


def label_of(omega: float) -> str:
    return "SETTLE" if omega == math.inf else f"Z&Ss, ω = {omega:g}"


class Spectra:
    """Lower parts of the spectra of independent runs, (run, wavenumber)."""

    def __init__(self, tables) -> None:
        x = np.asarray(tables[0]["wavenumber_per_cm"])
        self.x = x[x <= END_PER_CM]
        self.spacing = self.x[1]
        values = (np.array([t[name][: len(self.x)] for t in tables]) for name in COLUMNS)
        self.states, self.absorption = values

    def modes(self) -> np.ndarray:
        """Integrals by the trapezoidal rule."""
        return self.spacing * (self.states.sum(axis=1) - 0.5 * self.states[:, 0])

    def moment(self, states: np.ndarray, power: int = 1) -> np.ndarray:
        """Mean of a power of the wavenumber of librations."""
        chosen = self.x >= LIBRATIONS_PER_CM
        return states[..., chosen] @ self.x[chosen] ** power / states[..., chosen].sum(axis=-1)

    def difference(self, states: np.ndarray, other: "Spectra", truth: np.ndarray) -> float:
        """Half the integral of |g - g'|, relative to the modes of g'; spacings may differ."""
        at = other.x / self.spacing
        below = np.minimum(at.astype(int), len(self.x) - 2)
        g = states[below] + (at - below) * (states[below + 1] - states[below])
        weights = np.where(other.x > 0, 1.0, 0.5)
        return 0.5 * (weights @ np.abs(g - truth)) / (weights @ truth)


def deviations(own: Spectra, reference: Spectra) -> list[Value]:
    """Number of modes, shift of the mean libration, and difference of the densities."""
    truth = reference.states.mean(axis=0)
    librations = [mean_and_error(s.moment(s.states)) for s in (own, reference)]
    # A single run is noisier than the mean of all: only the spread of the runs is used.
    spread = mean_and_error([own.difference(g, reference, truth) for g in own.states]).error
    mean = own.difference(own.states.mean(axis=0), reference, truth)
    return [mean_and_error(own.modes()), librations[0] - librations[1], Value(mean, spread)]


def librations(page: Page, omega: float) -> np.ndarray:
    """Wavenumbers of the normal modes of the minimum, which the start of a deck is."""
    import tarn

    deck = page.load({"system.replicas": 1}, scheme=scheme_of(omega))
    start = tarn._tarn.Ensemble(deck, "cpu", 1)
    x = tarn.normal_modes(start.positions_A[0], omega=omega, model="tip3p").wavenumbers_per_cm
    return x[(x >= LIBRATIONS_PER_CM) & (x <= END_PER_CM)]


def run(page: Page) -> None:
    import tarn

    of_each = [(math.inf, REFERENCE_FS), *((omega, h) for omega in OMEGAS for h in STEPS_FS)]
    cases = [(t_K, *case) for t_K in TEMPERATURES_K for case in of_each]

    def changes(t_K: float, omega: float, step_fs: float) -> dict:
        sample = SAMPLE_FS if omega == math.inf else PENALTY_SAMPLE_FS
        scheme = {"integrator.scheme": "settle"}
        if omega < math.inf:
            scheme = {"integrator.scheme": "zss-stiff", "integrator.omega": omega}
        # Short runs have short segments.
        short = {"observe.spectrum.resolution_per_cm": 5 / page.share} if page.share < 1 else {}
        return scheme | short | {
            "integrator.timestep_fs": step_fs, "thermostat.temperature_K": t_K,
            "observe.spectrum.every": max(1, round(sample / step_fs)),
        }  # fmt: skip

    timed = [tarn._tarn.Ensemble(page.load(changes(*case)), "cpu", 1) for case in cases]
    core_ns = quartiles(time_in_turns(timed, TURNS, page.share * TURN_SECONDS))[0]

    worker = Page(page.name, page.out, page.share, threads=1)
    replicas = max(1, page.key("system.replicas") // BATCHES)
    batches = {case: REFERENCE_BATCHES if case[2] == REFERENCE_FS else BATCHES for case in cases}
    jobs = [case for case in cases for _ in range(batches[case])]

    def run_job(job: int):
        own = {"system.replicas": replicas, "system.seed": page.key("system.seed") + job}
        return worker.run(
            changes(*jobs[job]) | own, ["observe.energies"],
            read=lambda result: (result.table("spectrum"), len(result.blow_ups)),
        )  # fmt: skip

    with ThreadPoolExecutor(page.threads or os.cpu_count()) as pool:
        done = pool.map(run_job, range(len(jobs)))
        runs = {case: list(itertools.islice(done, batches[case])) for case in cases}

    spectra = {case: Spectra([table for table, _ in own]) for case, own in runs.items()}
    rows, references, densities = [], [], []
    for case, ns in zip(cases, core_ns, strict=True):
        t_K, omega, step_fs = case
        own, reference = spectra[case], spectra[t_K, math.inf, REFERENCE_FS]
        stopped = sum(blow_ups for _, blow_ups in runs[case])
        mean, absorption = own.states.mean(axis=0), own.absorption.mean(axis=0)
        modes, *others = deviations(own, reference)
        rows.append([t_K, "gla", scheme_of(omega), step_fs, ns / step_fs, modes, own.moment(mean),
                     *others, stopped])  # fmt: skip
        if own is reference:
            halves = [half.mean(axis=0) for half in np.split(own.states, 2)]
            leapfrog = FS_TIMES_CM**2 / 24 * own.moment(mean, 3)
            references.append([t_K, own.difference(halves[0], own, halves[1]), leapfrog])
        if case[1:] in SHOWN:
            points = zip(own.x, mean, absorption, strict=True)
            densities += [[t_K, scheme_of(omega), step_fs, *point] for point in points]
    page.write(
        ["bath_K", "thermostat", "scheme", "timestep_fs", "core_us_per_ps", "modes", "modes_err",
         "mean_libration_per_cm", "shift_per_cm", "shift_per_cm_err", "difference",
         "difference_err", "stopped_replicas"], rows,
    )  # fmt: skip
    page.write(["bath_K", "noise", "leapfrog_shift_per_cm_fs2"], references, "-reference")
    columns = ["bath_K", "scheme", "timestep_fs", "wavenumber_per_cm", *COLUMNS]
    page.write(columns, densities, "-densities")
    modes = [(omega, librations(page, omega)) for omega in OMEGAS]
    page.write(
        ["omega", "librations", "lowest_per_cm", "highest_per_cm", "mean_per_cm"],
        [[omega, len(x), x.min(), x.max(), x.mean()] for omega, x in modes], "-modes",
    )  # fmt: skip


def tail(wavenumbers: np.ndarray, from_per_cm: float, friction_per_ps: float) -> np.ndarray:
    """Shares of the velocity spectra of damped oscillators above a wavenumber. The friction is small
    compared with the distance to it."""
    per_ps = 1e3 * FS_TIMES_CM
    own, end = per_ps * np.maximum(wavenumbers, 1e-3), per_ps * from_per_cm
    integral = 0.5 * end / (end**2 - own**2) + 0.25 * np.log((end + own) / (end - own)) / own
    return 2 / math.pi * friction_per_ps * integral


def modes_beyond(page: Page, sample_fs: float) -> float:
    """Number of modes that the spectrum at the lower temperature contains above END_PER_CM, because
    the thermostat broadens its lines. Sampling folds a part of them back below."""
    rows = page.table("-densities").where(
        bath_K=TEMPERATURES_K[0], scheme="settle", timestep_fs=REFERENCE_FS
    )
    friction = page.key("thermostat.friction_per_ps")
    sampling_per_cm = 2 * math.pi / (sample_fs * FS_TIMES_CM)
    share = sum(
        tail(rows["wavenumber_per_cm"], n * sampling_per_cm + END_PER_CM, friction)
        - tail(rows["wavenumber_per_cm"], (n + 1) * sampling_per_cm - END_PER_CM, friction)
        for n in range(100)
    )
    # The table leaves out the slowest modes, which the picture does not show.
    modes = 6 * MOLECULES
    weights = rows["states_cm"] / rows["states_cm"].sum()
    return modes * weights @ share


def explained(table: Table, densities: Table, shift_per_cm_fs2: float) -> tuple[list[float], float]:
    """Parts of the shift with SETTLE and the longest step at the higher temperature [1/cm], and the
    excess of the temperature of librations, as a share."""
    cold, warm = (table.one(bath_K=t, scheme="settle", timestep_fs=REFERENCE_FS) for t in TEMPERATURES_K)
    rows = densities.where(bath_K=warm.bath_K, scheme="settle", timestep_fs=REFERENCE_FS)
    x, g = rows["wavenumber_per_cm"], rows["states_cm"]
    step_fs = STEPS_FS[-1]
    chosen = (x >= LIBRATIONS_PER_CM) & np.isfinite(g)
    librations = np.trapezoid(g[chosen], x[chosen])
    rise = (step_fs * FS_TIMES_CM * LIBRATIONS_PER_CM) ** 2 / 24 * LIBRATIONS_PER_CM
    entering = rise * np.interp(LIBRATIONS_PER_CM, x[chosen], g[chosen]) / librations
    at_boundary = entering * (LIBRATIONS_PER_CM - warm.mean_libration_per_cm)
    hotter = (step_fs * FS_TIMES_CM * warm.mean_libration_per_cm) ** 2 / 4
    slope = (warm.mean_libration_per_cm - cold.mean_libration_per_cm) / (warm.bath_K - cold.bath_K)
    return [step_fs**2 * shift_per_cm_fs2, at_boundary, slope * hotter * warm.bath_K], hotter


def limits(reference: Table, row) -> str:
    shift = "shift expected for harmonic modes and leapfrog steps of {} fs"
    return markdown(
        [f"reference, SETTLE with {REFERENCE_FS} fs", "cm⁻¹"],
        [["mean libration", f"{reference['mean_libration_per_cm'][0]:.1f}"],
         *([shift.format(h), f"{h**2 * row.leapfrog_shift_per_cm_fs2:.2f}"] for h in STEPS_FS)],
    )  # fmt: skip


def results(table: Table) -> str:
    labels = {scheme_of(omega): label_of(omega) for omega in OMEGAS}
    forms = ("{:.2f} ± {:.2f}", "{:+.2f} ± {:.2f}", "{:.4f} ± {:.4f}")
    return markdown(
        ["scheme", "step (fs)", "core time (µs/ps)", f"modes below {END_PER_CM} cm⁻¹",
         "shift of the librations (cm⁻¹)", "difference of the densities", "blow-ups"],
        [[labels[r.scheme], f"{r.timestep_fs:g}", f"{r.core_us_per_ps:.0f}",
          *(form.format(v.mean, v.error)
            for form, v in zip(forms, map(r.value, RESULTS), strict=True)),
          f"{r.stopped_replicas:g}"] for r in table if r.timestep_fs != REFERENCE_FS],
    )  # fmt: skip


def text(page: Page) -> dict:
    rigid, *soft = page.table("-modes")
    shifts = [["rigid", f"{rigid.mean_per_cm:.1f}"]]
    shifts += [[f"ω = {m.omega:g}", f"{m.mean_per_cm - rigid.mean_per_cm:+.2f}"] for m in soft]
    by_name = dict(zip(("cold", "warm"), page.table().by("bath_K").values(), strict=True))
    references = dict(zip(by_name, page.table("-reference"), strict=True))
    equilibration = page.key("run.equilibration_ps")
    warm = by_name["warm"]
    parts, hotter = explained(page.table(), page.table("-densities"), references["warm"].leapfrog_shift_per_cm_fs2)
    measured = warm.one(scheme="settle", timestep_fs=STEPS_FS[-1]).value("shift_per_cm")
    names = ("harmonic modes and leapfrog steps", f"modes that rise above {LIBRATIONS_PER_CM} cm⁻¹",
             f"librations hotter by {100 * hotter:.0f} %, which softens them")
    return {
        "parts": markdown(
            ["contribution to the shift", "cm⁻¹"],
            [*([name, f"{part:+.1f}"] for name, part in zip(names, parts, strict=True)),
             ["not explained", f"{measured.mean - sum(parts):+.1f}"],
             ["measured", f"{measured.mean:+.2f} ± {measured.error:.2f}"]],
        ),
        "measured": f"{measured.mean:.1f}", "expected": parts[0],
        "explained": 100 * (sum(parts) - parts[0]) / (measured.mean - parts[0]),
        "longest": STEPS_FS[-1], "modes_of_all": 6 * MOLECULES, "sample": SAMPLE_FS,
        "penalty_sample": PENALTY_SAMPLE_FS, "highest": END_PER_CM,
        "beyond": {kind: modes_beyond(page, fs) for kind, fs in
                   (("rigid", SAMPLE_FS), ("penalty", PENALTY_SAMPLE_FS))},
        "held": page.conditions().split(", ", 1)[1],
        "rigid": rigid,
        "modes": markdown(["bonds", "mean libration (cm⁻¹)"], shifts),
        "limits": {name: limits(rows, references[name]) for name, rows in by_name.items()},
        "results": {name: results(rows) for name, rows in by_name.items()},
        "T": {name: row.bath_K for name, row in references.items()},
        "noise": {name: row.noise for name, row in references.items()},
        "batches": BATCHES, "replicas": page.key("system.replicas") // BATCHES,
        "length": page.key("run.duration_ps") - equilibration, "equilibration": equilibration,
        "libration": LIBRATIONS_PER_CM, "turns": TURNS,
    }  # fmt: skip


def draw(page: Page):
    figure, panels = plots.panels(4, 2.0)
    names = ("density of states\n(modes per cm⁻¹)", "absorption\n(km/mol per cm⁻¹)")
    cold, warm = TEMPERATURES_K
    views = ((cold, 0, (0, 1000), 0.2), (cold, 0, (600, 950), 0.1), (warm, 0, (0, 1000), 0.15),
             (warm, 1, (0, 1000), 9))  # fmt: skip
    table = page.table("-densities")
    for axes, (t_K, k, x_range, y_most) in zip(panels, views, strict=True):
        for omega, step_fs in SHOWN:
            rows = table.where(bath_K=t_K, scheme=scheme_of(omega), timestep_fs=step_fs)
            style = "--" if step_fs == 4 else "-"
            label = f"{label_of(omega)}, {step_fs:g} fs"
            x, y = rows["wavenumber_per_cm"], rows[COLUMNS[k]]
            plots.curve(axes, x, y, label, style=style, marker=False)
        axes.set(xlim=x_range, ylim=(0, y_most), ylabel=names[k])
        plots.legend(axes, f"{t_K:g} K")
    plots.letters(panels)
    panels[-1].set_xlabel("wavenumber (cm⁻¹)")
    return figure
