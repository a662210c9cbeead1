"""Time per step and memory against the number of molecules, in double and mixed precision."""

import ctypes
import math

import numpy as np
import plots
from page import Page, Table, markdown, quartiles, time_in_turns

TITLE, DECK = "Time per step and memory by the number of molecules", "growth.toml"

TURNS, TURN_SECONDS = 9, 0.05
MOLECULES = (2, 4, 7, 12, 16, 17, 32, 64, 100, 216, 512, 1000, 2000, 5000, 10000, 20000)
# Up to FEW molecules, many replicas fill the vector lanes. From MANY on, pairs take nearly all of
# the time. Each range has its own exponent.
FEW, MANY, REPLICAS = 64, 512, 64
PRECISIONS = ("double", "mixed")
# A cut-off that is usual for liquid water, and the liquid's density.
CUTOFF_A, DENSITY_PER_A3 = 12.0, 0.0334
WITHIN_CUTOFF = 0.5 * DENSITY_PER_A3 * 4 / 3 * math.pi * CUTOFF_A**3
TIMES = [f"core_ns_per_step{end}" for end in ("", "_low", "_high")]
BYTES = ("bytes_per_replica_of_7", "bytes_per_replica_of_100", "bytes_per_molecule")


def ensemble(page: Page, molecules: int, replicas: int, precision: str):
    from tarn import _tarn

    size = {"system.molecules": molecules, "system.replicas": replicas, "run.precision": precision}
    return _tarn.Ensemble(page.load(size), "cpu", 1)


def bytes_in_use() -> int:
    """Bytes that the C library (glibc) has allocated now."""
    names = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()
    fields = [(name, ctypes.c_size_t) for name in names]
    info = type("Info", (ctypes.Structure,), {"_fields_": fields})
    mallinfo = ctypes.CDLL(None).mallinfo2
    mallinfo.restype = info
    now = mallinfo()
    return now.uordblks + now.hblkhd


def bytes_of(page: Page, *size) -> int:
    """Bytes of an engine after one step."""
    before = bytes_in_use()
    engine = ensemble(page, *size)
    engine.advance(1)
    return bytes_in_use() - before


def run(page: Page) -> None:
    molecules = MOLECULES if page.share == 1 else MOLECULES[:9]
    sizes = [(n, REPLICAS if n <= FEW else 1) for n in molecules]
    sizes += [(n, 1) for n in molecules if n <= FEW]
    rows = []
    for n, replicas in sizes:
        ensembles = [ensemble(page, n, replicas, precision) for precision in PRECISIONS]
        times = quartiles(time_in_turns(ensembles, TURNS, page.share * TURN_SECONDS)).T
        rows += [[n, replicas, precision, list(ns), ns[0] / (0.5 * n * (n - 1))]
                 for precision, ns in zip(PRECISIONS, times, strict=True)]  # fmt: skip
    machine = ensembles[0].device
    columns = ["molecules", "replicas", "precision", *TIMES, "core_ns_per_pair"]
    page.write(columns, rows, machine=machine)
    large, memory = molecules[-1], []
    for p in PRECISIONS:
        seven = (bytes_of(page, 7, 4096, p) - bytes_of(page, 7, 1024, p)) / 3072
        hundred = (bytes_of(page, 100, 64, p) - bytes_of(page, 100, 16, p)) / 48
        total = bytes_of(page, large, 1, p)
        each = (total - bytes_of(page, large // 4, 1, p)) / (large - large // 4)
        memory.append([p, seven, hundred, each, 1e-6 * total])
    page.write(["precision", *BYTES, "total_MB"], memory, "-memory", machine)


def exponent(rows: Table, first: int, last: int) -> float:
    """Slope of log time over log N."""
    n = rows["molecules"]
    chosen = (n >= first) & (n <= last)
    return np.polyfit(np.log(n[chosen]), np.log(rows[TIMES[0]][chosen]), 1)[0]


def time_text(ns: float) -> str:
    """41.5 ns, 2.24 ms."""
    power = min(int(math.log10(1.0005 * ns)) // 3, 3)  # 999.5 has four digits
    return f"{ns / 1000**power:.3g} {('ns', 'µs', 'ms', 's')[power]}"


def filled(table: Table, precision: str) -> Table:
    """The rows with replicas that fill the lanes, or with more than FEW molecules."""
    rows = table.where(precision=precision)
    chosen = (rows["replicas"] > 1) | (rows["molecules"] > FEW)
    return Table({name: column[chosen] for name, column in rows.columns.items()})


def text(page: Page) -> dict:
    table = page.table()
    by_precision = [filled(table, precision) for precision in PRECISIONS]
    large = MOLECULES[-1]
    return {
        "smallest": MOLECULES[0], "largest": f"{large:,}".replace(",", " "),
        "times": markdown(
            ["molecules", "step, double", "step, mixed", "ns per pair, double",
             "ns per pair, mixed", "pairs per molecule", "relative to a cutoff"],
            [[f"{d.molecules:g}", *(time_text(r.core_ns_per_step) for r in (d, m)),
              *(f"{r.core_ns_per_pair:.2f}" for r in (d, m)),
              f"{(each := 0.5 * (d.molecules - 1)):.1f}",
              f"{each / WITHIN_CUTOFF:.1f}" if each > WITHIN_CUTOFF else "–"]
             for d, m in zip(*by_precision, strict=True)],
        ),
        "exponents": markdown(
            ["time per step grows as", f"up to {FEW} molecules", f"from {MANY} molecules"],
            [[precision, *(f"N^{exponent(rows, *size):.2f}" for size in ((2, FEW), (MANY, large)))]
             for precision, rows in zip(PRECISIONS, by_precision, strict=True)],
        ),
        "memory": markdown(
            ["precision", "bytes per replica of 7", "bytes per replica of 100",
             f"bytes per molecule, {large // 4} to {large}", f"total for {large} (MB)"],
            [[r.precision, *(f"{getattr(r, b):.0f}" for b in BYTES), f"{r.total_MB:.1f}"]
             for r in page.table("-memory")],
        ),
        "turns": TURNS, "few": FEW, "replicas": REPLICAS,
        "cutoff": CUTOFF_A, "within": WITHIN_CUTOFF, "machine": table.provenance.split("; ")[-1],
    }  # fmt: skip


def draw(page: Page):
    table = page.table()
    figure, (axes,) = plots.panels(1, 3.4)
    for k, precision in enumerate(PRECISIONS):
        alone = table.where(precision=precision, replicas=1.0)
        few = Table({n: c[alone["molecules"] <= FEW] for n, c in alone.columns.items()})
        both = (filled(table, precision), "", "-"), (few, ", single cluster", "--")
        for j, (rows, label, style) in enumerate(both):
            us, low, high = (1e-3 * rows[name] for name in TIMES)
            plots.curve(axes, rows["molecules"], us, precision + label, error=[us - low, high - us],
                        colour=2 * k + j, style=style)  # fmt: skip
    axes.set(xlabel="number of molecules", ylabel="core time per step (µs)")
    axes.set(xscale="log", yscale="log")
    plots.legend(axes)
    return figure
