"""Fixtures of the tests of the Python package."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]

#: Seven TIP3P molecules at 100 K, short, with tables.
HEPTAMER = {
    "system": {
        "model": "tip3p",
        "file": str(ROOT / "inputs/structures/tip3p-7.xyz"),
        "replicas": 3,
        "seed": 5,
    },
    "integrator": {"scheme": "settle", "timestep_fs": 2.0},
    "thermostat": {"kind": "baoab", "temperature_K": 100.0, "friction_per_ps": 5.0},
    "run": {"steps": 400, "equilibration_ps": 0.1},
    "observe": {"energies": {"every": 10}, "rdf": {"every": 10}},
}

#: Two flexible molecules, for potentials and ring polymers.
DIMERS = {
    "system": {"model": "qtip4pf", "molecules": 2, "replicas": 3, "seed": 3},
    "integrator": {"scheme": "verlet", "timestep_fs": 0.25},
    "thermostat": {"kind": "baoab", "temperature_K": 200.0, "friction_per_ps": 2.0},
    "run": {"steps": 60},
    "observe": {"energies": {"every": 10}},
}

# nohup and the background jobs of shells ignore some signals, as then do programs that tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2):
    signal.signal(number, signal.SIG_DFL)


def with_changes(deck: dict, **sections: dict) -> dict:
    """A copy of a deck with other keys in some sections."""
    return {**deck, **{name: {**deck.get(name, {}), **keys} for name, keys in sections.items()}}


def at_temperatures(deck: dict, temperatures_K: object) -> dict:
    """A copy of a deck with several temperatures."""
    bath = {"kind": "baoab", "temperatures_K": temperatures_K, "friction_per_ps": 5.0}
    return {**deck, "thermostat": bath}


def advanced(steps: int, deck: object = HEPTAMER, **options: object):
    """An ensemble after some steps."""
    import tarn  # some tests do without

    ensemble = tarn.Ensemble(deck, **options)
    ensemble.advance(steps)
    return ensemble


class Exported:
    """An array of another library, which offers nothing but DLPack."""

    def __init__(self, array: np.ndarray):
        self._array = array

    def __dlpack__(self, **options: object):
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


def run_in_threads(*works: Callable[[], object]) -> None:
    threads = [threading.Thread(target=work) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def output_of(code: str, *options: str) -> str:
    """Of a Python program, which must not fail, hang or print to standard error."""
    done = subprocess.run(
        [sys.executable, *options, "-c", code], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def start(code: str) -> subprocess.Popen[str]:
    """Starts a Python program and waits for its line "ready"."""
    child = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert child.stdout is not None and child.stdout.readline() == "ready\n", child.stderr
    return child


def interrupt(
    child: subprocess.Popen[str], times: int = 1, number: signal.Signals = signal.SIGINT
) -> tuple[str, str]:
    """Sends a signal, and waits for a minute at most. Returns the output and the errors.

    Several signals, each half a second: the first ones may arrive before the computation begins.
    """
    try:
        for _ in range(times - 1):
            child.send_signal(number)
            try:
                return child.communicate(timeout=0.5)
            except subprocess.TimeoutExpired:
                pass
        child.send_signal(number)
        return child.communicate(timeout=60)
    finally:
        child.kill()


def interrupted(code: str, after_s: float = 0.0, **options: object) -> tuple[int, str, str]:
    """Exit status, output and errors of a Python program that a signal reaches when it is ready."""
    child = start(code)
    time.sleep(after_s)
    out, err = interrupt(child, **options)
    return child.returncode, out, err


@pytest.fixture(autouse=True)
def surroundings(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Tests use the CPU and a folder of their own, and draw no pictures unless marked."""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "-1")
    monkeypatch.chdir(tmp_path)
    if request.node.get_closest_marker("pictures") is None:
        monkeypatch.setenv("TARN_PICTURES", "/nowhere")  # a Python that does not exist


@pytest.fixture
def inputs() -> Path:
    return ROOT / "inputs"


@pytest.fixture
def program() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Calls the program that was installed with the module."""
    beside = Path(sys.executable).with_name("tarn")
    path = os.environ.get("TARN_PROGRAM", str(beside))

    def call(*arguments: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [path, *map(str, arguments)], check=True, capture_output=True, text=True, timeout=300
        )

    return call
