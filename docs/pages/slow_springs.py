"""What the pages of the double spring share: slow points, slow solutions, the stiff equations."""

import numpy as np
import plots
from motions import motion
from page import Page, Table, markdown

DECK = "papers/double-spring.toml"
OMEGAS = (100, 1000, 10_000)
TOLERANCES = [10.0**-k for k in range(3, 9)]  # relative ones of the stiff equations
END = 10
POSITION, VELOCITY = [1.0, 0.0, 2.0, 0.0], [0.0, -0.5, 0.0, 0.5]  # AST (31), (32)
STIFF_METHOD = """The integrator is the pair of Dormand & Prince of orders 5 and 4, in place of the
  paper's ode113. The absolute tolerance is a thousandth of the relative one, as in the paper.
* The start on the constraints is q = (1, 0, 2, 0), p = (0, -1/2, 0, 1/2). Masses are 1, so p is the
  velocity.
* Errors are relative to the slow solution, which starts from the projected point and takes
  Runge-Kutta steps of 0.1/ω. The tolerance of projections is 1e-7 at ω = 100 and 1e-9 otherwise."""
START = {"system.position": POSITION, "system.velocity": VELOCITY}


def tolerance(omega: float) -> float:
    """Of projections. As in AST: looser at ω = 100, where their errors are of the order of ω⁻⁴."""
    return 1e-7 if omega < 500 else 1e-9


def projection(page: Page, omega: float, tolerance: float, start=START) -> tuple[list, list]:
    """Iterates of the projection onto the slow manifold: positions and velocities, and g and g'."""
    m = motion(page, set={"system.omega": omega, "integrator.tolerance": tolerance, **start})
    _, *constraints = m["iterations"].values()
    return list(np.hstack([m["x"], m["v"]])), list(np.array(constraints).T)


def stepped(page: Page, scheme: str, steps: int, set: dict, seconds: float = 0.0) -> dict:
    """A run to END: the last state, and time and costs."""
    own = {"integrator.scheme": scheme, "integrator.step": END / steps, "run.steps": steps}
    unset = ["integrator.tolerance"] if scheme != "rk4-projected" else []
    if scheme == "rattle":
        set, unset = {k: v for k, v in set.items() if k != "system.omega"}, [*unset, "system.omega"]
    return motion(page, every=steps, set=own | set, unset=unset, seconds=seconds)


def slow_solution(page: Page, omega: float) -> tuple[np.ndarray, np.ndarray]:
    """Position and velocity at END of the stiff system that starts from its slow point."""
    state = projection(page, omega, tolerance(omega))[0][-1]
    set = {"system.omega": omega, "system.position": state[:4], "system.velocity": state[4:]}
    m = stepped(page, "rk4", round(10 * omega * END), set)
    return m["x"][-1], m["v"][-1]


def stiff(page: Page, omega: float, relative: float, projections: int, seconds: float = 0.0) -> dict:
    """The stiff equations to END, with projections at t = 0, 1, ..., as many as given."""
    set = {"system.omega": omega, "integrator.scheme": "dormand-prince", "integrator.step": 1.0,
           "integrator.relative_tolerance": relative, "integrator.projections": projections,
           "integrator.tolerance": tolerance(omega), "run.steps": END}  # fmt: skip
    return motion(page, every=END, set=set | START, seconds=seconds)


def errors(x: np.ndarray, v: np.ndarray, exact: tuple[np.ndarray, np.ndarray]) -> list[float]:
    """Of q and p, which is the velocity since masses are 1."""
    return [np.linalg.norm(x - exact[0]), np.linalg.norm(v - exact[1])]


# --- Figs. 3 to 5


def run_stiff(page: Page, projections: int) -> None:
    """Errors against evaluations, with projections at t = 0, 1, ..., as many as given."""
    rows = []
    for omega in OMEGAS:
        exact = slow_solution(page, omega)
        for relative in TOLERANCES:
            end = stiff(page, omega, relative, projections)
            rows.append([omega, relative, end["costs"]["forces"], errors(end["x"][-1], end["v"][-1], exact)])
    page.write(["omega", "relative_tolerance", "evaluations", "q_error", "p_error"], rows)


def one(table: Table, omega: int, power: int):
    """The row of ω and the tolerance 10^-power."""
    return table.one(omega=omega, relative_tolerance=TOLERANCES[power - 3])


def stiff_fields(page: Page) -> dict:
    """Common fields, and the errors of q and p and evaluations as q[ω][power of the tolerance]."""
    table = page.table()
    columns = {"q": "q_error", "p": "p_error", "evaluations": "evaluations"}
    return {
        name: {w: {k: getattr(one(table, w, k), column) for k in range(3, 9)} for w in OMEGAS}
        for name, column in columns.items()
    } | {
        "table": markdown(
            ["ω", "relative tolerance", "evaluations of the forces", "error of q at t = 10",
             "error of p at t = 10"],
            [[f"{r.omega:g}", f"{r.relative_tolerance:.0e}", f"{r.evaluations:g}", f"{r.q_error:.1e}",
              f"{r.p_error:.1e}"] for r in table],
        ),
        "stiff_method": STIFF_METHOD,
    }  # fmt: skip


def draw_stiff(page: Page):
    figure, panels = plots.panels(2, sharex=True)
    for axes, letter in zip(panels, "qp", strict=True):
        for omega, t in page.table().by("omega").items():
            plots.curve(axes, t["evaluations"], t[f"{letter}_error"], f"ω = {omega:g}")
        # The same axes on all three pages.
        axes.set(xscale="log", yscale="log", xlim=(5e3, 5e6), ylim=(1e-13, 10))
        axes.set(ylabel=f"error of {letter} at t = {END}")
        plots.legend(axes)
    panels[-1].set(xlabel="evaluations of the forces")
    return figure
