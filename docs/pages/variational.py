"""Orders and conservation properties of variational methods derived from one-step methods."""

import numpy as np
import plots
from motions import motion
from page import Page, markdown

TITLE = "Orders of one-step methods made variational (Patrick et al.)"
DECK = "papers/spherical-pendulum.toml"

METHODS = [("euler", 0.0), ("euler", 0.5), ("rk2", 0.0), ("rk4", 0.0)]  # with their bias
STEPS, FINE = (5, 10, 20, 40, 80, 160), 1280  # to t = 1; those of the reference
# Start of the planar double pendulum.
POSITION, VELOCITY = [0.0, -1.0, 1.0, -2.0], [0.3, 0.0, 0.5, 0.2]


def label(layer: str, bias: float) -> str:
    return f"variational-of:{layer}" + (f" with bias {bias:g}" if bias else "")


def spherical(page: Page, layer: str, bias: float, steps: int, **options) -> tuple[np.ndarray, float]:
    """Positions and momenta at t = 1, and sweeps per step."""
    scheme = f"variational-of:{layer}:bias={bias}"
    set = options.pop("set", {}) | {"run.steps": steps}
    m = motion(page, scheme, 1 / steps, steps, set=set, **options)
    return np.concatenate([m["x"][-1], m["v"][-1]]), m["costs"]["iterations"] / steps


def planar(page: Page, layer: str, bias: float, steps: int) -> tuple[np.ndarray, float]:
    start = {"system.position": POSITION, "system.velocity": VELOCITY}
    return spherical(page, layer, bias, steps, set=start, deck="papers/double-pendulum.toml")


def conserved(page: Page, layer: str, bias: float) -> list[float]:
    """Largest changes of Lz and, in both halves of the deck's run, of the energy; sweeps per step."""
    m = motion(page, f"variational-of:{layer}:bias={bias}", observe=("conservation",))
    values = (m["conservation"][k] for k in ("energy", "lz"))
    energy, lz = (np.abs(v - v[0]) for v in values)
    steps = len(energy) - 1
    first, second = energy[: steps // 2 + 1], energy[steps // 2 + 1 :]
    return [lz.max(), first.max(), second.max(), m["costs"]["iterations"] / steps]


def run(page: Page) -> None:
    rows = []
    for system, at_one in (("spherical pendulum", spherical), ("double pendulum", planar)):
        exact = np.array(at_one(page, *METHODS[-1], FINE)[0])
        for method in METHODS:
            for steps in STEPS:
                state, sweeps = at_one(page, *method, steps)
                rows.append([system, label(*method), 1 / steps, np.linalg.norm(state - exact), sweeps])
    page.write(["system", "method", "step", "error", "sweeps_per_step"], rows)
    page.write(
        ["method", "lz_change", "energy_change_first_half", "energy_change_second_half", "sweeps_per_step"],
        [[label(*method), conserved(page, *method)] for method in METHODS], "-conserved",
    )  # fmt: skip


def text(page: Page) -> dict:
    def order(system: str, method: str) -> float:
        errors = page.table().where(system=system, method=method)["error"]
        return np.log2(errors[-2] / errors[-1])

    kept = page.table("-conserved")
    return {
        "biased": order("spherical pendulum", label("euler", 0.5)),
        "lz": kept["lz_change"].max(),
        "steps": page.key("run.steps"), "step": page.key("integrator.step"),
        "halving": f"1/{STEPS[-2]} to 1/{STEPS[-1]}", "fine": FINE,
        "table": markdown(
            ["method", "order, spherical pendulum", "order, planar double pendulum", "change of L_z",
             "error of the energy, first and second half", "sweeps per step"],
            [[f"`{r.method}`".replace(" with bias 0.5`", "` with `bias = 0.5`"),
              *(f"{order(s, r.method):.2f}" for s in ("spherical pendulum", "double pendulum")),
              f"{r.lz_change:.0e}", f"{r.energy_change_first_half:.3g}, {r.energy_change_second_half:.3g}",
              f"{r.sweeps_per_step:.1f}"] for r in kept],
        ),
    }  # fmt: skip


def draw(page: Page):
    figure, panels = plots.panels(2, sharex=True)
    for axes, (system, rows) in zip(panels, page.table().by("system").items(), strict=True):
        for method, t in rows.by("method").items():
            plots.curve(axes, t["step"], t["error"], method)
        for order, error in ((1, 0.3), (2, 0.3), (4, 1e-4)):
            plots.order_guide(axes, order, 0.2, error, 6e-3)
        axes.set(xscale="log", yscale="log", ylabel="error at t = 1", ylim=(1e-11, 1))
        plots.legend(axes, system)
    panels[-1].set(xlabel="step")
    return figure
