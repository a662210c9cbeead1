#include "tarn/check_potential.hpp"

#include <array>
#include <chrono>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tarn/core/error.hpp"
#include "tarn/core/number.hpp"

namespace tarn {
namespace {

/// The error of the difference is h² f''/6, 0.03 kcal/mol/A for O-H bonds, whose third derivative
/// is 7000 kcal/mol/A³. An energy to 1e-6 hartree, as that of many programs, adds 0.06. Both are
/// small against 1 % of the force on a bond that is 0.03 A too long, 30 kcal/mol/A.
constexpr double kStep_A = 0.005;
constexpr double kDisplacement_A = 0.03;
constexpr double kTolerance = 0.01;
constexpr int kMostMolecules = 10;

/// A number from -1 to 1 that looks random, the same in every call (Weyl sequence).
double scatter(std::size_t i) {
  const double x = 0.6180339887498949 * static_cast<double>(i + 1);
  return 2.0 * (x - std::floor(x)) - 1.0;
}

/// Images for one call, and their results.
class Batch {
 public:
  explicit Batch(std::size_t size) : size_(size) {}

  /// @return the number of the image
  std::size_t add(std::span<const double> positions_A) {
    positions_.insert(positions_.end(), positions_A.begin(), positions_A.end());
    ids_.push_back(static_cast<std::int64_t>(ids_.size()));
    return ids_.size() - 1;
  }
  /// @return time of the call
  double compute(Potential& potential, const std::function<double()>& clock_s) {
    energies_.assign(ids_.size(), kNoNumber);
    forces_.assign(positions_.size(), kNoNumber);
    const double began_s = clock_s();
    potential.compute(positions_, ids_, energies_, forces_);
    const double seconds = clock_s() - began_s;
    for (std::size_t image = 0; image < ids_.size(); ++image) check_finite(image);
    return seconds;
  }
  std::size_t images() const { return ids_.size(); }
  double energy(std::size_t image) const { return energies_[image]; }
  std::span<const double> forces(std::size_t image) const {
    return std::span(forces_).subspan(image * size_, size_);
  }

 private:
  void check_finite(std::size_t image) const {
    if (!std::isfinite(energies_[image])) {
      throw NumericalError(fmt::format("the potential returned an energy of {} for {}",
                                       energies_[image], image_text(image)));
    }
    const std::span<const double> f = forces(image);
    const auto bad = std::ranges::find_if_not(f, [](double x) { return std::isfinite(x); });
    if (bad == f.end()) return;
    const auto at = static_cast<std::size_t>(bad - f.begin());
    throw NumericalError(
        fmt::format("the potential returned a force of {} on {} of molecule {} for {}", *bad,
                    std::array{"O", "H1", "H2"}[at / 3 % 3], at / 9, image_text(image)));
  }
  static std::string image_text(std::size_t image) {
    return image == 0 ? "the start structure"
                      : "the start structure with atoms displaced by up to 0.03 A";
  }

  std::size_t size_;
  std::vector<double> positions_, energies_, forces_;
  std::vector<std::int64_t> ids_;
};

double dot(std::span<const double> a, std::span<const double> b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// Whether `factor` times the second vector is the first one within 1 % of its length.
bool is_multiple(std::span<const double> a, std::span<const double> b, double factor) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double rest = a[i] - factor * b[i];
    sum += rest * rest;
  }
  return sum <= kTolerance * kTolerance * dot(a, a);
}

struct Unit {
  const char* name;
  double value;  ///< in kcal/mol, or in A
};
constexpr std::array<Unit, 4> kEnergyUnits{{{"kcal/mol", 1.0},
                                            {"kJ/mol", 1.0 / units::kilojoules_per_kcal},
                                            {"eV", 1e3 / units::meV_per_kcal_per_mol},
                                            {"hartree", units::kcal_per_mol_per_hartree}}};
constexpr std::array<Unit, 3> kLengthUnits{
    {{"A", 1.0}, {"bohr", units::angstrom_per_bohr}, {"nm", 10.0}}};

/// The unit of energies in which an O-H bond vibrates as in water. @return null if there is none,
/// or if they are in kcal/mol
const Unit* energy_unit_of_bond(double wavenumber_per_cm, double mass_factor) {
  for (const Unit& energy : kEnergyUnits) {
    const double own = wavenumber_per_cm * std::sqrt(energy.value) / mass_factor;
    if (own > 3000.0 && own < 4500.0) return &energy == kEnergyUnits.data() ? nullptr : &energy;
  }
  return nullptr;
}

/// The units whose ratio is that of forces to differences of energies.
/// @param first the most likely unit of energies; null: kcal/mol
std::optional<std::string> unit_cause(double ratio, const Unit* first) {
  std::array<Unit, kEnergyUnits.size()> energies = kEnergyUnits;
  if (first != nullptr) std::swap(energies[0], energies[first - kEnergyUnits.data()]);
  for (const Unit& energy : energies) {
    for (const Unit& of_force : kEnergyUnits) {
      for (const Unit& length : kLengthUnits) {
        const double expected = energy.value * length.value / of_force.value;
        if (std::abs(ratio / expected - 1.0) > 2.0 * kTolerance) continue;
        return fmt::format("energies in {} and forces in {}/{}; expected kcal/mol and kcal/mol/A",
                           energy.name, of_force.name, length.name);
      }
    }
  }
  return std::nullopt;
}

/// The order of the atoms of a molecule in which the forces agree.
std::optional<std::string> order_cause(std::span<const double> forces,
                                       std::span<const double> differences) {
  std::array<std::size_t, 3> order{0, 1, 2};
  while (std::ranges::next_permutation(order).found) {
    std::vector<double> in_order(forces.size());
    for (std::size_t i = 0; i < forces.size(); ++i) {
      in_order[i] = forces[i / 9 * 9 + 3 * order[i / 3 % 3] + i % 3];
    }
    if (!is_multiple(in_order, differences, 1.0)) continue;
    const std::array names{"O", "H1", "H2"};
    std::array<const char*, 3> found{};
    for (std::size_t k = 0; k < 3; ++k) found[order[k]] = names[k];
    return fmt::format("forces in the order {}, {}, {}; expected O, H1, H2", found[0], found[1],
                       found[2]);
  }
  return std::nullopt;
}

std::string likely_cause(std::span<const double> forces, std::span<const double> differences,
                         const Unit* energy_unit) {
  const double square = dot(differences, differences);
  const double ratio = square > 0.0 ? dot(forces, differences) / square : 0.0;
  if (is_multiple(forces, differences, ratio) && ratio != 0.0) {
    const bool is_gradient = ratio < 0.0;
    const auto units = unit_cause(std::abs(ratio), energy_unit);
    const bool has_units = std::abs(std::abs(ratio) - 1.0) <= kTolerance;
    std::string text = fmt::format("the forces are {:.4g} times minus the gradient", ratio);
    if (is_gradient) text += "; likely cause: the sign, gradients instead of forces";
    if (has_units) return text;
    if (!units) return is_gradient ? text + ", in other units" : text;
    return text + (is_gradient ? ", with " : "; likely cause: ") + *units;
  }
  if (const auto order = order_cause(forces, differences)) return "likely cause: " + *order;
  return "likely causes: a wrong formula, an energy of fewer terms than the forces, the order of "
         "the atoms (O, H1, H2 of each molecule), the units of the positions (A), or energies with "
         "few digits";
}

/// A displacement of a molecule with its centre of mass at rest: hydrogen h by a[h] along its bond.
struct BondMotion {
  BondMotion(const double* x, std::array<double, 2> a, const PotentialCheckOptions& options) {
    for (std::size_t h = 0; h < 2; ++h) {
      const double* const hydrogen = x + 3 + 3 * h;
      const double length_A =
          std::hypot(hydrogen[0] - x[0], hydrogen[1] - x[1], hydrogen[2] - x[2]);
      for (std::size_t c = 0; c < 3; ++c) {
        const double moved = a[h] * (hydrogen[c] - x[c]) / length_A;
        displacement[3 + 3 * h + c] = moved;
        displacement[c] -= options.mass_h_Da / options.mass_o_Da * moved;
      }
    }
    for (std::size_t i = 0; i < 9; ++i) {
      mass_Da +=
          (i < 3 ? options.mass_o_Da : options.mass_h_Da) * displacement[i] * displacement[i];
    }
  }
  double wavenumber_per_cm(double lower, double middle, double upper) const {
    const double stiffness = (lower - 2.0 * middle + upper) / (kStep_A * kStep_A);
    return stiffness > 0.0 ? units::wavenumber_per_cm(std::sqrt(stiffness / mass_Da)) : 0.0;
  }
  std::array<double, 9> displacement{};
  double mass_Da = 0.0;
};

}  // namespace

PotentialCheck check_potential(Potential& potential, std::span<const double> positions_A,
                               const PotentialCheckOptions& options) {
  const std::size_t size = positions_A.size(), molecules = size / 9;
  const std::vector<double> start(positions_A.begin(), positions_A.end());
  std::vector<double> displaced = start;
  for (std::size_t i = 0; i < size; ++i) displaced[i] += kDisplacement_A * scatter(i);

  Batch batch(size);
  batch.add(start);
  const std::size_t centre = batch.add(displaced);
  // The compared molecules are spread evenly over the cluster.
  const std::size_t compared = std::min<std::size_t>(molecules, kMostMolecules);
  std::vector<std::size_t> coordinates;
  for (std::size_t k = 0; k < compared; ++k) {
    for (std::size_t c = 0; c < 9; ++c) coordinates.push_back(k * molecules / compared * 9 + c);
  }
  // Images after steps of both signs of some coordinates, from `at` on.
  const auto add_steps = [&](const std::vector<double>& from, std::size_t at,
                             std::span<const double> direction) {
    for (const double step_A : {-kStep_A, kStep_A}) {
      std::vector<double> moved = from;
      for (std::size_t i = 0; i < direction.size(); ++i) moved[at + i] += step_A * direction[i];
      batch.add(moved);
    }
  };
  for (const std::size_t i : coordinates) add_steps(displaced, i, std::array{1.0});
  const std::size_t first_motion = batch.images();
  std::vector<BondMotion> motions;
  for (std::size_t k = 0; k < compared && options.bonds; ++k) {
    const std::size_t at = k * molecules / compared * 9;
    for (const std::array<double, 2> a : {std::array{1.0, 0.0}, {0.0, 1.0}, {1.0, -1.0}}) {
      add_steps(start, at, motions.emplace_back(&start[at], a, options).displacement);
    }
  }
  const std::function<double()> clock_s = options.clock_s ? options.clock_s : [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  };
  PotentialCheck check;
  Batch alone(size);
  alone.add(start);
  // The first call of a potential may take longer.
  const double first_s = alone.compute(potential, clock_s);
  check.seconds = batch.compute(potential, clock_s);
  check.alone_seconds = std::min(first_s, alone.compute(potential, clock_s));
  check.images = batch.images();
  check.energy_kcal_per_mol = batch.energy(0);
  check.coordinates = static_cast<int>(coordinates.size());

  check.depends_on_batch =
      alone.energy(0) != batch.energy(0) || !std::ranges::equal(alone.forces(0), batch.forces(0));

  std::vector<double> forces, differences;
  for (std::size_t k = 0; k < coordinates.size(); ++k) {
    const std::size_t lower = centre + 1 + 2 * k;
    forces.push_back(batch.forces(centre)[coordinates[k]]);
    differences.push_back((batch.energy(lower) - batch.energy(lower + 1)) / (2.0 * kStep_A));
    check.largest_difference_kcal_per_mol_A =
        std::max(check.largest_difference_kcal_per_mol_A, std::abs(forces[k] - differences[k]));
    check.largest_force_kcal_per_mol_A =
        std::max(check.largest_force_kcal_per_mol_A, std::abs(forces[k]));
  }
  // O-H: 3000 to 4000; O-D: 2300 to 2800.
  const double mass_factor = std::sqrt(units::mass_hydrogen_Da / options.mass_h_Da);
  const Unit* energy_unit = nullptr;
  if (options.bonds) {
    for (std::size_t k = 0; k < motions.size(); ++k) {
      const std::size_t lower = first_motion + 2 * k;
      check.oh_wavenumber_per_cm =
          std::max(check.oh_wavenumber_per_cm,
                   motions[k].wavenumber_per_cm(batch.energy(lower), batch.energy(0),
                                                batch.energy(lower + 1)));
    }
    energy_unit = energy_unit_of_bond(check.oh_wavenumber_per_cm, mass_factor);
  }
  if (!check.forces_agree()) {
    check.messages.push_back(Message::warning(fmt::format(
        "forces differ from differences of energies by up to {:.3g} kcal/mol/A, and the largest "
        "force is {:.3g}: {}",
        check.largest_difference_kcal_per_mol_A, check.largest_force_kcal_per_mol_A,
        likely_cause(forces, differences, energy_unit))));
  }
  if (options.bonds && (check.oh_wavenumber_per_cm < 2000.0 * mass_factor ||
                        check.oh_wavenumber_per_cm > 6000.0 * mass_factor)) {
    const std::string causes =
        energy_unit != nullptr
            ? fmt::format("likely cause: energies in {}; expected kcal/mol", energy_unit->name)
            : "likely causes: energies in other units than kcal/mol, or the order of the atoms "
              "(O, H1, H2 of each molecule)";
    check.messages.push_back(Message::warning(
        fmt::format("O-H bonds vibrate at up to {:.0f}/cm with these energies, and those of "
                    "water at 3000 to 4000/cm; {}",
                    check.oh_wavenumber_per_cm, causes)));
  }
  if (check.depends_on_batch) {
    check.messages.push_back(Message::note(
        "the results of an image depend on the batch: it has other digits alone than with others. "
        "Trajectories then depend on the number of replicas and of MPI ranks"));
  }
  return check;
}

}  // namespace tarn
