"""Runs of the program tarn-papers, and the table of their costs."""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
from page import ROOT, Page

COSTS_METHOD = """Relative time is the core time of the whole run, divided by that of Z&S, in the same
  turns. The times of the paper are divided by its own time of Z&S."""
COST_HEADER = ["steps", "linear solves per step", "Newton iterations per step", "relative time",
               "relative time in the paper"]  # fmt: skip
PROGRAM = os.environ.get("TARN_PAPERS_PROGRAM", str(ROOT / "build/release/bin/tarn-papers"))
PENALISED = {"double-pendulum", "pendulum-chain", "three-body-plane", "double-spring"}
WITHOUT_PENALTY = {"shake", "rattle", "slow-manifold"}


def _columns(path: Path) -> dict[str, np.ndarray]:
    """The columns of a table by their names."""
    with path.open(encoding="utf-8") as file:
        file.readline()
        names = file.readline().rstrip("\n").split(",")
    values = np.loadtxt(path, delimiter=",", skiprows=2, ndmin=2).T
    return dict(zip(names, values, strict=True))


def _group(columns: dict[str, np.ndarray], name: str) -> np.ndarray:
    """The columns name0, name1, ... as (row, column)."""
    found = [c for n, c in columns.items() if n.startswith(name) and n[len(name) :].isdigit()]
    return np.stack(found, axis=1) if found else np.empty((len(columns["step"]), 0))


def motion(
    page: Page, scheme: str = "", step: float | None = None, every: int = 1, set=(), unset=(),
    observe=("trajectory",), seconds: float = 0.0, deck: str = "",
) -> dict:
    """Runs the page's deck, or another one of inputs, with a scheme and a step.

    Returns
    -------
    "time", "x", "v" and "lambda" of trajectory.csv after every `every` steps, where lambda of a
    penalty is omega² g; the columns of the other tables of `observe` by their names; "iterations"
    of a projection; "costs" and, with `seconds` to repeat the run, "seconds" of the fastest;
    "failure" or "".
    """  # fmt: skip
    changes = page.changes | dict(set) | ({"integrator.step": step} if step else {})
    used = changes.get("integrator.scheme", page.key("integrator.scheme"))
    changes |= {f"observe.{table}.every": every for table in observe}
    if "trajectory" in observe and page.key("system.kind") in PENALISED and used not in WITHOUT_PENALTY:
        changes["observe.trajectory.window"] = 0
    words = [PROGRAM, "run", str(ROOT / "inputs" / (deck or page.deck)), "--no-pictures", "--unset", "observe"]
    for key in unset:
        words += ["--unset", key]
    for key, value in changes.items():
        text = value if isinstance(value, str) else json.dumps(np.asarray(value).tolist())
        words += ["--set", f"{key}={text}"]
    words += ["--scheme", scheme] if scheme else []
    words += ["--time", str(seconds)] if seconds else []
    with page.scratch() as folder:
        out = Path(folder) / "run"
        done = subprocess.run([*words, "--out", str(out)], capture_output=True, text=True)
        if done.returncode not in (0, 3):
            raise RuntimeError(done.stderr)
        result = {name: _columns(out / f"{name}.csv") for name in observe}
        if "trajectory" in observe:
            rows = result["trajectory"]
            names = {"x": "q", "v": "v", "lambda": "lambda"}
            result |= {"time": rows["time"]} | {n: _group(rows, c) for n, c in names.items()}
        if (out / "iterations.csv").exists():
            result["iterations"] = _columns(out / "iterations.csv")
        record = json.loads((out / "run.json").read_text(encoding="utf-8"))
    result["costs"] = {
        "steps": record["counted_steps"], "forces": record["force_evaluations"],
        "linear_solves": record["linear_solves"], "iterations": record["iterations"],
    }  # fmt: skip
    return result | {"seconds": record["core_seconds"], "failure": record.get("error", "")}


def timed_motions(page: Page, cases: dict[str, dict], turns: int = 10) -> dict[str, dict]:
    """Motions by scheme. All run by turns, so that other load of the machine affects all alike, and
    the shortest time of each counts."""
    all_runs = [{s: motion(page, s, seconds=0.01, **case) for s, case in cases.items()} for _ in range(turns)]
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
