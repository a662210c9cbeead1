"""Eight molecules as H2O, as D2O and with classical nuclei, by temperature."""

import numpy as np
import plots
from page import BOLTZMANN_KCAL_PER_MOL_K, MEV_PER_KCAL_PER_MOL, Page, Value, average, markdown

TITLE = "Eight molecules with quantum and with classical nuclei"
DECK, SLOW = "pimd8.toml", True
SET = {"run.duration_ps": 40, "run.equilibration_ps": 6}

TEMPERATURES_K = (50, 100, 150, 200, 250)
BEADS_TIMES_K = 16000
CLASSICAL_REPLICAS = 64
NEIGHBOUR_A = 3.3
NUCLEI = {"classical": "classical nuclei", "D2O": "D₂O", "H2O": "H₂O"}
HYDROGEN_DA = {"classical": 1.008, "D2O": 2.014, "H2O": 1.008}
QUANTITIES = {
    "total_kcal_per_mol": "energy (kcal/mol)",
    "potential_kcal_per_mol": "energy between molecules (kcal/mol)",
    "kinetic_h_meV": "K of H (meV)",
    "q_oh_A": "O-H bond (Å)",
    "oo_neighbour_A": "OO distance of neighbours (Å)",
    "hydrogen_bonds": "hydrogen bonds",
    "lindemann": "Lindemann index",
}
PICTURED = ("q_oh_A", "oo_neighbour_A", "hydrogen_bonds", "lindemann")


def neighbour_distances_A(positions_A):
    """Mean distance between oxygens closer than NEIGHBOUR_A of each cluster (..., atom, 3)."""
    oxygens = positions_A[..., ::3, :]
    a, b = np.triu_indices(oxygens.shape[-2], 1)
    d = np.linalg.norm(oxygens[..., a, :] - oxygens[..., b, :], axis=-1)
    return np.where(d <= NEIGHBOUR_A, d, 0).sum(axis=-1) / (d <= NEIGHBOUR_A).sum(axis=-1)


def measure(page: Page, nuclei: str, t_K: float) -> tuple[int, list[Value]]:
    """The number of beads, and the averages of a run."""
    import tarn

    is_quantum = nuclei != "classical"
    field = "beads_A" if is_quantum else "positions_A"

    @tarn.observer("oo_neighbour_A", every=100, fields=field, may_be_unknown=True)
    def neighbours(frame):
        distances = neighbour_distances_A(getattr(frame, field))
        return distances.mean(axis=1) if is_quantum else distances

    changes = {"thermostat.temperature_K": t_K, "system.hydrogen_mass_Da": HYDROGEN_DA[nuclei]}
    beads = round(BEADS_TIMES_K / t_K) if is_quantum else 1
    rings = {"path_integral.beads": beads, "path_integral.frequencies": "trotter"}
    own = rings if is_quantum else {"system.replicas": CLASSICAL_REPLICAS}
    unset = [] if is_quantum else ["path_integral", "observe.path_integral"]
    result = page.run(changes | own, unset, observers=[neighbours])
    kinetic = Value(1.5 * MEV_PER_KCAL_PER_MOL * BOLTZMANN_KCAL_PER_MOL_K * t_K, 0.0)
    # Two tables of ring polymers have the potential.
    names = {q: f"energies.{q}" if q == "potential_kcal_per_mol" else q for q in QUANTITIES}
    averages = {q: average(result, name) for q, name in names.items() if name in result.averages}
    return beads, list(({q: kinetic for q in QUANTITIES} | averages).values())


def run(page: Page) -> None:
    temperatures_K = TEMPERATURES_K if page.share == 1 else TEMPERATURES_K[-1:]
    rows = [[nuclei, t_K, *measure(page, nuclei, t_K)] for nuclei in NUCLEI for t_K in temperatures_K]
    columns = [f"{q}{end}" for q in QUANTITIES for end in ("", "_err")]
    page.write(["nuclei", "bath_K", "beads", *columns], rows)


def cell(value: Value) -> str:
    return f"{value}" if value.error > 0 else f"{value.mean:.3g}"


def text(page: Page) -> dict:
    table = page.table()

    def above(nuclei: str, t_K: float, q: str) -> float:
        """Difference from classical nuclei."""
        own, other = (getattr(table.one(nuclei=n, bath_K=t_K), q) for n in (nuclei, "classical"))
        return own - other

    pairs = [("H2O", "D2O"), ("D2O", "classical"), ("H2O", "classical")]
    sigmas = [
        abs(d.mean) / d.error
        for t_K in (200, 250) for q in ("hydrogen_bonds", "lindemann") for one, other in pairs
        for d in [table.one(nuclei=one, bath_K=t_K).value(q) - table.one(nuclei=other, bath_K=t_K).value(q)]
    ]  # fmt: skip
    return {
        "averages": markdown(
            ["nuclei", "T (K)", *QUANTITIES.values()],
            [[NUCLEI[r.nuclei], f"{r.bath_K:g}", *(cell(r.value(q)) for q in QUANTITIES)] for r in table],
        ),
        "bond": above("H2O", 50, "q_oh_A"),
        "bond_share": f"{100 * above('D2O', 50, 'q_oh_A') / above('H2O', 50, 'q_oh_A'):.0f} %",
        "neighbour": {t_K: above("H2O", t_K, "oo_neighbour_A") for t_K in TEMPERATURES_K},
        "energy": {n: above(n, 50, "total_kcal_per_mol") for n in ("H2O", "D2O")},
        "sigmas": max(sigmas),
        "coldest": TEMPERATURES_K[0], "hottest": TEMPERATURES_K[-1],
        "beads_times_K": BEADS_TIMES_K, "classical_replicas": CLASSICAL_REPLICAS, "below": NEIGHBOUR_A,
        "replicas": page.key("system.replicas"), "equilibration": SET["run.equilibration_ps"],
        "measured": SET["run.duration_ps"] - SET["run.equilibration_ps"],
    }  # fmt: skip


def draw(page: Page):
    figure, panels = plots.panels(len(PICTURED))
    for axes, q in zip(panels, PICTURED, strict=True):
        for nuclei, rows in page.table().by("nuclei").items():
            plots.curve(axes, rows["bath_K"], [row.value(q) for row in rows], NUCLEI[nuclei])
        axes.set(xlabel="temperature (K)", ylabel=QUANTITIES[q])
        plots.legend(axes)
    return figure
