"""Warnings of the program are warnings of Python."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import pytest
from conftest import HEPTAMER

import tarn


#: Each run warns that there are no pictures; see conftest.
NO_PICTURES = "no Python with matplotlib"


def test_a_run_issues_its_warnings_at_the_caller():
    with pytest.warns(tarn.TarnWarning) as issued:
        result = tarn.run(HEPTAMER, out="a")
    assert any(NO_PICTURES in text for text in result.warnings)
    assert [str(w.message) for w in issued] == list(result.warnings)
    assert {w.filename for w in issued} == {__file__}
    assert issubclass(tarn.TarnWarning, UserWarning)
    lines = repr(result).splitlines()
    assert lines[0].startswith("<tarn.Result of ") and len(lines) > len(result.warnings)
    assert all(f"warning: {text}" in repr(result) for text in result.warnings)


def test_a_complete_run_warns_again_when_it_is_resumed():
    with pytest.warns(tarn.TarnWarning):
        first = tarn.run(HEPTAMER, out="a")
    with pytest.warns(tarn.TarnWarning) as issued:
        again = tarn.run(HEPTAMER, out="a", resume=True)
    assert again.already_finished and again.warnings == first.warnings
    assert {w.filename for w in issued} == {__file__}


def test_warnings_as_errors_do_not_end_a_run():
    with warnings.catch_warnings():
        warnings.simplefilter("error", tarn.TarnWarning)
        with pytest.raises(tarn.TarnWarning):  # the first one
            tarn.run(HEPTAMER, out="a")
    record = json.loads(Path("a/run.json").read_text())
    assert record["status"] == "finished" and any(NO_PICTURES in text for text in record["warnings"])


def test_a_comparison_issues_its_warnings():
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        comparison = tarn.compare(HEPTAMER, ["settle", "shake"], out="a")
    assert [str(w.message) for w in issued] == list(comparison.warnings)
    assert repr(comparison).count("\nwarning: ") == len(comparison.warnings)


@pytest.mark.filterwarnings("error")
def test_there_is_no_warning_where_nothing_is_to_be_done():
    short = {"run.steps": 20, "run.equilibration_ps": 0}
    result = tarn.run(HEPTAMER, out="a", set=short, unset=["observe"])
    assert not result.warnings and "\n" not in repr(result)
    minimum = tarn.minimise(tarn.random_cluster(3), model="tip3p")
    tarn.normal_modes(minimum.positions_A, model="tip3p")
    tarn.minimise(minimum.positions_A, max_iterations=0, model="tip3p")
    tarn.rdf(tarn.random_cluster(3, replicas=2)[None])
    tarn.Ensemble(HEPTAMER).advance(1)


def test_minima_that_were_not_reached():
    water = tarn.random_cluster(6, replicas=3)
    with pytest.warns(tarn.TarnWarning, match="replica 0 and 2 others .* 3 iterations; increase"):
        tarn.minimise(water, max_iterations=3, model="tip3p")
    with pytest.warns(tarn.TarnWarning, match="the minimum was not reached") as issued:
        tarn.minimise(water[0], max_iterations=3, model="tip3p")
    assert issued[0].filename == __file__


def test_modes_away_from_a_minimum():
    with pytest.warns(tarn.TarnWarning, match="not a minimum: .*; minimise it first") as issued:
        tarn.normal_modes(tarn.random_cluster(3), model="tip3p")
    assert issued[0].filename == __file__
