"""Processes forked by multiprocessing after the parent computed with several threads."""

from __future__ import annotations

import conftest
import pytest
from conftest import HEPTAMER

PARENT = f"""
import multiprocessing, os, sys, warnings
import numpy as np
import tarn
warnings.simplefilter("ignore", tarn.TarnWarning)  # of missing pictures

deck = {HEPTAMER!r}
deck["system"]["replicas"] = 64
water = tarn.random_cluster(3, replicas=500)
ensemble = tarn.Ensemble(deck, device="cpu", threads=2)
ensemble.advance(10)
expected = tarn.energy_and_forces(water, threads=2, model="tip3p")[0]
few = water[:20]
quenched = tarn.minimise(few, threads=2, model="tip3p").energy_kcal_per_mol

def energy_and_forces(_):
    return np.array_equal(tarn.energy_and_forces(water, threads=2, model="tip3p")[0], expected)

def minimise(_):
    return np.array_equal(tarn.minimise(few, threads=2, model="tip3p").energy_kcal_per_mol, quenched)

def new_ensemble(_):
    e = tarn.Ensemble(deck, device="cpu", threads=2)
    e.advance(10)
    return e.step == 10 and np.array_equal(e.positions_A, ensemble.positions_A)

def inherited_ensemble(_):
    ensemble.advance(10)
    return ensemble.step == 20

def run(i):
    steps = {{"run.steps": 20, "run.equilibration_ps": 0}}
    return tarn.run(deck, out=f"run{{i}}", set=steps, device="cpu", threads=2).steps_done == 20
"""


def output_of(code: str) -> str:
    # Python 3.12 and later warn of any fork of a process with several threads.
    return conftest.output_of(PARENT + code, "-W", "ignore::DeprecationWarning")


@pytest.mark.parametrize(
    "work", ["energy_and_forces", "minimise", "new_ensemble", "inherited_ensemble", "run"]
)
def test_forked_processes_compute_with_threads(work: str):
    printed = output_of(f"""
with multiprocessing.get_context("fork").Pool(2, maxtasksperchild=1) as pool:
    print(pool.map({work}, range(3), chunksize=1))
assert minimise(0)
""")
    assert printed == "[True, True, True]\n"


def test_a_forked_process_ends_as_usual():
    assert output_of("""
child = os.fork()
if child == 0:
    assert minimise(0) and inherited_ensemble(0)
    sys.exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
""") == "7\n"


def test_an_ensemble_that_another_thread_used_during_the_fork_reports_it():
    assert output_of("""
import threading
other = tarn.Ensemble(deck, device="cpu", threads=2)
before = other.step
threading.Thread(target=lambda: other.advance(10**10), daemon=True).start()
while other.step == before:
    pass
child = os.fork()
if child == 0:
    try:
        other.positions_A
    except tarn.InputError as error:
        print(error, flush=True)
    assert other.molecules == 7 and minimise(0)
    sys.exit(0)
assert os.waitpid(child, 0)[1] == 0
""") == "another thread used the ensemble when this process was forked; make a new ensemble\n"
