"""Time per step of each scheme relative to Z&Ss, by the number of molecules."""

import plots
from page import Page, markdown, quartiles, time_in_turns

TITLE, DECK = "Time per step by scheme", "scheme-cost.toml"
SCHEMES = [
    "zss-stiff", "zss-stiff:hessian=full:omega=20", "settle", "shake", "rattle",
    "shake:iteration=sweeps", "shake:iteration=sweeps:tolerance=1e-10",
]  # fmt: skip

TURNS, TURN_SECONDS = 9, 0.05
STRUCTURES = (7, 32, 100, 216, 1000)
FEW = 64  # up to here, replicas fill the vector lanes
TIMES = [f"core_ns_per_step{end}" for end in ("", "_low", "_high")]
PAPER = {7: 8.7, 100: 1.4}  # times of SHAKE and Z&Ss (Tao & Owhadi), by number of molecules


def run(page: Page) -> None:
    from tarn import _tarn

    rows = []
    for n in STRUCTURES if page.share == 1 else STRUCTURES[:3]:
        replicas = 64 if n <= FEW else 1
        size = {"system.file": f"structures/tip3p-{n}.xyz", "system.replicas": replicas}
        ensembles = [_tarn.Ensemble(page.load(size, scheme=scheme), "cpu", 1) for scheme in SCHEMES]
        times = quartiles(time_in_turns(ensembles, TURNS, page.share * TURN_SECONDS)).T
        rows += [[n, replicas, scheme, list(ns), ns[0] / times[0, 0]]
                 for scheme, ns in zip(SCHEMES, times, strict=True)]  # fmt: skip
    columns = ["molecules", "replicas", "scheme", *TIMES, "ratio"]
    page.write(columns, rows, machine=ensembles[0].device)


def text(page: Page) -> dict:
    table = page.table()
    return {
        "sweeps": {int(row.molecules): row.ratio for row in table.where(scheme=SCHEMES[-1])},
        "largest": table.where(scheme="shake")["ratio"].max(),
        "first": STRUCTURES[0], "last": STRUCTURES[-1], "paper": PAPER,
        "ratios": markdown(
            ["molecules", "replicas", *(f"`{scheme}`" for scheme in SCHEMES)],
            [[f"{n:g}", f"{rows['replicas'][0]:g}", f"1 ({1e-3 * rows[TIMES[0]][0]:.3g} µs)",
              *(f"{ratio:.2f}" for ratio in rows["ratio"][1:])]
             for n, rows in table.by("molecules").items()],
        ),
        "machine": table.provenance.split("; ")[-1],
    }  # fmt: skip


def draw(page: Page):
    figure, (axes,) = plots.panels(1, 3.2)
    table = page.table()
    first = table.where(scheme=SCHEMES[0])[TIMES[0]]
    for scheme in SCHEMES:
        ratio, low, high = (table.where(scheme=scheme)[name] / first for name in TIMES)
        plots.curve(axes, STRUCTURES, ratio, scheme, error=[ratio - low, high - ratio])
    plots.curve(axes, list(PAPER), list(PAPER.values()), "SHAKE (Tao & Owhadi)", style="")
    axes.set(xlabel="number of molecules", ylabel="time per step relative to Z&Ss")
    axes.set(xscale="log", yscale="log")
    plots.plain_ticks(axes.xaxis, STRUCTURES)
    plots.plain_ticks(axes.yaxis, (1, 2, 3, 5, 10))
    plots.legend(axes)
    return figure
