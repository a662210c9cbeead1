"""A quantum dimer with the forces of GFN2-xTB and of a water model."""

import time

import numpy as np
import plots
from page import Page, Row, average, markdown

TITLE = "A quantum dimer with GFN2-xTB and with q-TIP4P/F"
DECK, SLOW = "pimd8.toml", True
SET = {
    "system.molecules": 2, "thermostat.temperature_K": 200, "path_integral.beads": 32,
    "confinement.radius_A": 4, "run.precision": "double", "run.duration_ps": 4, "run.equilibration_ps": 1,
}  # fmt: skip
UNSET = ["system.file", "observe.rdf", "observe.cluster"]

MODEL_REPLICAS = 64
BINS_A = np.arange(2.4, 3.8001, 0.05)
FORCES = {"xtb": "GFN2-xTB", "model": "q-TIP4P/F"}
DECIMALS = {"oo_A": 1, "q_oh_A": 3, "kinetic_h_meV": 0}  # of a single trajectory
QUANTITIES = {
    "oo_A": "O–O distance (Å)",
    "q_oh_A": "O–H bond (Å)",
    "kinetic_h_meV": "K of H (meV)",
    "classical_oh_A": "O–H bond at the minimum (Å)",
    "minimum_oo_A": "O–O distance at the minimum (Å)",
}


def distance_A(positions_A, a: int, b: int):
    return np.linalg.norm(positions_A[..., a, :] - positions_A[..., b, :], axis=-1)


def measure(page: Page, forces: str) -> tuple[list, np.ndarray]:
    """A row of the table, and the number of samples in each bin of the O-O distance."""
    import tarn

    counts = np.zeros(len(BINS_A) - 1)

    @tarn.observer("oo_A", every=10, fields="beads_A")
    def oo(frame):
        distances = distance_A(frame.beads_A, 0, 3)
        if frame.time_ps >= page.key("run.equilibration_ps"):
            counts[:] += np.histogram(distances, BINS_A)[0]
        return distances.mean(axis=1)

    potential, replicas = None, MODEL_REPLICAS
    if forces == "xtb":
        from tblite.ase import TBLite

        potential = tarn.AsePotential([TBLite(method="GFN2-xTB", verbosity=0) for _ in range(page.threads)])
        replicas = 1
    began = time.perf_counter()
    result = page.run({"system.replicas": replicas}, UNSET, observers=[oo], potential=potential)
    minutes = (time.perf_counter() - began) / 60
    start = tarn.random_cluster(2, model="qtip4pf")
    minimum = tarn.minimise(
        start, model="qtip4pf", potential=potential, tolerance_kcal_per_mol_A=1e-4 if potential else 1e-6,
    )  # fmt: skip
    x = np.asarray(minimum.positions_A).reshape(-1, 3)
    bonds = [distance_A(x, 3 * m, 3 * m + k) for m in range(2) for k in (1, 2)]
    averages = [average(result, q) for q in ("oo_A", "q_oh_A", "kinetic_h_meV")]
    return [forces, replicas, minutes, *averages, np.mean(bonds), distance_A(x, 0, 3)], counts


def run(page: Page) -> None:
    rows, all_counts = [], []
    for forces in FORCES:
        row, counts = measure(page, forces)
        rows.append(row)
        all_counts.append(counts)
    names = ["oo_A", "q_oh_A", "kinetic_h_meV"]
    page.write(
        ["forces", "replicas", "minutes", *(f"{q}{end}" for q in names for end in ("", "_err")),
         "classical_oh_A", "minimum_oo_A"],
        rows,
    )  # fmt: skip
    densities = [c / max(c.sum(), 1) / np.diff(BINS_A) for c in all_counts]
    centres = 0.5 * (BINS_A[:-1] + BINS_A[1:])
    page.write(["oo_A", *FORCES], np.stack([centres, *densities], axis=1).tolist(), "-distances")


def cell(row: Row, q: str) -> str:
    """The value, with its error if the row has several ring polymers."""
    if hasattr(row, f"{q}_err") and row.replicas > 1:
        return f"{row.value(q)}"
    return f"{getattr(row, q):.{DECIMALS.get(q, 3)}f}"


def text(page: Page) -> dict:
    table = page.table()
    xtb, model = (table.one(forces=f) for f in FORCES)
    return {
        "averages": markdown(
            ["", *FORCES.values()], [[name, cell(xtb, q), cell(model, q)] for q, name in QUANTITIES.items()]
        ),
        "minimum": {r.forces: r.minimum_oo_A for r in table},
        "kinetic": {r.forces: r.kinetic_h_meV for r in table},
        "growth": {r.forces: r.q_oh_A - r.classical_oh_A for r in table},
        "minutes": f"{xtb.minutes:.0f}", "model_minutes": f"{model.minutes:.1f}",
        "replicas": MODEL_REPLICAS, "beads": page.key("path_integral.beads"),
        "temperature": page.key("thermostat.temperature_K"),
        "equilibration": SET["run.equilibration_ps"],
        "measured": SET["run.duration_ps"] - SET["run.equilibration_ps"],
    }  # fmt: skip


def draw(page: Page):
    table = page.table("-distances")
    figure, (axes,) = plots.panels(1)
    for k, (forces, name) in enumerate(FORCES.items()):
        plots.curve(axes, table["oo_A"], table[forces], name, colour=k)
    axes.set(xlabel="O–O distance of beads (Å)", ylabel="probability density (1/Å)")
    plots.legend(axes)
    return figure
