"""What the pages of mechanical systems share: recorded motions, and the table of their costs."""

from page import Page

COSTS_METHOD = """Relative time is the core time of the whole run, divided by that of Z&S in the
  same process. The times of the paper are divided by its own time of Z&S."""
COST_HEADER = ["steps", "linear solves per step", "Newton iterations per step", "relative time",
               "relative time in the paper"]  # fmt: skip


def motion(page: Page, scheme="", step=None, every=1, repeats=1, set=(), unset=()) -> dict:
    """The page's deck with a scheme and a step; see record_motion in measures.cpp."""
    from tarn import _tarn

    changes = dict(set) | ({"integrator.step": step} if step else {})
    return _tarn.record_motion(page.load(changes, unset, scheme), every, repeats)


def timed_motions(page: Page, cases: dict[str, dict], turns: int = 10) -> dict[str, dict]:
    """Motions by scheme. All run by turns, so that other load of the machine affects all alike, and
    the shortest time of each counts."""
    all_runs = [{s: motion(page, s, repeats=2, **case) for s, case in cases.items()} for _ in range(turns)]
    return {s: m | {"seconds": min(runs[s]["seconds"] for runs in all_runs)} for s, m in all_runs[0].items()}


def write_costs(page: Page, runs: dict[str, dict], unit: str) -> None:
    """<name>-costs.csv: "costs" of runs by scheme, and "seconds" relative to those of the scheme `unit`."""
    counts = ["steps", "linear_solves", "iterations"]
    seconds = runs[unit]["seconds"]
    rows = [[s, [m["costs"][n] for n in counts], m["seconds"] / seconds] for s, m in runs.items()]
    page.write(["scheme", *counts, "relative_time"], rows, "-costs")


def cost_cells(page: Page, paper_seconds: dict[str, float]) -> dict[str, list[str]]:
    """Cells below COST_HEADER by scheme. The paper's times are relative to that of "zs"."""

    def cells(c) -> list[str]:
        paper = paper_seconds.get(c.scheme)
        return [f"{c.steps:g}", f"{c.linear_solves / c.steps:.2f}", f"{c.iterations / c.steps:.2f}",
                f"{c.relative_time:.2f}", f"{paper / paper_seconds['zs']:.2g}" if paper else ""]  # fmt: skip

    return {c.scheme: cells(c) for c in page.table("-costs")}
