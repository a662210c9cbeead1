"""Blow-ups with Z&Ss by the parameter b of the Newmark step."""

import plots
from page import Page, markdown

TITLE = "Resonances of stiff bonds by b of the Newmark step"
DECK = "resonances.toml"

OMEGAS = (20, 100, 500)
BETAS = [k / 200 for k in range(52, 121)]
IN_TABLE = 4  # every fourth
BETWEEN = 0.4  # between two resonances


def run(page: Page) -> None:
    import tarn

    rows = []
    for omega in OMEGAS:
        for beta in BETAS:
            bonds = {"integrator.omega": omega, "integrator.beta": beta}
            clusters = tarn.Ensemble(page.deck_path, device="cpu", threads=page.threads, set=bonds)
            try:
                clusters.advance(round(page.share * page.key("run.steps")))
            except tarn.NumericalError:
                pass  # no replica is left
            rows.append([omega, beta, clusters.replicas, len(clusters.blow_ups)])
    page.write(["omega", "beta", "replicas", "stopped_replicas"], rows)


def text(page: Page) -> dict:
    table = page.table()
    curves = table.by("omega")
    loud = table["beta"][table["stopped_replicas"] > 0]
    low, high = max(loud[loud < BETWEEN], default=BETAS[0]), min(loud[loud > BETWEEN], default=BETAS[-1])
    quiet = [b for b in BETAS if low + 1e-9 < b < high - 1e-9]
    return {
        "quiet": (quiet[0], quiet[-1]),
        "table": markdown(
            ["ω \\ b", *(f"{beta:.2f}" for beta in BETAS[::IN_TABLE])],
            [[f"{omega:g}", *(f"{n:.0f}" for n in rows["stopped_replicas"][::IN_TABLE])]
             for omega, rows in curves.items()],
        ),
        "replicas": page.key("system.replicas"),
        "steps": page.key("run.steps"),
        "step": page.key("integrator.timestep_fs"),
    }  # fmt: skip


def draw(page: Page):
    figure, (axes,) = plots.panels(1)
    for omega, rows in page.table().by("omega").items():
        plots.curve(axes, rows["beta"], rows["stopped_replicas"], f"ω = {omega:g}")
    axes.set(xlabel="b", ylabel="replicas that blow up", yticks=range(0, 17, 4))
    plots.legend(axes)
    return figure
