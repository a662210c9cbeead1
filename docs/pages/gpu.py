"""Speed on a GPU: gpu-bench.json and gpu-runs.csv are from tools/gpu-check, gpu-peers.csv is from
bench/peers/gpu, and gpu-drift.csv contains slopes of energies.csv."""

import json
from typing import Any

import plots
from page import Page, Row, Table, markdown

TITLE = "Speed on a GPU"
PRECISIONS = ("mixed", "double", "single")
FLEXIBLE = {
    "verlet_baoab_qtip4pf": "flexible, Verlet and BAOAB",
    "zss_gla_qtip4pf": "flexible, Z&Ss and GLA",
    "settle_baoab_tip4p2005": "rigid, SETTLE and BAOAB",
}
PEERS = ("tarn_mixed", "tarn_double", "openmm_mixed", "openmm_single")
RATE = "cluster_steps_per_s"


class Bench:
    """The benchmarks of gpu-bench.json by their parameters."""

    def __init__(self, page: Page) -> None:
        whole = json.loads(page.path("-bench.json").read_text(encoding="utf-8"))
        self.context = whole["context"]
        self.runs: dict[tuple, Any] = {}
        self.solves: dict[int, dict[str, float]] = {}
        for b in whole["benchmarks"]:
            kind, second, *sizes = b["name"].removesuffix("/manual_time").split("/")
            numbers = [int(size.split(":")[1]) for size in sizes]
            if kind == "solves":
                self.solves.setdefault(numbers[0], {})[second] = b["solves_per_s"]
            else:
                self.runs[kind, second, *numbers] = b

    def cases(self, scheme: str, alone: bool) -> list[tuple[int, int]]:
        """(molecules, replicas) of a scheme without beads, with single or many clusters."""
        sizes = {key[2:] for key in self.runs if key[0] == scheme and len(key) == 4}
        return sorted((n, r) for n, r in sizes if (r == 1) == alone)

    def rate(self, *key) -> float:
        return self.runs[key][RATE]

    def cell(self, *key) -> str:
        """The rate, and the rate relative to the bound if that is a percent."""
        if key not in self.runs:
            return ""
        share = 100 * self.runs[key]["share_of_bound"]
        return number(self.rate(*key)) + (f" ({share:.0f} %)" if share >= 0.5 else "")


def number(value: float) -> str:
    """Three digits, with separated thousands or a power of ten."""
    if value >= 1e6:
        return f"{value:.2e}".replace("e+0", "e").replace("e+", "e")
    return f"{float(f'{value:.3g}'):,.0f}".replace(",", " ")


def rigid_peers(page: Page) -> Table:
    """gpu-peers.csv without the ring polymers."""
    peers = page.table("-peers")
    return peers.where(beads=1.0) if "beads" in peers.columns else peers


def peer_cells(p: Row) -> list[str]:
    case = f"{p.molecules:g}" if p.copies == 1 else f"{number(p.copies)} × {p.molecules:g}"
    modes = dict.fromkeys((p.openmm_mixed_mode, p.openmm_single_mode))
    rates = (number(getattr(p, f"{program}_{RATE}")) for program in PEERS)
    return [case, *rates, f"{p.ratio:.2f} ({p.ratio_min:.2f}–{p.ratio_max:.2f})", " / ".join(modes)]


def run_cells(r: Row) -> list[str]:
    engine, run, whole = (f"{rate:.2g}".replace("e+0", "e") for rate in (r.engine, r.run, r.whole))
    return [r.case, f"{r.replicas:,.0f}".replace(",", " "), engine, run, f"{r.share_percent:.0f} %", whole]


def summary(bench: Bench, peers: Table) -> dict[str, Any]:
    """Rates of Z&Ss with GLA in mixed precision, and ratios to OpenMM, by molecules x clusters."""
    rates = {case: bench.rate("zss_gla", "mixed", *case)
             for alone in (False, True) for case in bench.cases("zss_gla", alone)}  # fmt: skip
    return {
        "rate": {f"{n}x{copies}": number(rate) for (n, copies), rate in rates.items()},
        "us": f"{1e6 / rates[7, 1]:.0f}", "us_many": f"{1e9 / rates[7, 1000]:.0f}",
        "most_of_7": number(max(rate for (n, _), rate in rates.items() if n == 7)),
        "ratio": {f"{p.molecules:g}x{p.copies:g}": f"{p.ratio:.1f}" for p in peers},
    }  # fmt: skip


def text(page: Page) -> dict:
    bench, peers = Bench(page), rigid_peers(page)

    def speeds(scheme: str, cases: list, *between: str, precisions=PRECISIONS) -> list:
        return [
            [n, number(copies), *between, *(bench.cell(scheme, p, n, copies) for p in precisions)]
            for n, copies in cases
        ]

    def both(scheme: str) -> list:
        return bench.cases(scheme, False) + bench.cases(scheme, True)

    head = ["molecules", "clusters", *PRECISIONS]
    alone = [[n, *cells] for n, _, *cells in speeds("zss_gla", bench.cases("zss_gla", True))]
    return summary(bench, peers) | {
        "device": bench.context["device"], "multiprocessors": bench.context["multiprocessors"],
        "clock": f"{1e-3 * float(bench.context['clock_MHz']):.2f}",
        "cuda": bench.context["runtime"], "cores": bench.context["num_cpus"],
        "ensembles": markdown(head, speeds("zss_gla", bench.cases("zss_gla", False))),
        "clusters": markdown(["molecules", *PRECISIONS], alone),
        "tip4p": markdown(head, speeds("zss_gla_tip4p", both("zss_gla_tip4p"))),
        "flexible": markdown(
            ["molecules", "clusters", "scheme", *PRECISIONS[:2]],
            [row for scheme, label in FLEXIBLE.items()
             for row in speeds(scheme, both(scheme), label, precisions=PRECISIONS[:2])],
        ),
        "solves": markdown(
            ["molecules", "structured", "cuSOLVER", "ratio"],
            [[f"{n:,}".replace(",", " "), number(s["structured"]), number(s["cusolver"]),
              f"{s['structured'] / s['cusolver']:.0f}"] for n, s in bench.solves.items()],
        ),
        "runs": markdown(
            ["run", "replicas", "engine alone", "run, while stepping", "share",
             "run with start and end"], map(run_cells, page.table("-runs")),
        ),
        "peers": markdown(
            ["clusters", "tarn mixed", "tarn double", "OpenMM mixed", "OpenMM single",
             "ratio, mixed", "OpenMM mode"], map(peer_cells, peers),
        ),
        "drift": markdown(
            ["molecules", "scheme", "precision", "drift (kcal/mol/ns)", "rms (kcal/mol)"],
            [[f"{d.molecules:g}", f"`{d.scheme}`", d.precision,
              f"{d.drift_kcal_per_mol_ns:+.1e} ± {d.drift_err:.1e}", f"{d.rms_kcal_per_mol:.1e}"]
             for d in page.table("-drift")],
        ),
    }  # fmt: skip


def draw(page: Page):
    bench, peers = Bench(page), rigid_peers(page)
    figure, (many, single) = plots.panels(2)
    for axes, alone, x in ((many, False, "copies"), (single, True, "molecules")):
        place = 0 if alone else 1
        cases = bench.cases("zss_gla", alone)
        if not alone:
            cases = [(7, 1), *(case for case in cases if case[0] == 7)]
        for precision in PRECISIONS[:2]:
            rates = {c[place]: bench.rate("zss_gla", precision, *c) for c in cases}
            plots.curve(axes, list(rates), list(rates.values()), f"Z&Ss + GLA, {precision}")
        rows = peers.where(copies=1.0) if alone else peers.where(molecules=7.0)
        plots.curve(axes, rows[x], rows[f"tarn_mixed_{RATE}"], "SETTLE + BAOAB, mixed")
        plots.curve(axes, rows[x], rows[f"openmm_mixed_{RATE}"], "OpenMM, SETTLE, mixed")
        if alone:
            runs = {n: bench.runs["zss_gla", "mixed", n, 1] for n, _ in cases if n >= 1000}
            bound = [b[RATE] / b["share_of_bound"] for b in runs.values()]
            label = "bound of all pairs, mixed"
            plots.curve(axes, list(runs), bound, label, style="--", marker=False)
        axes.set(xscale="log", yscale="log", ylabel="cluster-steps per second")
        plots.legend(axes)
    many.set_xlabel("number of clusters of seven molecules")
    single.set_xlabel("number of molecules of a single cluster")
    return figure
