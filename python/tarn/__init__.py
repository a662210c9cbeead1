"""Molecular dynamics of water clusters, on CPUs and NVIDIA GPUs.

Positions have the shape (replica, atom, 3), or (atom, 3) for one cluster, in angstrom. The atoms of
each molecule are O, H, H. Names of arguments and columns contain their unit.
"""

import sys

from tarn._compare import Comparison, compare
from tarn._ensemble import BlowUp, Ensemble
from tarn._errors import (
    DeckError,
    DeviceError,
    FileError,
    InputError,
    MissingFileError,
    NumericalError,
    Problem,
    TarnError,
    TarnWarning,
)
from tarn._frame import Frame
from tarn._functions import (
    Device,
    Minimum,
    NormalModes,
    PotentialCheck,
    Structure,
    TemperatureLadder,
    WaterModel,
    check_potential,
    devices,
    dipole_moments,
    energy_and_forces,
    minimise,
    models,
    normal_modes,
    random_cluster,
    rdf,
    read_structure,
    temperature_ladder,
    write_structure,
)
from tarn._observer import Observer, observer
from tarn._potential import AsePotential
from tarn._run import Average, Averages, Progress, Report, Result, open, report, run
from tarn._table import Picture, Table
from tarn._tarn import use_python
from tarn._tarn import version as __version__

__all__ = [
    "AsePotential",
    "Average",
    "Averages",
    "BlowUp",
    "Comparison",
    "DeckError",
    "Device",
    "DeviceError",
    "Ensemble",
    "FileError",
    "Frame",
    "InputError",
    "Minimum",
    "MissingFileError",
    "NormalModes",
    "NumericalError",
    "Observer",
    "Picture",
    "PotentialCheck",
    "Problem",
    "Progress",
    "Report",
    "Result",
    "Structure",
    "Table",
    "TarnError",
    "TarnWarning",
    "TemperatureLadder",
    "WaterModel",
    "__version__",
    "check_potential",
    "compare",
    "devices",
    "dipole_moments",
    "energy_and_forces",
    "minimise",
    "models",
    "normal_modes",
    "observer",
    "open",
    "random_cluster",
    "rdf",
    "read_structure",
    "report",
    "run",
    "temperature_ladder",
    "write_structure",
]

# Pictures are drawn by this Python, which has matplotlib.
use_python(sys.executable or "")

# Tracebacks and help() show the names that users import.
for _name in __all__:
    if isinstance(globals()[_name], type):
        globals()[_name].__module__ = __name__
