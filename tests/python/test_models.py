"""Water models: the table, own models and masses."""

from __future__ import annotations

import dataclasses
import json
import os
import pickle
from pathlib import Path

import numpy as np
import pytest
from conftest import HEPTAMER, with_changes

import tarn

#: TIP4P/2005, whose epsilon is 93.2 K.
OWN = {
    "oh_A": 0.9572, "hoh_degrees": 104.52, "sigma_A": 3.1589,
    "epsilon_kcal_per_mol": 93.2 * 0.0019872041, "charge_hydrogen_e": 0.5564, "om_A": 0.1546,
}  # fmt: skip

TEXT = "[model]\n" + "".join(f"{key} = {value!r}\n" for key, value in OWN.items())


def test_the_table_is_that_of_the_program(program):
    rows = json.loads(program("models", "--json").stdout)["models"]
    assert [row["name"] for row in rows] == list(tarn.models)
    for row in rows:
        ours = dataclasses.asdict(tarn.models[row["name"]])
        assert ours.pop("is_flexible") == row.pop("flexible")
        assert ours.pop("is_many_body") == row.pop("many_body")
        assert ours == {key: row[key] for key in ours}, row["name"]
        assert row["source"] and row["dipole_D"] > 1.8


def test_a_many_body_model_has_no_parameters_of_an_own_model():
    with pytest.raises(tarn.InputError, match="mbpol is a many-body model"):
        tarn.models["mbpol"].parameters()


def same(model: object, name: str) -> None:
    """The energy with the model is that of the built-in one, up to the rounding of parameters."""
    water = tarn.random_cluster(3, model=name)
    energy, forces = tarn.energy_and_forces(water, model=model)
    expected, expected_forces = tarn.energy_and_forces(water, model=name)
    scale = np.abs(expected_forces).max()
    assert energy == pytest.approx(expected, abs=1e-12 * scale)
    assert np.abs(forces - expected_forces).max() < 1e-12 * scale


@pytest.mark.parametrize("name", ["tip3p", "tip4p2005", "qtip4pf", "tip4p2005f", "spcfw"])
def test_parameters_are_those_of_an_own_model(name):
    same(tarn.models[name].parameters(), name)


def test_a_section_is_enough_as_dictionary_file_and_path():
    Path("own.toml").write_text(TEXT)
    for model in (OWN, {"model": OWN}, "own.toml", Path("own.toml"), tarn.models["tip4p2005"]):
        same(model, "tip4p2005")
    water = tarn.random_cluster(2, model=OWN)
    assert np.array_equal(water, tarn.random_cluster(2, model="tip4p2005"))
    minimum = tarn.minimise(water, model=OWN)
    assert minimum.energy_kcal_per_mol == pytest.approx(
        tarn.minimise(water, model="tip4p2005").energy_kcal_per_mol, abs=1e-8
    )
    tarn.normal_modes(minimum.positions_A, model=OWN)
    assert tarn.dipole_moments(water, model=OWN) == pytest.approx(
        tarn.dipole_moments(water, model="tip4p2005"), abs=1e-14
    )


def test_decks_with_a_section_need_no_name():
    deck = {**HEPTAMER, "system": {"molecules": 3, "seed": 5}, "model": OWN}
    Path("models").mkdir()
    Path("models/own.toml").write_text(TEXT)
    named = {**deck, "system": {**deck["system"], "model": "models/own.toml"}}
    del named["model"]
    energies = [
        tarn.Ensemble(one).energies["potential_kcal_per_mol"][0]
        for one in (deck, named, with_changes(deck, system={"model": "own"}))
    ]
    assert energies[0] == energies[1] == energies[2]
    assert 'model = "own"' in tarn.Ensemble(named).deck
    with pytest.raises(tarn.DeckError, match="exclude each other"):
        tarn.Ensemble({**named, "model": OWN})
    with pytest.raises(tarn.DeckError, match="missing.toml: there is no such file with a water model"):
        tarn.Ensemble(with_changes(deck, system={"model": "missing.toml"}), unset="model")
    Path("empty.toml").write_text("[run]\nsteps = 1\n")
    with pytest.raises(tarn.DeckError, match=r"empty.toml has no section \[model\]"):
        tarn.Ensemble(named, set={"system.model": "empty.toml"})


def test_only_the_model_of_a_deck_is_read():
    other = '[system]\nfile = "nowhere.xyz"\nmodle = 3\n[thermostat]\nkind = "nothing"\n[observe.no]\n'
    Path("own.toml").write_text(TEXT + other)
    same("own.toml", "tip4p2005")
    Path("named.toml").write_text('[system]\nmodel = "spce"\n')
    same("named.toml", "spce")
    Path("wrong.toml").write_text(TEXT + "sigma = 3.0\n[run]\nno = 1\n")
    with pytest.raises(tarn.InputError, match='wrong.toml:8:1: unknown key "sigma"') as caught:
        tarn.random_cluster(2, model="wrong.toml")
    assert len(caught.value.problems) == 1
    Path("none.toml").write_text("[run]\nsteps = 1\n")
    with pytest.raises(tarn.InputError, match=r"names no water model; write its parameters in a"):
        tarn.random_cluster(2, model="none.toml")
    with pytest.raises(tarn.InputError, match="needs oh_A"):
        tarn.random_cluster(2, model={})
    with pytest.raises(tarn.InputError, match="sigma_A"):
        tarn.random_cluster(2, model={key: value for key, value in OWN.items() if key != "sigma_A"})


def test_the_program_reads_the_model_of_a_file(program):
    Path("own.toml").write_text(TEXT + "[run]\n")
    tarn.write_structure("a.xyz", tarn.random_cluster(2, model=OWN), model=OWN)
    assert tarn.read_structure("a.xyz").model == "own"
    theirs = json.loads(program("energy", "a.xyz", "--model", "own.toml").stdout)
    ours = tarn.energy_and_forces(tarn.read_structure("a.xyz").positions_A, model=OWN)[0]
    assert ours == pytest.approx(theirs["potential_kcal_per_mol"], rel=1e-13)
    for command in (
        ["minimise", "a.xyz", "-o", "b.xyz"], ["modes", "b.xyz"],
        ["cluster", "--molecules", 2, "-o", "c.xyz"],
        ["convert", "a.xyz", "-o", "d.gro"], ["analyse", "a.xyz", "-o", "e"],
    ):  # fmt: skip
        program(*command, "--model", "own.toml")
    row = program("models", "own.toml").stdout.splitlines()[1].split()
    assert row[:2] == ["own", "own.toml"] and "2.305" in row


def test_a_changed_model_is_refused_with_the_cure():
    changed = dataclasses.replace(tarn.models["tip3p"], charge_hydrogen_e=0.5)
    with pytest.raises(tarn.InputError, match=r"tarn.models\['tip3p'\].parameters\(\)"):
        tarn.energy_and_forces(tarn.random_cluster(2), model=changed)


def test_masses_of_modes():
    water = tarn.minimise(tarn.random_cluster(1, model="qtip4pf"), model="qtip4pf").positions_A
    light = tarn.normal_modes(water, model="qtip4pf").wavenumbers_per_cm
    same_masses = tarn.normal_modes(water, model="qtip4pf", masses=(15.9994, 1.008))
    assert np.array_equal(same_masses.wavenumbers_per_cm, light)
    # All masses four times as large: half of each wavenumber.
    heavy = tarn.normal_modes(water, model="qtip4pf", masses=(4 * 7.0, 4 * 1.008))
    unit = tarn.normal_modes(water, model="qtip4pf", masses={"O": 7.0})
    assert heavy.wavenumbers_per_cm[6:] == pytest.approx(unit.wavenumbers_per_cm[6:] / 2, rel=1e-9)
    deuterium = tarn.normal_modes(water, model="qtip4pf", masses={"H": 2.014})
    Path("d2o.toml").write_text('[system]\nmodel = "qtip4pf"\nmolecules = 1\nhydrogen_mass_Da = 2.014\n[run]\nsteps = 1\n')
    of_deck = tarn.normal_modes(water, model="d2o.toml")
    assert np.array_equal(of_deck.wavenumbers_per_cm, deuterium.wavenumbers_per_cm)
    # Between the ratio of H against a fixed wall and that of a heavier partner.
    assert np.all(deuterium.wavenumbers_per_cm[6:] < 0.76 * light[6:])
    assert np.all(deuterium.wavenumbers_per_cm[6:] > np.sqrt(1.008 / 2.014) * light[6:])
    for wrong in ((1.0,), (0, 1), {"D": 2.0}, {}, "H2", (16.0, np.nan), (16.0, "1"), 3):
        with pytest.raises(tarn.InputError, match="mass.* = .*expected"):
            tarn.normal_modes(water, model="qtip4pf", masses=wrong)
    with pytest.raises(TypeError, match="masses"):
        tarn.minimise(water, masses=(15.9994, 2.014), model="tip3p")


def test_isotopes_of_modes_and_decks():
    water = tarn.minimise(tarn.random_cluster(2, model="qtip4pf"), model="qtip4pf").positions_A
    masses = {"O": 15.99491461926, "H": 2.01410177784}
    expected = tarn.normal_modes(water, model="qtip4pf", masses=masses).wavenumbers_per_cm
    for isotopes in (["D2O", "D2O"], {"D2O": 2}):
        modes = tarn.normal_modes(water, model="qtip4pf", isotopes=isotopes)
        assert modes.wavenumbers_per_cm == pytest.approx(expected, abs=1e-6)
    for isotopes in (["D2O"], {"D2O": 3}, ["D2O", "D3O"], {"D2O": 0}):
        with pytest.raises(tarn.InputError, match="isotopes"):
            tarn.normal_modes(water, model="qtip4pf", isotopes=isotopes)
    with pytest.raises(tarn.InputError, match="exclude"):
        tarn.normal_modes(water, model="qtip4pf", isotopes=["D2O", "D2O"], masses=masses)
    system = {"model": "qtip4pf", "molecules": 2, "isotopes": {"HDO": 1}}
    bath = {"temperature_K": 100, "friction_per_ps": 5}
    deck = {"system": system, "thermostat": bath, "path_integral": {"beads": 2}, "run": {"steps": 2}}
    run = tarn.run({**deck, "observe": {"path_integral": {"every": 1}}}, out="out")
    assert "kinetic_d_meV" in run.table("path_integral").columns


def test_calculators_keep_their_file():
    pytest.importorskip("ase")
    from tarn.ase import TarnCalculator

    Path("own.toml").write_text(TEXT)
    calculator = TarnCalculator(model="own.toml")
    Path("elsewhere").mkdir()
    os.chdir("elsewhere")
    assert Path(calculator.model).is_file()
    assert pickle.loads(pickle.dumps(tarn.models["opc"])) == tarn.models["opc"]
