"""Memory errors of the module, found by valgrind."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import HEPTAMER, with_changes

VALGRIND = shutil.which("valgrind")

SCRIPT = """
import gc
import numpy as np
import tarn

deck = {deck!r}
@tarn.observer(columns=["first_x_A"], every=10)
def first(frame):
    return frame.positions_A[:, 0, :1]
result = tarn.run(deck, out="a", observers=[first])
assert result.table("first").size > 0
with tarn.Ensemble({{**deck, "observe": {{}}}}, threads=2) as ensemble:
    ensemble.advance(20)
    view = ensemble.positions_A
    energies = ensemble.energies["potential_kcal_per_mol"]
    ensemble.save("a.checkpoint")
del ensemble
gc.collect()
assert np.isfinite(view).all() and np.isfinite(energies).all()
try:
    tarn.run({{"system": {{"model": "none"}}}})
except tarn.DeckError as error:
    assert error.problems
clusters = tarn.random_cluster(7, replicas=9)
energy, forces = tarn.energy_and_forces(clusters, model="qtip4pf", threads=2)
assert forces.shape == clusters.shape
del clusters
gc.collect()
assert np.isfinite(energy).all()
print("ready")
"""


#: The dynamic loader compares strings by eight bytes.
SUPPRESSIONS = """{
  loader
  Memcheck:Addr8
  fun:strncmp
  fun:is_dst
  ...
}
"""


@pytest.mark.skipif(VALGRIND is None, reason="valgrind is not installed")
def test_no_memory_errors(tmp_path: Path):
    """Reads and writes of invalid or freed memory, in the module or in what it calls."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(deck=with_changes(HEPTAMER, run={"steps": 40, "equilibration_ps": 0})))
    log = tmp_path / "log"
    suppressions = tmp_path / "suppressions"
    suppressions.write_text(SUPPRESSIONS)
    # Python's own allocator would hide errors, and valgrind reports some that are none in Python.
    ran = subprocess.run(
        [VALGRIND, "--error-exitcode=9", "--undef-value-errors=no", f"--log-file={log}",
         f"--suppressions={suppressions}", sys.executable, script],
        env={**os.environ, "PYTHONMALLOC": "malloc", "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert ran.returncode == 0, f"{ran.stderr}\n{log.read_text()[-4000:]}"
    assert ran.stdout == "ready\n"
