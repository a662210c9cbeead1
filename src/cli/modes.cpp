#include "tarn/modes.hpp"

#include <cmath>
#include <memory>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "analysis/isomers.hpp"
#include "command.hpp"
#include "io/frame_formats.hpp"
#include "io/json.hpp"
#include "structure_files.hpp"
#include "tarn/core/error.hpp"
#include "tarn/deck_text.hpp"
#include "tarn/io/csv.hpp"
#include "tarn/physics/isotopes.hpp"
#include "tarn/version.hpp"
#include "terminal.hpp"

namespace tarn::cli {
namespace {

constexpr double kRigid = std::numeric_limits<double>::infinity();

struct Arguments : StructureArguments {
  PotentialOption potential;
  std::string out, plot, molden;
  std::vector<double> temperatures_K;
  double omega = kRigid;
  std::optional<double> hydrogen_mass_Da, oxygen_mass_Da;
  std::vector<std::string> isotopes;
  bool minimise = false;
};

/// Minimises the energy. @return whether the minimum was reached
bool minimise(const Arguments& a, const WaterModel& model,
              const std::shared_ptr<Potential>& potential, std::vector<double>& positions_A,
              Terminal& terminal, int& exit_code) {
  const double omega = a.omega;
  const bool penalised = std::isfinite(omega);
  ForceField force_field(model, static_cast<int>(positions_A.size() / 9), potential);
  MinimiseOptions options{a.potential.tolerance_kcal_per_mol_A};
  // Rounding errors in the bonds leave forces of 2e-14 omega^2.
  if (!potential) {
    options.tolerance_kcal_per_mol_A = 1e-8 + (penalised ? 1e-13 * omega * omega : 0.0);
  }
  const MinimiseResult r = minimise_with_report(
      options,
      [&](const MinimiseOptions& all) {
        return penalised ? relax_penalised(force_field, omega, positions_A, all)
                         : quench_to_minimum(force_field, positions_A, all);
      },
      potential ? kNoisyForces : "", terminal, exit_code);
  terminal.info(result_text(r));
  return r.converged;
}

/// Warns if the structure is not a minimum.
/// @param stopped before a minimum was reached; the structure is then not called a saddle point
void warn_if_no_minimum(const NormalModes& modes, bool minimised, bool stopped,
                        Terminal& terminal) {
  const int imaginary = modes.imaginary_count();
  const std::string negative =
      count_text(imaginary, "imaginary wavenumber") + ", printed as negative";
  if (!modes.is_stationary()) {
    terminal.warning(fmt::format(
        "the structure is not a minimum: the largest force or torque is {:.2g} kcal/mol/A, and "
        "the modes are those of a quadratic expansion at this point{}{}",
        modes.max_gradient_kcal_per_mol_A, imaginary > 0 ? " (" + negative + ")" : "",
        minimised ? "" : ". --minimise minimises it first"));
  } else if (imaginary > 0) {
    terminal.warning(fmt::format("the structure is {}: {}",
                                 stopped ? "not a minimum" : "a saddle point, not a minimum",
                                 negative));
  }
}

std::string csv_text(const std::string& path, const std::string& provenance,
                     const NormalModes& modes) {
  io::CsvFormat csv(path, {"mode", "wavenumber_per_cm", "ir_intensity_D2_per_A2_Da",
                           "ir_intensity_km_per_mol", "translation", "rotation", "vibration"});
  std::string text = csv.head(provenance);
  std::int64_t number = 0;
  for (const NormalMode& m : modes.modes) {
    csv.cell(++number).cell(m.wavenumber_per_cm).cell_or_nan(m.ir_intensity_D2_per_A2_Da);
    csv.cell_or_nan(m.ir_intensity_km_per_mol())
        .cell(m.translation)
        .cell(m.rotation)
        .cell(m.vibration);
    text += csv.row();
  }
  return text;
}

std::string json_of(const HarmonicState& s) {
  io::JsonObject json;
  json.add("energy_kcal_per_mol", io::json(s.energy_kcal_per_mol));
  json.add("free_energy_kcal_per_mol", io::json(s.free_energy_kcal_per_mol));
  json.add("entropy_cal_per_mol_K", io::json(s.entropy_cal_per_mol_K));
  json.add("heat_capacity_cal_per_mol_K", io::json(s.heat_capacity_cal_per_mol_K));
  return json.line();
}

std::string json_array_of(std::span<const double> numbers) {
  std::vector<std::string> all;
  for (const double x : numbers) all.push_back(io::json(x));
  return io::json_array(all);
}

/// @param potential null: the energies of the model
std::string json_text(const Arguments& a, const WaterModel& model, const Potential* potential,
                      std::span<const double> positions_A, const NormalModes& modes) {
  const double omega = a.omega;
  std::vector<double> wavenumbers, intensities;
  for (const NormalMode& m : modes.modes) {
    wavenumbers.push_back(m.wavenumber_per_cm);
    intensities.push_back(m.ir_intensity_km_per_mol());
  }
  io::JsonObject json;
  json.add("model", io::json(model.name));
  json.add("molecules", io::json(static_cast<std::int64_t>(positions_A.size() / 9)));
  json.add("hydrogen_mass_Da", io::json(model.mass_h_Da));
  json.add("oxygen_mass_Da", io::json(model.mass_o_Da));
  if (!a.isotopes.empty()) {
    std::vector<std::string> names;
    for (const std::string& name : a.isotopes) names.push_back(io::json(std::string_view(name)));
    json.add("isotopes", io::json_array(names));
  }
  json.add("omega", io::json(omega));
  if (potential != nullptr) {
    json.add("potential", io::json(std::string_view(potential->name())));
  } else {
    const double between = ForceField(model, static_cast<int>(positions_A.size() / 9))
                               .energy(positions_A)
                               .between_molecules_kcal_per_mol();
    json.add("potential_kcal_per_mol", io::json(between));
  }
  if (potential != nullptr || model.is_flexible() || std::isfinite(omega)) {
    json.add("total_potential_kcal_per_mol", io::json(modes.energy_kcal_per_mol));
  }
  json.add("max_gradient_kcal_per_mol_A", io::json(modes.max_gradient_kcal_per_mol_A));
  json.add("stationary", modes.is_stationary() ? "true" : "false");
  json.add("zero_point_energy_kcal_per_mol", io::json(modes.zero_point_energy_kcal_per_mol()));
  json.add("imaginary", io::json(std::int64_t{modes.imaginary_count()}));
  const analysis::PointGroup group = analysis::point_group(positions_A);
  const RigidRotor rotor =
      rigid_rotor(model, positions_A,
                  isotope_masses_Da(a.isotopes, model, static_cast<int>(positions_A.size() / 9)));
  json.add("symmetry_order", io::json(std::int64_t{group.order}));
  json.add("symmetry_number", io::json(std::int64_t{group.rotations}));
  json.add("rotational_constants_MHz", json_array_of(rotor.constants_MHz));
  if (potential == nullptr) json.add("dipole_along_axes_D", json_array_of(rotor.dipole_D));
  json.add("wavenumbers_per_cm", json_array_of(wavenumbers));
  if (potential == nullptr) json.add("ir_intensities_km_per_mol", json_array_of(intensities));
  std::vector<std::string> states;
  for (const double t_K : a.temperatures_K) {
    const auto state = [&](Statistics statistics) {
      return json_of(harmonic_state(modes, rotor, group.rotations, t_K, statistics));
    };
    io::JsonObject at;
    at.add("temperature_K", io::json(t_K));
    at.add("quantum", state(Statistics::quantum));
    at.add("classical", state(Statistics::classical));
    states.push_back(at.line());
  }
  if (!states.empty()) json.add("thermochemistry", io::json_array(states));
  return json.text();
}

void write_molden(const std::string& path, const std::string& provenance,
                  std::span<const double> positions_A, const NormalModes& modes) {
  const std::span<const double> displacements(modes.displacements_per_sqrt_Da);
  std::vector<io::MoldenMode> all;
  for (const NormalMode& m : modes.modes) {
    all.push_back({m.wavenumber_per_cm, m.ir_intensity_km_per_mol(),
                   displacements.subspan(all.size() * positions_A.size(), positions_A.size())});
  }
  io::write_molden(path, provenance, positions_A, all);
}

void modes(const Arguments& a, int& exit_code) {
  TableFiles files = table_files(a.out, a.plot, {a.structure}, a.molden);
  if (a.minimise || a.potential.is_given()) catch_interrupts();
  if (a.potential.is_given() && !a.plot.empty()) {
    throw InputError("--plot draws infrared intensities, and a potential has no charges");
  }
  Terminal terminal(false);
  io::Structure structure = a.load(terminal);
  WaterModel model = a.choose_model(structure, a.potential.model(a.model), terminal);
  set_masses(a.hydrogen_mass_Da, a.oxygen_mass_Da, model);
  const auto masses_Da = isotope_masses_Da(a.isotopes, model, structure.molecules);
  const auto potential = a.potential.make(structure.molecules, terminal);
  if (!potential) check_modes(model, structure.molecules, a.omega);
  const bool rigid = !potential && std::isinf(a.omega) && !model.is_flexible();
  if (potential) {
    io::check_bond_lengths(model, true, structure.positions_A, a.structure);
  } else if (rigid || model.is_flexible()) {
    fit_to_model(model, structure.positions_A, a.structure, terminal);
  } else {
    io::check_bond_lengths(model, false, structure.positions_A, a.structure);
  }
  const bool stopped =
      a.minimise && !minimise(a, model, potential, structure.positions_A, terminal, exit_code);
  if (interrupted()) return;
  if (const int rows = (rigid ? 6 : 9) * structure.molecules; 2 * rows >= kMaxModeCoordinates) {
    terminal.info(fmt::format("diagonalising a matrix of {0} rows (one to two minutes for {1})",
                              rows, kMaxModeCoordinates));
  }
  NormalModes result = potential ? normal_modes(model, structure.positions_A, *potential,
                                                kModeDisplacement_A, masses_Da)
                                 : normal_modes(model, structure.positions_A, a.omega, masses_Da);
  result.stationary_gradient_kcal_per_mol_A =
      std::max(result.stationary_gradient_kcal_per_mol_A, a.potential.tolerance_kcal_per_mol_A);
  warn_if_no_minimum(result, a.minimise, stopped, terminal);
  fmt::print("{}\n", json_text(a, model, potential.get(), structure.positions_A, result));
  const std::string bonds = potential             ? potential->name()
                            : rigid               ? "rigid"
                            : model.is_flexible() ? "flexible"
                                                  : fmt::format("omega = {:g}", a.omega);
  const std::string provenance = fmt::format(
      "tarn {}; {}, {}, {}; normal modes at {:.9f} kcal/mol, equations (59) to (61)", kVersion,
      model.name, count_text(structure.molecules, "molecule"), bonds, result.energy_kcal_per_mol);
  if (!a.molden.empty()) {
    write_molden(a.molden, provenance, structure.positions_A, result);
    terminal.info("written: " + a.molden);
  }
  if (files.table.empty()) return;
  if (!files.picture.empty() && result.modes.size() == kRigidBodyModes) {
    terminal.note("no picture: a single rigid molecule has no vibrations");
    files.picture.clear();
  }
  write_table(files, csv_text(files.table, provenance, result), terminal);
}

}  // namespace

void add_modes(Command& app) {
  const auto [command, a] = app.add_subcommand(
      "modes", "compute the harmonic normal modes of one structure, as JSON", modes);
  Option* field = a->add_to(*command);
  Option* potential = a->potential.add_to(*command);
  field->excludes(potential);
  command
      ->add_option(
          "--omega", a->omega,
          "penalty strength of the bonds of a rigid model [sqrt(kcal/mol)/A^2]; default: none")
      ->excludes(potential);
  command->add_option("--hydrogen-mass-Da", a->hydrogen_mass_Da,
                      "mass of the hydrogens, such as 2.014; default: 1.008, or that of the deck "
                      "that --model names");
  command->add_option("--oxygen-mass-Da", a->oxygen_mass_Da,
                      "mass of the oxygens; default: 15.9994, or that of the deck");
  command
      ->add_option("--isotopes", a->isotopes,
                   "isotopes: the name of each molecule, such as HDO,H2O, or numbers of molecules, "
                   "such as D2O=2,HDO=1; see [system] isotopes")
      ->delimiter(',');
  command->add_option("--temperatures-K", a->temperatures_K,
                      "also compute harmonic energies, entropies and heat capacities at these "
                      "temperatures, such as 50,100,300");
  command->add_flag("--minimise", a->minimise, "minimise the energy first");
  command->add_option("-o,--out", a->out,
                      "CSV file for the modes; default: none, or next to the picture of --plot");
  command->add_option("--plot", a->plot, "picture of the infrared spectrum, .svg or .png");
  command->add_option("--molden", a->molden,
                      "file for the modes and their displacements in Molden format, for viewers");
}

}  // namespace tarn::cli
