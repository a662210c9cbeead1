"""Cost of MB-pol and Dang-Chang water by size, precision and batch, beside published figures."""

import time

import numpy as np
import plots
from page import Page, core_ns_per_step, markdown, quartiles

TITLE = "The cost of many-body water"
DECK, SLOW = "mbpol6.toml", True

MOLECULES = (2, 6, 7, 8, 16, 32)
TURNS, SECONDS = 7, 1.0
#: Name, model, precision, replicas of up to eight molecules.
KINDS = {
    "MB-pol": ("mbpol", "double", 64),
    "MB-pol, mixed": ("mbpol", "mixed", 64),
    "MB-pol, one cluster": ("mbpol", "double", 1),
    "Dang–Chang": ("dang-chang", "double", 64),
    "q-TIP4P/F": ("qtip4pf", "double", 64),
}
MBX_MS_PER_MOLECULE = 0.93  # per step and core, bulk water, MBX 1.4, published
UNSET = ["observe.minima", "observe.energies", "observe.cluster"]


def ase_us_per_step(seconds: float) -> float:
    """Time of a step of one heptamer by ASE with tarn's calculator [us]."""
    import ase
    import ase.md.verlet
    import tarn
    import tarn.ase

    positions_A = tarn.minimise(tarn.random_cluster(7, model="mbpol"), model="mbpol").positions_A
    atoms = ase.Atoms("OHH" * 7, positions=positions_A, calculator=tarn.ase.TarnCalculator(model="mbpol"))
    dynamics = ase.md.verlet.VelocityVerlet(atoms, timestep=0.5 * ase.units.fs)
    dynamics.run(10)
    steps, began = 0, time.process_time()
    while time.process_time() - began < seconds:
        dynamics.run(20)
        steps += 20
    return 1e6 * (time.process_time() - began) / steps


def run(page: Page) -> None:
    from tarn import _tarn

    rows = []
    for molecules in MOLECULES if page.share == 1 else MOLECULES[:2]:
        decks = [
            page.load({
                "system.model": model, "system.molecules": molecules, "run.precision": precision,
                "confinement.radius_A": 5 if molecules < 10 else 9,
                "system.replicas": max(1, replicas * 8 // max(8, molecules)),
            }, UNSET)
            for model, precision, replicas in KINDS.values()
        ]  # fmt: skip
        times = core_ns_per_step(decks, TURNS, page.share * SECONDS)
        for name, (median, low, high) in zip(KINDS, (1e-3 * quartiles(times)).T, strict=True):
            rows.append([name, molecules, median, low, high])
    rows.append(["ASE", 7, *[ase_us_per_step(page.share * 5)] * 3])
    machine = _tarn.Ensemble(page.load(), "cpu", 1).device
    page.write(["kind", "molecules", "us_per_step", "us_low", "us_high"], rows, machine=machine)


def short(us: float) -> str:
    return f"{us:.0f}" if us >= 100 else f"{us:.3g}"


def text(page: Page) -> dict:
    table = page.table()
    of = {(r.kind, int(r.molecules)): r.us_per_step for r in table}
    heptamer = {name: of[name, 7] for name in (*KINDS, "ASE")}
    return {
        "costs": markdown(
            ["molecules", *KINDS], [[f"{n}", *(short(of[name, n]) for name in KINDS)] for n in MOLECULES]
        ),
        "heptamer": {name.replace(", ", "_").replace(" ", "_"): f"{us:.3g}" for name, us in heptamer.items()},
        "one": heptamer["MB-pol, one cluster"] / heptamer["MB-pol"],
        "ase": heptamer["ASE"] / heptamer["MB-pol"],
        "pairwise": heptamer["MB-pol"] / heptamer["q-TIP4P/F"],
        "mbx": 7e3 * MBX_MS_PER_MOLECULE / heptamer["MB-pol"],
        "machine": table.provenance.split("; ")[-1],
        "growth": f"{np.log(of['MB-pol', 32] / of['MB-pol', 16]) / np.log(2):.1f}",
    }  # fmt: skip


def draw(page: Page):
    table = page.table()
    figure, (axes,) = plots.panels(1)
    for name in KINDS:
        rows = table.where(kind=name)
        plots.curve(axes, rows["molecules"], rows["us_per_step"], name)
    axes.set(xscale="log", yscale="log", xlabel="molecules", ylabel="time of a step (µs per core)")
    axes.set_xticks(MOLECULES, [str(n) for n in MOLECULES])
    axes.minorticks_off()
    plots.legend(axes)
    return figure
