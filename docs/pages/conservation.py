"""Changes of energy, momentum and angular momentum without a thermostat, by scheme."""

import numpy as np
import plots
from page import Page, markdown, thinned

TITLE = "Energy and momenta without a thermostat (Tao & Owhadi, Fig. 6)"
DECK = "conservation7.toml"
SCHEMES = [
    "zss-stiff", "zss-stiff:omega=500", "shake:tolerance=1e-12", "settle", "pushforward-newmark",
    "zss-stiff:hessian=full", "newmark-one-step", "newmark-one-step:hessian=full",
]  # fmt: skip

EVERY = 20
KEPT = 4  # frames of the first replica: every fourth is kept in the table
PS_PER_AKMA = 0.04888821
CHANGES = ("energy_change_kcal_per_mol", "momentum_change_Da_A_per_ps",
           "angular_momentum_change_Da_A2_per_ps")  # fmt: skip
ERRORS = ("drift_kcal_per_mol_per_akma", "rms_kcal_per_mol", *CHANGES[1:])


def run(page: Page) -> None:
    from tarn import _tarn

    frames, errors = [], []
    for scheme in SCHEMES:
        r = _tarn.record_conservation(page.load(scheme=scheme), 0, EVERY, page.threads)
        momenta = [r[name] for name in ("momentum", "angular_momentum")]
        changes = [r["energy"] - r["energy"][0]]
        changes += [np.linalg.norm(p - p[0], axis=2) / PS_PER_AKMA for p in momenta]
        for replica in range(r["energy"].shape[1]):
            own = np.array([c[:, replica] for c in changes])
            energy, *sizes = own = own[:, np.isfinite(own[0])]
            steps = EVERY * np.arange(len(energy))
            t_ps = steps * page.key("integrator.timestep_fs") * 1e-3
            if replica == 0:
                frames += [[scheme, steps[k], t_ps[k], *own[:, k]] for k in thinned(KEPT, *own)]
            t = (t_ps - t_ps.mean()) / PS_PER_AKMA
            largest = [size.max() for size in sizes]
            errors.append([scheme, replica, abs(t @ energy / (t @ t)), energy.std(), *largest,
                           r["blow_ups"].get(replica, np.nan)])  # fmt: skip
    page.write(["scheme", "step", "time_ps", *CHANGES], frames, digits=6)
    page.write(["scheme", "replica", *ERRORS, "blow_up_step"], errors, "-replicas")


def blow_ups(steps: np.ndarray) -> str:
    """"1, at step 5449", or the first and the last step of several."""
    steps = np.sort(steps[np.isfinite(steps)]).astype(int)
    if len(steps) < 2:
        return f"1, at step {steps[0]}" if len(steps) else "0"
    return f"{len(steps)}, at steps {steps[0]} to {steps[-1]}"


def text(page: Page) -> dict:
    return {
        "errors": markdown(
            ["scheme", "energy drift (kcal/mol per unit of time)", "rms of the energy (kcal/mol)",
             "largest change of P (Da Å/ps)", "largest change of L (Da Å²/ps)", "blow-ups"],
            [[f"`{scheme}`", *(f"{np.median(rows[e]):.1e}" for e in ERRORS),
              blow_ups(rows["blow_up_step"])]
             for scheme, rows in page.table("-replicas").by("scheme").items()],
        ),
        "steps": page.key("run.steps"), "replicas": page.key("system.replicas"),
        "unit_fs": f"{1e3 * PS_PER_AKMA:.5f}",
    }  # fmt: skip


def draw(page: Page):
    figure, panels = plots.panels(3, sharex=True)
    runs = page.table().by("scheme")
    for scheme, rows in runs.items():
        for axes, column in zip(panels, CHANGES, strict=True):
            plots.curve(axes, rows["time_ps"], rows[column], scheme, marker=False)
    # Diverging schemes leave the axis, so that the others remain visible.
    limit = 10 * next(iter(runs.values()))[CHANGES[0]].std()
    panels[0].set(ylabel="E - E(0) (kcal/mol)", ylim=(-limit, limit))
    panels[1].set(ylabel="|P - P(0)| (Da Å/ps)", yscale="log")
    panels[2].set(ylabel="|L - L(0)| (Da Å²/ps)", yscale="log", xlabel="time (ps)")
    plots.legend(panels[1])
    plots.letters(panels)
    return figure
