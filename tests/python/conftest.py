"""Fixtures of the tests of the Python package."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

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

# nohup and the background jobs of shells ignore some signals, as then do programs that tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2):
    signal.signal(number, signal.SIG_DFL)


def with_changes(deck: dict, **sections: dict) -> dict:
    """A copy of a deck with other keys in some sections."""
    return {**deck, **{name: {**deck.get(name, {}), **keys} for name, keys in sections.items()}}


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
